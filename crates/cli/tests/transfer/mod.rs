//! `warmcore transfer`, between namespaces it makes and over loopback. What else the machine does decides
//! how much is moved, so nothing here depends on how much that is.

use crate::{failure, names, refusal, text, warmcore};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use warmcore_linux::net::privilege_missing;

/// Over as soon as it can be.
const BRIEF: [&str; 5] = ["transfer", "--seconds", "0.3", "--blocks", "2"];

fn is_privileged() -> bool {
    let missing = privilege_missing();
    if let Some(missing) = &missing {
        println!("skipped: needs {missing}");
    }
    missing.is_none()
}

fn json(flags: &[&str]) -> Value {
    let output = warmcore(&[&BRIEF[..], flags, &["--json"]].concat(), Path::new("."));
    assert!(output.status.success(), "{flags:?}: {}", text(&output.stderr));
    let object: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    assert!(object["schema"].is_u64(), "{object}");
    object
}

/// Every figure is there with its extremes, every change with its interval.
fn assert_whole(comparison: &Value, models: &[&str]) {
    let of = comparison["models"].as_array().expect("models");
    assert_eq!(of.iter().map(|one| one["model"].as_str().unwrap()).collect::<Vec<_>>(), models);
    for one in of.iter().chain([&comparison["control"]]) {
        for key in ["throughput_bits_per_s", "cpu_use", "bits_per_busy_cpu_second", "idle", "stolen"] {
            let [least, median, greatest] =
                ["least", "median", "greatest"].map(|part| one[key][part].as_f64());
            assert!(least.is_some() && least <= median && median <= greatest, "{key}: {one}");
        }
        assert!(one["throughput_bits_per_s"]["least"].as_f64() > Some(1e6), "{one}");
        assert_eq!(one["throughput_bits_per_s"]["rounds"].as_array().map(Vec::len), Some(2));
    }
    for changed in of[1..].iter().chain([&comparison["control"]]) {
        let change = &changed["change_of_bits_per_busy_cpu_second"];
        let [low, mean, high] = ["low", "mean", "high"].map(|part| change[part].as_f64());
        assert!(low.is_some() && low <= mean && mean <= high, "{changed}");
    }
    assert!(of[1..].iter().all(|one| one["change_of_throughput"]["verdict"].is_string()), "{comparison}");
    assert!(of[0]["change_of_throughput"].is_null());
    let counters = comparison["counters"].as_array().expect("counters");
    assert_eq!(counters.len(), 4, "{comparison}");
    for counter in counters {
        let (counted, why) = (counter["counted_as"].as_str(), counter["why_not"].as_str());
        assert!(counted.is_some() != why.is_some_and(|why| !why.is_empty()), "{counter}");
    }
    assert!(comparison["cycles"].as_str().is_some_and(|cycles| cycles.contains("cycles")), "{comparison}");
}

#[test]
fn processes_move_bytes_over_wires_and_every_figure_has_its_interval() {
    if !is_privileged() {
        return;
    }
    let object = json(&["--models", "none,full,process-only", "--size", "4096,65536"]);
    let comparisons = object["comparisons"].as_array().expect("one for each size");
    assert_eq!(
        comparisons.iter().map(|one| one["size_bytes"].as_u64()).collect::<Vec<_>>(),
        [Some(4096), Some(65_536)]
    );
    for comparison in comparisons {
        assert_whole(comparison, &["none", "full", "process-only"]);
        assert_eq!((&comparison["ends"], &comparison["base"]), (&"processes".into(), &"none".into()));
    }
    assert_eq!((&object["offloads"], &object["to"]), (&true.into(), &Value::Null));
}

#[test]
fn it_is_told_in_words() {
    if !is_privileged() {
        return;
    }
    let flags = ["--models", "none,full", "--threads", "--rate-mbps", "100", "--direction", "receive"];
    let output = warmcore(&[&BRIEF[..], &flags].concat(), Path::new("."));
    let said = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    for words in [
        "2 connections between threads",
        "receive, writes of 64 KiB, at 100 Mbit/s each",
        "none itself (A/A)",
        "with their 95% intervals",
        "were repeated",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let counters = ["No counters here: the system answered `", "L2 misses are"];
    assert!(counters.iter().any(|words| said.contains(words)), "{said}");
}

#[test]
fn what_cannot_be_is_refused_by_its_flag() {
    let here = Path::new(".");
    for (flags, problem) in [
        (&["--size", "63"][..], "expected a whole number of bytes from 64 to 65536"),
        (&["--size", "64,1M"], "that is 1048576, expected a whole number of bytes from 64 to 65536"),
        (&["--size", "1k,1024"], "--size: 1024 is given twice"),
        (&["--cpus", "0-"], "expected cpus such as 0 or 0-3"),
        (&["--cpus", "1023"], "--cpus is 1023, expected cpus among"),
        (&["--cpus", "0,0"], "--cpus is 0 twice, expected each cpu once"),
        (&["--cpus", "0", "--models", "crossed"], "expected at least 2: the model `crossed`"),
        (&["--connections", "0"], "expected a whole number from 1 to 64"),
        (&["--blocks", "1"], "expected a whole number from 2 to 1000"),
        (&["--models", "full,full"], "--models is full twice"),
        (&["--seconds", "0"], "--seconds is 0, expected from 0.2 to 3600"),
        (&["--seconds", "100ms"], "--seconds is 0.1, expected from 0.2 to 3600"),
        (&["--seconds", "2h"], "expected seconds, or a time such as 500ms or 2m"),
        (&["--to", "127.0.0.1:9", "--models", "full"], "`full` places packets"),
        (&["--to", "nowhere"], "--to is `nowhere`, expected HOST:PORT"),
    ] {
        let error = refusal(&[&["transfer"][..], flags].concat(), here);
        assert!(error.contains(problem), "{flags:?}: {error}");
    }
    assert!(failure(&["transfer", "--to", "127.0.0.1:9"], here).contains("cannot reach 127.0.0.1:9"));
    for flags in [["--rate-mbps", "0"], ["--models", "sideways"], ["--seconds", "never"]] {
        let output = warmcore(&[&["transfer"][..], &flags].concat(), here);
        assert_eq!(output.status.code(), Some(2), "{flags:?}");
    }
    let error = failure(&["transfer", "serve", "--bind", "192.0.2.1:5077"], here);
    assert!(error.contains("cannot listen on --bind 192.0.2.1:5077"), "{error}");
}

pub(crate) fn start(arguments: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_warmcore"));
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("the binary can be run")
}

pub(crate) fn signal(name: &str, process: u32) {
    let sent = Command::new("kill").args([name, &process.to_string()]).status().expect("kill is there");
    assert!(sent.success());
}

/// Ends `child` if it does not by itself, so that no test waits for ever.
pub(crate) fn ended(mut child: Child) -> (Option<i32>, String) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while child.try_wait().expect("a child can be waited for").is_none() {
        if Instant::now() > deadline {
            child.kill().expect("a child can be killed");
        }
        sleep(Duration::from_millis(20));
    }
    let output = child.wait_with_output().expect("a child's output");
    (output.status.code(), text(&output.stderr))
}

/// The processes that `parent` has started, once there are `count` of them.
pub(crate) fn children(parent: u32, count: usize) -> Vec<u32> {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let tasks = fs::read_dir(format!("/proc/{parent}/task")).into_iter().flatten().flatten();
        let lists = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
        let found: Vec<u32> = lists
            .flat_map(|list| list.split(' ').filter_map(|word| word.parse().ok()).collect::<Vec<_>>())
            .collect();
        if found.len() == count {
            return found;
        }
        assert!(Instant::now() < deadline, "{found:?}");
        sleep(Duration::from_millis(5));
    }
}

/// Whether a process is there and not merely waiting to be reaped by somebody.
fn is_running(process: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit(") ").next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with('Z'))
}

pub(crate) fn are_gone(processes: &[u32]) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while processes.iter().any(|&process| is_running(process)) {
        assert!(Instant::now() < deadline, "{processes:?}");
        sleep(Duration::from_millis(5));
    }
}

/// Interrupted or killed while four ends move bytes: none is left, and with them their namespaces go.
#[test]
fn no_end_outlives_the_command() {
    if !is_privileged() {
        return;
    }
    for (how, code) in [("-INT", Some(130)), ("-TERM", Some(130)), ("-KILL", None)] {
        let child = start(&["transfer", "--seconds", "600"]);
        let ends = children(child.id(), 4);
        signal(how, child.id());
        let (status, said) = ended(child);
        assert_eq!(status, code, "{how}: {said}");
        are_gone(&ends);
    }
}

#[test]
fn an_end_that_dies_is_named() {
    if !is_privileged() {
        return;
    }
    let child = start(&["transfer", "--seconds", "600"]);
    let ends = children(child.id(), 4);
    sleep(Duration::from_millis(500));
    signal("-KILL", ends[0]);
    let (status, said) = ended(child);
    assert_eq!(status, Some(1), "{said}");
    assert!(said.contains("end of connection") && !said.contains("panicked"), "{said}");
    are_gone(&ends);
}

#[test]
fn another_host_is_an_end() {
    let mut server = start(&["transfer", "serve", "--bind", "127.0.0.1:0"]);
    let mut line = String::new();
    BufReader::new(server.stdout.take().expect("a pipe")).read_line(&mut line).expect("it says where");
    let address = line.split_whitespace().nth(2).expect("an address").trim_end_matches(':');
    let object = json(&["--to", address, "--direction", "receive"]);
    assert_eq!(object["to"], address);
    assert_whole(&object["comparisons"][0], &["none", "process-only"]);
    signal("-INT", server.id());
    assert_eq!(ended(server).0, Some(130));
}

#[test]
#[ignore = "takes most of a minute: `make test-long`"]
fn the_source_is_reproduced_with_its_figures_and_claims() {
    if !is_privileged() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let reproduce = ["reproduce", "foong-2004", "--quick", "--size", "65536", "--out", "foong", "--json"];
    let output = warmcore(&reproduce, folder.path());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let summary: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    assert!(summary["schema"].is_u64(), "{summary}");
    let files = [
        "claims.csv",
        "claims.json",
        "claims.parquet",
        "points.journal",
        "report.html",
        "results.csv",
        "results.parquet",
    ];
    assert_eq!(names(&folder.path().join("foong")), files);
    let claims = summary["claims"].as_array().expect("claims");
    for claim in claims {
        let said = claim["verdict"].as_str().expect("a verdict");
        assert!(["holds", "holds partly", "undecided", "differs", "not derived"].contains(&said), "{claim}");
        assert_eq!(claim["ours"].is_null(), said == "not derived", "{claim}");
        assert_eq!(claim["ours"].is_null(), claim["ours_low"].is_null(), "a value has its interval: {claim}");
    }
    let of = |id: &str| claims.iter().find(|claim| claim["id"] == id).expect("it is a claim");
    let misses = of("misses-l3");
    let why = misses["reason"].as_str().expect("a reason");
    assert_eq!(
        ["No counters here", "L3 misses are"].iter().any(|words| why.contains(words)),
        misses["verdict"] == "not derived",
        "{misses}"
    );
    let report = fs::read_to_string(folder.path().join("foong/report.html")).expect("a report");
    for words in ["Figure 2", "Figure 3", "Figure 5", "L3 misses"] {
        assert!(report.contains(words), "{words}");
    }
    let error = refusal(&reproduce, folder.path());
    assert!(error.contains("exists already") && error.contains("--force"), "{error}");
    let resumed = warmcore(&[&reproduce[..], &["--resume"]].concat(), folder.path());
    assert_eq!(resumed.stdout, output.stdout, "what is finished is not transferred again");
    let error = refusal(&["reproduce", "foong-2004", "--size", "7"], folder.path());
    assert!(error.contains("expected a whole number of bytes from 64 to 65536"), "{error}");
}
