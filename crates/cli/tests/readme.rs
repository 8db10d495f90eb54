//! The README's examples do what they say: every `warmcore` line of its shell blocks is run, in
//! their order, in one folder; those with `sudo` before them if this process has the privilege. What
//! stands behind `  # ` in such a line has to be among what it prints.

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;
use warmcore_linux::net::privilege_missing;

/// The command in a line, if it is one of ours and may be run here.
fn permitted(line: &str) -> Option<&str> {
    let (privileged, command) = line.strip_prefix("sudo ").map_or((false, line), |command| (true, command));
    let missing = privilege_missing().filter(|_| privileged);
    if let Some(missing) = &missing {
        println!("skipped: `{line}` needs {missing}");
    }
    (command.starts_with("warmcore ") && missing.is_none()).then_some(command)
}

#[test]
fn the_readmes_commands_run() {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = fs::read_to_string(readme).expect("there is a README");
    let blocks = readme.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next());
    let lines: Vec<&str> = blocks.flat_map(str::lines).filter_map(permitted).collect();
    assert!(lines.len() >= 5, "{lines:?}");

    let folder = tempfile::tempdir().expect("a temporary folder");
    let binary = Path::new(env!("CARGO_BIN_EXE_warmcore"));
    let path =
        format!("{}:{}", binary.parent().expect("a folder").display(), env::var("PATH").unwrap_or_default());
    let mut checked = 0;
    for line in lines {
        let output = Command::new("sh")
            .args(["-c", line])
            .env("PATH", &path)
            .current_dir(folder.path())
            .output()
            .expect("a shell is there");
        let said = words(&String::from_utf8_lossy(&output.stderr));
        // A comparison on a busy machine says so, and fails.
        let is_noise = line.starts_with("warmcore compare") && said.contains("Nothing could be judged");
        assert!(output.status.success() || is_noise, "`{line}`: {said}");
        assert!(!output.stdout.is_empty(), "`{line}` says nothing");
        if let Some((_, expected)) = line.split_once("  # ") {
            let said = words(&String::from_utf8_lossy(&output.stdout));
            assert!(said.contains(expected), "`{line}`: {said}");
            checked += 1;
        }
    }
    assert!(checked > 0, "no outcome is checked");
}

/// What is printed, the wrapping within the cells of tables undone.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
