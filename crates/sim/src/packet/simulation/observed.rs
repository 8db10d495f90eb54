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

    /// Repeats the run that `result` came from, with the same `arrivals` from their start, and observes what is `wanted`. Of a
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
            None => wanted.of_saturated(self.shape.settled(), limits.max_packets),
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
            warmup_packets: 0,
            are_short: false,
            is_trace,
        }
    }
}
