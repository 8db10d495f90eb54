//! A headless Chromium that the test starts through its driver. Both are stopped when the test ends, also if
//! it fails.

use fantoccini::actions::{InputSource, MouseActions, PointerAction};
use fantoccini::wd::WebDriverCompatibleCommand;
use fantoccini::{Client, ClientBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

pub(crate) type TestResult = Result<(), Box<dyn std::error::Error>>;

/// The browser that a test needs.
#[derive(Clone, Copy, Default)]
pub(crate) struct Settings {
    /// Width and height of a touch screen in pixels; otherwise a desktop window is used.
    pub(crate) screen: Option<[u32; 2]>,
    /// Whether the reader prefers dark mode.
    pub(crate) dark: bool,
    /// Whether JavaScript is switched off.
    pub(crate) without_script: bool,
}

/// Runs `test` in a browser with `settings`.
pub(crate) fn in_browser(settings: Settings, test: impl AsyncFnOnce(&Client) -> TestResult) {
    if std::env::var_os("WARMCORE_SKIP_BROWSER").is_some_and(|value| value == "1") {
        println!("skipped: WARMCORE_SKIP_BROWSER is 1, no browser was tried");
        return;
    }
    let chromium = program("CHROMIUM", &["chromium", "chromium-browser", "google-chrome"]);
    let chromedriver = program("CHROMEDRIVER", &["chromedriver"]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime can be made").block_on(async {
        let session = Session::start(&chromium, &chromedriver, settings).await;
        let outcome = test(&session.client).await;
        outcome.unwrap_or_else(|error| panic!("{error}"));
    });
}

/// The program that `variable` names, or the first of `names` on the search path.
fn program(variable: &str, names: &[&str]) -> PathBuf {
    let search: OsString = std::env::var_os("PATH").unwrap_or_default();
    let found = || {
        names.iter().find_map(|name| {
            std::env::split_paths(&search).map(|place| place.join(name)).find(|path| path.is_file())
        })
    };
    std::env::var_os(variable).map(PathBuf::from).or_else(found).unwrap_or_else(|| {
        panic!(
            "no {} is installed: `apt-get install chromium chromium-driver`, or name it in {variable}; \
             WARMCORE_SKIP_BROWSER=1 leaves these tests out",
            names[0]
        )
    })
}

/// A browser that this test started, with its driver.
struct Session {
    client: Client,
    driver: Child,
    /// Kept open, because a driver that cannot write exits.
    _messages: BufReader<ChildStdout>,
    profile: tempfile::TempDir,
}

impl Session {
    async fn start(chromium: &Path, chromedriver: &Path, settings: Settings) -> Self {
        let profile = tempfile::tempdir().expect("a temporary directory can be made");
        let (mut driver, messages, port) = listening(chromedriver);
        let mut builder = ClientBuilder::new(HttpConnector::new());
        builder.capabilities(capabilities(chromium, profile.path(), settings));
        let client = match builder.connect(&format!("http://127.0.0.1:{port}")).await {
            Ok(client) => client,
            Err(error) => {
                end(&mut driver, profile.path());
                panic!("{} does not start: {error}", chromium.display());
            }
        };
        let session = Self { client, driver, _messages: messages, profile };
        if settings.without_script {
            let off = DevTools("Emulation.setScriptExecutionDisabled", json!({ "value": true }));
            session.client.issue_cmd(off).await.expect("the browser can switch scripts off");
        }
        if settings.dark {
            let feature = json!({ "name": "prefers-color-scheme", "value": "dark" });
            let dark = DevTools("Emulation.setEmulatedMedia", json!({ "features": [feature] }));
            session.client.issue_cmd(dark).await.expect("the browser can prefer dark pages");
        }
        session
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        end(&mut self.driver, self.profile.path());
    }
}

/// How often a driver is started that ends at once.
const STARTS: usize = 5;

/// A driver, its messages, and its port. It looks for a free port and takes it afterwards: another driver can have taken it in
/// between, and then it ends.
fn listening(chromedriver: &Path) -> (Child, BufReader<ChildStdout>, u16) {
    for _ in 0..STARTS {
        let mut driver = Command::new(chromedriver)
            .arg("--port=0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| panic!("{} does not start: {error}", chromedriver.display()));
        let mut messages = BufReader::new(driver.stdout.take().expect("the driver's output is piped"));
        if let Some(port) = port(&mut messages) {
            return (driver, messages, port);
        }
        drop(driver.kill());
        drop(driver.wait());
    }
    panic!("{} did not say which port it listens on, started {STARTS} times", chromedriver.display());
}

/// The port that the driver says it listens on; none if it ends without.
fn port(messages: &mut impl BufRead) -> Option<u16> {
    let mut lines = messages.lines().map_while(Result::ok);
    lines.find_map(|line| {
        line.split_once("started successfully on port ")?.1.trim_end_matches('.').parse().ok()
    })
}

/// Stops the driver, and the browser that runs on `profile`, which no other browser uses.
fn end(driver: &mut Child, profile: &Path) {
    drop(driver.kill());
    drop(driver.wait());
    let ours = profile.as_os_str().as_encoded_bytes();
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    for pid in processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok()) {
        let command = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        if command.windows(ours.len()).any(|part| part == ours) {
            // It may have ended already.
            let _ = Pid::from_raw(pid).map(|pid| kill_process(pid, Signal::KILL));
        }
    }
}

fn capabilities(chromium: &Path, profile: &Path, settings: Settings) -> serde_json::Map<String, Value> {
    let mut options = json!({
        "binary": chromium,
        "args": [
            "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic",
            "--no-first-run", "--disable-background-networking", "--disable-component-update",
            "--disable-sync", "--window-size=1280,900",
            // No host name resolves: any request that leaves the file fails and is reported on the console.
            "--host-resolver-rules=MAP * ~NOTFOUND",
            format!("--user-data-dir={}", profile.display()),
        ],
    });
    if let Some([width, height]) = settings.screen {
        let phone = width < 600;
        let screen =
            json!({ "width": width, "height": height, "pixelRatio": 2.0, "touch": phone, "mobile": phone });
        options["mobileEmulation"] = json!({ "deviceMetrics": screen });
    }
    let capabilities = json!({
        "browserName": "chrome",
        "goog:chromeOptions": options,
        "goog:loggingPrefs": { "browser": "ALL" },
    });
    capabilities.as_object().cloned().unwrap_or_default()
}

/// The messages on the browser's console since the last call, as `level: message`.
pub(crate) async fn console(browser: &Client) -> Vec<String> {
    let entries = browser.issue_cmd(ReadConsole).await.expect("the driver keeps the log");
    let text = |entry: &Value, key: &str| entry[key].as_str().unwrap_or("?").to_owned();
    let line = |entry: &Value| format!("{}: {}", text(entry, "level"), text(entry, "message"));
    entries.as_array().into_iter().flatten().map(line).collect()
}

/// Moves the mouse to `[x, y]` of the window, from a point beside it.
pub(crate) async fn move_mouse(browser: &Client, place: &Value) -> TestResult {
    let coordinate = |i: usize| place[i].as_f64().ok_or("a place is two numbers");
    let (x, y) = (coordinate(0)?, coordinate(1)?);
    let step = |x, y| PointerAction::MoveTo { duration: Some(Duration::from_millis(20)), x, y };
    let path = MouseActions::new("mouse".into()).then(step(x - 15.0, y - 10.0)).then(step(x, y));
    browser.perform_actions(path).await?;
    Ok(())
}

/// The driver's own command that reads the console.
#[derive(Debug)]
struct ReadConsole;

impl WebDriverCompatibleCommand for ReadConsole {
    fn endpoint(&self, base: &url::Url, session: Option<&str>) -> Result<url::Url, url::ParseError> {
        base.join(&format!("session/{}/se/log", session.unwrap_or_default()))
    }

    fn method_and_body(&self, _: &url::Url) -> (http::Method, Option<String>) {
        (http::Method::POST, Some(json!({ "type": "browser" }).to_string()))
    }
}

/// A command for the browser's developer tools, with its parameters.
#[derive(Debug)]
struct DevTools(&'static str, Value);

impl WebDriverCompatibleCommand for DevTools {
    fn endpoint(&self, base: &url::Url, session: Option<&str>) -> Result<url::Url, url::ParseError> {
        base.join(&format!("session/{}/goog/cdp/execute", session.unwrap_or_default()))
    }

    fn method_and_body(&self, _: &url::Url) -> (http::Method, Option<String>) {
        (http::Method::POST, Some(json!({ "cmd": self.0, "params": self.1 }).to_string()))
    }
}
