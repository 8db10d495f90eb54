//! One run of one model: connections are made, begin to move, and are counted for a while.

use super::error::TransferError;
use super::lead::{Count, Led};
use super::options::Options;
use super::site::{Pair, Site};
use crate::model::Model;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};
use warmcore_linux::inventory::Activity;
use warmcore_linux::{Counted, Counters, Meter, Probe, Scheduled, Spent};

/// What is not counted of a run: connections find their pace.
pub const WARM_UP: Duration = Duration::from_millis(300);
/// Between two looks at whether the user has stopped.
const TICK: Duration = Duration::from_millis(50);
/// Between two looks at whether every end is still there.
const LOOK: Duration = Duration::from_secs(1);

/// What came of a run.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    /// Bytes received, by connection.
    pub bytes: Vec<u64>,
    /// What the scheduler did to the ends on this machine, all together.
    pub scheduled: Scheduled,
    /// What the kernel did on the cpus.
    pub activity: Activity,
    /// What the processor counted on them.
    pub counted: Counted,
}

/// Runs `model` once. Time is counted on the cpus of `counters`, like what they count. The options are [checked](Options::check) before.
///
/// # Errors
/// If an end fails, or `stop` is set. Nothing is left behind then either.
pub fn run(
    options: &Options,
    site: &Site,
    counters: &mut Counters,
    model: Model,
    stop: &AtomicBool,
) -> Result<(Outcome, Spent), TransferError> {
    let mut pairs = site.connect(options, model)?;
    let programs: Vec<u32> = ends(&mut pairs).filter_map(|end| end.process_id()).collect();
    wait(WARM_UP, &mut pairs, stop)?;

    let probe = Probe::new();
    let before = Progress::take(&mut pairs, options)?;
    let (activity, meter) = (probe.activity(counters.cpus())?, Meter::start(counters.cpus(), &programs));
    let begun = counters.read();
    wait(options.window, &mut pairs, stop)?;
    let (spent, counted) = (meter.stop(), counters.read().since(&begun));
    let after = Progress::take(&mut pairs, options)?;
    let activity = probe.activity(counters.cpus())?.since(&activity);
    Ok((after.since(&before, activity, counted), spent))
}

fn ends(pairs: &mut [Pair]) -> impl Iterator<Item = &mut Led> {
    pairs.iter_mut().flat_map(|pair| [&mut pair.near, &mut pair.far])
}

/// Lets the ends work for so long.
fn wait(length: Duration, pairs: &mut [Pair], stop: &AtomicBool) -> Result<(), TransferError> {
    let begun = Instant::now();
    let mut look = LOOK;
    while let Some(left) = length.checked_sub(begun.elapsed()) {
        if stop.load(Ordering::Relaxed) {
            return Err(TransferError::Interrupted);
        }
        if begun.elapsed() > look {
            ends(pairs).try_for_each(|end| end.count().map(drop))?;
            look += LOOK;
        }
        sleep(left.min(TICK));
    }
    Ok(())
}

/// How far all ends are.
struct Progress {
    received: Vec<u64>,
    scheduled: Vec<Scheduled>,
}

impl Progress {
    fn take(pairs: &mut [Pair], options: &Options) -> Result<Self, TransferError> {
        let received = pairs
            .iter_mut()
            .map(|pair| pair.receiver(options.load.direction).count().map(|count| count.bytes));
        let received = received.collect::<Result<_, _>>()?;
        let here = ends(pairs).filter(|end| end.is_here());
        let scheduled = here.map(|end| end.count().map(|Count { scheduled, .. }| scheduled));
        Ok(Self { received, scheduled: scheduled.collect::<Result<_, _>>()? })
    }

    fn since(&self, earlier: &Self, activity: Activity, counted: Counted) -> Outcome {
        let received = self.received.iter().zip(&earlier.received);
        let scheduled = self.scheduled.iter().zip(&earlier.scheduled).map(|(now, before)| now.since(before));
        Outcome {
            bytes: received.map(|(now, before)| now.saturating_sub(*before)).collect(),
            scheduled: scheduled.sum(),
            activity,
            counted,
        }
    }
}
