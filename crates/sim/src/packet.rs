//! Packets on processors: Salehi, Kurose & Towsley 1994, §3 and §4.
//!
//! | module | holds |
//! |---|---|
//! | [`host`] | what a host consists of, and a packet |
//! | [`system`] | the processors: what happens when a packet arrives and when one is finished |
//! | [`dispatch`](mod@dispatch) | the compiled form of the model for each policy |
//! | [`features`] | which features of the model a host needs |
//! | [`mod@run`], [`outcome`] | one run: its warm-up, its intervals, when it stops |
//! | [`mod@recursion`] | hosts that need no event queue |
//! | `replay` | a recorded trace, which has no steady state |
//! | [`point`] | one point of an experiment: capacity and steady state |
//! | [`mod@compare`] | two schedulings on the same arrivals |
//! | [`mod@columns`] | outcomes as columns of a table |
//! | [`mod@capacity`] | the highest rate a system keeps up with |
//! | `busiest` | the highest rate its busiest stack or processor keeps up with |

mod busiest;
pub mod capacity;
mod charges;
pub mod columns;
pub mod compare;
pub mod dispatch;
pub mod features;
mod feed;
pub mod host;
pub mod outcome;
pub mod point;
pub mod recursion;
mod replay;
mod replications;
pub mod run;
mod steady;
pub mod system;
mod tally;

pub use capacity::{Capacity, capacity};
pub use compare::{PairedComparison, compare};
pub use host::{Packet, Shape, SimulatedHost};
pub use outcome::{Ended, Outcome};
pub use point::{Point, PointError, PointResult, highest_rate, simulate};
pub use run::{Precision, run, trace};
pub use system::{Finished, System};
