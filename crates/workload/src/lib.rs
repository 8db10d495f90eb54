//! What arrives, and the randomness it is made of.
//!
//! A source of [`Arrivals`] yields packets in order of time; what happens to them is no business
//! of this room.
//!
//! | source | what arrives |
//! |---|---|
//! | [`Poisson`] | batches at random |
//! | [`Constant`], [`Periodic`] | batches at equal intervals; streams with intervals of their own |
//! | [`Modulated`] | batches whose rate changes between calm and busy times |
//! | [`Trains`] | packets of one stream that follow each other closely |
//! | [`SelfSimilar`] | streams that are on and off for heavy-tailed times |
//! | [`Replay`] | the packets of a capture of real traffic, a [`Trace`] |
//!
//! [`Marks`] are what the first ones draw beside times: streams of a [`Popularity`], and sizes of a
//! [`Batch`]. [`WithSizes`] and [`WithDirections`] go around any source.
//!
//! Every random number comes from a stream of [`random`] that is named by what it is for, so that
//! two policies simulated at one point see the same packets.

pub mod arrivals;
pub mod batch;
pub mod constant;
mod event_queue;
pub mod marks;
mod micros;
pub mod modulated;
pub mod packets;
pub mod poisson;
pub mod popularity;
pub mod random;
pub mod self_similar;
pub mod trace;
pub mod trains;

pub use arrivals::{Arrival, Arrivals, Direction, ImpossibleArrivals};
pub use batch::{Batch, BatchDistribution};
pub use constant::{Constant, Periodic};
pub use marks::Marks;
pub use modulated::{Modulated, Modulation};
pub use packets::{Size, WithDirections, WithSizes};
pub use poisson::Poisson;
pub use popularity::{Popularity, StreamChoice, uniform_streams};
pub use random::{Key, Purpose};
pub use self_similar::{OnOff, SelfSimilar};
pub use trace::{Capture, Replay, Trace, TraceError, Truncation};
pub use trains::{Gaps, Train, Trains};
