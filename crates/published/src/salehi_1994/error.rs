//! Why the figures cannot be reproduced.

use crate::source::KeepError;
use warmcore_costs::execution::IncompleteProfile;
use warmcore_sim::packet::PointError;
use warmcore_units::Fault;

/// Why the figures cannot be reproduced.
#[derive(Debug, thiserror::Error)]
pub enum ReproduceError {
    /// The profile lacks costs that are needed.
    #[error(transparent)]
    Profile(#[from] IncompleteProfile),
    /// The profile holds an invalid value.
    #[error("the profile cannot be used: {0}")]
    Fault(#[from] Fault),
    /// A point could not be simulated.
    #[error(transparent)]
    Point(#[from] PointError),
    /// A finished point could not be saved.
    #[error("cannot save a finished point: {0}")]
    Keep(KeepError),
    /// The results do not belong to the plan.
    #[error("{found} results were given, expected {expected}: one for each point of the plan")]
    Results {
        /// How many were given.
        found: usize,
        /// How many points the plan has.
        expected: usize,
    },
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}
