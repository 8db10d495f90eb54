//! What can be observed of a simulation of one's own: the same as of a point.

use super::{Simulation, SimulationError};
use crate::packet::host::Packet;
use crate::packet::observe::events::Recorder;
use crate::packet::observe::{EventTrace, Observations, Observed, Run, RunLimits};
use crate::packet::point::PointResult;
use crate::packet::service::ServiceDistribution;
use crate::packet::steady::RunExtent;
use warmcore_costs::CostModel;
use warmcore_policy::Policy;
use warmcore_policy::dispatch::Waiting;
use warmcore_workload::Arrivals;

impl<P: Policy, C: CostModel, W: Waiting<Job = Packet>, S: ServiceDistribution> Simulation<P, C, W, S> {
    /// Checks what can be known of `wanted` before anything is simulated, of arrivals that are `recorded` or have no end.
    ///
    /// # Errors
    /// A wish that is impossible, or a quantile that needs more packets than a run may have; the fault says how many.
    pub fn check_observations(&self, wanted: &Observations, recorded: bool) -> Result<(), SimulationError> {
        wanted.check(&self.limits(recorded)).map_err(SimulationError::Setting)
    }

    /// Repeats the single run that `result` came from, with the same `arrivals` from their start, and observes what is `wanted`. Of a
    /// result without an outcome, which is that of a saturated host, only the time series is given.
    ///
    /// # Errors
    /// As [`check_observations`](Self::check_observations) and [`run`](Self::run), and if a time series has too many windows.
    pub fn observe(
        &self,
        arrivals: &mut dyn Arrivals,
        result: &PointResult,
        wanted: &Observations,
    ) -> Result<Observed, SimulationError> {
        let limits = self.limits(result.capture.is_some());
        wanted.check(&limits).map_err(SimulationError::Setting)?;
        let (shown, extent) = match &result.outcome {
            Some(outcome) => (wanted.clone(), RunExtent { packets: outcome.packets, warmup: outcome.warmup }),
            None => wanted.of_saturated(self.start.for_shape(self.shape).settled, limits.max_packets),
        };
        shown.check_windows(result.rate, &[extent]).map_err(SimulationError::Setting)?;
        let mut run = Run::new(&shown, self.shape, extent, 0, 1);
        self.watch(arrivals, &mut run)?;
        let seen = run.closed(0);
        Ok(match &result.outcome {
            Some(outcome) => seen.observed(wanted, &limits, outcome),
            None => Observed { series: seen.windows, ..Observed::default() },
        })
    }

    /// The events of the first `packets` packets of `arrivals`, from an empty host.
    ///
    /// # Errors
    /// If `packets` is 0 or more than [`MAX_PACKETS`](crate::packet::observe::events::MAX_PACKETS), and as
    /// [`run`](Self::run).
    pub fn event_trace(
        &self,
        arrivals: &mut dyn Arrivals,
        packets: u64,
    ) -> Result<EventTrace, SimulationError> {
        let mut recorder = Recorder::new(packets).map_err(SimulationError::Setting)?;
        self.watch(arrivals, &mut recorder)?;
        Ok(recorder.trace(self.shape.processors))
    }

    fn limits(&self, is_trace: bool) -> RunLimits {
        RunLimits {
            replications: 1,
            max_packets: self.precision.max_packets,
            warmup_packets: self.start.warmup.unwrap_or(0),
            are_short: false,
            is_trace,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::outcome::Ended;
    use crate::packet::{Capacity, Shape};
    use warmcore_costs::ConstantCost;
    use warmcore_policy::policies::MostRecentlyUsed;
    use warmcore_units::{Estimate, Nanos, PerSecond};
    use warmcore_workload::Poisson;

    /// Hardly a packet waits: each takes what it costs.
    #[test]
    fn a_run_is_repeated_for_what_is_wanted() {
        let simulation = Simulation::new(Shape::square(2), MostRecentlyUsed, ConstantCost(Nanos(1_000.0)))
            .precision(0.5)
            .max_packets(20_000);
        let rate = PerSecond(1_000.0);
        let arrivals = || Poisson::new(rate, 2, simulation.key()).unwrap();
        let outcome = simulation.run(&mut arrivals()).unwrap();
        assert_ne!(outcome.ended, Ended::Unknown);
        let (packets, warmup) = (outcome.packets, outcome.warmup);
        let known = Estimate::published(PerSecond(2e6));
        let capacity = Capacity { rate: known, service: Estimate::published(Nanos(1_000.0)) };
        let result = PointResult { rate, capacity, outcome: Some(outcome), capture: None };
        let wanted = Observations {
            slower_than: Some(Nanos(1_500.0)),
            histogram: true,
            streams: true,
            window: Some(Nanos(1e9)),
            ..Observations::default()
        };
        let seen = simulation.observe(&mut arrivals(), &result, &wanted).unwrap();
        assert_eq!(seen.delays.unwrap().count(), packets - warmup);
        let arrived: u64 = seen.series.unwrap().arrivals.iter().sum();
        assert!(arrived <= packets && arrived > packets - 3_000, "{arrived} of {packets}, by whole seconds");
        assert!(seen.slower.unwrap().share < 0.01);
        let trace = simulation.event_trace(&mut arrivals(), 10).unwrap();
        assert_eq!(trace.len(), 30);
        // Of a saturated host there is a time series only.
        let saturated = PointResult { outcome: None, ..result };
        let seen = simulation.observe(&mut arrivals(), &saturated, &wanted).unwrap();
        assert!(seen.series.is_some() && seen.streams.is_none() && seen.slower.is_none());
        // It takes more packets than there may be; a trace is as long as it is.
        let rare = Observations { quantiles: vec![0.9999], ..Observations::default() };
        assert!(simulation.check_observations(&rare, false).is_err());
        assert!(simulation.check_observations(&rare, true).is_ok());
    }

    #[test]
    fn a_run_of_fixed_length_has_it_even_if_queues_grow() {
        let simulation = Simulation::new(Shape::square(1), MostRecentlyUsed, ConstantCost(Nanos(1_000.0)));
        let mut arrivals = Poisson::new(PerSecond(2e6), 1, simulation.key()).unwrap();
        let run = simulation.fixed_run(&mut arrivals, 30_000).unwrap();
        assert!(run.grows);
        assert_eq!(run.outcome.packets, 30_000);
    }
}
