//! Queues, service times and clients beyond Salehi 1994: what their flags do, and what is refused.

use super::{json, number};
use crate::{refusal, text, warmcore};
use std::fs;

const QUICK: [&str; 8] =
    ["simulate", "packet", "--policy", "mru", "--precision", "5%", "--max-packets", "100000"];

fn point<'a>(flags: &[&'a str]) -> Vec<&'a str> {
    [&QUICK[..], flags].concat()
}

#[test]
fn a_full_queue_loses_packets_and_says_how_many() {
    let folder = tempfile::tempdir().unwrap();
    // Far above the capacity, which only a limited queue bears.
    let overloaded = ["--rate", "100000", "--service", "exponential", "--queue-limit", "4"];
    let figures = json(&point(&overloaded), folder.path());
    let lost = number(&figures, "lost_fraction");
    let rest = 1.0 - number(&figures, "throughput_per_s") / 100_000.0;
    assert!((lost - rest).abs() < 0.02, "{lost} and {rest}");
    assert_eq!(figures["service"], "exponential");
    assert_eq!(figures["saturated"], false);
    let shown = warmcore(&point(&overloaded), folder.path());
    let shown = text(&shown.stdout);
    assert!(shown.contains("exponential service times, at most 4 waiting in each queue"), "{shown}");
    assert!(shown.contains(" lost "), "{shown}");
}

#[test]
fn classes_have_their_delays() {
    let folder = tempfile::tempdir().unwrap();
    let figures = json(&point(&["--rate", "55000", "--priorities", "1,3"]), folder.path());
    let [first, last] = ["class_1_delay_us", "class_3_delay_us"].map(|class| number(&figures, class));
    assert!(first < last, "{first} µs before {last} µs");
}

#[test]
fn clients_that_wait_for_answers_have_a_throughput_and_no_capacity() {
    let folder = tempfile::tempdir().unwrap();
    let closed = point(&["--streams", "20", "--process", "closed:window=2,think-us=500"]);
    let figures = json(&closed, folder.path());
    // Little's law: 40 requests are under way or thought of.
    let cycle = number(&figures, "mean_delay_us") + 500.0;
    let requests = number(&figures, "throughput_per_s") * cycle / 1e6;
    assert!((requests / 40.0 - 1.0).abs() < 0.05, "{requests} requests");
    let shown = warmcore(&closed, folder.path());
    let shown = text(&shown.stdout);
    assert!(shown.contains("20 clients of 2 requests each, which think for 500 µs"), "{shown}");
    assert!(!shown.contains("capacity"), "{shown}");
}

#[test]
fn what_goes_beyond_survives_a_document_and_what_does_not_is_left_out_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let flags = point(&[
        "--rate",
        "30000",
        "--processors",
        "2",
        "--speeds",
        "1,0.5",
        "--priorities",
        "2",
        "--service",
        "erlang:3",
        "--queue-limit",
        "9",
        "--queue-scope",
        "host",
    ]);
    let print = |flags: &[&str]| {
        let printed = warmcore(&[flags, &["--print-scenario"]].concat(), folder.path());
        assert!(printed.status.success(), "{}", text(&printed.stderr));
        text(&printed.stdout).to_owned()
    };
    let document = print(&flags);
    fs::write(folder.path().join("mine.toml"), &document).unwrap();
    assert_eq!(print(&["simulate", "packet", "--scenario", "mine.toml"]), document);
    let plain = print(&point(&["--rate", "30000"]));
    for field in ["speeds", "priorities", "[service", "[queues]"] {
        assert!(document.contains(field) && !plain.contains(field), "{field}: {document}");
    }
}

#[test]
fn what_does_not_go_together_is_refused_with_flag_and_field() {
    let folder = tempfile::tempdir().unwrap();
    let rate = ["--rate", "20000"];
    for (flags, problem) in [
        (
            &["--approach", "ips", "--queue-limit", "3"][..],
            "--queue-limit is given, expected none under `ips`",
        ),
        (&["--approach", "ips", "--priorities", "3"], "--priorities is given, expected none under `ips`"),
        (&["--priorities", "5,6"], "--priorities is 11 streams, expected at most 8 together"),
        (&["--speeds", "1,2"], "--speeds is 2 numbers, expected 8, one for each processor"),
        (&["--queue-scope", "host"], "--queue-scope has no effect here: all packets may wait"),
        (&["--service", "gauss"], "there is no distribution `gauss`"),
        (&["--process", "closed:think-us=10"], "--rate is given, expected none with `closed` traffic"),
    ] {
        let error = refusal(&point(&[flags, &rate].concat()), folder.path());
        assert!(error.contains(problem), "{flags:?}: {error}");
    }
    let limited = point(&["--process", "closed:think-us=10", "--queue-limit", "3"]);
    let error = refusal(&limited, folder.path());
    assert!(error.contains("a client whose request is lost would wait for ever"), "{error}");
}

/// Only the simulator knows them.
#[test]
fn a_live_run_refuses_what_only_the_simulator_knows() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("mine.toml"), "[service]\ndistribution = \"exponential\"\n").unwrap();
    for command in ["run", "compare"] {
        let out: &[&str] = if command == "compare" { &["--out", "there"] } else { &[] };
        let error = refusal(&[&[command, "--scenario", "mine.toml"], out].concat(), folder.path());
        assert!(error.contains("only `simulate packet` and `sweep packet` know it"), "{command}: {error}");
        let closed = [&[command, "--process", "closed:think-us=10"], out].concat();
        let error = refusal(&closed, folder.path());
        assert!(error.contains("--process is closed, expected nothing here"), "{command}: {error}");
    }
}
