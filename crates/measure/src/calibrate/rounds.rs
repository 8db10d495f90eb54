//! The runs of a calibration's values, [interleaved] until every half-width is small enough or the time is
//! over, and repeated where values contradict each other.
//!
//! [interleaved]: crate::calibrate::interleaved

use crate::calibrate::interleaved::{self, Interleaved};
use crate::calibrate::plan::CalibrationPlan;
use crate::calibrate::progress::ProgressReporter;
use crate::calibrate::quantity::MeasuredValue;
use crate::calibrate::run_length::{LEAST_PACKETS, packets_per_run};
use crate::calibrate::summary::{Run, RunMean, Series};
use crate::clock::Timer;
use crate::error::{CalibrateError, RunError};
use crate::run::RunContext;
use crate::run::proximity::{PAUSE, Proximity, Readings};
use crate::run::script::{Sample, ScriptRun};
use core::sync::atomic::Ordering;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::{BTreeMap, BTreeSet};
use std::thread;
use std::time::{Duration, Instant};
use warmcore_costs::Measured;
use warmcore_costs::profile::Runs;
use warmcore_units::Nanos;

/// After this many consecutive disturbed runs a value's runs are halved, because a shorter run is less
/// likely to be disturbed.
const DISTURBED_BEFORE_HALVING: u32 = 3;

/// Counts of runs and packets, and of those that did not count.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RunCounts {
    /// Runs, disturbed ones included.
    pub runs: u64,
    /// Runs that were set aside because a thread was preempted, moved, or took a page fault.
    pub disturbed_runs: u64,
    /// Runs that were set aside because the processors were not as far apart as in the others: a
    /// hypervisor had moved one of them.
    pub vcpu_moved_runs: u64,
    /// Timed packets.
    pub packets: u64,
    /// Packets that were set aside because an interrupt hit them.
    pub packets_set_aside: u64,
}

impl From<RunCounts> for Runs {
    fn from(tally: RunCounts) -> Self {
        Self { made: tally.runs, disturbed: tally.disturbed_runs, vcpu_moved: tally.vcpu_moved_runs }
    }
}

/// The runs of one value so far.
struct Measurement {
    quantity: MeasuredValue,
    series: Series,
    timed: u32,
    cost: Duration,
    consecutive_disturbed: u32,
}

/// The runs of all values so far.
pub(crate) struct Rounds<'a> {
    context: &'a RunContext<'a>,
    timer: &'a Timer,
    plan: &'a CalibrationPlan,
    measurements: Vec<Measurement>,
    /// The distance of the processors at which runs count.
    pub(crate) proximity: Proximity,
    /// Hand-over times of runs that were aborted because of the distance.
    aborted: Vec<f64>,
    tally: RunCounts,
}

impl<'a> Rounds<'a> {
    /// Rounds over `quantities`; producing the `k`-th cold state takes `cold_costs[k]`.
    pub(crate) fn new(
        context: &'a RunContext<'a>,
        timer: &'a Timer,
        plan: &'a CalibrationPlan,
        quantities: Vec<MeasuredValue>,
        cold_costs: &[Nanos],
    ) -> Self {
        let packets = packets_per_run(&quantities, cold_costs, plan);
        let measurement = |quantity: MeasuredValue| Measurement {
            quantity,
            series: Series::default(),
            timed: packets.get(&quantity.cold()).copied().unwrap_or(LEAST_PACKETS),
            cost: Duration::ZERO,
            consecutive_disturbed: 0,
        };
        let measurements = quantities.into_iter().map(measurement).collect();
        Self {
            context,
            timer,
            plan,
            measurements,
            proximity: Proximity::ANY,
            aborted: Vec::new(),
            tally: RunCounts::default(),
        }
    }

    /// Runs rounds until every value is known well enough or `deadline` has passed. Every value gets at
    /// least two runs, however late it is.
    ///
    /// # Errors
    /// If a run fails or the user stops.
    pub(crate) fn complete(
        &mut self,
        deadline: Instant,
        rng: &mut Xoshiro256PlusPlus,
        report: &mut ProgressReporter<'_>,
    ) -> Result<(), CalibrateError> {
        interleaved::complete(self, deadline, rng, report)
    }

    /// Repeats runs of values that contradict each other: a colder state came out faster than a warmer
    /// one by more than both are uncertain. Among dozens of pairs of 95% intervals a few miss each
    /// other by chance. More runs tell chance from contradiction; nothing but runs is added.
    ///
    /// # Errors
    /// If a run fails or the user stops.
    pub(crate) fn resolve_contradictions(
        &mut self,
        deadline: Instant,
        rng: &mut Xoshiro256PlusPlus,
    ) -> Result<(), CalibrateError> {
        loop {
            self.update_proximity();
            let mut contradictory = self.contradictory();
            if contradictory.is_empty() || Instant::now() > deadline {
                return Ok(());
            }
            contradictory.shuffle(rng);
            for index in contradictory {
                self.run_once(index, self.proximity, rng)?;
            }
        }
    }

    /// The values that contradict each other.
    fn contradictory(&self) -> Vec<usize> {
        let values = self.values();
        let estimate = |quantity: Option<MeasuredValue>| values.get(&quantity?).map(Measured::estimate);
        let contradicted = |quantity: &MeasuredValue| -> Option<MeasuredValue> {
            let warmer = quantity.warmer()?;
            let (cold, warm) = (estimate(Some(*quantity))?, estimate(Some(warmer))?);
            (cold.mean < warm.mean && !cold.agrees_with(&warm)).then_some(warmer)
        };
        let mut contradictory = BTreeSet::new();
        for measurement in &self.measurements {
            if let Some(warmer) = contradicted(&measurement.quantity) {
                contradictory.extend([measurement.quantity, warmer]);
            }
        }
        (0..self.measurements.len())
            .filter(|&index| contradictory.contains(&self.measurements[index].quantity))
            .collect()
    }

    /// Updates the distance at which runs count, from all runs so far.
    fn update_proximity(&mut self) {
        let aborted = self.aborted.iter().map(|&handover| Some([handover; 2]));
        self.proximity = Proximity::from_readings(self.readings().chain(aborted));
    }

    /// The distance readings of all runs that were not aborted.
    pub(crate) fn readings(&self) -> impl Iterator<Item = Readings> {
        self.measurements.iter().flat_map(|measurement| measurement.series.runs()).map(|run| run.readings)
    }

    /// Makes one run of one value.
    fn run_once(
        &mut self,
        index: usize,
        near: Proximity,
        rng: &mut Xoshiro256PlusPlus,
    ) -> Result<(), CalibrateError> {
        if self.context.stop.load(Ordering::Relaxed) {
            return Err(CalibrateError::Interrupted);
        }
        let measurement = &mut self.measurements[index];
        let began = Instant::now();
        let script = measurement.quantity.script(measurement.timed, self.plan.packets());
        self.tally.runs += 1;
        let outcome = match self.context.run(&script, rng, None, near) {
            Err(RunError::Displaced { handover }) => {
                self.aborted.push(handover.0);
                thread::sleep(PAUSE);
                return Ok(());
            }
            outcome => outcome?,
        };
        measurement.cost = began.elapsed();
        let disturbed = !outcome.disturbance.is_none();
        self.tally.disturbed_runs += u64::from(disturbed);
        self.tally.packets += outcome.samples.len() as u64;
        measurement.consecutive_disturbed = if disturbed { measurement.consecutive_disturbed + 1 } else { 0 };
        if measurement.consecutive_disturbed == DISTURBED_BEFORE_HALVING {
            measurement.timed = (measurement.timed / 2).max(LEAST_PACKETS.min(measurement.timed));
            measurement.consecutive_disturbed = 0;
        }
        if let Some((mean, set_aside)) = value_of(&measurement.quantity, &outcome, self.timer) {
            self.tally.packets_set_aside += set_aside as u64;
            let readings = outcome.readings(self.timer);
            measurement.series.push(Run { value: mean, disturbed, readings });
        }
        Ok(())
    }

    /// The values, with their intervals.
    pub(crate) fn values(&self) -> BTreeMap<MeasuredValue, Measured> {
        let value = |measurement: &Measurement| {
            Some((measurement.quantity, measurement.series.measured(self.plan.target, &self.proximity)?))
        };
        self.measurements.iter().filter_map(value).collect()
    }

    /// The counts so far.
    pub(crate) fn tally(&self) -> RunCounts {
        let runs = self.measurements.iter().flat_map(|measurement| measurement.series.runs());
        let moved = runs.filter(|run| !run.disturbed && !self.proximity.matches(run.readings));
        RunCounts { vcpu_moved_runs: (moved.count() + self.aborted.len()) as u64, ..self.tally }
    }

    /// Hand-over times of runs that were set aside because a virtual processor had moved.
    pub(crate) fn vcpu_moved_handovers(&self) -> Vec<f64> {
        let runs = self.measurements.iter().flat_map(|measurement| measurement.series.runs());
        let moved = runs.filter(|run| !run.disturbed && !self.proximity.matches(run.readings));
        moved.filter_map(|run| run.readings).flatten().chain(self.aborted.iter().copied()).collect()
    }

    /// Packets of a run for each cold state (`None` is hot), as they were at the end.
    pub(crate) fn packets(&self) -> BTreeMap<Option<usize>, u32> {
        let mut packets = BTreeMap::new();
        for measurement in &self.measurements {
            let least = packets.entry(measurement.quantity.cold()).or_insert(measurement.timed);
            *least = measurement.timed.min(*least);
        }
        packets
    }

    /// Number of values that rely on disturbed runs, for lack of others.
    pub(crate) fn relying_on_disturbed(&self) -> usize {
        self.measurements
            .iter()
            .filter(|measurement| measurement.series.relies_on_disturbed(&self.proximity))
            .count()
    }
}

impl Interleaved for Rounds<'_> {
    fn count(&self) -> usize {
        self.measurements.len()
    }

    fn begin_round(&mut self) {
        self.update_proximity();
    }

    fn runs(&self, index: usize) -> usize {
        self.measurements[index].series.runs().len()
    }

    fn cost(&self, index: usize) -> Duration {
        self.measurements[index].cost
    }

    fn is_known(&self, index: usize) -> bool {
        let series = &self.measurements[index].series;
        series.is_known(self.plan.least_runs, self.plan.target, &self.proximity)
    }

    fn run(&mut self, index: usize, late: bool, rng: &mut Xoshiro256PlusPlus) -> Result<(), CalibrateError> {
        // When time is over, any distance is accepted.
        let accepted = if late { Proximity::ANY } else { self.proximity };
        self.run_once(index, accepted, rng)
    }
}

/// The mean time of a run's packets without overhead, or the difference of two such means; and how many
/// packets were set aside.
fn value_of(quantity: &MeasuredValue, outcome: &ScriptRun, timer: &Timer) -> Option<(f64, usize)> {
    let overhead = timer.overhead.mean * quantity.readings();
    let time = |sample: &Sample| (timer.nanos(sample.ticks as f64) - overhead).0;
    if quantity.is_difference() {
        let (with, without): (Vec<&Sample>, _) =
            outcome.samples.iter().partition(|sample| sample.pool_written());
        let with = RunMean::new(with.into_iter().map(time).collect())?;
        let without = RunMean::new(without.into_iter().map(time).collect())?;
        return Some((with.mean - without.mean, with.set_aside + without.set_aside));
    }
    let run = RunMean::new(outcome.samples.iter().map(time).collect())?;
    Some((run.mean, run.set_aside))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_overhead_is_the_difference_of_packets_with_and_without() {
        let timer = Timer::calibrate();
        let sample = |packet, ticks| Sample { ticks, intervened: 0, packet };
        let samples = vec![sample(64, 1500), sample(65, 1000), sample(66, 1500), sample(67, 1000)];
        let outcome = ScriptRun { samples, ..ScriptRun::default() };
        let (difference, set_aside) = value_of(&MeasuredValue::Acquire, &outcome, &timer).unwrap();
        assert!((difference - timer.nanos(500.0).0).abs() < 1e-9);
        assert_eq!(set_aside, 0);
    }
}
