//! The command as a user types it: what it prints, what it writes, what it refuses, and that
//! nothing is lost.

mod arguments;
mod host;
mod layout;
mod packet;
mod runqueue;
mod sockets;
mod transfer;
mod tuning;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const FILES: [&str; 6] =
    ["profile.toml", "report.html", "results.csv", "results.parquet", "study.toml", "summary.json"];

fn warmcore(arguments: &[&str], folder: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_warmcore"));
    command.args(arguments).current_dir(folder).stdin(Stdio::null());
    command.output().expect("the binary can be run")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("output is UTF-8")
}

/// The error of a command that must refuse its arguments, with exit status 2.
fn refusal(arguments: &[&str], folder: &Path) -> String {
    ended(arguments, folder, 2)
}

/// The error of a command that must fail at its work, with exit status 1.
fn failure(arguments: &[&str], folder: &Path) -> String {
    ended(arguments, folder, 1)
}

/// Standard error of a command that must end with `status`, on one line.
fn ended(arguments: &[&str], folder: &Path, status: i32) -> String {
    let output = warmcore(arguments, folder);
    let error = on_one_line(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{arguments:?}: {error} {}", text(&output.stdout));
    error
}

/// An error on one line.
fn on_one_line(error: &[u8]) -> String {
    text(error).split_whitespace().collect::<Vec<_>>().join(" ")
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").file_name());
    let mut names: Vec<String> = entries.map(|name| name.to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// A scenario that a debug build finishes in moments.
fn scenario(profile: &str, rates: &str) -> String {
    format!(
        "schema = 1\nseed = 7\n\n[calibration]\nprofile = \"{profile}\"\nbudget_s = 3.0\n\
         intervening_budget_s = 2.0\npackets_per_run = 50\ntarget = 0.01\n\n[prediction]\n\
         processors = [2]\nrates_per_s = {rates}\nprecision = 0.05\nmax_packets = 20000\n"
    )
}

fn folder_with(scenario: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("mine.toml"), scenario).expect("a scenario");
    let path = folder.path().to_owned();
    (folder, path)
}

#[test]
fn with_nothing_typed_it_says_what_to_type_first() {
    let output = warmcore(&[], Path::new("."));
    assert!(output.status.success() && text(&output.stdout).contains("warmcore study"));
}

#[test]
fn every_level_explains_itself() {
    for arguments in [
        &["--help"][..],
        &["study", "--help"],
        &["calibrate", "--help"],
        &["machine", "--help"],
        &["host", "show", "--help"],
        &["host", "capture", "--help"],
        &["simulate", "packet", "--help"],
        &["run", "--help"],
        &["transfer", "--help"],
        &["layout", "trace", "--help"],
        &["layout", "order", "--help"],
        &["layout", "simulate", "--help"],
        &["layout", "measure", "--help"],
        &["transfer", "serve", "--help"],
        &["host", "apply", "--help"],
        &["sweep", "packet", "--help"],
        &["sweep", "grid", "--help"],
        &["reproduce", "salehi-1994", "--help"],
        &["reproduce", "foong-2004", "--help"],
    ] {
        let output = warmcore(arguments, Path::new("."));
        let help = text(&output.stdout);
        assert!(output.status.success() && help.contains("Usage:"), "{arguments:?}: {help}");
        assert!(help.lines().all(|line| line.chars().count() <= 100), "{arguments:?}");
    }
    for shell in ["bash", "zsh", "fish"] {
        let script = text(&warmcore(&["completions", shell], Path::new(".")).stdout);
        assert!(script.contains("calibrate") && script.contains("quick"), "{shell}");
    }
    let manual = text(&warmcore(&["man"], Path::new(".")).stdout);
    assert!(manual.contains(".TH warmcore") && manual.contains("report.html"));
    assert!(manual.contains(".TH warmcore-simulate-packet") && manual.contains("central"));
}

#[test]
fn a_study_writes_its_files_and_repeats_from_its_own_scenario() {
    let (_folder, path) = folder_with(&scenario("sgi-challenge-xl", "[100.0, 10000.0]"));
    let output = warmcore(&["study", "--scenario", "mine.toml", "--out", "first", "--json"], &path);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    assert_eq!(summary["advice"][0]["processors"], 2);
    assert!(summary["advice"][0]["regions"][0]["best"]["policy"].is_string());
    assert_eq!(names(&path.join("first")), FILES);
    let table = fs::read_to_string(path.join("first/results.csv")).unwrap();
    let header: Vec<&str> = table.lines().next().expect("a header").split(',').collect();
    assert!(["processors", "streams", "ended"].iter().all(|column| header.contains(column)), "{header:?}");
    assert!(table.lines().any(|line| line.ends_with(",exhausted")), "{table}");

    let again = warmcore(&["study", "--scenario", "first/study.toml", "--out", "again", "--json"], &path);
    assert_eq!(text(&again.stdout), text(&output.stdout), "the same scenario gives the same figures");
    // And so does the profile beside it, which a scenario may name.
    let from_profile = scenario("profile.toml", "[100.0, 10000.0]");
    fs::write(path.join("first/mine.toml"), from_profile).unwrap();
    for (scenario, out) in [("first/mine.toml", "third"), ("third/study.toml", "fourth")] {
        let again = warmcore(&["study", "--scenario", scenario, "--out", out, "--json"], &path);
        assert_eq!(text(&again.stdout), text(&output.stdout), "{}", text(&again.stderr));
    }
}

#[test]
fn earlier_results_are_kept_unless_force_is_given() {
    let (_folder, path) = folder_with(&scenario("sgi-challenge-xl", "[100.0]"));
    let study = ["study", "--scenario", "mine.toml"];
    assert!(warmcore(&study, &path).status.success());
    let before: Vec<Vec<u8>> = FILES.map(|file| fs::read(path.join("study").join(file)).unwrap()).to_vec();
    let error = refusal(&study, &path);
    assert!(error.contains("exists already") && error.contains("--force"), "{error}");
    let after: Vec<Vec<u8>> = FILES.map(|file| fs::read(path.join("study").join(file)).unwrap()).to_vec();
    assert!(before == after);
    assert!(warmcore(&[&study[..], &["--force"]].concat(), &path).status.success());
}

#[test]
fn unusable_documents_are_refused_with_file_line_and_field() {
    let good = scenario("sgi-challenge-xl", "[100.0]");
    let cases = [
        (
            good.replace("[2]", "[2, 0]"),
            "mine.toml:12:",
            "`prediction.processors.1` is 0, expected between 1",
        ),
        (good.replace("budget_s = 3.0", "budget_s = -3.0"), "mine.toml:6:", "`calibration.budget_s` is -3"),
        (good.replace("seed = 7", "sed = 7"), "mine.toml:2:", "unknown field `sed`, expected one of"),
        (good.replace("seed = 7", "seed = 7 7"), "mine.toml:2:", "not a usable scenario"),
        (good.replace("seed = 7\n", ""), "mine.toml:", "missing field `seed`"),
        (good.replace("schema = 1", "schema = 2"), "mine.toml:1:", "a later version of this program"),
        (good.replace("[100.0]", "[1e9]"), "1.00 G/s", "capacity of the best combination"),
        (good.replace("sgi-challenge-xl", "nowhere.toml"), "nowhere.toml", "cannot read the profile"),
    ];
    for (scenario, place, problem) in cases {
        let (_folder, path) = folder_with(&scenario);
        let error = refusal(&["study", "--scenario", "mine.toml"], &path);
        assert!(error.contains(place) && error.contains(problem), "{error}");
        assert!(!path.join("study/report.html").exists());
    }
}

/// What is missing is named, and why it cannot be read is said once.
#[test]
fn a_file_that_is_not_there_is_told_once() {
    let (_folder, path) = folder_with(&scenario("nowhere.toml", "[100.0]"));
    fs::write(path.join("point.toml"), "rate_per_s = 100.0\nprofile = \"nowhere.toml\"\n").unwrap();
    let (profile, trace) = (["--profile", "nowhere.toml"], ["--trace", "nowhere.pcap", "--rate", "100"]);
    let commands: [(&[&str], &[&str]); 16] = [
        (&["study"], &profile),
        (&["study"], &["--scenario", "nowhere.toml"]),
        (&["study"], &["--scenario", "mine.toml"]),
        (&["reproduce", "salehi-1994"], &profile),
        (&["simulate", "packet", "--rate", "100"], &profile),
        (&["simulate", "packet"], &["--scenario", "nowhere.toml"]),
        (&["simulate", "packet"], &["--scenario", "point.toml"]),
        (&["simulate", "packet"], &trace),
        (&["sweep", "packet", "--loads", "0.5"], &profile),
        (&["sweep", "packet"], &["--scenario", "nowhere.toml"]),
        (&["sweep", "packet"], &trace),
        (&["run", "--policy", "adaptive"], &profile),
        (&["run"], &["--scenario", "nowhere.toml"]),
        (&["run"], &trace),
        (&["compare"], &profile),
        (&["compare"], &trace[..2]),
    ];
    for (command, file) in commands {
        let error = refusal(&[command, file].concat(), &path);
        assert!(error.contains("nowhere"), "{command:?} {file:?}: {error}");
        assert_eq!(error.matches("No such file").count(), 1, "{command:?} {file:?}: {error}");
    }
}

#[test]
fn an_invalid_profile_is_refused_with_file_line_and_field() {
    let (_folder, path) = folder_with(&scenario("sgi-challenge-xl", "[100.0]"));
    assert!(warmcore(&["study", "--scenario", "mine.toml"], &path).status.success());
    let sound = fs::read_to_string(path.join("study/profile.toml")).unwrap();
    let invalid = sound.replacen("mean = 284300.0", "mean = -284300.0", 1);
    assert_ne!(sound, invalid);
    fs::write(path.join("invalid.toml"), &invalid).unwrap();
    let line = 1 + invalid.lines().position(|line| line.contains("-284300")).unwrap();
    let error = refusal(&["study", "--profile", "invalid.toml", "--out", "other"], &path);
    assert!(error.contains(&format!("invalid.toml:{line}: ")), "{error}");
    assert!(error.contains("`times.locking.fully_cold.mean` is -284300 ns"), "{error}");
}

#[test]
fn a_place_that_cannot_be_written_is_refused_before_anything_is_measured() {
    let (_folder, path) = folder_with("");
    fs::write(path.join("file"), "").unwrap();
    let began = Instant::now();
    let error = refusal(&["study", "--quick", "--out", "file/study"], &path);
    assert!(error.contains("cannot create the folder file/study"), "{error}");
    let error = refusal(&["calibrate", "--quick", "--out", "."], &path);
    assert!(error.contains("directory"), "{error}");
    assert!(began.elapsed() < Duration::from_secs(10), "nothing was measured first");
    let unpaired = warmcore(&["calibrate", "--intervening", "yes 'and no", "--out", "p.toml"], &path);
    let error = text(&unpaired.stderr);
    assert!(unpaired.status.code() == Some(2) && error.contains("with quotes in pairs"), "{error}");
}

/// Interrupted while it measures: it ends at once, says so, and leaves no unfinished file and no
/// running child.
#[test]
fn an_interrupt_leaves_whole_files_only() {
    let (_folder, path) = folder_with("");
    let mut child = Command::new(env!("CARGO_BIN_EXE_warmcore"))
        .args(["study", "--out", "study"])
        .current_dir(&path)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary can be run");
    std::thread::sleep(Duration::from_secs(2));
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill is there");
    assert!(kill.success());
    let deadline = Instant::now() + Duration::from_secs(60);
    while child.try_wait().expect("a child can be waited for").is_none() {
        if Instant::now() > deadline {
            child.kill().expect("a child can be killed");
            panic!("the interrupt was not obeyed within a minute");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let output = child.wait_with_output().expect("a child's output");
    assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("interrupted"));
    assert_eq!(names(&path), ["mine.toml"], "no folder stands in the way of the next attempt");
}

/// A comparison that is interrupted says how to go on with what it measured.
#[test]
fn an_interrupted_comparison_says_how_to_go_on() {
    let (_folder, path) = folder_with("");
    let costs = as_measured(&path);
    let words = ["compare", "--profile", costs, "--processors", "1", "--loads", "0.5", "--seconds", "60"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_warmcore"));
    command.args(words).current_dir(&path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let child = command.spawn().expect("the binary can be run");
    let deadline = Instant::now() + Duration::from_secs(60);
    while !path.join("comparison/scenario.toml").exists() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(20));
    }
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill is there");
    assert!(kill.success());
    let output = child.wait_with_output().expect("a child's output");
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(said.contains("`--profile comparison/profile.toml --force` takes them"), "{said}");
    assert_eq!(names(&path.join("comparison")), ["profile.toml", "scenario.toml"]);
}

/// A study that was interrupted after the costs were measured goes on with them when it is asked for again.
#[test]
fn an_interrupted_study_goes_on_with_what_it_measured() {
    let (_folder, path) = folder_with(&scenario("measure", "[100.0]"));
    let machine = warmcore(&["machine", "--json"], &path);
    let machine: serde_json::Value = serde_json::from_slice(&machine.stdout).expect("JSON");
    let measured = published().replace(r#"kind = "published""#, r#"kind = "measured""#).replacen(
        "SGI Challenge XL",
        machine["name"].as_str().expect("a name"),
        1,
    );
    let study = path.join("study");
    fs::create_dir(&study).unwrap();
    fs::write(study.join("profile.toml"), &measured).unwrap();
    fs::copy(path.join("mine.toml"), study.join("study.toml")).unwrap();

    fs::write(path.join("other.toml"), scenario("measure", "[200.0]")).unwrap();
    let error = refusal(&["study", "--scenario", "other.toml"], &path);
    assert!(error.contains("study holds an unfinished study with other settings"), "{error}");
    assert_eq!(names(&study), ["profile.toml", "study.toml"], "nothing is changed");

    let began = Instant::now();
    let output = warmcore(&["study", "--scenario", "mine.toml"], &path);
    let said = text(&output.stderr);
    assert!(output.status.success() && said.contains("going on with study/profile.toml"), "{said}");
    assert_eq!(names(&study), FILES);
    assert!(began.elapsed() < Duration::from_secs(60), "nothing was measured");
    let again = refusal(&["study", "--scenario", "mine.toml"], &path);
    assert!(again.contains("exists already"), "{again}");
}

#[test]
fn machines_we_lack_are_shown_from_a_captured_tree() {
    use warmcore_linux::fake::Tree;
    use warmcore_topology::synthetic;
    for machine in [
        synthetic::two_socket_server(),
        synthetic::hybrid_laptop(),
        synthetic::arm_server(),
        synthetic::single_cpu(),
    ] {
        let (_folder, path) = folder_with("");
        Tree::from_machine(&machine).write_to(&path).expect("a tree can be written");
        let root = path.to_string_lossy();
        let output = warmcore(&["machine", "--root", &root], &path);
        let shown = text(&output.stdout);
        assert!(output.status.success() && shown.contains(&machine.name), "{shown}{}", text(&output.stderr));
        assert_eq!(shown.contains("cannot be measured"), machine.usable_cores().len() == 1);
        let output = warmcore(&["machine", "--root", &root, "--json"], &path);
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(json["cpus"].as_array().map(Vec::len), Some(machine.cpus.len()));
    }
    let (_folder, path) = folder_with("");
    let error = refusal(&["machine", "--root", &path.to_string_lossy()], &path);
    assert!(error.contains("it has neither a `proc` nor a `sys` folder"), "{error}");
}

/// With the process confined to one cpu, what needs two is left out and said to be missing; the
/// rest is measured and predicted.
#[test]
#[ignore = "takes half a minute: `make test-long`"]
fn one_cpu_is_enough_for_a_study() {
    let asked = scenario("measure", "[]").replace("[2]", "[1]");
    let asked = asked.replace("packets_per_run", "server_budget_s = 2.0\npackets_per_run");
    let (_folder, path) = folder_with(&asked);
    let mut command = Command::new("taskset");
    command.args(["-c", "0", env!("CARGO_BIN_EXE_warmcore"), "study", "--scenario", "mine.toml"]);
    let output =
        command.current_dir(&path).stdin(Stdio::null()).output().expect("taskset (util-linux) is there");
    let said = text(&output.stderr);
    if !output.status.success() && said.contains("contradict each other") {
        return println!("skipped: the machine is too busy for so small a budget ({said})");
    }
    assert!(output.status.success(), "{said}");
    assert!(said.contains("the cost of migration cannot be measured"), "{said}");
    let profile = fs::read_to_string(path.join("study/profile.toml")).unwrap();
    assert!(profile.contains("cached.A2") && !profile.contains("cached.B1"), "{profile}");
    assert!(!profile.contains("[free_memory"), "{profile}");
    let report = fs::read_to_string(path.join("study/report.html")).unwrap();
    assert!(report.contains("it takes two processors"));
    // What a server costs takes one cpu only.
    assert!(path.join("study/udp-socket.toml").exists(), "{said}");
    assert!(report.contains("Your server: which way to share its port"));
}

/// A third-party reader finds every row and every unit. `make test` installs it.
#[test]
fn results_are_read_by_another_program() {
    let python = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools/python/bin/python");
    if !python.exists() {
        println!("skipped: needs pyarrow, which `make test` installs into target/tools/python");
        return;
    }
    let (_folder, path) = folder_with(&scenario("sgi-challenge-xl", "[100.0, 10000.0]"));
    assert!(warmcore(&["study", "--scenario", "mine.toml"], &path).status.success());
    let script = "import json, pyarrow.parquet as p\n\
                  t = p.read_table('study/results.parquet')\n\
                  assert t.num_rows == 24 * 2, t.num_rows\n\
                  assert t.column('mean_delay').null_count == 0\n\
                  units = json.loads(t.schema.metadata[b'warmcore:units'])\n\
                  assert units['mean_delay'] == 'ns', units\n\
                  assert set(t.column('policy').to_pylist()) == {'MRU', 'LRU', 'Wired-Streams'}\n";
    let output = Command::new(python).args(["-c", script]).current_dir(&path).output().expect("python runs");
    assert!(output.status.success(), "{}", text(&output.stderr));
}

/// Costs that need not be measured: those of the source's machine.
fn published() -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../costs/profiles/sgi-challenge-xl.toml");
    fs::read_to_string(file).unwrap()
}

/// The same in a file of `folder`, as if they had been measured.
fn as_measured(folder: &Path) -> &'static str {
    let file = "measured.toml";
    fs::write(folder.join(file), published().replace(r#"kind = "published""#, r#"kind = "measured""#))
        .unwrap();
    file
}
