//! Opening a report, with a browser that is a script.

use crate::{folder_with, text};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

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
    fs::write(path.join("study/report.html"), "<title>A report</title>").unwrap();
    let browser = path.join("browser");
    fs::write(&browser, format!("#!/bin/sh\necho \"$1\" > {}/opened\n", path.display())).unwrap();
    fs::set_permissions(&browser, fs::Permissions::from_mode(0o755)).unwrap();
    let name = browser.to_string_lossy();

    let told = with_browser(&["report"], &name, &path);
    assert!(told.status.success() && text(&told.stdout).contains("study/report.html"));
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
    for file in
        ["bin/warmcore", "man1/warmcore-host-plan.1", "completions/warmcore.bash", "LICENSE-MIT", "README.md"]
    {
        assert!(list.lines().any(|line| line.ends_with(file)), "{file}: {list}");
    }
}
