//! `warmcore capacity packet`.

use super::{json, number, useless};
use crate::{refusal, text, warmcore};

fn capacity<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["capacity", "packet", "--profile", "sgi-challenge-xl"], more].concat()
}

#[test]
fn the_capacity_is_that_of_simulate_and_names_what_sets_it() {
    let folder = tempfile::tempdir().unwrap();
    let unequal = ["--streams", "16", "--zipf", "1"];
    let wired = json(&capacity(&unequal), folder.path());
    let simulate =
        ["simulate", "packet", "--rate", "1000", "--profile", "sgi-challenge-xl", "--precision", "20%"];
    let simulated = json(&[&simulate[..], &unequal].concat(), folder.path());
    assert!((number(&wired, "capacity_per_s") / number(&simulated, "capacity_per_s") - 1.0).abs() < 0.02);
    assert_eq!((&wired["bound_by"], &wired["busiest"]), (&"processor".into(), &0.into()));
    assert!(number(&wired, "all_processors_per_s") > number(&wired, "capacity_per_s"));
    let mru = json(&capacity(&["--policy", "mru"]), folder.path());
    assert_eq!(
        (&mru["bound_by"], number(&mru, "all_processors_per_s")),
        (&"all-processors".into(), number(&mru, "capacity_per_s"))
    );
    let words = warmcore(&capacity(&unequal), folder.path());
    assert!(text(&words.stdout).contains("It is set by processor 0"), "{}", text(&words.stdout));
}

#[test]
fn a_limit_gives_a_rate_below_the_capacity_with_its_ends() {
    let folder = tempfile::tempdir().unwrap();
    let more = ["--policy", "mru", "--p99-below", "300us", "--max-packets", "400000"];
    let found = json(&capacity(&more), folder.path());
    let within = &found["within"];
    let [least, rate, most] = ["least_per_s", "rate_per_s", "most_per_s"].map(|name| number(within, name));
    assert!(least < rate && rate < most && most <= number(&found, "capacity_per_s") * 1.01, "{within}");
    assert!((most - rate - number(within, "rate_half_width_per_s")).abs() < 1e-6);
    assert!(within["trials"].as_array().unwrap().len() > 3);
}

#[test]
fn what_has_no_effect_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (more, expected) in [
        (&["--rate", "100"][..], "--rate has no effect here: the highest rate is what is asked for"),
        (&["--precision", "1%"], "--precision has no effect here"),
        (&["--max-packets", "20000"], "only --p99-below makes others"),
    ] {
        let refused = useless(&capacity(more), folder.path());
        assert!(refused.contains(expected), "{more:?}: {refused}");
    }
    let refused = refusal(&capacity(&["--p99-below", "0"]), folder.path());
    assert!(refused.contains("--p99-below is") && !refused.contains("in a scenario"), "{refused}");
}
