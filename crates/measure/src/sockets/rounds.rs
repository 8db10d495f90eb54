//! The runs of all experiments so far, interleaved, and the values that they give.

use crate::calibrate::interleaved::Interleaved;
use crate::calibrate::rounds::RunCounts;
use crate::calibrate::summary::{Run, RunMean, Series};
use crate::error::CalibrateError;
use crate::run::intervening::Workload;
use crate::run::proximity::{Proximity, Readings};
use crate::sockets::experiment::{Part, SocketExperiment};
use crate::sockets::{SocketContext, SocketPlan};
use core::sync::atomic::Ordering;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use warmcore_costs::Measured;
use warmcore_units::Nanos;

/// Approximate length of a run.
const RUN_LENGTH: Nanos = Nanos(15e6);
/// What a datagram takes beside other work, at most, with everything around it.
const DATAGRAM: Nanos = Nanos(30e3);
/// Fewest datagrams of a run.
const LEAST_PACKETS: usize = 10;
/// After this many consecutive disturbed runs an experiment's runs are halved.
const DISTURBED_BEFORE_HALVING: u32 = 3;

/// All experiments and their runs.
pub(crate) struct SocketRounds<'a> {
    context: &'a SocketContext<'a>,
    plan: &'a SocketPlan,
    entries: Vec<Entry>,
    workloads: [Workload; 2],
    /// The distance of the processors at which runs count.
    pub(crate) proximity: Proximity,
    tally: RunCounts,
}

struct Entry {
    experiment: SocketExperiment,
    series: BTreeMap<Part, Series>,
    packets: usize,
    runs: usize,
    cost: Duration,
    consecutive_disturbed: u32,
}

impl<'a> SocketRounds<'a> {
    pub(crate) fn new(
        context: &'a SocketContext<'a>,
        plan: &'a SocketPlan,
        experiments: Vec<SocketExperiment>,
        workloads: [Workload; 2],
    ) -> Self {
        let entry = |experiment| Entry {
            experiment,
            series: BTreeMap::new(),
            packets: packets_of(experiment, plan.packets_per_run),
            runs: 0,
            cost: Duration::ZERO,
            consecutive_disturbed: 0,
        };
        let entries = experiments.into_iter().map(entry).collect();
        let (proximity, tally) = (Proximity::ANY, RunCounts::default());
        Self { context, plan, entries, workloads, proximity, tally }
    }

    /// The value of a part in an experiment, if it has two runs.
    pub(crate) fn value(&self, experiment: SocketExperiment, part: Part) -> Option<Measured> {
        let entry = self.entries.iter().find(|entry| entry.experiment == experiment)?;
        entry.series.get(&part)?.measured(self.plan.target, &self.proximity)
    }

    /// The experiments.
    pub(crate) fn experiments(&self) -> impl Iterator<Item = SocketExperiment> {
        self.entries.iter().map(|entry| entry.experiment)
    }

    /// All values.
    pub(crate) fn values(&self) -> impl Iterator<Item = Measured> {
        let series = self.entries.iter().flat_map(|entry| entry.series.values());
        series.filter_map(|series| series.measured(self.plan.target, &self.proximity))
    }

    /// How many values use disturbed runs, for lack of others.
    pub(crate) fn relying_on_disturbed(&self) -> usize {
        self.values().filter(|value| value.rests_on_disturbed).count()
    }

    /// The counts so far.
    pub(crate) fn tally(&self) -> RunCounts {
        let moved = self.readings().filter(|readings| !self.proximity.matches(*readings));
        RunCounts { vcpu_moved_runs: moved.count() as u64, ..self.tally }
    }

    /// The distance of the processors in each run that two of them made.
    pub(crate) fn readings(&self) -> impl Iterator<Item = Readings> {
        let series = self.entries.iter().filter_map(|entry| entry.series.values().next());
        series.flat_map(Series::runs).map(|run| run.readings).filter(Option::is_some)
    }

    /// What other work is done between datagrams.
    pub(crate) fn work_description(&self) -> String {
        self.workloads[0].description()
    }
}

/// Datagrams of a run: `most`, or fewer where other work makes them long.
fn packets_of(experiment: SocketExperiment, most: usize) -> usize {
    let work = match experiment {
        SocketExperiment::Turns(situation, _) => situation.work(),
        // The sender waits for the reader to fall asleep.
        SocketExperiment::Asleep => Nanos::from_micros(100.0),
        SocketExperiment::Batch(_) | SocketExperiment::EmptyPoll => Nanos::ZERO,
    };
    let fitting = (RUN_LENGTH / (work + DATAGRAM)) as usize;
    fitting.clamp(LEAST_PACKETS.min(most), most)
}

impl Interleaved for SocketRounds<'_> {
    fn count(&self) -> usize {
        self.entries.len()
    }

    fn begin_round(&mut self) {
        self.proximity = Proximity::from_readings(self.readings());
    }

    fn runs(&self, index: usize) -> usize {
        self.entries[index].runs
    }

    fn cost(&self, index: usize) -> Duration {
        self.entries[index].cost
    }

    fn is_known(&self, index: usize) -> bool {
        let Entry { series, .. } = &self.entries[index];
        let known =
            |series: &Series| series.is_known(self.plan.least_runs, self.plan.target, &self.proximity);
        !series.is_empty() && series.values().all(known)
    }

    fn run(&mut self, index: usize, _late: bool, _: &mut Xoshiro256PlusPlus) -> Result<(), CalibrateError> {
        if self.context.stop.load(Ordering::Relaxed) {
            return Err(CalibrateError::Interrupted);
        }
        let began = Instant::now();
        let entry = &mut self.entries[index];
        entry.runs += 1;
        self.tally.runs += 1;
        let outcome = self.context.run(entry.experiment, entry.packets, &mut self.workloads)?;
        entry.cost = began.elapsed();
        let disturbed = outcome.disturbed;
        self.tally.disturbed_runs += u64::from(disturbed);
        self.tally.packets += outcome.packets as u64;
        self.tally.packets_set_aside += outcome.set_aside as u64;
        entry.consecutive_disturbed = if disturbed { entry.consecutive_disturbed + 1 } else { 0 };
        if entry.consecutive_disturbed == DISTURBED_BEFORE_HALVING {
            entry.packets = (entry.packets / 2).max(LEAST_PACKETS.min(entry.packets));
            entry.consecutive_disturbed = 0;
        }
        for (part, times) in outcome.times {
            let Some(RunMean { mean, set_aside, .. }) = RunMean::new(times) else { continue };
            self.tally.packets_set_aside += set_aside as u64;
            let run = Run { value: mean, disturbed, readings: outcome.readings };
            entry.series.entry(part).or_default().push(run);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sockets::experiment::{Probe, Situation};
    use warmcore_costs::socket::{Delivery, LastUsed, SoftirqCpu};

    #[test]
    fn runs_after_long_work_have_fewer_packets() {
        let packets = |work_us| {
            let (softirq, delivery) = (SoftirqCpu::Reader, Delivery::InCall);
            let situation = Situation { softirq, delivery, last_used: LastUsed::Here, work_us };
            packets_of(SocketExperiment::Turns(situation, Probe::Calls), 200)
        };
        assert_eq!((packets(0), packets(100), packets(1_000)), (200, 115, 14));
        assert_eq!(packets_of(SocketExperiment::EmptyPoll, 5), 5);
    }
}
