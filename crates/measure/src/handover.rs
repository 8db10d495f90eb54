//! How long a line takes from one processor to another: the distance between them.

use crate::baton::{Alarm, Baton};
use crate::clock::{self, Ticks, Timer};
use crate::error::RunError;
use core::sync::atomic::AtomicBool;
use std::thread;
use warmcore_linux::pin_to;
use warmcore_units::{CpuId, Nanos};

/// Hand-overs are timed in so many batches, the fastest of which counts: what disturbs one only
/// makes it slower.
const BATCHES: u64 = 5;
/// Hand-overs in a batch.
const HOPS: u64 = 16;
/// Readings of [`handover`], the median of which counts.
const READINGS: u64 = 5;

/// How many ticks a hand-over between two processors takes, as the first finds out with the help of
/// the second, `me` being which of them this is; the `time`-th such exchange with this `baton`. The
/// second is told nothing.
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

/// How long a hand-over between two processors takes now.
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
    fn a_hand_over_takes_more_than_nothing_and_less_than_a_switch_of_threads() {
        let allowed = mask().unwrap().iter().collect::<Vec<_>>();
        let [first, second, ..] = allowed[..] else { return };
        let timer = Timer::calibrate();
        let time = handover([first, second], &timer, &AtomicBool::new(false)).unwrap();
        assert!((1.0..100_000.0).contains(&time.0), "{time}");
    }
}
