//! `run`, `compare` and `calibrate` with servers of TCP connections.

use super::{refusal, text, warmcore};
use serde_json::Value;
use std::fs;

#[test]
fn connections_are_served_under_each_way_to_share_their_port() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for sharing in ["by-flow", "kernel-hash", "by-cpu", "exclusive", "shared-lifo"] {
        let arguments = [
            "run",
            "--driver",
            "tcp-socket",
            "--rate",
            "2000",
            "--seconds",
            "0.3",
            "--sharing",
            sharing,
            "--json",
        ];
        let output = warmcore(&arguments, folder.path());
        assert!(output.status.success(), "{sharing}: {}", text(&output.stderr));
        let ran: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let number = |name: &str| ran[name].as_f64().expect(name);
        assert_eq!((&ran["sharing"], &ran["transport"]), (&sharing.into(), &"tcp".into()));
        // Ten standard deviations of 600.
        assert!((350.0..850.0).contains(&number("requests")), "{ran}");
        assert_eq!(number("lost"), 0.0, "{ran}");
        if sharing == "by-cpu" {
            assert_eq!(number("here"), 1.0, "a connection belongs to the cpu that it came from: {ran}");
        }
    }
}

#[test]
#[ignore = "takes half a minute: `make test-long`"]
fn costs_of_connections_are_measured_and_predict_them() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let calibrate = ["calibrate", "--path", "tcp-socket", "--quick", "--requests", "echo:64"];
    let output = warmcore(&calibrate, folder.path());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    assert!(said.contains("A request to a server on TCP connections (echo) costs"), "{said}");
    let profile = fs::read_to_string(folder.path().join("tcp-socket.toml")).expect("the profile");
    assert!(
        profile.contains("path = \"tcp-socket\"") && profile.contains("transport = \"tcp\""),
        "{profile}"
    );

    let of = |driver, more: &[&'static str]| {
        let all = ["compare", "--driver", driver, "--payload", "64", "--profile", "tcp-socket.toml"];
        [&all, more].concat()
    };
    let compare = of("tcp-socket", &["--loads", "0.2", "--seconds", "0.1", "--json"]);
    let output = warmcore(&compare, folder.path());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let summary: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let points = summary["points"].as_array().expect("points");
    let policies: Vec<&str> = points.iter().filter_map(|point| point["policy"].as_str()).collect();
    assert_eq!(policies, ["by-flow", "kernel-hash", "by-cpu"]);
    for point in points {
        let mean = |of: &str| point[of]["worker_cpu"]["mean_us"].as_f64();
        let both = mean("predicted").zip(mean("measured"));
        assert!(
            both.is_some_and(|(predicted, measured)| (0.2..5.0).contains(&(predicted / measured))),
            "{point}"
        );
    }
    assert!(folder.path().join("comparison/tcp-socket.toml").exists());

    let study = refusal(
        &["study", "--socket-profile", "tcp-socket.toml", "--profile", "sgi-challenge-xl"],
        folder.path(),
    );
    assert!(study.contains("expected costs of UDP"), "{study}");
    // Costs of connections are none of datagrams, and not all policies can be predicted or run.
    let error = refusal(&of("udp-socket", &["--out", "other"]), folder.path());
    assert!(error.contains("expected one of: --driver tcp-socket --handler-bytes 0 --payload 64"), "{error}");
    for (arguments, named) in [
        (
            of("tcp-socket", &["--sharing", "exclusive"]),
            "`warmcore run --driver tcp-socket --sharing exclusive` runs it",
        ),
        (of("tcp-socket", &["--sharing", "shared-lifo"]), "last used elsewhere"),
        (of("tcp-socket", &["--sharing", "shared-fifo"]), "last in, first out only"),
    ] {
        assert!(refusal(&arguments, folder.path()).contains(named), "{arguments:?}");
    }
    for sharing in ["shared-fifo", "stealing", "adaptive"] {
        let run = ["run", "--driver", "tcp-socket", "--rate", "1000", "--sharing", sharing];
        let error = refusal(&run, folder.path());
        assert!(error.contains("does not fit tcp: "), "{error}");
    }
}
