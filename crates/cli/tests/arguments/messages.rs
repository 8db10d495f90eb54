//! What a command says beside its result: --quiet, --verbose and --color, which every command takes.

use crate::{folder_with, text, warmcore};
use std::process::{Command, Stdio};

const POINT: [&str; 7] = ["simulate", "packet", "--rate", "100", "--precision", "20%", "--scenario"];

/// What `simulate` says on standard error, with `flags` after and before the command.
fn said(flags: &[&str]) -> [String; 2] {
    let (_folder, path) = folder_with("");
    std::fs::write(path.join("mine.toml"), "profile = \"sgi-challenge-xl\"\n").unwrap();
    let point = [&POINT[..], &["mine.toml"]].concat();
    [[flags, &point[..]].concat(), [&point[..], flags].concat()].map(|words| {
        let output = warmcore(&words, &path);
        assert!(output.status.success() && !output.stdout.is_empty(), "{}", text(&output.stderr));
        text(&output.stderr)
    })
}

#[test]
fn verbose_says_what_is_read_and_whose_costs_are_used() {
    for said in said(&["--verbose"]) {
        assert!(said.contains("reading the scenario mine.toml") && said.contains("Costs: "), "{said}");
    }
    assert_eq!(said(&[]), ["", ""]);
    let (_folder, path) = folder_with("");
    let both = warmcore(&["machine", "--verbose", "--quiet"], &path);
    assert_eq!(both.status.code(), Some(2));
}

#[test]
fn verbose_says_what_is_looked_at_chosen_and_run() {
    let (_folder, path) = folder_with("");
    warmcore_linux::fake::hosts::two_socket_server()
        .write_to(&path.join("root"))
        .expect("a tree can be written");
    for (line, expected) in [
        ("machine", &["below /\n", "files in /sys/devices/system\n"][..]),
        ("host show --root root", &["below root", "in root/proc\n", "files in root/sys/class/net\n"]),
        (
            "host plan --root root --for server",
            &[
                "files in root/proc/irq\n",
                "planning for throughput",
                "named `server`",
                "costs: unknown",
                "planned ",
            ],
        ),
        (
            "run --processors 1 --rate 100 --seconds 0.1 --work-kib 0 --policy mru",
            &[
                "no profile is used",
                "packets come from memory",
                "running Locking, MRU on cpus ",
                "the run ended after",
            ],
        ),
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let quiet = warmcore(&words, &path);
        let verbose = warmcore(&[&words[..], &["--verbose"]].concat(), &path);
        assert!(verbose.status.success(), "{line}: {}", text(&verbose.stderr));
        for expected in expected {
            assert!(
                text(&verbose.stderr).contains(expected),
                "{line}: {expected}: {}",
                text(&verbose.stderr)
            );
            assert!(!text(&quiet.stderr).contains(expected), "{line}: {expected}");
        }
    }
}

#[test]
fn quiet_leaves_results_and_errors_alone() {
    let (_folder, path) = folder_with("");
    std::fs::write(path.join("mine.toml"), "rate_per_s = 100.0\n[live]\nseconds = 0.1\nwork_kib = 0\n")
        .unwrap();
    let run = ["run", "--processors", "1", "--scenario", "mine.toml", "--metrics", "0"];
    let loud = warmcore(&run, &path);
    assert!(text(&loud.stderr).contains("metrics: http"), "{}", text(&loud.stderr));
    let quiet = warmcore(&[&run[..], &["--quiet"]].concat(), &path);
    assert!(quiet.status.success() && !quiet.stdout.is_empty());
    assert_eq!(text(&quiet.stderr), "");
    let error = warmcore(&["run", "--quiet", "--scenario", "none.toml"], &path);
    assert!(text(&error.stderr).starts_with("error: "));
}

#[test]
fn color_is_used_as_asked_for() {
    let (_folder, path) = folder_with("");
    let colored = |words: &[&str], plain: bool| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_warmcore"));
        command.args(words).current_dir(&path).stdin(Stdio::null());
        if plain {
            command.env("NO_COLOR", "1");
        }
        text(&command.output().expect("the binary can be run").stderr).contains('\u{1b}')
    };
    for words in [["study", "--sped"], ["study", "--scenario=none.toml"]] {
        assert!(!colored(&words, false) && !colored(&words, true), "{words:?}: into a pipe");
        assert!(colored(&[&words[..], &["--color", "always"]].concat(), false), "{words:?}");
        assert!(
            colored(&[&["--color=always"], &words[..]].concat(), true),
            "{words:?}: a flag beats NO_COLOR"
        );
        assert!(!colored(&[&words[..], &["--color", "never"]].concat(), false), "{words:?}");
    }
}

/// Where nobody can be told, a command still ends as it would have.
#[test]
fn a_standard_error_that_cannot_be_written_changes_nothing() {
    let (_folder, path) = folder_with("");
    let run = "run --processors 1 --rate 100 --seconds 0.1 --work-kib 0 --policy mru";
    for (line, status) in [
        ("simulate packet", 2),
        ("report nothere", 2),
        ("study --sped", 2),
        ("simulate packet --rate 100 --profile sgi-challenge-xl --precision 20% -v", 0),
        ("sweep packet --rates 100 --profile sgi-challenge-xl --precision 20% -v", 0),
        (run, 0),
    ] {
        let full = std::fs::File::options().write(true).open("/dev/full").expect("a full device");
        let (reader, unread) = std::io::pipe().expect("a pipe");
        drop(reader);
        for dead in [Stdio::from(full), Stdio::from(unread)] {
            let mut command = Command::new(env!("CARGO_BIN_EXE_warmcore"));
            let words = line.split(' ').chain(["--force"].into_iter().filter(|_| line.starts_with("sweep")));
            command.args(words).current_dir(&path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(dead);
            assert_eq!(command.status().expect("it ends").code(), Some(status), "{line}");
        }
    }
}

/// What could not be printed is an error, also where it is only help.
#[test]
fn output_that_cannot_be_written_is_an_error() {
    let (_folder, path) = folder_with("");
    for words in
        [&["--help"][..], &["study", "--help"], &["help", "run"], &["--version"], &["machine", "--json"], &[]]
    {
        let full = std::fs::File::options().write(true).open("/dev/full").expect("a full device");
        let mut command = Command::new(env!("CARGO_BIN_EXE_warmcore"));
        command.args(words).current_dir(&path).stdin(Stdio::null()).stdout(full);
        let output = command.output().expect("the binary can be run");
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{words:?}: {error}");
        assert!(error.starts_with("error: cannot write to standard output: "), "{words:?}: {error}");
    }
}
