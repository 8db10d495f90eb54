//! `warmcore simulate runqueue` and `warmcore sweep runqueue`: folders that two want, interruptions, and what is refused.

use crate::{names, refusal, text, warmcore};
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A mix that is simulated in moments, or with hours of work in hours.
fn mix(name: &str, work_ms: f64) -> String {
    format!(
        "schema = 1\nname = \"{name}\"\nruns = 2\n[machine]\ncpus = 2\n[[applications]]\nname = \"{name}\"\nprocesses = 3\n\
         work_ms = {work_ms}\nbursts = {{ tail_ms = 1 }}\nends = {{ block = 1, reschedule = 1 }}\n"
    )
}

fn folder_with(mix: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("mix.toml"), mix).expect("a scenario");
    folder
}

fn start(arguments: &[&str], folder: &Path) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_warmcore"));
    command.args(arguments).current_dir(folder).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary can be run")
}

/// Ends `child` by `signal`, and says how it ended.
fn ended_by(signal: &str, child: Child) -> Output {
    let kill = Command::new("kill").args([signal, &child.id().to_string()]).status().expect("kill is there");
    assert!(kill.success());
    child.wait_with_output().expect("a child's output")
}

const SWEEP: [&str; 6] = ["sweep", "runqueue", "--scenario", "mix.toml", "--out", "both"];

#[test]
fn of_sweeps_into_one_new_folder_at_once_one_has_it_and_the_others_are_refused() {
    for round in 0..4 {
        let folder = folder_with(&mix("two", 200.0));
        let children: Vec<Child> = (0..4).map(|_| start(&SWEEP, folder.path())).collect();
        let outputs = children.into_iter().map(|child| child.wait_with_output().expect("a child's output"));
        let (done, refused): (Vec<Output>, Vec<Output>) = outputs.partition(|output| output.status.success());
        assert_eq!(done.len(), 1, "round {round}: one has the folder");
        for output in refused {
            let error = text(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "round {round}: {error}");
            assert!(
                error.contains("in use by another process") || error.contains("exists already"),
                "{error}"
            );
        }
        let files = [
            "applications.csv",
            "applications.parquet",
            "points.journal",
            "report.html",
            "results.csv",
            "results.parquet",
        ];
        assert_eq!(names(&folder.path().join("both")), files, "round {round}");
    }
}

#[test]
fn a_folder_that_another_writes_into_is_neither_replaced_nor_gone_on_with() {
    let folder = folder_with(&mix("two", 20.0));
    let both = folder.path().join("both");
    fs::create_dir(&both).expect("a folder");
    fs::write(both.join("results.csv"), "another's").expect("a file");
    let owner = File::open(&both).expect("the folder");
    owner.try_lock().expect("nobody has it");
    for more in [&[][..], &["--force"], &["--resume"]] {
        let error = refusal(&[&SWEEP[..], more].concat(), folder.path());
        assert!(error.contains("the folder `both` is in use by another process"), "{error}");
    }
    assert_eq!(fs::read_to_string(both.join("results.csv")).expect("it is there"), "another's");
    assert_eq!(names(&both), ["results.csv"]);
    drop(owner);
    assert!(warmcore(&[&SWEEP[..], &["--force"]].concat(), folder.path()).status.success());
}

#[test]
fn an_interrupted_sweep_ends_in_the_middle_of_a_point_and_says_what_it_keeps() {
    let folder = folder_with(&mix("endless", 8e7));
    let journal = folder.path().join("both/points.journal");
    let child = start(&SWEEP, folder.path());
    let deadline = Instant::now() + Duration::from_secs(60);
    while !journal.exists() {
        assert!(Instant::now() < deadline, "no journal within a minute");
        std::thread::sleep(Duration::from_millis(5));
    }
    let output = ended_by("-INT", child);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(said.contains("no point was finished: nothing is kept"), "{said}");
    assert_eq!(names(folder.path()), ["mix.toml"]);

    // With a finished point in the journal that is said, and kept.
    fs::write(folder.path().join("mix.toml"), mix("short", 20.0)).expect("a scenario");
    assert!(warmcore(&[&SWEEP[..], &["--levels", "0"]].concat(), folder.path()).status.success());
    fs::write(folder.path().join("mix.toml"), mix("endless", 8e7)).expect("a scenario");
    let mut child = start(&[&SWEEP[..], &["--resume"]].concat(), folder.path());
    let mut said = BufReader::new(child.stderr.take().expect("standard error"));
    let mut line = String::new();
    said.read_line(&mut line).expect("a line");
    assert!(line.contains("continuing after 1 finished points"), "{line}");
    assert_eq!(ended_by("-TERM", child).status.code(), Some(130));
    let rest: String = said.lines().map_while(Result::ok).collect();
    assert!(rest.contains("1 finished point is kept: the same command with --resume continues"), "{rest}");
    assert!(journal.exists());
}

#[test]
fn a_simulation_ends_at_once_with_the_documented_status() {
    let folder = folder_with(&mix("endless", 8e7));
    let queue = ["simulate", "runqueue", "--scenario", "mix.toml", "--verbose"];
    for signal in ["-INT", "-TERM", "-HUP"] {
        let mut child = start(&queue, folder.path());
        let mut said = BufReader::new(child.stderr.take().expect("standard error"));
        // Signals are caught before anything is read.
        said.read_line(&mut String::new()).expect("a line");
        let output = ended_by(signal, child);
        assert_eq!(output.status.code(), Some(130), "{signal}: {:?}", output.status);
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn what_would_need_too_much_memory_is_refused_with_how_much() {
    let folder =
        folder_with(&mix("large", 20.0).replace("cpus = 2", "cpus = 4096").replace("= 3\n", "= 65536\n"));
    for command in [&SWEEP[..], &["simulate", "runqueue", "--scenario", "mix.toml"]] {
        let error = refusal(command, folder.path());
        assert!(error.contains("4096 with 65536 processes, which need 6.4 GB for each run"), "{error}");
    }
    fs::write(folder.path().join("mix.toml"), mix("small", 20.0)).expect("a scenario");
    let many = |count: usize| (1..=count).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
    let [levels, quanta] = [many(2000), many(2000)];
    let error = refusal(&[&SWEEP[..], &["--levels", &levels, "--quanta", &quanta]].concat(), folder.path());
    assert!(error.contains("have 4000000 combinations, which need 4.8 GB"), "{error}");
    assert_eq!(names(folder.path()), ["mix.toml"]);
}

#[test]
fn a_log_never_replaces_its_scenario() {
    let folder = folder_with(&mix("two", 20.0));
    std::os::unix::fs::symlink("mix.toml", folder.path().join("link")).expect("a link");
    for log in ["mix.toml", "./mix.toml", "link"] {
        let error = refusal(
            &["simulate", "runqueue", "--scenario", "mix.toml", "--log", log, "--force"],
            folder.path(),
        );
        assert!(error.contains("is the scenario itself"), "{error}");
    }
    assert!(
        fs::read_to_string(folder.path().join("mix.toml")).expect("it is there").starts_with("schema = 1")
    );
}

#[test]
fn a_file_of_the_kernel_without_length_is_refused_and_not_read() {
    // Reading it waits for messages of the kernel, and takes them from who should have them.
    for file in ["/proc/kmsg", "/proc/self/maps"] {
        let error = refusal(&["simulate", "runqueue", "--scenario", file], Path::new("."));
        assert!(error.contains("it is empty, or a file of the kernel that tells no length"), "{error}");
    }
}

#[test]
fn control_characters_of_names_are_shown_escaped() {
    let folder = folder_with(&mix(r"a\u001b[2J\r\u0007\nAdvice: yes\u009b", 20.0));
    let output = warmcore(&["simulate", "runqueue", "--scenario", "mix.toml"], folder.path());
    let shown = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(!shown.contains(|letter: char| letter.is_control() && letter != '\n'), "{shown:?}");
    assert!(!shown.lines().any(|line| line.starts_with("Advice: yes")), "{shown}");
    assert!(shown.contains(r"a\u{1b}[2J\r\u{7}\nAdvice: yes\u{9b}: 3 processes"), "{shown}");
    // So are those of an error.
    fs::write(folder.path().join("mix.toml"), "schema = 1\n\"a\\u001b[2J\" = 1\n").expect("a scenario");
    let error = warmcore(&["simulate", "runqueue", "--scenario", "mix.toml"], folder.path()).stderr;
    assert!(!error.contains(&0x1b), "{}", text(&error).escape_debug());
}

/// A mix without end, in which caches count: nothing completes, so only what is computed in the time tells schedulers apart.
const ENDLESS: &str = r#"schema = 1
name = "endless"
seconds = 3
runs = 3
[machine]
cpus = 2
[[applications]]
name = "matrix"
processes = 4
footprint = { reload_misses = 12000, reload_ms = 0.5, steady_misses_per_ms = 300 }
bursts = { tail_ms = 500 }
ends = { reschedule = 1 }
[[applications]]
name = "server"
processes = 3
footprint = { reload_misses = 2000, reload_ms = 0.2 }
bursts = { edges_ms = [0.1, 1, 4], shares = [0.6, 0.4] }
ends = { block = 1 }
blocking = { mean_ms = 3 }
"#;

#[test]
fn a_sweep_of_an_endless_mix_says_what_is_gained_by_whom_and_what_to_do() {
    let folder = folder_with(ENDLESS);
    let output =
        warmcore(&[&SWEEP[..], &["--levels", "light,0,heavy", "--quanta", "30,300"]].concat(), folder.path());
    let said = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let place = |what: &str| said.find(what).unwrap_or_else(|| panic!("{what}: {said}"));
    let order = [
        "the scenario's own",
        "affinity 6 (light), quanta of 30 ms",
        "Advice: ",
        "application",
        "matrix  ",
        "server  ",
    ];
    assert!(order.map(place).is_sorted(), "{said}");
    // The scenario's own is one of the six, and stands once in each of the two tables.
    assert_eq!(said.lines().filter(|line| line.starts_with(" affinity")).count(), 2 * 5, "{said}");
    assert!(said.contains(" % ") && said.contains("cpus") && !said.contains("completion"), "{said}");
    let results = fs::read_to_string(folder.path().join("both/results.csv")).expect("results");
    let header = results.lines().next().expect("a header");
    assert!(header.contains("gain") && header.contains("progress") && header.contains("cpus"), "{header}");
    assert_eq!(results.lines().count(), 1 + 6 * 3);
    let applications = fs::read_to_string(folder.path().join("both/applications.csv")).expect("applications");
    assert_eq!(applications.lines().count(), 1 + 6 * 3 * 2);
    let report = fs::read_to_string(folder.path().join("both/report.html")).expect("a report");
    assert!(report.contains("Advice: ") && report.contains("What other schedulers would gain"));
}

#[test]
fn a_sweep_of_a_fair_scheduler_varies_its_slice_and_is_compared_with_levels_if_asked() {
    let fair = ENDLESS.replacen("[[applications]]", "[scheduler]\nkind = \"fair\"\n[[applications]]", 1);
    let folder = folder_with(&fair);
    let points = |more: &[&str]| {
        let output =
            warmcore(&[&SWEEP[..], &["--force", "--runs", "2", "--json"], more].concat(), folder.path());
        assert!(output.status.success(), "{}", text(&output.stderr));
        let object: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
        let points = object["points"].as_array().expect("points").clone();
        assert!(points[0]["gain_percent"].is_null() && points[1]["gain_percent"]["mean"].is_number());
        points.iter().map(|point| point["scheduler"].as_str().expect("a name").to_owned()).collect::<Vec<_>>()
    };
    // Two cpus: slices of 0.7 ms times 1 + log2 of 2.
    let expected =
        ["the scenario's own", "fair, slices of 0.467 ms", "fair, slices of 4.2 ms", "fair, slices of 14 ms"];
    assert_eq!(points(&[]), expected);
    let expected = ["the scenario's own", "affinity 16 (heavy), quanta of 30 ms", "fair, slices of 7 ms"];
    assert_eq!(points(&["--levels", "heavy", "--slices", "7"]), expected);
}

#[test]
fn levels_are_named_or_numbers() {
    let folder = folder_with(ENDLESS);
    let error = refusal(&[&SWEEP[..], &["--levels", "hefty"]].concat(), folder.path());
    assert!(error.contains("expected `none` (0), `light` (6), `heavy` (16), or a number"), "{error}");
    let error = refusal(&[&SWEEP[..], &["--levels", "light,6"]].concat(), folder.path());
    assert!(error.contains("--levels: 6 is given twice"), "{error}");
}

#[test]
fn one_run_and_no_other_scheduler_make_no_advice() {
    let folder = folder_with(ENDLESS);
    for (more, expected) in [
        (&["--levels", "light", "--runs", "1"][..], "Advice: none. One run has no scatter"),
        (&["--levels", "none", "--runs", "2"], "Advice: none. There is no other scheduler"),
    ] {
        let output = warmcore(&[&SWEEP[..], &["--force"], more].concat(), folder.path());
        let said = text(&output.stdout);
        assert!(output.status.success() && said.contains(expected), "{said}{}", text(&output.stderr));
    }
}
