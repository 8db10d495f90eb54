//! Options that would change nothing where they stand.

use crate::{folder_with, names, on_one_line, scenario, warmcore};

#[test]
fn an_option_without_effect_is_refused_as_a_misuse() {
    let (_folder, path) = folder_with(&scenario("sgi-challenge-xl", "[100.0]"));
    let tun = ["run", "--driver", "tun", "--address", "10.9.8.7"];
    for (words, option) in [
        (&["study", "--profile", "sgi-challenge-xl", "--intervening", "sleep 9"][..], "--intervening"),
        (&["study", "--scenario", "mine.toml", "--intervening", "sleep 9"], "--intervening"),
        (&["run", "--interface", "eth0"], "--interface"),
        (&["run", "--address", "10.9.8.7"], "--address"),
        (&["run", "--port", "9000"], "--port"),
        (&["run", "--overload", "drop"], "--overload"),
        (&["run", "--rate", "100", "--mode", "fixed", "--work-kib", "64"], "--work-kib"),
        (&["run", "--rate", "100", "--policy", "mru", "--profile", "sgi-challenge-xl"], "--profile"),
        (&["run", "--print-scenario", "--metrics", "0"], "--metrics"),
        (&[&tun[..], &["--rate", "100"]].concat(), "--rate"),
        (&[&tun[..], &["--process", "constant"]].concat(), "--process"),
        (&[&tun[..], &["--payload", "100"]].concat(), "--payload"),
        (&["run", "--rate", "100", "--stacks", "2"], "--stacks"),
        (&["run", "--rate", "100", "--thread-order", "lru"], "--thread-order"),
        (&["run", "--rate", "100", "--batch-distribution", "geometric"], "--batch-distribution"),
        (&["compare", "--approaches", "locking,hybrid", "--stacks", "2"], "--stacks"),
        (&["compare", "--rates", "100", "--rate", "100"], "--rate"),
        (&["compare", "--rate", "100", "--loads", "0.5"], "--rate"),
        (&["compare", "--rate", "100"], "--rate"),
        (&["compare", "--trace", "mine.pcap", "--time-scale", "2"], "--time-scale"),
        (&["compare", "--profile", "sgi-challenge-xl"], "--profile"),
        (&["compare", "--quick", "--profile", "mine.toml"], "--quick"),
        (&["compare", "--policy", "mru", "--policies", "mru,lru"], "--policy"),
        (&["compare", "--approach", "ips", "--approaches", "ips,locking"], "--approach"),
        (&["compare", "--port", "9000"], "--port"),
        (&["host", "plan", "--rate", "100"], "--profile"),
        (&["host", "verify", "plan.toml", "--json"], "--yes"),
    ] {
        let output = warmcore(words, &path);
        let error = on_one_line(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {error}");
        assert!(error.contains(option), "{words:?}: {error}");
        assert_eq!(names(&path), ["mine.toml"], "{words:?}");
    }
}

/// What a document says is no misuse: it may serve several commands.
#[test]
fn a_field_without_effect_is_none_of_the_users_options() {
    let (_folder, path) = folder_with("");
    let document =
        "rate_per_s = 1000.0\n[live]\nport = 9001\nmode = \"fixed\"\nwork_kib = 64\nseconds = 0.1\n";
    std::fs::write(path.join("mine.toml"), document).unwrap();
    let output = warmcore(&["run", "--processors", "1", "--scenario", "mine.toml"], &path);
    assert!(output.status.success(), "{}", on_one_line(&output.stderr));
}
