//! `warmcore compare`: what it writes and what it refuses. How near predictions come is for a quiet
//! machine to say.

use crate::{as_measured, names, on_one_line, published, refusal, text, warmcore};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Output;

/// How often a comparison is tried on a machine on which the workers hardly run.
const ATTEMPTS: usize = 5;

/// A comparison that came to its end, whether or not anything could be judged.
fn compared(arguments: &[&str], folder: &Path) -> Output {
    let attempts = (0..ATTEMPTS).map(|_| warmcore(&[arguments, &["--force", "--json"]].concat(), folder));
    let mut said = Vec::new();
    for output in attempts {
        said.push(on_one_line(&output.stderr));
        let failed = said.last().is_some_and(|said| said.contains("could not be measured"));
        if !failed {
            return output;
        }
    }
    panic!("the workers hardly ran in any of {ATTEMPTS} comparisons: {said:?}");
}

#[test]
fn every_point_is_an_object_and_judged_or_said_not_to_be() {
    let folder = tempfile::tempdir().unwrap();
    let profile = as_measured(folder.path());
    let flags = ["--profile", profile, "--processors", "1", "--policies", "mru,wired", "--loads", "0.2,0.5"];
    let all = [&["compare", "--seconds", "0.3", "--work-kib", "64"], &flags[..]].concat();
    let output = compared(&[&all[..], &["--verbose"]].concat(), folder.path());
    // That it fails where nothing could be judged is as it should be; all is written nevertheless.
    let said = on_one_line(&output.stderr);
    assert!(output.status.success() || said.contains("Nothing could be judged: at "), "{said}");
    for stage in
        ["own costs under Locking, MRU", "load 1 of 2, ", ": predicting", "load 2 of 2, ", ": round 5 of 5"]
    {
        assert!(said.contains(stage), "{stage}: {said}");
    }
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
        assert_ne!(point["judgement"].is_null(), point["not_judged"].is_null(), "{point}");
        assert!(point["disturbed_share"].is_number() && point.get("disturbed_packets").is_none(), "{point}");
        // Costs of a machine of 1994 cannot be good here, whatever the noise.
        assert!(point["judgement"] != "good", "{point}");
    }
    assert!(result["costs"][0]["deciding"]["mean_us"].as_f64().is_some_and(|time| time > 0.0), "{result}");
    // That profile does not say what its packets were like.
    let notes = result["notes"].as_array().unwrap();
    assert_eq!(notes.len(), 1, "{notes:?}");
    let written = folder.path().join("comparison");
    let report = fs::read_to_string(written.join("report.html")).unwrap();
    assert!(report.contains("Locking, Wired-Streams") && report.contains("Locking, MRU"));
    assert!(report.contains(notes[0].as_str().unwrap()));
    assert!(written.join("results.parquet").exists() && written.join("profile.toml").exists());
    // What was compared names the costs beside it.
    let scenario = fs::read_to_string(written.join("scenario.toml")).unwrap();
    assert!(scenario.lines().any(|line| line == r#"profile = "profile.toml""#), "{scenario}");
    // Nothing of it is overwritten unasked.
    let again = refusal(&all, folder.path());
    assert!(again.contains("--force"), "{again}");
}

/// A calibration for a study has other packets than a run, and predicts it too long.
#[test]
fn costs_of_other_packets_are_refused_before_anything_is_measured() {
    let folder = tempfile::tempdir().unwrap();
    let measured = fs::read_to_string(folder.path().join(as_measured(folder.path()))).unwrap();
    let packets = "[provenance.packets]\nframes = \"written\"\npayload_bytes = 64\nchecksum = false\n";
    fs::write(folder.path().join("study.toml"), measured + packets).unwrap();
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
    let mut incomplete: toml::Table =
        fs::read_to_string(folder.path().join(as_measured(folder.path()))).unwrap().parse().unwrap();
    incomplete.remove("free_memory");
    fs::write(folder.path().join("measured.toml"), incomplete.to_string()).unwrap();
    let flags =
        ["compare", "--profile", "measured.toml", "--processors", "2", "--loads", "0.2", "--seconds", "0.2"];
    let output = warmcore(&flags, folder.path());
    let said = on_one_line(&output.stderr);
    if said.contains("--processors is 2") {
        return println!("skipped: this machine has one core");
    }
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert_eq!(names(folder.path()), ["measured.toml"], "{said}");
}

/// Costs of another machine are refused by what they are, not by their name.
#[test]
fn published_costs_are_refused_in_a_file_too() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("mine.toml"), published()).unwrap();
    let refused = refusal(&["compare", "--profile", "mine.toml"], folder.path());
    assert!(refused.contains("`provenance.kind` is published, expected measured"), "{refused}");
    let help = warmcore(&["compare", "--help"], folder.path());
    assert!(!text(&help.stdout).contains("sgi-challenge-xl"), "{}", text(&help.stdout));
}

/// What comparisons can be asked for beside the usual, each run once.
#[test]
fn handlers_with_memory_and_dedicated_processors_are_compared() {
    let folder = tempfile::tempdir().unwrap();
    let profile = as_measured(folder.path());
    for asked in [&["--handler-bytes", "256"][..], &["--mode", "fixed"]] {
        let flags =
            ["compare", "--profile", profile, "--processors", "1", "--rates", "20000", "--seconds", "0.3"];
        let output = compared(&[&flags[..], asked].concat(), folder.path());
        let said = on_one_line(&output.stderr);
        assert!(output.status.success() || said.contains("Nothing could be judged: at "), "{said}");
        let result: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
        let point = &result["points"][0];
        for quantity in ["delay", "stack", "p99"] {
            let measured = point[quantity]["measured"]["mean_us"].as_f64();
            assert!(measured.is_some_and(|time| time > 0.0), "{asked:?}, {quantity}: {point}");
        }
    }
}

/// How good predictions are, which noise decides elsewhere: caches that are hot, in stacks that are not shared.
///
/// `cargo test --release --package warmcore-cli --test command -- --ignored hot_caches` on a machine that does
/// nothing else; one that does is a failure.
#[test]
#[ignore = "wants a machine that does nothing else: make test-long"]
fn of_hot_caches_the_time_in_the_stack_is_not_predicted_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let flags = ["compare", "--quick", "--approach", "ips", "--policy", "wired", "--rates", "500000,1000000"];
    let output = compared(&flags, folder.path());
    let result: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    for point in result["points"].as_array().unwrap() {
        assert!(point["not_judged"].is_null(), "the machine is too busy to judge anything: {point}");
        assert!(point["stack"]["judgement"] != "off", "{point}");
    }
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
