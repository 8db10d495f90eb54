//! Arriving traffic, and the random numbers it is generated from.
//!
//! A source of [`Arrivals`] yields packets in order of time. This crate does not process them.
//!
//! | source | what arrives |
//! |---|---|
//! | [`Poisson`] | batches at random |
//! | [`Constant`], [`Periodic`] | batches at equal intervals; streams that each have an interval of their own |
//! | [`Modulated`] | batches whose rate changes between calm and busy times |
//! | [`Trains`] | packets of one stream that follow each other closely |
//! | [`SelfSimilar`] | streams that are on and off for heavy-tailed times |
//! | [`Replay`] | the packets of a capture of real traffic, a [`Trace`] |
//! | [`Silence`] | nothing: the requests of a closed loop of [`Clients`] depend on who processes them |
//!
//! Besides times, the sources of batches draw [`Marks`]: streams by [`Popularity`], and sizes of a
//! [`Batch`]. [`WithSizes`] and [`WithDirections`] wrap any source.
//!
//! [`TimeDistribution`] is how times vary around a mean, of service or of a client's pauses.
//!
//! [`programs`] are the parallel programs that a simulated cluster executes.
//!
//! Every random number comes from a stream of [`random`] that is named by its purpose, so that two
//! policies simulated at one point see the same packets.

pub mod arrivals;
pub mod batch;
pub mod closed;
pub mod constant;
pub mod distribution;
mod event_queue;
pub mod marks;
mod micros;
pub mod modulated;
pub mod packets;
pub mod poisson;
pub mod popularity;
pub mod programs;
pub mod random;
pub mod self_similar;
pub mod trace;
pub mod trains;

pub use arrivals::{Arrival, Arrivals, Direction, ImpossibleArrivals, Silence};
pub use batch::{Batch, BatchDistribution};
pub use closed::{Clients, ClosedLoop};
pub use constant::{Constant, Periodic};
pub use distribution::{TimeDistribution, TimeFactors};
pub use marks::Marks;
pub use modulated::{Modulated, Modulation};
pub use packets::{Size, WithDirections, WithSizes};
pub use poisson::Poisson;
pub use popularity::{Popularity, StreamChoice, uniform_streams};
pub use random::{Key, Purpose};
pub use self_similar::{OnOff, SelfSimilar};
pub use trace::{Capture, Replay, Trace, TraceError, Truncation};
pub use trains::{Gaps, Train, Trains};
