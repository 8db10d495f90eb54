//! `warmcore sweep grid`, and `sweep packet --vary`: a data set of Parquet files.

use super::json;
use crate::{failure, refusal, text, warmcore};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A grid that a debug build sweeps in a second or two.
const GRID: &str = "schema = 1\n[[axes]]\nfield = \"scheduling.policy\"\nvalues = [\"mru\", \"lru\"]\n[[axes]]\n\
                    field = \"load\"\nvalues = [0.2, 0.5]\n[[axes]]\nfield = \"seed\"\nfrom = 1\nto = 20\n[scenario.run]\n\
                    precision = 0.3\nmax_packets = 10000\n";

fn folder_with_grid(text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("grid.toml"), text).expect("a grid");
    folder
}

/// Every file of the data set in `out`, by its name.
fn files(folder: &Path, out: &str) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(folder.join(out)).expect("a data set").map(|entry| entry.expect("an entry"));
    let mut all: Vec<_> = entries
        .map(|entry| {
            (entry.file_name().to_string_lossy().into_owned(), fs::read(entry.path()).expect("a file"))
        })
        .collect();
    all.sort();
    all
}

#[test]
fn a_grid_becomes_a_data_set_of_the_same_bytes_on_any_number_of_threads() {
    let folder = folder_with_grid(GRID);
    let swept = json(&["sweep", "grid", "grid.toml", "--out", "one", "--jobs", "1"], folder.path());
    assert_eq!((swept["points"].as_u64(), swept["parts"].as_u64()), (Some(80), Some(2)));
    let output = warmcore(&["sweep", "grid", "grid.toml", "--out", "four", "--jobs", "4"], folder.path());
    assert!(
        text(&output.stdout).contains("80 points in 2 files: the data set four"),
        "{}",
        text(&output.stderr)
    );
    assert_eq!(files(folder.path(), "one"), files(folder.path(), "four"));
    let names: Vec<String> = files(folder.path(), "one").into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["_grid.toml", "_manifest.json", "part-00000.parquet", "part-00001.parquet"]);
    // The document in the folder stands for itself.
    let again = json(&["sweep", "grid", "one/_grid.toml", "--out", "again"], folder.path());
    assert_eq!(again["grid"], swept["grid"]);
    let error = refusal(&["sweep", "grid", "grid.toml", "--out", "one"], folder.path());
    assert!(error.contains("has a data set already: resume it (--resume)"), "{error}");
}

#[test]
fn any_field_of_a_sweep_of_packets_can_be_varied() {
    let folder = tempfile::tempdir().unwrap();
    let short =
        ["sweep", "packet", "--profile", "sgi-challenge-xl", "--max-packets", "10000", "--precision", "20%"];
    let vary =
        ["--policies", "mru,lru", "--loads", "0.3", "--vary", "traffic.streams=8,64", "--vary", "seed=1..3"];
    let by = ["--out", "set", "--partition-by", "traffic.streams"];
    let swept = json(&[&short[..], &vary, &by].concat(), folder.path());
    assert_eq!((swept["points"].as_u64(), &swept["partition_by"]), (Some(12), &"traffic.streams".into()));
    assert!(folder.path().join("set/traffic.streams=64/part-00001.parquet").is_file());
    let grid = fs::read_to_string(folder.path().join("set/_grid.toml")).expect("the document");
    assert!(grid.contains("field = \"scheduling.policy\"") && grid.contains("max_packets = 10000"), "{grid}");

    let refused =
        |vary: &str| refusal(&[&short[..], &["--rate", "5000", "--vary", vary]].concat(), folder.path());
    let error = refused("traffic.strems=8");
    assert!(
        error.contains("`traffic.strems` is unknown") && error.contains("did you mean `traffic.streams`?"),
        "{error}"
    );
    let error = refused("traffic.streams=8,many");
    assert!(error.contains("`traffic.streams` is \"many\", expected a whole number"), "{error}");
    let error = refused("seed=1..100000000");
    assert!(error.contains("at most"), "{error}");
    let alone = refusal(&[&short[..], &["--rate", "5000", "--jobs", "2"]].concat(), folder.path());
    assert!(alone.contains("--jobs has no effect here"), "{alone}");
}

#[test]
fn an_option_beside_a_varied_field_that_it_sets_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |rest: &[&str]| {
        let error = refusal(&[&["sweep", "packet", "--out", "set"], rest].concat(), folder.path());
        assert!(!folder.path().join("set").exists());
        error
    };
    let error = refused(&["--rate", "5000", "--vary", "seed=1..3", "--seed", "4"]);
    assert!(error.contains("--seed has no effect here: `seed` is varied"), "{error}");
    let error = refused(&["--loads", "0.5", "--vary", "traffic.streams=3,4", "--streams", "8"]);
    assert!(error.contains("--streams has no effect here"), "{error}");
    let error = refused(&["--rate", "5000", "--vary", "load=0.1,0.2"]);
    assert!(error.contains("--rate has no effect here"), "{error}");
    let error = refused(&["--rate", "5000", "--batch", "3", "--vary", "traffic.batch={mean=2}"]);
    assert!(error.contains("--batch has no effect here"), "{error}");
    // The same field by two axes, one within the other.
    let whole = "traffic={batch={mean=2}}";
    let error = refused(&["--rate", "5000", "--vary", "traffic.streams=3,4", "--vary", whole]);
    assert!(
        error.contains("`traffic` is varied beside `traffic.streams`, expected each field on one axis"),
        "{error}"
    );
}

#[test]
fn an_address_that_is_none_is_refused_before_anything_runs() {
    let folder = folder_with_grid(GRID);
    for address in ["nonsense", "tcp://127.0.0.1", "htp://127.0.0.1:8786"] {
        let error = refusal(&["sweep", "grid", "grid.toml", "--dask", address], folder.path());
        assert!(error.contains("--dask") && error.contains("tcp://scheduler:8786"), "{error}");
        assert!(!error.contains("finished points"), "{error}");
    }
}

#[test]
fn what_is_wrong_in_a_grid_is_named_with_its_line() {
    let folder = folder_with_grid(&GRID.replace("\"lru\"", "\"lruu\""));
    let sweep = ["sweep", "grid", "grid.toml", "--out", "set"];
    let error = refusal(&sweep, folder.path());
    assert!(
        error.contains("grid.toml:2: not a usable grid: `scheduling.policy` is \"lruu\", expected one of"),
        "{error}"
    );
    fs::write(folder.path().join("grid.toml"), GRID.replace("max_packets", "max_pakets")).unwrap();
    let error = refusal(&sweep, folder.path());
    assert!(error.contains("`run.max_pakets` is unknown") && error.contains("`run.max_packets`"), "{error}");
    assert!(!folder.path().join("set").exists(), "nothing is written");
}

#[test]
fn a_killed_sweep_goes_on_where_it_was() {
    let folder = folder_with_grid(&GRID.replace("to = 20", "to = 60").replace("10000", "40000"));
    let sweep = ["sweep", "grid", "grid.toml", "--jobs", "2", "--out"];
    assert!(warmcore(&[&sweep[..], &["straight"]].concat(), folder.path()).status.success());
    let mut command = Command::new(env!("CARGO_BIN_EXE_warmcore"));
    command.args([&sweep[..], &["killed"]].concat()).current_dir(folder.path()).stderr(Stdio::null());
    let mut child = command.stdout(Stdio::null()).spawn().expect("the binary can be run");
    let deadline = Instant::now() + Duration::from_secs(120);
    let journal = |part: &str| fs::read(folder.path().join("killed").join(part)).unwrap_or_default();
    let rows = || (0..4).map(|part| journal(&format!("_part-{part:05}.journal")).len()).sum::<usize>();
    while rows() < 3_000 && child.try_wait().expect("it can be waited for").is_none() {
        assert!(Instant::now() < deadline, "no point is finished within two minutes");
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().expect("it can be killed");
    child.wait().expect("it ends");
    let resumed = warmcore(&[&sweep[..], &["killed", "--resume"]].concat(), folder.path());
    assert!(resumed.status.success(), "{}", text(&resumed.stderr));
    assert_eq!(files(folder.path(), "straight"), files(folder.path(), "killed"));
}

#[test]
fn a_python_that_cannot_sweep_is_named() {
    let folder = folder_with_grid(GRID);
    let program = |name: &str, script: &str| {
        let path = folder.path().join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("a script");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it can be run");
    };
    program("bare", "echo \"ModuleNotFoundError: No module named 'warmcore'\" >&2; exit 1");
    program("old", "echo 0.0.1");
    let error_of = |python: &str| {
        let dask = ["sweep", "grid", "grid.toml", "--dask", "tcp://127.0.0.1:1", "--python", python];
        failure(&dask, folder.path())
    };
    assert!(error_of("./none").contains("cannot run ./none"), "{}", error_of("./none"));
    let bare = error_of("./bare");
    assert!(
        bare.contains("./bare lacks the packages `warmcore` and `distributed` (ModuleNotFoundError"),
        "{bare}"
    );
    assert!(error_of("./old").contains("./old has warmcore 0.0.1, expected"), "{}", error_of("./old"));
    assert!(!folder.path().join("results").exists());
}
