//! One run of one model: connections are opened, warm up, and are measured for a while.

use super::error::TransferError;
use super::options::TransferOptions;
use super::placement::ConnectionPlacement;
use super::running::RunningTransfer;
use super::site::Site;
use crate::model::Model;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use warmcore_linux::inventory::Activity;
use warmcore_linux::{Counters, CpuUsage, EventCounts, Meter, Probe, SchedulerCounts};

/// Time at the beginning of a run that is not measured, while connections reach their rate.
pub const WARM_UP: Duration = Duration::from_millis(300);

/// The results of a run.
#[derive(Clone, PartialEq, Debug)]
pub struct TransferCounts {
    /// Bytes received, by connection.
    pub bytes: Vec<u64>,
    /// What the scheduler did to the ends on this machine, all together.
    pub scheduled: SchedulerCounts,
    /// What the kernel did on the cpus.
    pub activity: Activity,
    /// What the processor counted on them.
    pub counted: EventCounts,
}

/// Runs `model` once. Time is counted on the cpus of `counters`. The caller has
/// [checked](TransferOptions::check) the options.
///
/// # Errors
/// If an end fails, or `stop` is set. Even then nothing is left behind.
pub fn run(
    options: &TransferOptions,
    site: &Site,
    counters: &mut Counters,
    model: Model,
    stop: &AtomicBool,
) -> Result<(TransferCounts, CpuUsage), TransferError> {
    let place = |connection: u8| ConnectionPlacement::new(model, connection.into(), &options.cpus);
    let places: Vec<ConnectionPlacement> = (0..options.connections).map(place).collect();
    let mut transfer = RunningTransfer::start(site, &options.ends, options.load, &places)?;
    let programs = transfer.programs();
    transfer.wait(WARM_UP, stop)?;

    let probe = Probe::new();
    let before = EndCounts::take(&mut transfer)?;
    let (activity, meter) = (probe.activity(counters.cpus())?, Meter::start(counters.cpus(), &programs));
    let begun = counters.read();
    transfer.wait(options.window, stop)?;
    let (spent, counted) = (meter.stop(), counters.read().since(&begun));
    let after = EndCounts::take(&mut transfer)?;
    let activity = probe.activity(counters.cpus())?.since(&activity);
    Ok((after.since(&before, activity, counted), spent))
}

/// The counts of all ends at one moment.
struct EndCounts {
    received: Vec<u64>,
    scheduled: Vec<SchedulerCounts>,
}

impl EndCounts {
    fn take(transfer: &mut RunningTransfer) -> Result<Self, TransferError> {
        Ok(Self { received: transfer.received()?, scheduled: transfer.scheduled()? })
    }

    fn since(&self, earlier: &Self, activity: Activity, counted: EventCounts) -> TransferCounts {
        let received = self.received.iter().zip(&earlier.received);
        let scheduled = self.scheduled.iter().zip(&earlier.scheduled).map(|(now, before)| now.since(before));
        TransferCounts {
            bytes: received.map(|(now, before)| now.saturating_sub(*before)).collect(),
            scheduled: scheduled.sum(),
            activity,
            counted,
        }
    }
}
