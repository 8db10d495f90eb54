//! `warmcore compare`: what it writes and what it refuses. How near predictions come is for a quiet
//! machine to say.

use crate::{names, on_one_line, refusal, text, warmcore};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// A profile that need not be measured: that of the source's machine.
fn profile() -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../costs/profiles/sgi-challenge-xl.toml");
    file.display().to_string()
}

#[test]
fn every_point_is_an_object_and_the_report_has_them_all() {
    let folder = tempfile::tempdir().unwrap();
    let profile = profile();
    let flags = ["--profile", &profile, "--processors", "1", "--policies", "mru,wired", "--loads", "0.2,0.5"];
    let all = [&["compare", "--seconds", "0.3", "--work-kib", "64"], &flags[..]].concat();
    let output = warmcore(&[&all[..], &["--json"]].concat(), folder.path());
    // That it fails where nothing could be judged is as it should be; all is written nevertheless.
    let said = on_one_line(&output.stderr);
    if said.contains("could not be measured") {
        return println!("skipped: the machine does too much else ({said})");
    }
    assert!(output.status.success() || said.contains("Nothing could be judged: at "), "{said}");
    let result: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    let points = result["points"].as_array().unwrap();
    assert_eq!(points.len(), 4);
    for point in points {
        for quantity in ["delay", "stack"] {
            let of = &point[quantity];
            let number = |name: &str, field: &str| {
                of[name][field]
                    .as_f64()
                    .unwrap_or_else(|| panic!("`{quantity}.{name}` is not known: {point}"))
            };
            let [predicted, null, measured] =
                ["predicted", "null", "measured"].map(|name| number(name, "mean_us"));
            assert!((predicted / measured - 1.0 - number("error", "mean")).abs() < 1e-9, "{point}");
            assert!((null / measured - 1.0 - number("null_error", "mean")).abs() < 1e-9, "{point}");
        }
        // Costs of a machine of 1994 cannot be good here, whatever the noise.
        assert!(point["judgement"] != "good", "{point}");
    }
    assert!(result["costs"]["deciding"]["mean_us"].as_f64().is_some_and(|time| time > 0.0), "{result}");
    // That profile does not say what its packets were like.
    let notes = result["notes"].as_array().unwrap();
    assert_eq!(notes.len(), 1, "{notes:?}");
    let written = folder.path().join("comparison");
    let report = fs::read_to_string(written.join("report.html")).unwrap();
    assert!(report.contains("Locking, Wired-Streams") && report.contains("Locking, MRU"));
    assert!(report.contains(notes[0].as_str().unwrap()));
    assert!(written.join("results.parquet").exists() && written.join("profile.toml").exists());
    // Nothing of it is overwritten unasked.
    let again = refusal(&all, folder.path());
    assert!(again.contains("--force"), "{again}");
}

/// A calibration for a study has other packets than a run, and predicts it too long.
#[test]
fn costs_of_other_packets_are_refused_before_anything_is_measured() {
    let folder = tempfile::tempdir().unwrap();
    let published = fs::read_to_string(profile()).unwrap();
    let packets = "[provenance.packets]\nframes = \"written\"\npayload_bytes = 64\nchecksum = false\n";
    fs::write(folder.path().join("study.toml"), published + packets).unwrap();
    let refused = refusal(&["compare", "--profile", "study.toml"], folder.path());
    let problem = "--profile (in a scenario: `profile`) does not fit: `provenance.packets.frames` is written, \
                   expected resident";
    assert!(refused.contains(problem) && refused.contains("Without --profile"), "{refused}");
    assert!(!folder.path().join("comparison").exists());
}

/// That costs do not suffice shows when they are used.
#[test]
fn a_comparison_that_fails_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut incomplete: toml::Table = fs::read_to_string(profile()).unwrap().parse().unwrap();
    incomplete.remove("free_memory");
    fs::write(folder.path().join("one.toml"), incomplete.to_string()).unwrap();
    let flags =
        ["compare", "--profile", "one.toml", "--processors", "2", "--loads", "0.2", "--seconds", "0.2"];
    let output = warmcore(&flags, folder.path());
    let said = on_one_line(&output.stderr);
    if said.contains("--processors is 2") {
        return println!("skipped: this machine has one core");
    }
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert_eq!(names(folder.path()), ["one.toml"], "{said}");
}

#[test]
fn what_cannot_be_run_is_refused_before_anything_is_measured() {
    let folder = tempfile::tempdir().unwrap();
    for (flags, expected) in [
        (&["--processors", "1000"][..], "--processors"),
        (&["--cpus", "100000"], "--cpus"),
        (&["--loads", "2"], "--loads"),
        (&["--rates", "1"], "--rates"),
        (&["--driver", "tun", "--address", "10.0.0.9"], "--driver"),
        (&["--seconds", "0"], "--seconds"),
        (&["--approaches", "ips", "--stacks", "20"], "--stacks"),
    ] {
        let refused = refusal(&[&["compare"], flags].concat(), folder.path());
        assert!(refused.contains(expected), "{flags:?}: {refused}");
        assert!(!folder.path().join("comparison").exists(), "{flags:?}");
    }
    // That two options exclude each other is said where options are read.
    let both = warmcore(&["compare", "--rates", "100", "--loads", "0.5"], folder.path());
    assert!(both.status.code() == Some(2) && text(&both.stderr).contains("--rates"));
}
