//! Options without effect, defaults, and refused or resumed work.

use super::{json, number, useless};
use crate::{names, on_one_line, refusal, text, warmcore};
use std::fs;
use std::path::Path;

const PUBLISHED: &str = include_str!("../../../costs/profiles/sgi-challenge-xl.toml");

const HEAVY: &str = "self-similar:alpha=1.4,burst=20,peak=10";

fn point<'a>(flags: &[&'a str]) -> Vec<&'a str> {
    let quick = ["simulate", "packet", "--rate", "20000", "--max-packets", "20000"];
    let precision = ["--precision", "10%"];
    let has_one = flags.contains(&"--precision") || flags.iter().any(|flag| flag.starts_with("self-similar"));
    [&quick[..], if has_one { &[] } else { &precision }, flags].concat()
}

/// Each of these kept the simulator busy for ever.
#[test]
fn what_would_never_end_is_refused_with_the_range() {
    let folder = tempfile::tempdir().unwrap();
    for (process, problem) in [
        (
            "self-similar:alpha=1.0000001,burst=20,peak=10",
            "--process: `alpha` is 1.0000001, expected a number from 1.05 to 1.99",
        ),
        (
            "modulated:ratio=2,calm-us=1e-9,busy-us=1e-9",
            "expected with `busy_us` at least 5.0e-1 at this rate",
        ),
        ("modulated:ratio=2,calm-us=1e300,busy-us=500", "expected a number of microseconds above 0, at most"),
    ] {
        let error = refusal(&point(&["--process", process]), folder.path());
        assert!(error.contains(problem), "{process}: {error}");
    }
    // The narrowest that is allowed comes to its end.
    json(&point(&["--process", "self-similar:alpha=1.05,burst=1,peak=1.001"]), folder.path());
}

#[test]
fn a_profile_in_which_a_packet_takes_for_ever_is_refused_with_file_key_and_range() {
    let folder = tempfile::tempdir().unwrap();
    let mut profile: toml::Table = PUBLISHED.parse().unwrap();
    profile["times"]["locking"]["fully_cold"]["mean"] = 1e300.into();
    fs::write(folder.path().join("mine.toml"), profile.to_string()).unwrap();
    let error = refusal(&point(&["--profile", "mine.toml"]), folder.path());
    for expected in
        ["mine.toml", "`times.locking.fully_cold.mean` is 1e300 ns", "expected between 0 ns and 1 s"]
    {
        assert!(error.contains(expected), "{error}");
    }
}

/// A `profile.toml` that is no file is an error: the built-in profile does not silently replace it.
#[test]
fn a_profile_path_that_is_no_file_is_refused() {
    for (make, problem) in [
        (
            (|path| std::os::unix::fs::symlink("nowhere", path)) as fn(&Path) -> std::io::Result<()>,
            "it is a link to nowhere",
        ),
        (|path| fs::create_dir(path), "it is a directory"),
        (|path| std::os::unix::fs::symlink("/dev/null", path), "it is a device"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        make(&folder.path().join("profile.toml")).unwrap();
        let error = refusal(&point(&[]), folder.path());
        assert!(error.contains("the one found here cannot be used") && error.contains(problem), "{error}");
    }
}

#[test]
fn an_option_without_effect_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (flags, problem) in [
        (&["--stacks", "4"][..], "--stacks has no effect here: Locking has one stack"),
        (&["--stacks", "per-processor"], "--stacks has no effect here"),
        (&["--approach", "hybrid", "--stacks", "4"], "Hybrid has one stack for each processor"),
        (&["--approach", "ips", "--map-lock-ns", "100"], "--map-lock-ns has no effect here"),
        (&["--approach", "hybrid", "--session-lock-ns", "100"], "nobody waits for a lock"),
        (&["--thread-order", "lru"], "--thread-order has no effect here: only a global pool"),
        (&["--batch-distribution", "geometric"], "packets arrive one by one; see --batch"),
        (&["--sizes", "64:1"], "no byte costs anything"),
        (&["--checksum-ns-per-byte", "30"], "packets have no bytes; see --sizes"),
        (&["--copy-ns-per-byte", "30"], "packets have no bytes; see --sizes"),
        (&["--send-path", "0.5"], "no packet is sent; see --send-fraction"),
        (
            &["--staleness-ns", "500"],
            "--staleness-ns has no effect here: each stream is wired to a processor, whatever the others do",
        ),
        (&["--process", HEAVY, "--precision", "1%"], "--precision has no effect here: no interval holds"),
    ] {
        let error = useless(&point(flags), folder.path());
        assert!(error.contains(problem), "{flags:?}: {error}");
    }
    let used = ["--approach", "ips", "--stacks", "4", "--threads", "global", "--thread-order", "lru"];
    json(&point(&used), folder.path());
    json(&point(&["--policy", "mru", "--staleness-ns", "500"]), folder.path());
}

/// An option that affects one point of a sweep is accepted.
#[test]
fn a_sweep_refuses_what_changes_none_of_its_points() {
    let folder = tempfile::tempdir().unwrap();
    let sweep = |approaches: &'static str| {
        [
            "sweep",
            "packet",
            "--rates",
            "1000",
            "--precision",
            "10%",
            "--stacks",
            "4",
            "--approaches",
            approaches,
        ]
    };
    let error = useless(&sweep("locking,hybrid"), folder.path());
    assert!(error.contains("--stacks has no effect here"), "{error}");
    assert!(names(folder.path()).is_empty());
    assert!(warmcore(&sweep("locking,ips"), folder.path()).status.success());
}

#[test]
fn the_profile_that_was_measured_here_is_used_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let said = || text(&warmcore(&point(&[]), folder.path()).stdout);
    assert!(said().contains("another machine (SGI Challenge XL, published 1994-10-15)"), "{}", said());
    let result = json(&point(&[]), folder.path());
    assert_eq!(
        (&result["profile_chosen"], &result["profile"]),
        (&"default".into(), &"sgi-challenge-xl".into())
    );

    let mine = PUBLISHED.replacen("SGI Challenge XL", "this very machine", 1);
    fs::create_dir(folder.path().join("study")).unwrap();
    fs::write(folder.path().join("study/profile.toml"), &mine).unwrap();
    assert!(said().contains("Costs: study/profile.toml, found here (this very machine"), "{}", said());
    fs::write(folder.path().join("profile.toml"), &mine).unwrap();
    let result = json(&point(&[]), folder.path());
    assert_eq!((&result["profile_chosen"], &result["profile"]), (&"found".into(), &"profile.toml".into()));
    assert_eq!(result["machine"], "this very machine");

    // What is named is what is taken, by a flag or by a document.
    let named = json(&point(&["--profile", "sgi-challenge-xl"]), folder.path());
    assert_eq!((&named["profile_chosen"], &named["machine"]), (&"named".into(), &"SGI Challenge XL".into()));
    fs::write(folder.path().join("point.toml"), "profile = 'sgi-challenge-xl'\n").unwrap();
    let named = json(&point(&["--scenario", "point.toml"]), folder.path());
    assert_eq!(named["machine"], "SGI Challenge XL");

    let swept = warmcore(&["sweep", "packet", "--rates", "1000", "--precision", "10%"], folder.path());
    assert!(text(&swept.stdout).contains("Costs: profile.toml, found here"), "{}", text(&swept.stdout));
    let report = fs::read_to_string(folder.path().join("results/report.html")).unwrap();
    assert!(report.contains("Costs: profile.toml, found here"));
}

#[test]
fn a_profile_that_was_found_but_cannot_be_used_is_refused_in_words() {
    let folder = tempfile::tempdir().unwrap();
    let profile =
        PUBLISHED.replacen("size = 32768, line = 32, ways = 1", "size = 32768, line = 32, ways = 0", 1);
    assert_ne!(profile, PUBLISHED);
    fs::write(folder.path().join("profile.toml"), profile).unwrap();
    let error = refusal(&point(&[]), folder.path());
    assert!(error.contains("no --profile is given, and the one found here cannot be used"), "{error}");
    assert!(error.contains("is 32 KiB in lines of 32 B, 0 ways, expected"), "{error}");
}

/// The reported capacity of independent stacks is the rate at which the busiest of them saturates.
#[test]
fn the_busiest_stack_limits_the_capacity() {
    let folder = tempfile::tempdir().unwrap();
    let at = |rate: &str| {
        let flags =
            ["simulate", "packet", "--approach", "ips", "--policy", "mru", "--zipf", "1", "--streams", "64"];
        let more = ["--rate", rate, "--precision", "10%", "--max-packets", "50000"];
        json(&[&flags[..], &more].concat(), folder.path())
    };
    let capacity = number(&at("1000"), "capacity_per_s");
    // The first stack has streams 1, 9, 17, …: 27.5% of the packets, at 57.4 µs each and some more.
    assert!((50_000.0..63_500.0).contains(&capacity), "{capacity}");
    assert_eq!(at(&format!("{}", capacity * 0.8))["saturated"], false);
    assert_eq!(at(&format!("{}", capacity * 1.1))["saturated"], true);
}

/// Section 6.6: under the Hybrid and Wired-Streams one stream's capacity grows by 57.4 µs a processor.
#[test]
fn one_stream_uses_every_processor_under_the_hybrid() {
    let folder = tempfile::tempdir().unwrap();
    for processors in ["1", "4", "8"] {
        let flags =
            ["--approach", "hybrid", "--policy", "wired", "--streams", "1", "--processors", processors];
        let result = json(&point(&flags), folder.path());
        let each = processors.parse::<f64>().unwrap() / number(&result, "capacity_per_s") * 1e6;
        assert!((each - 57.4).abs() < 0.6, "{processors} processors: {each} µs");
    }
}

#[test]
fn what_could_not_be_finished_is_not_begun() {
    let folder = tempfile::tempdir().unwrap();
    for command in [&["simulate", "packet", "--rate", "1000"][..], &["sweep", "packet", "--rates", "1000"]] {
        let error = refusal(&[command, &["--streams", "16777216"]].concat(), folder.path());
        assert!(error.contains("--streams is 16777216, expected at most 5000000"), "{error}");
    }
    assert!(names(folder.path()).is_empty());
}

fn swept(rates: &str, more: &[&str], folder: &Path) -> std::process::Output {
    let sweep = ["sweep", "packet", "--precision", "10%", "--out", "mine", "--rates", rates];
    warmcore(&[&sweep[..], more].concat(), folder)
}

#[test]
fn a_sweep_is_not_gone_on_with_as_another_one() {
    let folder = tempfile::tempdir().unwrap();
    assert!(swept("1000,2000", &[], folder.path()).status.success());
    let files = ["sweep.toml", "results.csv", "results.parquet", "report.html", "points.journal"];
    let content = || files.map(|file| fs::read(folder.path().join("mine").join(file)).unwrap());
    let before = content();
    for (rates, more, difference) in [
        (
            "2000,3000",
            &[][..],
            "it has `rates_per_s = [1000.0, 2000.0]`, but you ask for `rates_per_s = [2000.0, 3000.0]`",
        ),
        ("1000,2000", &["--policies", "mru"], "but you ask for `policies = [\"mru\"]`"),
        ("1000,2000", &["--seed", "2"], "it has `seed = 1`, but you ask for `seed = 2`"),
    ] {
        let output = swept(rates, &[&["--resume"], more].concat(), folder.path());
        let error = on_one_line(&output.stderr);
        assert!(error.contains("is of another sweep") && error.contains(difference), "{error}");
        assert!(before == content());
    }
    assert!(swept("1000,2000,3000", &["--resume"], folder.path()).status.success());
}

/// Results are not replaced if the request that made them is lost.
#[test]
fn a_sweep_whose_request_is_lost_is_not_gone_on_with() {
    let folder = tempfile::tempdir().unwrap();
    assert!(swept("1000", &[], folder.path()).status.success());
    let mine = folder.path().join("mine");
    fs::remove_file(mine.join("sweep.toml")).unwrap();
    let before = fs::read(mine.join("results.parquet")).unwrap();
    let error = on_one_line(&swept("2000", &["--resume"], folder.path()).stderr);
    assert!(error.contains("mine has results.parquet but no sweep.toml"), "{error}");
    assert!(before == fs::read(mine.join("results.parquet")).unwrap() && !mine.join("sweep.toml").exists());
    assert!(swept("2000", &["--force"], folder.path()).status.success());
}

#[test]
fn a_refused_sweep_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    for axis in [["--loads", "1e-12"], ["--rates", "1e-9"]] {
        let sweep = ["sweep", "packet", "--precision", "10%", "--out", "new/mine"];
        let error = refusal(&[&sweep[..], &axis].concat(), folder.path());
        assert!(error.contains("expected"), "{error}");
        assert!(names(folder.path()).is_empty(), "{axis:?}: {:?}", names(folder.path()));
    }
}
