//! What arrives, and the randomness it is made of.
//!
//! A source of [`Arrivals`] yields packets in order of time; what happens to them is no business
//! of this room. Every random number comes from a stream of [`random`] that is named by what it
//! is for, so that two policies simulated at one point see the same packets.

pub mod arrivals;
pub mod random;

pub use arrivals::{Arrival, Arrivals, ImpossibleArrivals, Poisson, uniform_streams};
pub use random::{Key, Purpose};
