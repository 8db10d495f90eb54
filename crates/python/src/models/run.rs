//! What is done with a simulation of one's own: a result, observations, the runs of a comparison.

use crate::failure::Failure;
use crate::policy::{CostFunction, PythonCosts, Raised};
use warmcore_policy::dispatch::Waiting;
use warmcore_policy::{Policy, Queues};
use warmcore_scenario::OpenTraffic;
use warmcore_sim::packet::compare::Replications;
use warmcore_sim::packet::observe::{EventTrace, Observations, Observed as Seen};
use warmcore_sim::packet::{Capacity, Ended, Outcome, Packet, PointResult, Simulation, SimulationError};
use warmcore_units::{Nanos, PerSecond};
use warmcore_workload::{Arrivals, Key, TimeFactors, Trace};

/// The number of the replication whose arrivals the capacity is measured with, as of other points.
const CAPACITY_REPLICATION: u64 = u64::MAX;

/// Something to do with a simulation of one's own.
pub(crate) trait OwnTask {
    /// What it comes to.
    type Output;
    /// Whether it has runs of its own number, so that the scenario may ask for several.
    const REPLICATES: bool = false;

    /// Does it.
    fn perform<P: Policy, W: Waiting<Job = Packet>>(
        self,
        ready: Ready<'_, Own<P, W>>,
    ) -> Result<Self::Output, Failure>;
}

/// A simulation with costs of one's own.
type Own<P, W> = Simulation<P, PythonCosts, W, TimeFactors>;

/// A simulation of one's own, and what its runs are judged by.
pub(crate) struct Ready<'a, S> {
    pub(super) simulation: S,
    pub(super) seed: u64,
    pub(super) rate: PerSecond,
    /// Whether the run's length is given.
    pub(super) is_fixed: bool,
    pub(super) has_stacks: bool,
    pub(super) traffic: &'a OpenTraffic,
    pub(super) raised: &'a Raised,
    pub(super) function: Option<CostFunction>,
}

impl<'a> Ready<'a, ()> {
    pub(super) fn with<S>(self, simulation: S) -> Ready<'a, S> {
        let Self { seed, rate, is_fixed, has_stacks, traffic, raised, function, .. } = self;
        Ready { simulation, seed, rate, is_fixed, has_stacks, traffic, raised, function }
    }
}

impl<P: Policy, W: Waiting<Job = Packet>> Ready<'_, Own<P, W>> {
    /// Makes the next run the `replication`.
    fn begin(&mut self, replication: u64) -> Key {
        let key = Key { seed: self.seed, point: self.rate.0.to_bits(), replication };
        self.simulation.set_key(key);
        if let Some(function) = &self.function {
            function.begin(key);
        }
        key
    }

    /// Does `work` with the simulation and the arrivals of this `replication`, from their start.
    fn run<T>(
        &mut self,
        replication: u64,
        work: impl FnOnce(&Own<P, W>, &mut dyn Arrivals) -> Result<T, SimulationError>,
    ) -> Result<T, Failure> {
        let key = self.begin(replication);
        let done = work(&self.simulation, &mut *self.traffic.source(self.rate, key)?);
        self.raised.check()?;
        done.map_err(failure)
    }

    fn capacity(&mut self) -> Result<Capacity, Failure> {
        let key = self.begin(CAPACITY_REPLICATION);
        let capacity = self.simulation.capacity(&mut *self.traffic.endless(self.rate, key)?);
        self.raised.check()?;
        capacity.map_err(failure)
    }

    fn is_trace(&self) -> bool {
        self.traffic.trace().is_some()
    }

    /// The capacity and the steady state.
    fn result(&mut self) -> Result<PointResult, Failure> {
        let capacity = self.capacity()?;
        let rate = self.rate;
        let capture = self.traffic.trace().map(Trace::capture);
        if capture.is_none() && capacity.is_exceeded_by(rate) {
            return Ok(PointResult { rate, capacity, outcome: None, capture });
        }
        // The busiest of several queues may be too busy long before all processors are: what it keeps up with is not known.
        let is_known = P::QUEUES == Queues::Common && !self.has_stacks;
        let capacity = if is_known { capacity } else { capacity.unknown() };
        let mut outcome = self.run(0, |simulation, arrivals| simulation.run(arrivals))?;
        if self.is_fixed && outcome.ended == Ended::Exhausted {
            outcome.ended = Ended::FixedLength;
        }
        outcome.ended = capacity.judge(rate, outcome.ended);
        match outcome.ended {
            _ if capture.is_some() => set_half_widths(&mut outcome, None),
            // Near capacity the spread within a run does not show how far its means are off.
            Ended::NearCapacity | Ended::Unknown => {
                let Outcome { service, utilisation, .. } = outcome;
                set_half_widths(&mut outcome, Some(f64::INFINITY));
                outcome = Outcome { service, utilisation, ..outcome };
            }
            _ => {}
        }
        Ok(PointResult { rate, capacity, outcome: Some(outcome), capture })
    }
}

/// Simulates the point.
pub(crate) struct Simulated;

impl OwnTask for Simulated {
    type Output = PointResult;

    fn perform<P: Policy, W: Waiting<Job = Packet>>(
        self,
        mut ready: Ready<'_, Own<P, W>>,
    ) -> Result<PointResult, Failure> {
        ready.result()
    }
}

/// Simulates the point, and its run once more for what is wanted besides; and for its first events, if there are to be any.
pub(crate) struct Observed<'w> {
    pub(crate) wanted: &'w Observations,
    pub(crate) events: u64,
}

impl OwnTask for Observed<'_> {
    type Output = (PointResult, Seen, Option<EventTrace>);

    fn perform<P: Policy, W: Waiting<Job = Packet>>(
        self,
        mut ready: Ready<'_, Own<P, W>>,
    ) -> Result<Self::Output, Failure> {
        let Self { wanted, events } = self;
        ready.simulation.check_observations(wanted, ready.is_trace()).map_err(failure)?;
        let trace = (events > 0)
            .then(|| ready.run(0, |simulation, arrivals| simulation.event_trace(arrivals, events)))
            .transpose()?;
        let result = ready.result()?;
        let seen = match wanted.is_empty() {
            true => Seen::default(),
            false => ready.run(0, |simulation, arrivals| simulation.observe(arrivals, &result, wanted))?,
        };
        Ok((result, seen, trace))
    }
}

/// The mean delays of so many runs of so many packets; `None` if the host is saturated.
pub(crate) struct Delays {
    pub(crate) runs: u64,
    pub(crate) packets: u64,
}

impl OwnTask for Delays {
    type Output = Option<Replications>;
    const REPLICATES: bool = true;

    fn perform<P: Policy, W: Waiting<Job = Packet>>(
        self,
        mut ready: Ready<'_, Own<P, W>>,
    ) -> Result<Self::Output, Failure> {
        if ready.capacity()?.is_exceeded_by(ready.rate) {
            return Ok(None);
        }
        let runs = (0..self.runs)
            .map(|number| {
                ready.run(number, |simulation, arrivals| simulation.fixed_run(arrivals, self.packets))
            })
            .collect::<Result<Vec<_>, Failure>>()?;
        let saturated = runs.iter().all(|run| run.grows);
        Ok((!saturated).then(|| runs.iter().map(|run| run.outcome.delay.mean.0).collect()))
    }
}

/// Gives all means this half-width: none to those of recorded arrivals, which are one run and say nothing of others.
fn set_half_widths(outcome: &mut Outcome, half_width: Option<f64>) {
    let quantiles = &mut outcome.quantiles;
    let times = [&mut outcome.delay, &mut outcome.service];
    for time in times.into_iter().chain([&mut quantiles.p50, &mut quantiles.p99, &mut quantiles.p999]) {
        time.half_width = half_width.map(Nanos);
    }
    outcome.utilisation.half_width = half_width;
}

fn failure(error: SimulationError) -> Failure {
    match error {
        SimulationError::Setting(fault) | SimulationError::Model(fault) => fault.into(),
    }
}
