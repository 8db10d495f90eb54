//! A server on the kernel's sockets: what each way to share its port costs at each load, predicted, and held against runs.
//!
//! The costs of single requests and short bursts come from a calibration ([`ServerCosts`](warmcore_costs::ServerCosts)). The
//! simulator makes a prediction of them for random arrivals at any rate, and nothing is fitted to the runs that a prediction is
//! compared with.
//!
//! | module | step |
//! |---|---|
//! | [`figures`] | the figures of a load, predicted or measured |
//! | [`predict`] | predicts with the simulator |
//! | [`mod@compare`] | predicts and runs the same loads, in rounds |
//! | [`point`] | judges one load |
//! | [`best`] | whether the cheapest policy was named |
//! | [`advice`] | which policy to use at which rate |
//! | [`present`], [`results`] | the report, and the figures for other programs |

pub mod advice;
pub mod best;
pub mod compare;
mod doubts;
pub mod figures;
#[cfg(test)]
mod injected;
pub mod point;
pub mod predict;
pub mod present;
pub mod results;
