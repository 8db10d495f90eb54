//! The decisions of the scheduler in the kernel, compiled natively: every one must be that of `policy::runqueue`.

use std::path::Path;
use std::process::Command;
use warmcore_policy::runqueue::{Affinity, AffinityForm, Decay, Parameters, Record, replay};

const EVENTS: u32 = 40_000;
const CPUS: u32 = 4;

/// The program that plays a machine with `bpf/decide.h`.
fn player(folder: &Path) -> std::path::PathBuf {
    let program = folder.join("decide");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/decide.c");
    let compiled = Command::new("cc")
        .args(["-O1", "-Wall", "-Wextra", "-Werror", "-o"])
        .arg(&program)
        .arg(source)
        .status();
    assert!(compiled.expect("a C compiler").success());
    program
}

fn log(player: &Path, seed: u64, parameters: &Parameters) -> Vec<Record> {
    let Parameters { affinity, decay, cap, exclude_yielder, .. } = parameters;
    let form = u32::from(affinity.form == AffinityForm::Complex);
    let words = [
        affinity.a_p,
        affinity.a_t,
        form,
        decay.numerator,
        decay.denominator,
        *cap,
        u32::from(*exclude_yielder),
    ];
    let output = Command::new(player)
        .args([seed.to_string(), EVENTS.to_string(), CPUS.to_string()])
        .args(words.map(|word| word.to_string()))
        .output()
        .expect("it runs");
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).expect("text");
    text.lines().map(|line| line.parse().unwrap_or_else(|error| panic!("{line}: {error}"))).collect()
}

#[test]
fn every_pick_is_that_of_the_policy() {
    let folder = tempfile::tempdir().expect("a folder");
    let player = player(folder.path());
    let thirds = Decay { numerator: 2, denominator: 3, ..Decay::default() };
    let plain = Parameters::default();
    let variants = [
        plain,
        Parameters { affinity: Affinity::LIGHT, ..plain },
        Parameters { affinity: Affinity::HEAVY, decay: thirds, ..plain },
        Parameters { affinity: Affinity::complex(6), cap: 20, ..plain },
        Parameters {
            affinity: Affinity { a_p: 2, a_t: 9, form: AffinityForm::Complex },
            exclude_yielder: false,
            ..plain
        },
    ];
    for (variant, parameters) in variants.into_iter().enumerate() {
        for seed in 1..=4 {
            let log = log(&player, seed, &parameters);
            let held = replay(parameters, CPUS, log)
                .unwrap_or_else(|error| panic!("seed {seed}, {parameters}: {error}"));
            assert!(held > 2000, "variant {variant}, seed {seed}: {held} picks");
        }
    }
}

#[test]
fn other_constants_are_noticed() {
    let folder = tempfile::tempdir().expect("a folder");
    let player = player(folder.path());
    let light = Parameters { affinity: Affinity::LIGHT, ..Parameters::default() };
    let log = log(&player, 1, &light);
    for other in [
        Parameters { affinity: Affinity::HEAVY, ..light },
        Parameters { affinity: Affinity::complex(6), ..light },
        Parameters { exclude_yielder: false, ..light },
        Parameters { decay: Decay { numerator: 2, denominator: 3, ..Decay::default() }, ..light },
    ] {
        assert!(replay(other, CPUS, log.clone()).is_err(), "{other}");
    }
}
