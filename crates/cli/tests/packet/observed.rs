//! What `simulate packet` says besides its summary: in JSON, in a folder, and as events.

use super::{json, number};
use crate::{refusal, text, warmcore};
use serde_json::Value;
use std::fs;
use std::path::Path;

fn point<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let point = ["simulate", "packet", "--rate", "20k", "--policy", "mru", "--profile", "sgi-challenge-xl"];
    [&point[..], &["--packets", "60000"], more].concat()
}

fn succeed(arguments: &[&str], folder: &Path) -> String {
    let output = warmcore(arguments, folder);
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    text(&output.stdout).to_owned()
}

#[test]
fn json_has_what_is_asked_for_and_no_other_figure_changes() {
    let folder = tempfile::tempdir().unwrap();
    let plain = json(&point(&[]), folder.path());
    assert_eq!((&plain["ended"], &plain["fixed_packets"]), (&"fixed-length".into(), &60_000.into()));
    assert_eq!(number(&plain, "packets"), 60_000.0);
    let more = ["--quantiles", "0.5,0.9", "--histogram", "--by-stream", "--time-series", "10ms", "--warm-up"];
    let mut all = json(&point(&more), folder.path());
    let observed = all.as_object_mut().unwrap().remove("observed").expect("what was asked for");
    assert_eq!(plain, all);
    let [median, p90] = [0, 1].map(|index| &observed["quantiles"][index]);
    assert!((number(median, "delay_ns") / 1e3 / number(&all, "p50_us") - 1.0).abs() < 1e-9);
    assert!(number(p90, "half_width_ns") > 0.0 && p90["packets_needed"].is_null());
    let sum = |of: &Value| of.as_array().unwrap().iter().filter_map(Value::as_u64).sum::<u64>();
    let steady = 60_000 - all["warmup_packets"].as_u64().unwrap();
    for counts in [&observed["delays"], &observed["services"], &observed["streams"]] {
        assert_eq!(sum(&counts["packets"]), steady);
    }
    let slower = json(&point(&["--slower-than", "130us"]), folder.path());
    assert!((0.3..0.9).contains(&number(&slower["observed"]["slower"], "share")), "{slower}");
    let rows = observed["series"]["start_ns"].as_array().unwrap().len();
    assert!(
        (250..350).contains(&rows) && observed["series"]["utilisation"].as_array().unwrap().len() == rows
    );
    assert_eq!(observed["warmup"]["warmup_packets"][0], all["warmup_packets"]);
}

#[test]
fn a_folder_has_tables_the_scenario_and_a_report() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let more = ["--out", "out", "--quantiles", "0.9", "--by-stream", "--time-series", "50ms"];
    assert!(succeed(&point(&more), folder.path()).contains("The report: out/report.html"));
    let names = ["results", "quantiles", "delays", "services", "streams", "time-series", "warm-up"];
    for name in names {
        let csv = fs::read_to_string(out.join(format!("{name}.csv"))).unwrap();
        assert!(csv.lines().count() > 1, "{name}: {csv}");
        assert_eq!(&fs::read(out.join(format!("{name}.parquet"))).unwrap()[..4], b"PAR1");
    }
    let series = fs::read_to_string(out.join("time-series.csv")).unwrap();
    assert!(
        series.starts_with("replication,window_start [ns],arrivals,drops,finished,mean_delay [ns]"),
        "{series}"
    );
    let report = fs::read_to_string(out.join("report.html")).unwrap();
    let place = |text: &str| report.find(text).unwrap_or_else(|| panic!("{text}"));
    assert!(
        place("id=\"distribution\"") < place("id=\"warm-up\"")
            && place("id=\"warm-up\"") < place("id=\"time-delay\"")
    );
    // The scenario repeats the point.
    let again = json(&["simulate", "packet", "--scenario", "out/scenario.toml"], folder.path());
    assert_eq!(number(&again, "mean_delay_us"), number(&json(&point(&[]), folder.path()), "mean_delay_us"));
    assert!(refusal(&point(&more), folder.path()).contains("exists already"));
    succeed(&point(&[&more[..], &["--force"]].concat()), folder.path());
}

#[test]
fn events_are_written_in_the_format_of_the_ending() {
    let folder = tempfile::tempdir().unwrap();
    let write = |file: &str| {
        succeed(&point(&["--events", file, "--event-packets", "500"]), folder.path());
        fs::read(folder.path().join(file)).unwrap()
    };
    let (arrow, parquet, csv, json) = (write("e.arrow"), write("e.parquet"), write("e.csv"), write("e.json"));
    assert_eq!(
        (&arrow[..6], &arrow[arrow.len() - 6..], &parquet[..4]),
        (&b"ARROW1"[..], &b"ARROW1"[..], &b"PAR1"[..])
    );
    let csv = text(&csv);
    let mut lines = csv.lines();
    assert_eq!(lines.next(), Some("time [ns],event,packet,stream,cpu,situation"));
    let first = lines.next().expect("a packet arrives");
    assert!(first.contains(",arrival,0,"), "{first}");
    assert_eq!(csv.lines().count(), 1 + 3 * 500);
    let trace: Value = serde_json::from_slice(&json).expect("JSON");
    let events = trace["traceEvents"].as_array().expect("events");
    let slices = events.iter().filter(|event| event["ph"] == "X");
    assert_eq!(slices.count(), 500);
    let wrong = refusal(&point(&["--events", "e.txt"]), folder.path());
    assert!(wrong.contains("--events is e.txt: expected a file that ends in .arrow"), "{wrong}");
    assert!(refusal(&point(&["--events", "e.csv"]), folder.path()).contains("exists already"));
}

#[test]
fn what_has_no_effect_or_cannot_be_known_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (more, expected) in [
        (&["--histogram"][..], "--histogram gives a table"),
        (&["--time-series", "1ms"], "give --out DIR or --json too"),
        (&["--force"], "--force has no effect here"),
        (&["--precision", "1%"], "--precision has no effect here: each run takes exactly --packets"),
        (&["--quantiles", "1.5", "--json"], "--quantiles is 1.5, expected between 0 and 1"),
        (&["--slower-than=-1us"], "--slower-than is -1000, expected a time of zero or more"),
        (&["--quantiles", "0.99999"], "needs 355556000 packets"),
        (&["--time-series", "1ns", "--json"], "--time-series is 1.00 ns, expected at least"),
        (&["--warmup-packets", "30001"], "--warmup-packets is 30001, expected at most 30000"),
    ] {
        let refused = refusal(&point(more), folder.path());
        assert!(refused.contains(expected), "{more:?}: {refused}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}
