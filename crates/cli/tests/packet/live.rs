//! `warmcore run`. What the machine is doing besides decides how much can be measured, so nothing
//! here depends on how long anything took.

use super::json;
use crate::{failure, refusal, text, warmcore};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The arguments of a short run with `flags`. Unless these say otherwise, it lasts 0.4 s and its idle workers leave
/// the processors to other tests.
fn run<'a>(flags: &[&'a str]) -> Vec<&'a str> {
    let polls = flags.contains(&"fixed");
    let defaults = [["--rate", "5000"], ["--seconds", "0.4"], ["--work-kib", "0"]];
    let defaults = defaults
        .into_iter()
        .take(if polls { 2 } else { 3 })
        .filter(|[flag, _]| !flags.contains(flag))
        .flatten();
    ["run"].into_iter().chain(defaults).chain(flags.iter().copied()).collect()
}

fn count(of: &Value, key: &str) -> u64 {
    of[key].as_u64().unwrap_or_else(|| panic!("`{key}` is {}", of[key]))
}

/// Every packet offered is counted exactly once.
fn assert_balanced(result: &Value) {
    let refused: u64 = result["refused"].as_object().unwrap().values().filter_map(Value::as_u64).sum();
    let counted = ["delivered", "overflowed", "failed", "given_up", "lost"].map(|key| count(result, key));
    assert_eq!(count(result, "offered"), counted.iter().sum::<u64>() + refused, "{result}");
    let workers = result["workers"].as_array().unwrap();
    let processed: u64 = workers.iter().map(|worker| count(worker, "packets")).sum();
    assert_eq!(processed, count(result, "delivered"));
    assert_eq!(workers.len() as u64, count(result, "processors"));
}

#[test]
fn a_run_is_one_json_object_whose_books_balance() {
    let folder = tempfile::tempdir().unwrap();
    let result = json(&run(&[]), folder.path());
    assert_balanced(&result);
    assert!(count(&result, "delivered") > 0);
    assert_eq!(result["rate_per_s"], 5_000.0);
    assert_eq!((&result["interrupted"], &result["driver"]), (&false.into(), &"memory".into()));
    assert_eq!(result["placed_on"].as_array().map(Vec::len), result["workers"].as_array().map(Vec::len));
    assert!(result["whole_run_mean_delay_us"].as_f64() > result["whole_run_mean_service_us"].as_f64());
    for key in ["overall_mean_delay_us", "overall_delay_half_width_us", "disturbed_share"] {
        assert!(result.get(key).is_some(), "{key}");
    }
    for former in ["all_mean_delay_us", "undisturbed_packets", "disturbed_packets"] {
        assert!(result.get(former).is_none(), "{former}");
    }
    for key in ["throughput_half_width_per_s", "situation_share", "situation_mean_service_us", "unanswered"] {
        assert!(result.get(key).is_some(), "{key}");
    }
    // What a simulated point has too is called the same.
    let flags = ["simulate", "packet", "--rate", "5000", "--precision", "5%", "--processors", "2"];
    let simulated = json(&flags, folder.path());
    for key in [
        "mean_delay_us",
        "delay_half_width_us",
        "mean_service_us",
        "service_half_width_us",
        "p50_us",
        "p99_us",
        "p999_us",
        "utilisation",
        "throughput_per_s",
        "rate_per_s",
        "policy",
    ] {
        assert!(simulated.get(key).is_some() && result.get(key).is_some(), "{key}");
    }
    let names = |of: &Value| of["situations"].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&simulated), names(&result));
}

#[test]
fn every_approach_and_mode_runs_and_tells_it_in_words() {
    let folder = tempfile::tempdir().unwrap();
    for flags in [
        &["--approach", "ips", "--policy", "mru", "--handler-ns", "2000"][..],
        &["--approach", "hybrid", "--policy", "adaptive", "--mode", "fixed", "--threads", "global"],
        &["--policy", "hash-stealing", "--work-kib", "64", "--overload", "hold-back"],
    ] {
        let output = warmcore(&run(flags), folder.path());
        let said = text(&output.stdout);
        assert!(output.status.success(), "{flags:?}: {}", text(&output.stderr));
        assert!(said.contains("packets arrive at 5.00 k/s (poisson)"), "{said}");
        let is_undisturbed_nowhere = said.contains("nothing can be said of the policy");
        assert!(said.contains(" over all packets") || is_undisturbed_nowhere, "{said}");
        assert!(said.contains(" delivered") && said.contains("protocol work"), "{said}");
        let weighs = flags.contains(&"adaptive");
        assert_eq!(text(&output.stderr).contains("weighs costs"), weighs, "{}", text(&output.stderr));
    }
}

/// What the words of a run must not pass over.
#[test]
fn what_was_not_reached_or_cannot_be_known_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let said = |flags: &[&str]| {
        let output = warmcore(&run(flags), folder.path());
        assert!(output.status.success(), "{flags:?}: {}", text(&output.stderr));
        text(&output.stdout)
    };
    let line =
        |said: &str, name: &str| said.lines().find(|line| line.contains(name)).unwrap_or("").to_owned();
    let is_empty = |said: &str| said.contains("nothing can be said of the policy");

    // Some hundred packets have no interval of p99.9.
    let few = said(&["--rate", "1000", "--processors", "1"]);
    assert!(is_empty(&few) || line(&few, "p99.9").contains("unknown"), "{few}");

    // Each takes 200 µs, and 20,000 come a second.
    let slow = ["--rate", "20000", "--handler-ns", "200000", "--processors", "1", "--capacity", "16"];
    let overloaded = said(&slow);
    assert!(overloaded.contains("Overloaded: of ") && overloaded.contains("% were dropped"), "{overloaded}");
    let held_back = said(&[&slow[..], &["--overload", "hold-back"]].concat());
    assert!(held_back.contains("The rate was not reached: 20.0 k/s was asked for"), "{held_back}");

    let heavy = said(&["--process", "self-similar:alpha=1.4,burst=20,peak=10", "--processors", "1"]);
    assert!(heavy.contains("No interval holds for arrivals of infinite variance"), "{heavy}");
    assert!(is_empty(&heavy) || line(&heavy, "mean service").contains("unknown"), "{heavy}");
}

#[test]
fn without_a_rate_packets_come_as_fast_as_they_are_taken_in() {
    let folder = tempfile::tempdir().unwrap();
    let flags = ["run", "--seconds", "0.3", "--work-kib", "0", "--capacity", "64", "--shutdown", "discard"];
    let result = json(&flags, folder.path());
    assert_balanced(&result);
    assert!(result["rate_per_s"].is_null() && count(&result, "overflowed") == 0);
    assert!(count(&result, "delivered") > 0);
}

#[test]
fn a_printed_scenario_repeats_the_run_and_flags_come_first() {
    let folder = tempfile::tempdir().unwrap();
    let described = ["--processors", "1", "--cpus", &first_cpu(), "--payload", "512", "--streams", "5"];
    let printed = warmcore(&run(&[&described[..], &["--print-scenario"]].concat()), folder.path());
    assert!(printed.status.success(), "{}", text(&printed.stderr));
    let printed = text(&printed.stdout);
    assert!(printed.contains("[live]") && printed.contains("payload_bytes = 512"), "{printed}");
    fs::write(folder.path().join("mine.toml"), printed).unwrap();
    let result = json(&["run", "--scenario", "mine.toml", "--seconds", "0.2", "--seed", "9"], folder.path());
    assert_eq!((count(&result, "processors"), count(&result, "payload_bytes")), (1, 512));
    assert_eq!((count(&result, "streams"), &result["seconds"]), (5, &0.2.into()));
    // A document that does not say on how many is run on as many as there are.
    fs::write(folder.path().join("mine.toml"), "rate_per_s = 100.0\n[live]\nseconds = 0.1\nwork_kib = 0\n")
        .unwrap();
    let result = json(&["run", "--scenario", "mine.toml"], folder.path());
    assert_balanced(&result);
}

fn first_cpu() -> String {
    let usable = warmcore_linux::affinity::mask().expect("a mask");
    usable.first().expect("a cpu").0.to_string()
}

#[test]
fn cpus_are_taken_as_they_are_printed() {
    let folder = tempfile::tempdir().unwrap();
    let printed = |cpus: &str| {
        let output = warmcore(&["run", "--rate", "100", "--cpus", cpus, "--print-scenario"], folder.path());
        text(&output.stdout)
    };
    assert!(printed("0-0").contains("cpus = [0]"), "{}", printed("0-0"));
    assert_eq!(printed("0-2,5"), printed("0,1,2,5"));
}

/// One approach has one name in documents, another in reports and a third in summaries.
#[test]
fn an_approach_is_taken_by_each_of_its_names() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["ips", "IPS", "independent-stacks", "Independent-Stacks"] {
        let output =
            warmcore(&["run", "--rate", "100", "--approach", name, "--print-scenario"], folder.path());
        assert!(text(&output.stdout).contains("approach = \"ips\""), "{name}: {}", text(&output.stderr));
    }
}

#[test]
fn what_cannot_be_run_here_is_refused_by_flag_and_field() {
    let folder = tempfile::tempdir().unwrap();
    for (flags, problem, field) in [
        (&["--cpus", "1023"][..], "--cpus is 1023, expected cpus among", "`live.cpus`"),
        (&["--cpus", "0,0"], "--cpus is 0 twice, expected each cpu once", "`live.cpus`"),
        (&["--processors", "1000"], "--processors is 1000, expected at most", "`processors`"),
        (&["--processors", "0"], "expected a whole number from 1 to 4096", "'0' for '--processors <N>'"),
        (&["--processors", "3", "--cpus", "0"], "--processors is 3, expected 1, as many", "`processors`"),
        (&["--seconds", "0"], "--seconds is 0, expected above 0", "`live.seconds`"),
        (&["--seconds", "-1"], "--seconds is -1, expected above 0", "`live.seconds`"),
        (&["--handler-ns", "-5"], "--handler-ns is -5, expected between 0", "`live.handler_ns`"),
        (&["--capacity", "0"], "expected a whole number from 1 to", "'0' for '--capacity <PACKETS>'"),
        (&["--port", "9k0"], "expected a port from 1 to 65535", "'9k0' for '--port <PORT>'"),
        (
            &["--work-kib", "4M"],
            "that is 4194304, expected a whole number of KiB from 0 to 1048576",
            "--work-kib",
        ),
        (
            &["--payload", "64k"],
            "that is 65536, expected a whole number of bytes from 0 to 4442",
            "--payload",
        ),
        (
            &["--rate", "1e-300"],
            "--rate is 1e-300, expected packets per second, from a millionth",
            "`rate_per_s`",
        ),
        (&["--driver", "xdp"], "--interface is missing, expected the interface", "`live.interface`"),
        (&["--driver", "tun"], "--address is missing, expected the IPv4 address", "`live.address`"),
        (&["--sizes", "64:1"], "--sizes is given, expected none", "`traffic.sizes`"),
        (&["--send-fraction", "0.5"], "--send-fraction is 0.5, expected 0: a live run", "send_fraction`"),
        (&["--approach", "ips", "--stacks", "9"], "--stacks is 9, expected between 1 and 8", "`stacks`"),
    ] {
        let error = refusal(&run(flags), folder.path());
        assert!(error.contains(problem) && error.contains(field), "{flags:?}: {error}");
    }
    let busy = failure(&run(&["--metrics", "192.0.2.1:9898"]), folder.path());
    assert!(busy.contains("cannot serve metrics on 192.0.2.1:9898"), "{busy}");
    for (flags, problem) in [
        (["--driver", "memry"], "a similar value exists: 'memory'"),
        (["--mode", "flying"], "possible values: floating, fixed"),
        (["--metrics", "everywhere"], "ADDRESS:PORT"),
    ] {
        let output = warmcore(&run(&flags), folder.path());
        let error = text(&output.stderr);
        assert!(output.status.code() == Some(2) && error.contains(problem), "{flags:?}: {error}");
    }
}

/// What `address` answers a scraper.
fn scrape(address: &str) -> String {
    let mut client = TcpStream::connect(address).expect("somebody listens");
    write!(client, "GET /metrics HTTP/1.1\r\nHost: {address}\r\nAccept: text/plain;version=0.0.4\r\n\r\n")
        .unwrap();
    let mut page = String::new();
    client.read_to_string(&mut page).unwrap();
    page
}

/// Packets delivered, as a page has them.
fn delivered(page: &str) -> f64 {
    let counters = page
        .lines()
        .filter(|line| line.starts_with("warmcore_packets_total{") && line.contains("outcome=\"delivered\""));
    counters.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).sum()
}

#[test]
fn while_it_runs_it_is_scraped_and_an_interrupt_ends_it_with_a_report() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_warmcore"))
        .args(["run", "--rate", "5000", "--seconds", "600", "--work-kib", "0", "--metrics", "0", "--json"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary can be run");
    let mut said = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    said.read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("metrics: http://").and_then(|rest| rest.strip_suffix("/metrics"));
    let address = address.unwrap_or_else(|| panic!("{line}")).to_owned();
    assert!(address.starts_with("127.0.0.1:"), "{address}");

    let deadline = Instant::now() + Duration::from_secs(60);
    let mut page = scrape(&address);
    while delivered(&page) == 0.0 {
        assert!(Instant::now() < deadline, "{page}");
        thread::sleep(Duration::from_millis(50));
        page = scrape(&address);
    }
    assert!(page.starts_with("HTTP/1.1 200 OK") && page.contains("# TYPE warmcore_delay_seconds histogram"));
    assert!(scrape(&address).contains("warmcore_busy_seconds_total{worker=\"0\""));

    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill is there");
    assert!(kill.success());
    let output = child.wait_with_output().expect("a child's output");
    let mut rest = String::new();
    said.read_to_string(&mut rest).unwrap();
    assert_eq!(output.status.code(), Some(130), "{rest}");
    let result: Value = serde_json::from_slice(&output.stdout).expect("a report in spite of the interrupt");
    assert_eq!(result["interrupted"], true);
    assert_balanced(&result);
    assert!(rest.contains("interrupted"), "{rest}");
}

#[test]
fn an_unusable_live_table_is_refused_with_file_and_line() {
    let folder = tempfile::tempdir().unwrap();
    for (document, place, problem) in [
        ("[live]\nseconds = 0.0\n", "mine.toml:2:", "`live.seconds` is 0"),
        ("[live]\ndriver = 'pcap'\n", "mine.toml:2:", "unknown name `pcap`"),
    ] {
        fs::write(folder.path().join("mine.toml"), document).unwrap();
        let error = refusal(&["run", "--scenario", "mine.toml"], folder.path());
        assert!(error.contains(place) && error.contains(problem), "{error}");
    }
    assert!(refusal(&["run", "--scenario", "none.toml"], Path::new(".")).contains("none.toml"));
}
