//! Changes that are taken back unless somebody confirms them.

use super::{MASK, Place, UNDO};
use crate::failure;
use std::fs;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

const CONFIRM: [&str; 4] = ["host", "confirm", "--journal", "journals"];

/// How long the watcher may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Waits until the mask is `expected`.
fn await_mask(place: &Place, expected: &str) {
    let began = Instant::now();
    while place.mask() != expected {
        assert!(began.elapsed() < PATIENCE, "it is still {}", place.mask());
        sleep(Duration::from_millis(20));
    }
}

/// The terminal's whole process group is hung up on, and then killed, as soon as the plan is
/// applied.
#[test]
fn unconfirmed_changes_are_taken_back_though_the_terminal_is_gone() {
    let place = Place::new();
    let apply = Place::apply(&["--yes", "--confirm-within", "3s"]);
    let mut terminal = Command::new("sh")
        .args(["-c", "\"$@\"; sleep 1000", "sh", env!("CARGO_BIN_EXE_warmcore")])
        .args(apply)
        .current_dir(&place.path)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .process_group(0)
        .spawn()
        .expect("sh is there");
    await_mask(&place, "4");
    for signal in ["-HUP", "-KILL"] {
        let group = format!("-{}", terminal.id());
        // The second one finds nobody if the first one has ended all.
        Command::new("kill")
            .args([signal, "--", &group])
            .stderr(Stdio::null())
            .status()
            .expect("kill is there");
    }
    terminal.wait().expect("a child can be waited for");
    await_mask(&place, "f\n");
    let late = failure(&CONFIRM, &place.path);
    assert!(late.contains("nothing awaits confirmation"), "{late}");
}

#[test]
fn confirmed_changes_stay_until_they_are_undone() {
    let place = Place::new();
    let applied = place.run(&Place::apply(&["--yes", "--confirm-within", "2s"]));
    assert!(applied.contains("taken back in 2s unless `warmcore host confirm --journal /"), "{applied}");
    assert!(place.run(&CONFIRM).contains("Confirmed"));
    sleep(Duration::from_secs(3));
    assert_eq!(place.mask(), "4");
    place.run(&UNDO);
    assert_eq!(place.mask(), "f\n");

    place.run(&Place::apply(&["--yes"]));
    assert!(place.run(&CONFIRM).contains("needs no confirmation"));
    place.run(&UNDO);
}

/// The end of the time finds a value that somebody else has changed, so the journal stays open.
#[test]
fn what_was_taken_back_cannot_be_confirmed_though_some_of_it_is_left() {
    let place = Place::new();
    place.run(&Place::apply(&["--yes", "--confirm-within", "1s"]));
    let mask = place.path.join("root").join(MASK);
    fs::write(&mask, "2\n").expect("a value can be written");
    let thread = place.path.join("root/proc/4242/task/4242/status");
    let is_back = || fs::read_to_string(&thread).expect("a status").contains(":\t0-3");
    let began = Instant::now();
    while !is_back() {
        assert!(began.elapsed() < PATIENCE, "the thread is still placed");
        sleep(Duration::from_millis(20));
    }
    let late = loop {
        let late = failure(&CONFIRM, &place.path);
        // The watcher may not have ended yet.
        if !late.contains("is locked") || began.elapsed() > PATIENCE {
            break late;
        }
        sleep(Duration::from_millis(20));
    };
    assert!(late.contains("too late to confirm the changes"), "{late}");
    assert!(late.contains("interrupts requested later: somebody else has set it to 1 since"), "{late}");
    assert!(late.contains("`warmcore host undo --journal /") && late.contains("with --force"), "{late}");
    assert!(place.run(&["host", "undo", "--force", "--journal", "journals"]).contains("1 value restored"));
    assert_eq!(place.mask(), "f\n");
}
