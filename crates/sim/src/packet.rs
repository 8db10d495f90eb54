//! Packets on processors: Salehi, Kurose & Towsley 1994, §3 and §4.
//!
//! | module | holds |
//! |---|---|
//! | [`host`] | what a host consists of, and a packet |
//! | [`system`] | the processors: what happens when a packet arrives and when one is finished |
//! | [`dispatch`](mod@dispatch) | the compiled form of the model for each policy |
//! | [`features`] | which features of the model a host needs |
//! | [`simulation`] | a host with a policy, queues, costs and service times of one's own |
//! | [`service`] | how service times vary around the costs |
//! | [`mod@run`], [`outcome`], [`figures`] | one run: its warm-up, its intervals, when it stops |
//! | [`mod@recursion`] | hosts that need no event queue |
//! | `replay` | a recorded trace, which has no steady state |
//! | [`point`] | one point of an experiment: capacity and steady state |
//! | [`needs`] | how many packets runs need |
//! | [`observe`] | any quantile, the histogram, each stream, time series, events |
//! | [`mod@compare`] | two schedulings on the same arrivals |
//! | [`mod@columns`] | outcomes as columns of a table |
//! | [`mod@capacity`] | the highest rate a system keeps up with |
//! | [`busiest`] | the highest rate its busiest stack or processor keeps up with |
//! | [`limit`] | the highest rate within a limit of the delay |

pub mod busiest;
mod by_stream;
pub mod capacity;
mod charges;
pub mod columns;
pub mod compare;
pub mod dispatch;
mod extended;
pub mod features;
mod feed;
pub mod figures;
pub mod host;
pub mod limit;
pub mod needs;
pub mod observe;
pub mod outcome;
pub mod point;
pub mod recursion;
mod replay;
mod replications;
pub mod run;
pub mod service;
pub mod simulation;
mod steady;
pub mod system;
mod tally;

pub use busiest::{BusiestServer, ServerKind};
pub use capacity::{Bound, Capacity, capacity};
pub use compare::{PairedComparison, compare};
pub use figures::{ClassDelays, ExtensionFigures};
pub use host::{Packet, Shape, SimulatedHost};
pub use needs::{RunNeeds, outlasts_queues};
pub use observe::{Observations, Observed};
pub use outcome::{Ended, Outcome};
pub use point::{Point, PointError, PointResult, highest_bound, highest_rate, simulate};
pub use run::{Precision, run, trace};
pub use service::ServiceDistribution;
pub use simulation::{FixedRun, Simulation, SimulationError, SimulationEvent};
pub use system::{Finished, System};
