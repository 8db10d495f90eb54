//! Opening a report, with a browser that is a script.

use crate::{folder_with, refusal, text};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// As little of a report as is recognised.
const REPORT: &str = "<meta name=\"generator\" content=\"warmcore 0.1.0\">";

/// What comes of `words` where `browser` is `$BROWSER`, and nothing else can be started.
fn with_browser(words: &[&str], browser: &str, folder: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_warmcore"));
    command.args(words).current_dir(folder).stdin(Stdio::null()).env("BROWSER", browser).env("PATH", folder);
    command.output().expect("the binary can be run")
}

#[test]
fn a_report_is_opened_only_when_asked_for() {
    let (_folder, path) = folder_with("");
    fs::create_dir(path.join("study")).unwrap();
    fs::write(path.join("study/report.html"), REPORT).unwrap();
    let browser = path.join("browser");
    fs::write(&browser, format!("#!/bin/sh\necho \"$1\" > {}/opened\n", path.display())).unwrap();
    fs::set_permissions(&browser, fs::Permissions::from_mode(0o755)).unwrap();
    let name = browser.to_string_lossy();

    let printed = with_browser(&["report"], &name, &path);
    assert!(printed.status.success() && text(&printed.stdout).contains("study/report.html"));
    assert!(!path.join("opened").exists(), "nobody asked for it");

    let list = format!("/nonexistent/browser:{name}");
    let opened = with_browser(&["report", "--open"], &list, &path);
    assert!(opened.status.success(), "{}", text(&opened.stderr));
    let file = fs::read_to_string(path.join("opened")).unwrap();
    assert!(Path::new(file.trim()).is_absolute() && file.trim().ends_with("study/report.html"), "{file}");

    let without = with_browser(&["report", "--open"], "", &path);
    let error = text(&without.stderr);
    assert_eq!(without.status.code(), Some(1));
    assert!(error.contains("xdg-open") && error.contains("set BROWSER"), "{error}");
    let missing = with_browser(&["report", "elsewhere", "--open"], &name, &path);
    assert_eq!(missing.status.code(), Some(2), "{}", text(&missing.stderr));

    fs::remove_file(path.join("opened")).unwrap();
    let command = format!("/bin/false:/bin/sh -c 'echo $0 > {}/opened' --url=%s", path.display());
    let opened = with_browser(&["report", "--open"], &command, &path);
    assert!(opened.status.success(), "{}", text(&opened.stderr));
    let file = fs::read_to_string(path.join("opened")).unwrap();
    assert!(file.starts_with("--url=/") && file.trim().ends_with("study/report.html"), "{file}");
}

#[test]
fn only_reports_of_warmcore_are_taken() {
    let (_folder, path) = folder_with("");
    fs::write(path.join("mine.csv"), "a,b\n1,2\n").unwrap();
    fs::create_dir(path.join("site")).unwrap();
    fs::write(path.join("site/report.html"), "<title>Sales</title>").unwrap();
    for named in ["mine.csv", "site", "site/report.html"] {
        let error = refusal(&["report", named], &path);
        assert!(error.contains("is no report of Warmcore: expected a report.html"), "{named}: {error}");
    }
    assert!(refusal(&["report", "/dev/zero"], &path).contains("it is a device"));
    assert!(refusal(&["report", "none"], &path).contains("`warmcore study` writes one"));
}

#[test]
fn pages_are_written_and_a_release_holds_what_is_installed() {
    let (_folder, path) = folder_with("");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/make-release");
    let made = Command::new(script)
        .arg(env!("CARGO_BIN_EXE_warmcore"))
        .arg(&path)
        .output()
        .expect("the script can be run");
    assert!(made.status.success(), "{}", text(&made.stderr));
    let list = text(&made.stdout);
    for file in [
        "bin/warmcore",
        "share/man/man1/warmcore-host-plan.1",
        "share/bash-completion/completions/warmcore",
        "share/zsh/site-functions/_warmcore",
        "share/fish/vendor_completions.d/warmcore.fish",
        "docs/src/report.png",
        "LICENSE-MIT",
        "README.md",
    ] {
        assert!(list.lines().any(|line| line.ends_with(file)), "{file}: {list}");
    }
    let archive = list.lines().next().expect("the archive's path");
    let unpack = ["-xzf", archive, "--strip-components=1"];
    assert!(Command::new("tar").args(unpack).current_dir(&path).status().expect("tar is there").success());
    let install = fs::read_to_string(path.join("INSTALL")).unwrap();
    assert!(
        install.contains("GLIBC 2.") && install.contains("sudo cp -r bin share /usr/local/"),
        "{install}"
    );
    let unpacked = Command::new(path.join("bin/warmcore")).arg("--version").output().expect("it runs there");
    assert!(text(&unpacked.stdout).starts_with("warmcore "));
}
