//! Thousands of connections over links that lose, double, reorder, corrupt and delay segments.

use super::pair::{Defect, Setup, run};
use std::num::NonZero;
use std::thread;
use warmcore_stack::tcp::End;

const SEEDS: u64 = 4000;

/// Runs the pair of each of these seeds, and returns how many segments they sent.
fn all_end(seeds: impl Iterator<Item = u64>) -> u64 {
    let segments = |seed| match run(Setup::new(seed)) {
        Ok(outcome) => outcome.segments,
        Err(fault) => panic!("{fault}"),
    };
    seeds.map(segments).sum()
}

#[test]
fn no_byte_is_lost_doubled_or_reordered_and_every_connection_ends() {
    let segments = all_end(0..SEEDS);
    assert!(segments > 20 * SEEDS, "{segments} segments are too few to have tested anything");
}

#[test]
#[ignore = "takes minutes"]
fn a_million_connections_lose_no_byte() {
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    thread::scope(|scope| {
        for first in 0..threads {
            scope.spawn(move || all_end((first as u64..1_000_000).step_by(threads)));
        }
    });
}

#[test]
fn a_connection_that_is_given_up_ends_on_both_sides() {
    let mut resets = 0;
    for seed in 0..SEEDS / 4 {
        match run(Setup { aborts: true, ..Setup::new(seed) }) {
            Ok(outcome) => resets += u64::from(outcome.ends.contains(&Some(End::Reset))),
            Err(fault) => panic!("{fault}"),
        }
    }
    assert!(resets > SEEDS / 40, "only {resets} peers were reset");
}

#[test]
fn header_prediction_changes_no_segment() {
    for seed in 0..SEEDS / 8 {
        let [with, without] = [true, false].map(|on| run(Setup { prediction: Some(on), ..Setup::new(seed) }));
        assert_eq!(with, without);
    }
}

#[test]
fn a_run_is_repeated_by_its_seed() {
    assert_eq!(run(Setup::new(7)), run(Setup::new(7)));
    assert_ne!(run(Setup::new(7)).map(|run| run.trace), run(Setup::new(8)).map(|run| run.trace));
}

#[test]
fn the_checks_notice_a_driver_with_a_defect() {
    let defects = [
        Defect::SkipsChecksum,
        Defect::SendsFinOnce,
        Defect::AcknowledgesTooMuch,
        Defect::Renumbers,
        Defect::StopsTheClock,
    ];
    for defect in defects {
        let noticed = (0..400).any(|seed| run(Setup { defect: Some(defect), ..Setup::new(seed) }).is_err());
        assert!(noticed, "{defect:?}");
    }
}
