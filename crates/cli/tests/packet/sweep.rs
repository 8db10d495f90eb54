//! `warmcore sweep packet`: its table, resumption after an interruption, and refused requests.

use super::json;
use crate::{names, refusal, text, warmcore};
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A sweep that a debug build makes in a second or two.
const SWEEP: [&str; 12] = [
    "sweep",
    "packet",
    "--loads",
    "0.1,0.5,0.9",
    "--approaches",
    "locking,ips",
    "--policies",
    "mru,wired",
    "--batches",
    "1,4",
    "--precision",
    "1%",
];

fn into<'a>(out: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&SWEEP[..], &["--out", out], more].concat()
}

fn results(folder: &Path, out: &str) -> Vec<u8> {
    fs::read(folder.join(out).join("results.parquet")).expect("results are written")
}

fn start(arguments: &[&str], folder: &Path) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_warmcore"));
    command
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command.spawn().expect("the binary can be run")
}

/// Waits until the journal in `out` has `lines`, or `child` has ended.
fn wait_for(lines: usize, child: &mut Child, out: &Path) {
    let deadline = Instant::now() + Duration::from_secs(120);
    let finished =
        || fs::read(out.join("points.journal")).unwrap_or_default().split(|&b| b == b'\n').count() - 1;
    while finished() < lines && child.try_wait().expect("a child can be waited for").is_none() {
        assert!(Instant::now() < deadline, "no point is finished within two minutes");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_sweep_has_a_row_for_each_combination() {
    let folder = tempfile::tempdir().unwrap();
    let swept = json(&into("mine", &[]), folder.path());
    let points = swept["points"].as_array().unwrap();
    assert_eq!(points.len(), 2 * 2 * 2 * 3);
    for point in points {
        let load = point["rate_per_s"].as_f64().unwrap() / point["capacity_per_s"].as_f64().unwrap();
        assert!([0.1, 0.5, 0.9].iter().any(|asked| (load - asked).abs() < 0.02), "{load}");
        assert!(point["mean_delay_us"].is_number() && point["p99_us"].is_number(), "{point}");
    }
    assert_eq!(
        names(&folder.path().join("mine")),
        ["points.journal", "report.html", "results.csv", "results.parquet", "sweep.toml"]
    );
    let table = fs::read_to_string(folder.path().join("mine/results.csv")).unwrap();
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 1 + points.len());
    assert!(lines[0].contains("mean_delay [ns]") && lines[1].contains(','), "{}", lines[0]);
    let asked = fs::read_to_string(folder.path().join("mine/sweep.toml")).unwrap();
    assert!(asked.contains("loads = [0.1, 0.5, 0.9]") && asked.contains("precision = 0.01"), "{asked}");
}

/// Killed outright, wherever it was, it goes on from what was finished, and the results are those
/// of a sweep that was left alone, byte for byte.
#[test]
fn a_killed_sweep_goes_on_and_ends_as_if_it_had_not_been() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    assert!(warmcore(&into("whole", &[]), path).status.success());

    let mut child = start(&into("cut", &[]), path);
    wait_for(5, &mut child, &path.join("cut"));
    child.kill().expect("a child can be killed");
    child.wait().expect("a child can be waited for");
    // As if it had been killed in the middle of a line, too.
    let journal = path.join("cut/points.journal");
    let mut text_so_far = fs::read(&journal).unwrap();
    text_so_far.extend_from_slice(b"entry = { key = [\"sche");
    fs::write(&journal, text_so_far).unwrap();

    let error = refusal(&into("cut", &[]), path);
    assert!(error.contains("exists already: give --resume to go on with it, --force"), "{error}");
    let resumed = warmcore(&into("cut", &["--resume"]), path);
    let said = text(&resumed.stderr);
    assert!(resumed.status.success() && said.contains("continuing after"), "{said}");
    assert!(!said.contains("with 0 finished points"), "{said}");
    assert!(results(path, "cut") == results(path, "whole"));
    let request = |out: &str| fs::read(path.join(out).join("sweep.toml")).unwrap();
    assert_eq!(request("cut"), request("whole"));
}

#[test]
fn an_interrupted_sweep_says_how_to_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let rates: Vec<String> = (1..=400).map(|rate| (rate * 100).to_string()).collect();
    let rates = rates.join(",");
    let long = ["sweep", "packet", "--rates", &rates, "--precision", "0.1%", "--out", "long"];
    let mut child = start(&long, folder.path());
    wait_for(2, &mut child, &folder.path().join("long"));
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill is there");
    assert!(kill.success());
    let output = child.wait_with_output().expect("a child's output");
    assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("--resume continues"), "{}", text(&output.stderr));
    assert_eq!(names(&folder.path().join("long")), ["points.journal", "sweep.toml"]);
}

#[test]
fn finished_points_serve_a_sweep_that_asks_for_more() {
    let folder = tempfile::tempdir().unwrap();
    let with = |rates: &str, more: &[&str]| {
        let sweep = ["sweep", "packet", "--precision", "5%", "--out", "mine", "--rates", rates];
        let output = warmcore(&[&sweep[..], more].concat(), folder.path());
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stderr)
    };
    with("1000,2000", &[]);
    assert!(with("1000,2000,3000", &["--resume"]).contains("continuing after 2 finished points"));
    assert!(with("1000,2000,3000", &["--resume"]).contains("continuing after 3 finished points"));
    let begun_anew = with("1000", &["--force"]);
    assert!(!begun_anew.contains("going on"), "{begun_anew}");
}

#[test]
fn points_of_another_machine_are_not_gone_on_with() {
    let folder = tempfile::tempdir().unwrap();
    let profile =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../costs/profiles/sgi-challenge-xl.toml"));
    let mine = folder.path().join("mine.toml");
    fs::write(&mine, profile.as_ref().unwrap()).unwrap();
    let sweep =
        ["sweep", "packet", "--rates", "1000", "--precision", "5%", "--profile", "mine.toml", "--resume"];
    assert!(warmcore(&sweep, folder.path()).status.success());
    fs::write(&mine, profile.unwrap().replacen("SGI Challenge XL", "another", 1)).unwrap();
    let error = refusal(&sweep, folder.path());
    assert!(error.contains("is of another run") && error.contains("another"), "{error}");
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_written() {
    let folder = tempfile::tempdir().unwrap();
    for (flags, problem) in [
        (&["--loads", "-0.5"][..], "--loads is -0.5, expected fractions of the capacity"),
        (&["--rates", "100", "--processors", "8,0"], "'0' for '--processors"),
        (&["--rates", "100", "--processors", "8,8"], "--processors: 8 is given twice"),
        (&["--rates", "5k,5000"], "--rates: 5000 is given twice"),
        (&["--rates", "5k", "--policies", "wired,wired-streams"], "--policies: Wired-Streams is given twice"),
        (&["--rates", "100,-5"], "--rate is -5"),
        (&["--rates", "100", "--batches", "0.5"], "--batch is 0.5"),
        (&["--rates", "100", "--approaches", "ips", "--stacks", "9"], "--stacks is 9"),
        (
            &["--rates", "100", "--approaches", "ips", "--queue", "same-stream-first"],
            "--queue is same-stream-first",
        ),
        (&[], "give --rates, --loads or --rate"),
    ] {
        let error = refusal(&[&["sweep", "packet"], flags].concat(), folder.path());
        assert!(error.contains(problem), "{flags:?}: {error}");
        assert!(names(folder.path()).is_empty(), "{flags:?}");
    }
    for flags in [["--rates", "1", "--loads", "0.5"], ["--policies", "mru", "--policy", "lru"]] {
        let output = warmcore(&[&["sweep", "packet"][..], &flags].concat(), folder.path());
        assert!(text(&output.stderr).contains("cannot be used with"), "{}", text(&output.stderr));
    }
}
