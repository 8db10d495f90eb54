//! Packets on processors: Salehi, Kurose & Towsley 1994, §3 and §4.
//!
//! | module | holds |
//! |---|---|
//! | [`shape`] | what a host consists of, and a packet |
//! | [`waiting`] | where packets wait: lines of packets (Locking) or of stacks (IPS) |
//! | [`system`] | the processors: what happens when a packet arrives and when one is finished |
//! | [`mod@run`] | one point: warm-up, intervals, when to stop |
//! | [`mod@capacity`] | the highest rate a system keeps up with |

pub mod capacity;
pub mod run;
pub mod shape;
pub mod system;
pub mod waiting;

pub use capacity::{Capacity, capacity};
pub use run::{Outcome, Precision, run};
pub use shape::{Packet, Shape};
pub use system::{Finished, System};
