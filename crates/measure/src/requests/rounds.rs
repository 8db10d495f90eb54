//! The runs of all experiments so far, interleaved, and the values that they give.

use crate::calibrate::interleaved::Interleaved;
use crate::calibrate::rounds::RunCounts;
use crate::calibrate::summary::{Run, RunMean, Series};
use crate::error::CalibrateError;
use crate::requests::experiment::{Part, RequestExperiment};
use crate::requests::run::{Context, Ran};
use crate::run::proximity::Proximity;
use core::sync::atomic::Ordering;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use warmcore_costs::Measured;
use warmcore_costs::socket::SoftirqCpu;

/// How precise a value is to be.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Target {
    pub(crate) least_runs: u32,
    /// Half-width, as a fraction of the mean.
    pub(crate) relative: f64,
}

/// All experiments and their runs.
pub(crate) struct RequestRounds<'a> {
    context: &'a Context<'a>,
    target: Target,
    entries: Vec<Entry>,
    pub(crate) tally: RunCounts,
    /// Why sources had no real-time priority, if they had none.
    pub(crate) without_priority: Option<String>,
}

struct Entry {
    experiment: RequestExperiment,
    series: BTreeMap<(SoftirqCpu, Part), Series>,
    runs: usize,
    cost: Duration,
}

impl<'a> RequestRounds<'a> {
    pub(crate) fn new(context: &'a Context<'a>, target: Target, experiments: Vec<RequestExperiment>) -> Self {
        let entry = |experiment| Entry { experiment, series: BTreeMap::new(), runs: 0, cost: Duration::ZERO };
        let entries = experiments.into_iter().map(entry).collect();
        Self { context, target, entries, tally: RunCounts::default(), without_priority: None }
    }

    /// A value, if it has two runs.
    pub(crate) fn value(
        &self,
        experiment: RequestExperiment,
        softirq: SoftirqCpu,
        part: Part,
    ) -> Option<Measured> {
        let entry = self.entries.iter().find(|entry| entry.experiment == experiment)?;
        entry.series.get(&(softirq, part))?.measured(self.target.relative, &Proximity::ANY)
    }
}

impl Interleaved for RequestRounds<'_> {
    fn count(&self) -> usize {
        self.entries.len()
    }

    fn runs(&self, index: usize) -> usize {
        self.entries[index].runs
    }

    fn cost(&self, index: usize) -> Duration {
        self.entries[index].cost
    }

    fn is_known(&self, index: usize) -> bool {
        let Target { least_runs, relative } = self.target;
        let known = |series: &Series| series.is_known(least_runs, relative, &Proximity::ANY);
        let series = &self.entries[index].series;
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
        let Ran { values, without_priority } = self.context.run(entry.experiment)?;
        self.without_priority = without_priority.or(self.without_priority.take());
        entry.cost = began.elapsed();
        for (key, times) in values {
            self.tally.packets += times.len() as u64;
            let Some(RunMean { mean, set_aside, .. }) = RunMean::new(times) else { continue };
            self.tally.packets_set_aside += set_aside as u64;
            entry.series.entry(key).or_default().push(Run { value: mean, disturbed: false, readings: None });
        }
        Ok(())
    }
}
