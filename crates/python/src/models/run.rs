//! What is done with a simulation of one's own: a result, observations, the runs of a comparison.

use crate::failure::Failure;
use crate::policy::{CostFunction, PythonCosts, Raised};
use warmcore_policy::Policy;
use warmcore_policy::dispatch::Waiting;
use warmcore_scenario::{Mixing, OpenTraffic, PacketScenario};
use warmcore_sim::packet::compare::ComparedDelays;
use warmcore_sim::packet::observe::{EventTrace, Observations, Observed as Seen};
use warmcore_sim::packet::{
    Bound, Capacity, Ended, Outcome, Packet, PointResult, RunNeeds, Simulation, SimulationError,
    outlasts_queues,
};
use warmcore_units::{Fault, PerSecond};
use warmcore_workload::{Arrivals, Key, TimeFactors, Trace};

/// The number of the replication whose arrivals the capacity is measured with, as of other points.
const CAPACITY_REPLICATION: u64 = u64::MAX;
/// Replications whose spread says how far runs are apart.
const ENOUGH_RUNS: u32 = 10;

/// Something to do with a simulation of one's own.
pub(crate) trait OwnTask {
    /// What it comes to.
    type Output;

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
    pub(super) scenario: &'a PacketScenario,
    pub(super) rate: PerSecond,
    pub(super) needs: RunNeeds,
    pub(super) traffic: &'a OpenTraffic,
    pub(super) raised: &'a Raised,
    pub(super) function: Option<CostFunction>,
}

impl<'a> Ready<'a, ()> {
    pub(super) fn with<S>(self, simulation: S) -> Ready<'a, S> {
        let Self { scenario, rate, needs, traffic, raised, function, .. } = self;
        Ready { simulation, scenario, rate, needs, traffic, raised, function }
    }
}

impl<P: Policy, W: Waiting<Job = Packet>> Ready<'_, Own<P, W>> {
    /// Makes the next run the `replication`.
    fn begin(&mut self, replication: u64) -> Key {
        let key = Key { seed: self.scenario.seed, point: self.rate.0.to_bits(), replication };
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
        Ok(done?)
    }

    fn capacity(&mut self) -> Result<Capacity, Failure> {
        Ok(self.bound()?.capacity)
    }

    /// The capacity, and what sets it.
    fn bound(&mut self) -> Result<Bound, Failure> {
        let key = self.begin(CAPACITY_REPLICATION);
        let bound = self.simulation.bound(&mut *self.traffic.endless(self.rate, key)?);
        self.raised.check()?;
        let bound = bound?;
        let (_, is_known) = self.needs.capacity();
        // A trace is always the same when it is run again.
        let is_known = is_known && !self.is_trace();
        let capacity = bound.capacity.with_service_known(self.needs.has_variance());
        Ok(Bound { capacity: if is_known { capacity } else { capacity.unknown() }, ..bound })
    }

    fn is_trace(&self) -> bool {
        self.traffic.trace().is_some()
    }

    fn is_saturated(&self, capacity: &Capacity) -> bool {
        !self.scenario.extensions().are_bounded() && capacity.is_exceeded_by(self.rate)
    }

    /// The capacity and the steady state.
    fn result(&mut self) -> Result<PointResult, Failure> {
        let capacity = self.capacity()?;
        let capture = self.traffic.trace().map(Trace::capture);
        if self.is_saturated(&capacity) {
            return Ok(PointResult { rate: self.rate, capacity, outcome: None, capture });
        }
        let load = if self.traffic.is_closed() { 0.0 } else { self.rate.0 / capacity.rate.mean.0 };
        self.simulation.set_settled(self.needs.settled(load));
        let outcome = self.outcome()?;
        let rate = if self.traffic.is_closed() { outcome.throughput } else { self.rate };
        let outcome = Some(self.judged(&capacity, outcome));
        Ok(PointResult { rate, capacity, outcome, capture })
    }

    /// What all runs come to.
    fn outcome(&mut self) -> Result<Outcome, Failure> {
        let runs = self.scenario.run.replications;
        if let Some(trace) = self.traffic.trace() {
            let packets = trace.packets() as u64;
            return self.run(0, |simulation, arrivals| simulation.replay(arrivals, packets));
        }
        if runs == 1 {
            return self.run(0, |simulation, arrivals| simulation.run(arrivals));
        }
        self.begin(0);
        let Self { simulation, rate, traffic, raised, function, .. } = self;
        let outcome = simulation.replicate(runs, |key| -> Result<_, Failure> {
            raised.check()?;
            if let Some(function) = function {
                function.begin(key);
            }
            Ok(traffic.source(*rate, key)?)
        });
        raised.check()?;
        outcome
    }

    /// The outcome with the intervals that hold.
    fn judged(&self, capacity: &Capacity, mut outcome: Outcome) -> Outcome {
        let run = &self.scenario.run;
        if self.is_trace() {
            return outcome;
        }
        let load = self.rate.0 / capacity.rate.mean.0;
        let is_long = run.packets.is_some_and(|packets| outlasts_queues(packets, load));
        outcome.ended = match outcome.ended {
            Ended::Exhausted if is_long && capacity.suffices_for(self.rate) => Ended::FixedLength,
            ended if self.scenario.extensions().are_bounded() => ended,
            ended => capacity.judge(self.rate, ended),
        };
        if run.packets.is_some() && outcome.ended == Ended::Exhausted {
            outcome.ended = Ended::FixedLength;
        }
        match self.needs.mixing() {
            Mixing::Slowly => Outcome { ended: Ended::HeavyTailed, ..outcome }.without_intervals(),
            // Phases that no run forgets show in the spread of several runs only.
            Mixing::Never if run.replications < ENOUGH_RUNS => outcome.without_intervals(),
            Mixing::Never | Mixing::After(_) => outcome.without_false_intervals(),
        }
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

/// Finds the highest rate, and what sets it.
pub(crate) struct HighestRate;

impl OwnTask for HighestRate {
    type Output = Bound;

    fn perform<P: Policy, W: Waiting<Job = Packet>>(
        self,
        mut ready: Ready<'_, Own<P, W>>,
    ) -> Result<Bound, Failure> {
        ready.bound()
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
        let runs = ready.scenario.run.replications;
        if !wanted.is_empty() && runs != 1 {
            let expected = "1 to observe a run with a policy or costs of one's own";
            return Err(Fault::new("run.replications", runs, expected).into());
        }
        ready.simulation.check_observations(wanted, ready.is_trace())?;
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
    type Output = Option<ComparedDelays>;

    fn perform<P: Policy, W: Waiting<Job = Packet>>(
        self,
        mut ready: Ready<'_, Own<P, W>>,
    ) -> Result<Self::Output, Failure> {
        let capacity = ready.capacity()?;
        if ready.is_saturated(&capacity) {
            return Ok(None);
        }
        let runs = (0..self.runs)
            .map(|number| {
                ready.run(number, |simulation, arrivals| simulation.fixed_run(arrivals, self.packets))
            })
            .collect::<Result<Vec<_>, Failure>>()?;
        if runs.iter().all(|run| run.grows) {
            return Ok(None);
        }
        let delays = runs.iter().map(|run| run.outcome.delay.mean.0).collect();
        let limited_by = (!ready.scenario.extensions().are_bounded()).then_some(&capacity);
        Ok(Some(ComparedDelays::new(delays, self.packets, limited_by, ready.rate)))
    }
}

impl From<SimulationError> for Failure {
    fn from(error: SimulationError) -> Self {
        match error {
            SimulationError::Setting(fault) | SimulationError::Model(fault) => fault.into(),
        }
    }
}
