//! What a handler does with an event, whatever handles it.

use core::hint::black_box;
use std::time::Instant;

/// Computes for so many turns, each of which needs the one before.
#[inline(never)]
pub(crate) fn work(turns: u64) {
    let mut state = 1_u64;
    for _ in 0..turns {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        state ^= state >> 31;
    }
    black_box(state);
}

/// How long so many turns of work take, in nanoseconds, one event's after the other's, because
/// processors overlap them: the least of some trials.
pub(crate) fn nanos_of(turns: u64) -> f64 {
    const TRIALS: u32 = 9;
    const CALLS: u32 = 10_000;
    let trial = |_| {
        let begun = Instant::now();
        (0..CALLS).for_each(|_| work(turns));
        begun.elapsed().as_nanos() as f64 / f64::from(CALLS)
    };
    (0..TRIALS).map(trial).fold(f64::INFINITY, f64::min)
}
