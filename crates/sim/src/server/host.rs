//! A server on its processors, ready to be simulated at any rate.

use crate::server::flows::Flows;
use crate::server::rates::{MissingCosts, Rates};
use warmcore_costs::ServerCosts;
use warmcore_scenario::ServerPolicy;
use warmcore_units::Fault;
use warmcore_workload::random::{Key, Purpose};

/// What is simulated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ServerSetup {
    /// Which worker processes a request.
    pub policy: ServerPolicy,
    /// Processors, each with one source and one worker.
    pub processors: u32,
    /// Flows, at least one for each source. Flow `f` belongs to source `f` modulo the number of processors.
    pub flows: u32,
    /// Names all random numbers. Policies with the same seed see the same requests, and the policies by hash give each flow
    /// the same worker at every rate.
    pub seed: u64,
}

/// Why a server cannot be simulated.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ServerError {
    /// A number is not valid.
    #[error("{0}")]
    Setup(#[from] Fault),
    /// The costs lack a measurement.
    #[error(transparent)]
    Costs(#[from] MissingCosts),
}

/// A server with its costs. Results are the same bits for the same setup, on one thread or many.
#[derive(Clone, PartialEq, Debug)]
pub struct ServerHost {
    pub(super) rates: Rates,
    pub(super) flows: Flows,
    pub(super) policy: ServerPolicy,
    pub(super) processors: u32,
    pub(super) seed: u64,
}

/// Processors that a simulation may have.
const MOST_PROCESSORS: u32 = 1 << 14;
/// Flows that a simulation may have.
const MOST_FLOWS: u32 = 1 << 26;

impl ServerHost {
    /// The server of `setup` with these costs.
    ///
    /// # Errors
    /// If there is no processor, or a source has no flow, or there are too many of either; if the costs lack a measurement
    /// that the policy needs. One processor needs no measurements of several.
    pub fn new(costs: &ServerCosts, setup: ServerSetup) -> Result<Self, ServerError> {
        let ServerSetup { policy, processors, flows, seed } = setup;
        if !(1..=MOST_PROCESSORS).contains(&processors) {
            let expected = format!("1 to {MOST_PROCESSORS}");
            return Err(Fault::new("processors", processors, expected).into());
        }
        if !(processors..=MOST_FLOWS).contains(&flows) {
            let expected = format!("{processors} to {MOST_FLOWS}: at least one for each processor's source");
            return Err(Fault::new("flows", flows, expected).into());
        }
        if let Err(reason) = policy.is_predicted(costs.transport) {
            return Err(Fault::new("policy", policy, format!("another: {reason}")).into());
        }
        let rates = Rates::new(costs, policy, processors)?;
        let mut random = Key { seed, point: 0, replication: 0 }.stream(Purpose::Policy);
        let flows = Flows::new(flows, processors, &mut random);
        Ok(Self { rates, flows, policy, processors, seed })
    }
}
