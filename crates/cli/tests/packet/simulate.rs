//! `warmcore simulate packet`: the result of a point, and refused scenarios.

use super::{json, number};
use crate::{refusal, text, warmcore};
use std::fs;
use std::path::Path;
use std::process::Command;

/// A point that a debug build simulates in moments.
const POINT: [&str; 8] =
    ["simulate", "packet", "--rate", "20000", "--precision", "5%", "--max-packets", "100000"];

fn point<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&POINT[..], more].concat()
}

/// The same with nothing but a rate, unless `flags` give one.
fn bare<'a>(flags: &[&'a str]) -> Vec<&'a str> {
    let rate: &[&str] = if flags.contains(&"--rate") { &[] } else { &["--rate", "20000"] };
    [&["simulate", "packet"], rate, flags].concat()
}

#[test]
fn a_point_is_one_json_object() {
    let folder = tempfile::tempdir().unwrap();
    let arguments =
        ["--approach", "ips", "--policy", "mru", "--batch", "4", "--batch-distribution", "geometric"];
    let result = json(&point(&arguments), folder.path());
    assert!(number(&result, "mean_delay_us") > number(&result, "mean_service_us"));
    assert!(number(&result, "p50_us") < number(&result, "p99_us"));
    assert!(number(&result, "p99_us") < number(&result, "p999_us"));
    assert!(number(&result, "delay_half_width_us") > 0.0 && number(&result, "service_half_width_us") > 0.0);
    assert!(number(&result, "capacity_per_s") > 20_000.0 && number(&result, "utilisation") < 1.0);
    assert!(number(&result, "throughput_per_s") > 0.0 && number(&result, "fairness") <= 1.0);
    assert!(number(&result, "packets") > number(&result, "warmup_packets"));
    assert_eq!((&result["saturated"], &result["precise"]), (&false.into(), &true.into()));
    assert_eq!((&result["ended"], &result["policy"]), (&"precise".into(), &"mru".into()));
    let found: u64 =
        result["situations"].as_object().unwrap().values().filter_map(serde_json::Value::as_u64).sum();
    assert!(found > 0);
    for key in ["p50_half_width_us", "p99_half_width_us", "p999_half_width_us"] {
        assert!(result.get(key).is_some(), "{key}");
    }
}

#[test]
fn policies_are_compared_on_the_same_packets() {
    let folder = tempfile::tempdir().unwrap();
    let against = |other, rate| {
        let flags = ["--policy", "mru", "--against", other, "--rate", rate, "--precision", "5%"];
        json(&bare(&flags), folder.path())
    };
    let result = against("lru", "20000");
    assert_eq!(result["against"], "lru");
    let (difference, half) = (number(&result, "difference_us"), number(&result, "difference_half_width_us"));
    assert!(difference < 0.0 && half > 0.0 && difference.abs() > half, "{difference} ± {half}");
    assert!(number(&result, "relative_difference").abs() < 0.5);
    let itself = refusal(&point(&["--against", "Wired-Streams"]), folder.path());
    assert!(itself.contains("--against is Wired-Streams, which is the policy simulated anyway"), "{itself}");
    // Under this only Wired-Streams keeps up.
    let result = against("wired", "70000");
    assert!(result["saturated"] == true && result["difference_us"].is_null());
    let words = point(&["--policy", "mru", "--against", "lru"]);
    let shown = text(&warmcore(&words, folder.path()).stdout);
    assert!(shown.contains("Against LRU, on the same packets"));
    assert!(
        shown.contains("± is that of the simulation: the costs' own uncertainty is not in it"),
        "{shown}"
    );
    let impossible = point(&["--policy", "mru", "--queue", "same-stream-first", "--against", "wired"]);
    assert!(refusal(&impossible, folder.path()).contains("--against Wired-Streams"));
}

#[test]
fn a_saturated_point_has_no_delay() {
    let folder = tempfile::tempdir().unwrap();
    let saturated = ["simulate", "packet", "--rate", "500000"];
    let result = json(&saturated, folder.path());
    assert_eq!(result["saturated"], true);
    for key in ["mean_delay_us", "delay_half_width_us", "mean_service_us", "p99_us", "utilisation", "packets"]
    {
        assert!(result[key].is_null(), "{key}: {}", result[key]);
    }
    assert!(number(&result, "capacity_per_s") < 500_000.0);
    assert!(text(&warmcore(&saturated, folder.path()).stdout).contains("Saturated: more packets arrive"));
}

#[test]
fn the_summary_tells_what_ended_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let said = |more: &[&str]| text(&warmcore(&bare(more), folder.path()).stdout);
    let precise = said(&["--precision", "5%"]);
    assert!(precise.contains("mean delay") && precise.contains("known to within 5%"), "{precise}");
    let exhausted = said(&["--precision", "0.001%", "--max-packets", "20000"]);
    assert!(exhausted.contains("--max-packets (20000) came before"), "{exhausted}");
}

#[test]
fn no_more_is_claimed_than_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let sources = ["--process", "self-similar:alpha=1.5,burst=10,peak=4"];
    let heavy = bare(&[&["--rate", "20000", "--max-packets", "100000"], &sources[..]].concat());
    let result = json(&heavy, folder.path());
    assert_eq!((&result["ended"], &result["precise"]), (&"heavy-tailed".into(), &false.into()));
    assert!(result["delay_half_width_us"].is_null() && result["p99_half_width_us"].is_null());
    assert!(text(&warmcore(&heavy, folder.path()).stdout).contains("No interval holds, and none is given"));

    let near = ["--process", "constant", "--approach", "ips", "--policy", "wired", "--batch", "8"];
    let capacity = number(&json(&point(&near), folder.path()), "capacity_per_s");
    let rate = (0.97 * capacity).to_string();
    let near = [&near[..], &["--rate", &rate, "--max-packets", "60000"]].concat();
    let result = json(&bare(&near), folder.path());
    assert_eq!(result["ended"], "near-capacity");
    assert!(result["delay_half_width_us"].is_null(), "no interval holds: {result}");

    let rare = refusal(&bare(&["--rate", "1e-6"]), folder.path());
    assert!(rare.contains("--rate is 0.000001, expected at least"), "{rare}");
}

#[test]
fn a_printed_scenario_repeats_the_point() {
    let folder = tempfile::tempdir().unwrap();
    let described = [
        ["--profile", "sgi-challenge-xl"],
        ["--approach", "locking"],
        ["--policy", "mru"],
        ["--queue", "same-stream-first"],
        ["--threads", "global"],
        ["--thread-order", "lru"],
        ["--memory", "global"],
        ["--processors", "4"],
        ["--streams", "20"],
        ["--zipf", "0.5"],
        ["--process", "trains:cars=8,gap-us=40"],
        ["--sizes", "64:3,1500:1"],
        ["--send-fraction", "25%"],
        ["--checksum-ns-per-byte", "2"],
        ["--copy-ns-per-byte", "1"],
        ["--send-path", "0.8"],
        ["--map-lock-ns", "100"],
        ["--session-lock-ns", "200"],
        ["--decision-ns", "50"],
        ["--start-ns", "-20"],
        ["--staleness-ns", "500"],
        ["--replications", "2"],
        ["--seed", "7"],
    ]
    .concat();
    let printed = warmcore(&point(&[&described[..], &["--print-scenario"]].concat()), folder.path());
    assert!(printed.status.success(), "{}", text(&printed.stderr));
    fs::write(folder.path().join("point.toml"), &printed.stdout).unwrap();
    let from_scenario = ["simulate", "packet", "--scenario", "point.toml"];
    assert_eq!(json(&from_scenario, folder.path()), json(&point(&described), folder.path()));

    // Flags come before the document.
    let other = json(&[&from_scenario[..], &["--seed", "8", "--processors", "3"]].concat(), folder.path());
    assert_eq!((&other["seed"], &other["processors"]), (&8.into(), &3.into()));
    assert_eq!((&other["streams"], &other["approach"]), (&20.into(), &"locking".into()));
}

/// The names that the help lists are those that are taken.
#[test]
fn every_policy_that_is_listed_is_simulated() {
    let folder = tempfile::tempdir().unwrap();
    let error = text(&warmcore(&point(&["--policy", "nearest"]), folder.path()).stderr);
    let names = error.split_once("possible values: ").and_then(|(_, rest)| rest.split_once(']'));
    let names: Vec<&str> = names.unwrap_or_else(|| panic!("{error}")).0.split(", ").collect();
    assert!(
        ["mru", "lru", "wired", "hash", "central-queue"].iter().all(|name| names.contains(name)),
        "{error}"
    );
    for policy in names {
        json(&point(&["--policy", policy]), folder.path());
    }
}

#[test]
fn one_thread_and_two_give_the_same_figures() {
    let on = |threads: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_warmcore"));
        command.args(point(&["--replications", "4", "--json"])).env("RAYON_NUM_THREADS", threads);
        let output = command.output().expect("the binary can be run");
        let text = text(&output.stdout);
        let lines: Vec<String> =
            text.lines().filter(|line| !line.contains("wall_seconds")).map(str::to_owned).collect();
        assert!(lines.len() > 40, "{text}");
        lines
    };
    assert_eq!(on("1"), on("2"));
}

#[test]
fn what_cannot_be_is_refused_by_flag_and_field() {
    let folder = tempfile::tempdir().unwrap();
    for (flags, problem, field) in [
        (&["--processors", "0"][..], "expected a whole number from 1 to 4096", "'0' for '--processors <N>'"),
        (&["--processors", "-1"], "expected a whole number from 1 to 4096", "'-1' for '--processors <N>'"),
        (&["--processors", "8k"], "that is 8000, expected a whole number from 1 to 4096", "--processors"),
        (&["--batch", "0.5"], "--batch is 0.5, expected a number of packets from 1", "batch.mean`"),
        (&["--batch", "1.5"], "--batch is 1.5, expected a whole number", "batch.mean`"),
        (
            &["--precision", "150%"],
            "'150%' for '--precision <FRACTION>': expected a percentage with its sign, such as 0.5%",
            "a fraction below 0.1",
        ),
        (&["--approach", "ips", "--stacks", "9"], "--stacks is 9, expected between 1 and 8", "`stacks`"),
        (
            &["--approach", "ips", "--queue", "same-stream-first"],
            "--queue is same-stream-first",
            "`scheduling.queue`",
        ),
        (&["--rate", "-1"], "--rate is -1, expected packets per second, from a millionth to", "`rate_per_s`"),
        (
            &["--rate", "1e-300"],
            "--rate is 1e-300, expected packets per second, from a millionth",
            "`rate_per_s`",
        ),
        (&["--streams", "0"], "expected a whole number from 1 to 16777216", "'0' for '--streams <N>'"),
        (&["--zipf", "-1"], "--zipf is -1, expected an exponent", "popularity.zipf`"),
        (&["--send-fraction", "2"], "--send-fraction is 2, expected a fraction", "send"),
        (&["--sizes", "64:-1"], "--sizes is -1, expected a finite number", "sizes.0.weight`"),
        (&["--send-path", "0"], "--send-path is 0, expected above 0", "`effects.send_path`"),
        (&["--staleness-ns", "-5"], "--staleness-ns is -5, expected between 0 and", "`effects.staleness_ns`"),
        (
            &["--start-ns", "-5"],
            "--start-ns is -5, expected between minus the cost of a decision",
            "`effects.start_ns`",
        ),
        (&["--max-packets", "5"], "expected a whole number of at least 10000", "'5' for '--max-packets <N>'"),
        (
            &["--replications", "1M"],
            "that is 1000000, expected a whole number from 1 to 10000",
            "--replications",
        ),
        (
            &["--process", "trains:cars=0,gap-us=4"],
            "--process: `cars` is 0, expected a number of packets",
            "trains.cars`",
        ),
        (&["--time-scale", "2"], "--time-scale scales a trace", "--trace FILE"),
        (&["--profile", "measure"], "--profile is measure, expected sgi-challenge-xl", "profile"),
        (&["--profile", "nowhere.toml"], "cannot read the profile nowhere.toml", ""),
        (&["--trace", "nowhere.pcap"], "cannot read nowhere.pcap", "--trace"),
    ] {
        let error = refusal(&bare(flags), folder.path());
        assert!(error.contains(problem) && error.contains(field), "{flags:?}: {error}");
    }
    let error = refusal(&["simulate", "packet"], folder.path());
    assert!(error.contains("--rate is missing, expected packets per second"), "{error}");
}

#[test]
fn what_no_flag_takes_is_refused_with_what_it_does_take() {
    for (flags, problem) in [
        (["--policy", "nearest"], "possible values: mru, lru"),
        (
            ["--process", "trains:cars=8,gap=4"],
            "`trains` has no parameter `gap`: expected cars, gap-us and gaps",
        ),
        (["--process", "trains:cars=8"], "`trains` lacks `gap-us`"),
        (["--process", "foo"], "there is no process `foo`: expected poisson, constant"),
        (["--process", "poisson:a=1"], "`poisson` takes no parameters"),
        (["--seed", "1.5"], "expected a whole number from 0 to 9223372036854775807"),
        (["--precision", "half"], "a percentage with its sign, such as 0.5%"),
        (["--precision", "0.5"], "'0.5' for '--precision <FRACTION>': expected a percentage with its sign"),
        (["--precision", "5"], "a fraction below 0.1, such as 0.005"),
        (["--sizes", "big"], "expected BYTES:WEIGHT"),
        (["--seed", "18446744073709551615"], "expected a whole number from 0 to 9223372036854775807"),
        (["--stacks", "many"], "expected a whole number, `per-processor` or `per-stream`"),
    ] {
        let output = warmcore(&bare(&flags), Path::new("."));
        let error = text(&output.stderr);
        assert!(output.status.code() == Some(2) && error.contains(problem), "{flags:?}: {error}");
    }
}

#[test]
fn an_unusable_scenario_is_refused_with_file_line_and_field() {
    let folder = tempfile::tempdir().unwrap();
    for (document, place, problem) in [
        ("seed = 1\nprocessors = 0\n", "mine.toml:2:", "`processors` is 0"),
        ("[scheduling]\npolicy = 'nearest'\n", "mine.toml:2:", "unknown name `nearest`"),
        ("sed = 1\n", "mine.toml:1:", "unknown field `sed`"),
    ] {
        fs::write(folder.path().join("mine.toml"), document).unwrap();
        let error = refusal(&["simulate", "packet", "--scenario", "mine.toml"], folder.path());
        assert!(error.contains(place) && error.contains(problem), "{error}");
    }
}
