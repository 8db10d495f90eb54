//! `warmcore host trace` ended early: by signals, and by `kill -9`, after which the next recording removes what traces on.

use crate::{names, refusal, text, warmcore};
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// Records, ends recordings in the middle, and says what of them is left in tracefs, which only this script sees.
const SCRIPT: &str = r#"
mkdir tracefs
mount -t tracefs none tracefs || exit 77
instance() { ls -d tracefs/instances/warmcore-$1-* 2>/dev/null; }
left() { [ -n "$(instance $1)" ] && echo left || echo gone; }
begin() {
    "$WARMCORE" host trace --seconds 60 -o $1.toml >$1.text 2>&1 &
    recording=$!
    for attempt in $(seq 400); do
        [ "$(cat "$(instance $recording)/tracing_on" 2>/dev/null)" = 1 ] && break
        sleep 0.05
    done
    sleep 0.3
}
for signal in INT TERM KILL; do
    begin $signal
    kill -$signal $recording
    wait $recording
    echo $signal ended with $?, instance $(left $recording)
done
killed=$recording
begin beside
"$WARMCORE" host trace --seconds 0.5 -o second.toml >second.text 2>&1
echo second ended with $?, killed $(left $killed), beside $(left $recording)
kill -INT $recording
wait $recording
echo beside ended with $?, instance $(left $recording)
# What was left by an earlier process with this number: its start was another.
mkdir tracefs/instances/warmcore-$$-1
"$WARMCORE" host trace --seconds 0.2 -o reused.toml >reused.text 2>&1
echo reused ended with $?, instance $(left $$)
# Nothing of tracefs is seen below a file system that was mounted over it, but a mount of its own.
mount -t tmpfs none tracefs
taskset -c 0 "$WARMCORE" host trace --seconds 0.2 -o covered.toml >covered.text 2>&1
echo covered ended with $?, cpus $(sed -n 's/^cpus = //p' covered.toml)
umount tracefs
umount tracefs
mkdir 't fs'
mount -t tracefs none 't fs'
"$WARMCORE" host trace --seconds 0.2 -o spaced.toml >spaced.text 2>&1
echo spaced ended with $?
umount 't fs'
"#;

#[test]
fn a_recording_that_is_ended_early_is_kept_and_its_tracing_removed() {
    let folder = TempDir::new().expect("a folder");
    let output = Command::new("unshare")
        .args(["--mount", "sh", "-c", SCRIPT])
        .env("WARMCORE", env!("CARGO_BIN_EXE_warmcore"))
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .output()
        .expect("unshare runs");
    let (said, errors) = (text(&output.stdout), text(&output.stderr));
    if !output.status.success() && said.is_empty() {
        println!("skipped: tracefs cannot be mounted in a namespace: {errors}");
        return;
    }
    let cpus = warmcore_linux::Probe::new().online().expect("a list of cpus").len();
    let covered = format!("covered ended with 0, cpus {cpus}");
    let expected = [
        "INT ended with 130, instance gone",
        "TERM ended with 130, instance gone",
        "KILL ended with 137, instance left",
        "second ended with 0, killed gone, beside left",
        "beside ended with 130, instance gone",
        "reused ended with 0, instance gone",
        &covered,
        "spaced ended with 0",
    ];
    assert_eq!(said.lines().collect::<Vec<_>>(), expected, "{errors}");
    let mut scenarios = names(folder.path());
    scenarios.retain(|name| name.ends_with(".toml"));
    let kept =
        ["INT.toml", "TERM.toml", "beside.toml", "covered.toml", "reused.toml", "second.toml", "spaced.toml"];
    assert_eq!(scenarios, kept, "none of the killed one");
}

#[test]
fn a_scenario_that_cannot_be_written_is_refused_before_the_recording() {
    let folder = TempDir::new().expect("a folder");
    std::fs::write(folder.path().join("there.toml"), "").expect("a file");
    for out in ["absent/mix.toml", ".", "there.toml"] {
        let error = refusal(&["host", "trace", "--seconds", "60", "-o", out], folder.path());
        assert!(error.contains(out), "{error}");
    }
    assert_eq!(names(folder.path()), ["there.toml"]);
}

/// A process that computes, ended when it is dropped.
struct Busy(Child);

impl Drop for Busy {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn what_is_not_asked_for_is_recorded_in_the_background() {
    let folder = TempDir::new().expect("a folder");
    let busy =
        Command::new("sh").args(["-c", "while :; do :; done"]).stdin(Stdio::null()).spawn().expect("sh runs");
    let busy = Busy(busy);
    let pid = busy.0.id().to_string();
    let trace = ["host", "trace", "--seconds", "0.5", "-o", "mix.toml", "--pid", &pid];
    let output = warmcore(&trace, folder.path());
    let said = text(&output.stderr);
    if !output.status.success() && (said.contains("not permitted") || said.contains("no trace")) {
        println!("skipped: {said}");
        return;
    }
    assert!(output.status.success(), "{said}");
    let mix: toml::Table =
        std::fs::read_to_string(folder.path().join("mix.toml")).expect("a scenario").parse().expect("TOML");
    let applications = mix["applications"].as_array().expect("applications");
    let known: Vec<(&str, bool)> = applications
        .iter()
        .map(|one| (one["name"].as_str().expect("a name"), one.get("background").is_some()))
        .collect();
    // The recorder itself runs too.
    assert_eq!(known, [("sh", false), ("everything else", true)]);
    let output = warmcore(&["simulate", "runqueue", "--scenario", "mix.toml", "--runs", "2"], folder.path());
    let shown = text(&output.stdout);
    assert!(shown.contains("recorded: delay, average") && shown.contains("everything else"), "{shown}");
    drop(busy);
    let error = refusal(&[&trace[..], &["--force"]].concat(), folder.path());
    assert!(error.contains(&format!("--pid {pid}: no process has this number")), "{error}");
    let error = refusal(&["host", "trace", "-o", "other.toml", "--cgroup", "nginx"], folder.path());
    assert!(error.contains("expected a path from the root of the control groups"), "{error}");
}
