//! A mix of programs that is recorded and simulated under the scheduler that it ran under: the simulation agrees.
//!
//! In `make test` one recording, with room for whatever else the machine does. In `make test-long`
//! (`WARMCORE_RECORDINGS=5 cargo test --release --package warmcore-cli --test command -- --ignored recorded_mixes --nocapture`)
//! several of each mix, judged by their medians.

use crate::{text, warmcore};
use serde_json::Value;
use std::env;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// Processes that compute.
const LOOPS: &str = "for i in 1 2 3; do timeout 8 sh -c 'while :; do :; done' & done; wait";
/// Short-lived processes that follow each other, as in a build.
const FORKS: &str =
    "for i in 1 2 3 4; do timeout 8 sh -c 'while :; do ls / | sort >/dev/null; done' & done; wait";

/// What a simulation says as a multiple of what was recorded.
#[derive(Clone, Copy, Debug)]
struct Ratios {
    dispatches: f64,
    migrations: f64,
    utilisation: f64,
}

/// A mix in a process group of its own, ended when it is dropped.
struct Mix(Child);

impl Mix {
    fn start(script: &str) -> Self {
        let child = Command::new("sh")
            .args(["-c", script])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        Self(child.expect("sh runs"))
    }
}

impl Drop for Mix {
    fn drop(&mut self) {
        // What it started ends by itself, after eight seconds at most.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Records `script` and simulates the recording; `None` where tracing is not permitted.
fn compare(script: &str, seconds: &str, folder: &Path) -> Option<Ratios> {
    let mix = Mix::start(script);
    std::thread::sleep(Duration::from_millis(300));
    let recording = warmcore(&["host", "trace", "--seconds", seconds, "-o", "mix.toml", "--force"], folder);
    drop(mix);
    let said = text(&recording.stderr);
    if !recording.status.success() && (said.contains("not permitted") || said.contains("no trace")) {
        println!("skipped: {said}");
        return None;
    }
    assert!(recording.status.success(), "{said}");
    let recorded: toml::Table =
        fs::read_to_string(folder.join("mix.toml")).expect("a scenario").parse().expect("TOML");
    let simulated = warmcore(&["simulate", "runqueue", "--scenario", "mix.toml", "--json"], folder);
    assert!(simulated.status.success(), "{}", text(&simulated.stderr));
    let simulated: Value = serde_json::from_str(&text(&simulated.stdout)).expect("one JSON object");
    let figure = |name: &str| match &recorded["recorded"][name] {
        toml::Value::Integer(count) => *count as f64,
        other => other.as_float().expect("a number"),
    };
    let mean = |name: &str| simulated[name]["mean"].as_f64().expect("a number");
    let seconds = figure("seconds");
    let ratios = Ratios {
        dispatches: mean("dispatches_per_s") * seconds / figure("dispatches"),
        migrations: mean("migrations_per_s") * seconds / figure("migrations"),
        utilisation: mean("utilisation") / figure("utilisation"),
    };
    println!(
        "recorded {} dispatches, {} migrations, utilisation {:.3} in {seconds:.1} s: {ratios:.3?}",
        figure("dispatches"),
        figure("migrations"),
        figure("utilisation")
    );
    Some(ratios)
}

#[test]
fn a_recorded_mix_is_simulated_about_as_it_ran() {
    let folder = TempDir::new().expect("a folder");
    let Some(ratios) = compare(FORKS, "2", folder.path()) else { return };
    assert!((0.4..=2.5).contains(&ratios.dispatches), "{ratios:?}");
    assert!((0.7..=1.4).contains(&ratios.utilisation), "{ratios:?}");
    let output = warmcore(&["simulate", "runqueue", "--scenario", "mix.toml", "--runs", "2"], folder.path());
    let said = text(&output.stdout);
    for expected in
        ["dispatches a second", "migrations a second", "recorded", "UNIX, light affinity", "slices of"]
    {
        assert!(said.contains(expected), "{expected}: {said}");
    }
}

/// Needs minutes. Migrations are printed and not judged: there are few, and simulated ones are often off by more than that.
#[test]
#[ignore = "part of make test-long"]
fn recorded_mixes_are_simulated_nearly_as_they_ran() {
    let count = env::var("WARMCORE_RECORDINGS").ok().and_then(|count| count.parse().ok()).unwrap_or(5);
    let folder = TempDir::new().expect("a folder");
    // Short-lived processes fall short of 15%: 4% to 27% were missing on a busy machine. They are held to a half.
    for (name, script, allowed) in [("loops", LOOPS, 0.15), ("forks", FORKS, 0.5)] {
        println!("{name}:");
        let mut all = Vec::new();
        for _ in 0..count {
            let Some(ratios) = compare(script, "5", folder.path()) else { return };
            all.push(ratios);
        }
        for (what, of) in [
            ("dispatches", (|one| one.dispatches) as fn(&Ratios) -> f64),
            ("utilisation", |one| one.utilisation),
        ] {
            let median = median(all.iter().map(of).collect());
            assert!((median - 1.0).abs() <= allowed, "{name}: {what} {median} in {all:?}");
        }
        println!("migrations: {:.3}", median(all.iter().map(|one| one.migrations).collect()));
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
