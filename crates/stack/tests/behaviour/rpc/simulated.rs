//! Thousands of calls over links that lose, double, reorder and delay frames, between peers that reboot.

use super::pair::{Defect, Outcome, Setup, run};
use std::num::NonZero;
use std::thread;

/// Pairs of a run; each makes some 30 calls.
const SEEDS: u64 = 1000;

fn setup(seed: u64) -> Setup {
    Setup { seed, reboots: seed % 2 == 1, defect: None }
}

/// Runs the pair of each of these seeds, and returns the sums.
fn all_end(seeds: impl Iterator<Item = u64>) -> Outcome {
    let zero = Outcome { calls: 0, replies: 0, timeouts: 0, frames: 0, resent: 0, reboots: 0 };
    seeds.fold(zero, |sum, seed| match run(setup(seed)) {
        Ok(outcome) => Outcome {
            calls: sum.calls + outcome.calls,
            replies: sum.replies + outcome.replies,
            timeouts: sum.timeouts + outcome.timeouts,
            frames: sum.frames + outcome.frames,
            resent: sum.resent + outcome.resent,
            reboots: sum.reboots + outcome.reboots,
        },
        Err(fault) => panic!("{fault}"),
    })
}

#[test]
fn each_call_is_served_at_most_once_and_ends_once_with_the_right_bytes() {
    let sum = all_end(0..SEEDS);
    assert!(sum.calls > 20 * SEEDS && sum.frames > 3 * sum.calls, "{sum:?} is too little");
    assert!(sum.reboots > SEEDS / 2 && sum.resent > SEEDS, "{sum:?} has too few faults");
    assert!(sum.replies > sum.calls * 9 / 10, "{sum:?}: too many calls have failed");
    assert!(sum.timeouts < sum.calls / 100, "{sum:?}: too many calls were given up");
}

#[test]
#[ignore = "takes a minute"]
fn a_million_calls_are_served_at_most_once() {
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let run = |first: usize| move || all_end((first as u64..45_000).step_by(threads)).calls;
    let calls: u64 = thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|first| scope.spawn(run(first))).collect();
        running.into_iter().map(|thread| thread.join().expect("a run has failed")).sum()
    });
    assert!(calls > 1_000_000, "only {calls} calls were made");
}

#[test]
fn a_run_is_repeated_by_its_seed() {
    assert_eq!(run(setup(7)), run(setup(7)));
    assert_ne!(run(setup(7)).map(|run| run.frames), run(setup(9)).map(|run| run.frames));
}

#[test]
fn the_checks_notice_a_driver_with_a_defect() {
    let defects = [
        Defect::KeepsBootId,
        Defect::Renumbers,
        Defect::SkipsChecksum,
        Defect::StopsTheClock,
        Defect::NeverReplies,
    ];
    for defect in defects {
        let setup = |seed| Setup { seed, reboots: true, defect: Some(defect) };
        let noticed = (0..200).any(|seed| run(setup(seed)).is_err());
        assert!(noticed, "{defect:?}");
    }
}
