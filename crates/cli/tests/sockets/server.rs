//! `run` and `compare` with `--driver udp-socket`: servers under load, for real.

use super::{refusal, text, warmcore};
use serde_json::Value;
use std::fs;
use std::time::{Duration, Instant};

#[test]
fn a_server_is_predicted_run_and_compared() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let arguments = [
        "compare",
        "--driver",
        "udp-socket",
        "--quick",
        "--loads",
        "0.05,0.3",
        "--sharing",
        "by-cpu,shared-fifo",
        "--seconds",
        "0.1",
        "--payload",
        "64",
        "--json",
    ];
    let output = warmcore(&arguments, folder.path());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let summary: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let points = summary["points"].as_array().expect("points");
    assert_eq!(points.len(), 4, "{summary}");
    for point in points {
        let delay = |of: &str| point[of]["delay"]["mean_us"].as_f64();
        assert!(delay("measured").is_some_and(|delay| delay > 1.0), "{point}");
        assert!(point["judgement"].is_string() || point["not_judged"].is_string(), "{point}");
        // Where the machine stood still nothing can be said.
        if point["not_judged"].is_null() {
            let cpu = |of: &str| {
                let part = |name: &str| point[of][name]["mean_us"].as_f64().expect("a time");
                part("worker_cpu") + part("call")
            };
            let ratio = cpu("predicted") / cpu("measured");
            assert!((0.2..5.0).contains(&ratio), "predicted {ratio} times what was measured: {point}");
        }
    }
    assert!(points[0]["policy"] == "by-cpu" && points[0]["measured"]["here"] == 1.0, "{}", points[0]);
    let made = |file: &str| folder.path().join("comparison").join(file);
    for file in ["report.html", "udp-socket.toml", "results.parquet", "results.csv", "summary.json"] {
        assert!(fs::metadata(made(file)).is_ok_and(|file| file.len() > 100), "{file}");
    }
    // The costs serve again, and only their handler and payload.
    let profile = made("udp-socket.toml");
    let with = |more: &[&str]| {
        let profile = profile.to_str().expect("a path");
        let again = ["compare", "--driver", "udp-socket", "--profile", profile, "--out", "again"];
        refusal(&[&again, more].concat(), folder.path())
    };
    assert!(
        with(&["--handler-bytes", "4096"])
            .contains("expected one of: --driver udp-socket --handler-bytes 0 --payload 64")
    );
    assert!(
        with(&["--payload", "65"])
            .contains("expected one of: --driver udp-socket --handler-bytes 0 --payload 64")
    );
}

#[test]
fn a_server_runs_under_each_way_to_share_its_port() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for sharing in ["by-flow", "kernel-hash", "stealing", "adaptive", "by-cpu", "shared-lifo", "shared-fifo"]
    {
        let arguments = [
            "run",
            "--driver",
            "udp-socket",
            "--rate",
            "2000",
            "--seconds",
            "0.3",
            "--handler-bytes",
            "4096",
            "--sharing",
            sharing,
            "--json",
        ];
        let output = warmcore(&arguments, folder.path());
        assert!(output.status.success(), "{}", text(&output.stderr));
        let ran: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let number = |name: &str| ran[name].as_f64().expect(name);
        assert_eq!(ran["sharing"], sharing);
        // Ten standard deviations of 600.
        assert!((350.0..850.0).contains(&number("requests")), "{ran}");
        assert!(number("lost") <= number("requests") / 20.0, "{ran}");
        let mean = |name: &str| ran[name]["mean_us"].as_f64().expect(name);
        assert!(mean("p50") <= mean("p99") && mean("worker_cpu") > 0.5, "{ran}");
        assert!(
            ran["rounds"] == 5 && ran["p50"]["half_width_us"].as_f64().is_some_and(|half| half > 0.0),
            "{ran}"
        );
        if sharing == "by-cpu" {
            assert_eq!(number("here"), 1.0, "{ran}");
        }
        let shares: Vec<f64> =
            ran["shares"].as_array().expect("shares").iter().filter_map(Value::as_f64).collect();
        if sharing == "adaptive" {
            assert!(shares[0] > 0.9, "one worker is enough for so few: {ran}");
        }
    }
    // Sources give up before they take the machine from everybody.
    let arguments = ["run", "--driver", "udp-socket", "--rate", "1000000", "--seconds", "4", "--json"];
    let began = Instant::now();
    let output = warmcore(&arguments, folder.path());
    let ran: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert!(ran["fell_behind"] == true && began.elapsed() < Duration::from_secs(15), "{ran}");
    let said =
        warmcore(&["run", "--driver", "udp-socket", "--rate", "1000", "--seconds", "0.1"], folder.path());
    assert!(text(&said.stdout).starts_with("by-flow on"), "{}", text(&said.stdout));
    assert!(
        text(&said.stdout).contains("median") && text(&said.stdout).contains(" ± "),
        "{}",
        text(&said.stdout)
    );
}

#[test]
fn what_a_server_makes_no_use_of_is_refused_before_anything_runs() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let began = Instant::now();
    let run = ["run", "--driver", "udp-socket", "--rate", "1000"];
    for (given, named) in [
        (&["--policy", "mru"][..], "--policy has no effect here"),
        (&["--scenario", "none.toml"], "--scenario has no effect here"),
        (&["--approach", "ips"], "--approach has no effect here"),
        (&["--interface", "lo"], "--interface has no effect here"),
        (&["--streams", "9"], "--streams has no effect here"),
        (&["--profile", "none.toml"], "--profile has no effect here"),
        (&["--sharing", "round-robin"], "shared-fifo"),
        (&["--seconds", "3600"], "expected 0.05 to 60"),
        (&["--processors", "4000"], "expected at most"),
        (&["--payload", "9"], "expected 10 to 1472"),
    ] {
        let error = refusal(&[&run, given].concat(), folder.path());
        assert!(error.contains(named), "{given:?}: {error}");
    }
    for (arguments, named) in [
        (&["run", "--driver", "udp-socket"][..], "--rate is missing"),
        (&["run", "--driver", "udp-socket", "--rate", "0.5"], "expected 1 to"),
        (&["run", "--driver", "udp-socket", "--rate", "10000000"], "lower --rate or --seconds"),
        (&["run", "--rate", "1000", "--sharing", "by-cpu"], "--sharing has no effect here"),
        (&["compare", "--sharing", "by-cpu"], "--sharing has no effect here"),
        (&["compare", "--driver", "udp-socket", "--sharing", "by-cpu,by-cpu"], "by-cpu"),
        (
            &["compare", "--driver", "udp-socket", "--sharing", "stealing"],
            "`warmcore run --driver udp-socket",
        ),
        (
            &["run", "--driver", "udp-socket", "--rate", "9", "--sharing", "exclusive"],
            "no connections to accept",
        ),
        (&["compare", "--driver", "udp-socket", "--loads", "2"], "--loads"),
        (&["compare", "--driver", "udp-socket", "--policies", "mru"], "--policies has no effect here"),
        (&["compare", "--driver", "udp-socket", "--profile", "missing.toml"], "missing.toml"),
        (&["compare", "--driver", "udp-socket", "--profile", "sgi-challenge-xl"], "is not a file"),
    ] {
        let error = refusal(arguments, folder.path());
        assert!(error.contains(named), "{arguments:?}: {error}");
    }
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 0);
}
