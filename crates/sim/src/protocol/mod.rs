//! When does it pay to set a processor aside for protocol work? The synthetic benchmark of Falsafi 1998, §4.3.2, for
//! costs of any machine.
//!
//! ```text
//!      node 0                                       node 1
//!   ┌─────────────────────────┐   request        ┌─────────────────────────┐
//!   │ compute C, then ask ────┼──────────────────┼─► reply handler         │
//!   │ response handler ◄──────┼──────────────────┼── answer                │
//!   └─────────────────────────┘    latency       └─────────────────────────┘
//! ```
//!
//! Two nodes of several processors. Each computes for an exponential time, asks the other node, and waits for the answer. A
//! request is three protocol events: it is sent by the node that asks, answered by the other, and received. Which processor
//! executes an event [`warmcore_policy::protocol`] decides: one that is set aside for it, or whoever waits, or one that is
//! interrupted. Whoever takes what another processor's cache holds fetches it, and that is a *hand-over*: a request that
//! another processor wrote, the protocol's state if another one executed the last event, an answer that another one received.
//! So a processor that is set aside pays for every request, and who asked for every answer; what comes from the other node
//! is in nobody's cache.
//!
//! | module | holds |
//! |---|---|
//! | [`demand`] | what a request costs |
//! | `nodes` | the two nodes and the events that move them |
//! | [`advice`] | which scheduling is faster, by how much computing there is for each request |
//!
//! It knows no caches, buses or memory: their costs are the user's numbers.

pub mod advice;
pub mod demand;
mod nodes;

pub use advice::{Border, Comparison, Winner, compare, decide};
pub use demand::Demand;
pub use nodes::{Figures, Sleepers, simulate};
