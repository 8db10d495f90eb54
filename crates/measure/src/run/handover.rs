//! Measures the time of a hand-over: how long a cache line takes from one processor to another. This
//! shows the distance between them.

use crate::clock::{self, Ticks, Timer};
use crate::error::RunError;
use crate::run::baton::{Alarm, Baton};
use core::sync::atomic::AtomicBool;
use std::thread;
use warmcore_linux::pin_to;
use warmcore_units::{CpuId, Nanos};

/// Hand-overs are timed in this many batches. The fastest counts, because disturbances only make a
/// hand-over slower.
const BATCHES: u64 = 5;
/// Hand-overs in a batch.
const HOPS: u64 = 16;
/// Readings of [`handover`]. Their median counts.
const READINGS: u64 = 5;

/// Measures the ticks of a hand-over between two processors. Thread 0 returns the result; thread 1
/// helps and returns `None`. `me` is the number of this thread, and `time` counts the exchanges made
/// with this `baton`.
pub(crate) fn exchange(
    baton: &Baton<()>,
    alarm: &Alarm<'_>,
    me: usize,
    time: u64,
) -> Result<Option<Ticks>, RunError> {
    let mut fastest = Ticks::MAX;
    let mut start = clock::now();
    for batch in time * BATCHES..(time + 1) * BATCHES {
        for hop in (0..HOPS).filter(|hop| hop % 2 == me as u64) {
            baton.take(batch * HOPS + hop, alarm)?.pass();
        }
        if me == 0 {
            drop(baton.take((batch + 1) * HOPS, alarm)?);
            let end = clock::now();
            fastest = fastest.min((end - start) / HOPS);
            start = end;
        }
    }
    Ok((me == 0).then_some(fastest))
}

/// Measures how long a hand-over between two processors takes now.
///
/// # Errors
/// If a thread cannot be made or pinned there, or `stop` is set.
pub fn handover(cpus: [CpuId; 2], timer: &Timer, stop: &AtomicBool) -> Result<Nanos, RunError> {
    let baton = Baton::new(());
    let alarm = Alarm::new(stop);
    let take_part = |me: usize| {
        let _pinned = pin_to(cpus[me])?;
        (0..READINGS).map(|time| exchange(&baton, &alarm, me, time)).collect::<Result<Vec<_>, RunError>>()
    };
    let readings = thread::scope(|scope| {
        let second = scope.spawn(|| take_part(1).inspect_err(|_| alarm.raise()));
        let first = scope.spawn(|| take_part(0).inspect_err(|_| alarm.raise()));
        let second = second.join().unwrap_or(Err(RunError::Panicked));
        first.join().unwrap_or(Err(RunError::Panicked)).and_then(|readings| second.map(|_| readings))
    })?;
    let mut ticks: Vec<Ticks> = readings.into_iter().flatten().collect();
    ticks.sort_unstable();
    Ok(timer.nanos(ticks[ticks.len() / 2] as f64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use warmcore_linux::affinity::mask;

    #[test]
    fn a_hand_over_takes_between_1_ns_and_100_us() {
        let allowed = mask().unwrap().iter().collect::<Vec<_>>();
        let [first, second, ..] = allowed[..] else { return };
        let timer = Timer::calibrate();
        let time = handover([first, second], &timer, &AtomicBool::new(false)).unwrap();
        assert!((1.0..100_000.0).contains(&time.0), "{time}");
    }
}
