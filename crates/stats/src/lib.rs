//! Output analysis: from observations to a figure and how sure it is.
//!
//! | module | answers |
//! |---|---|
//! | [`interval`] | what is the mean of independent observations, and how sure is it? |
//! | [`warmup`] | how much of a run's beginning is not yet steady state? |
//! | [`batches`] | the same for the correlated observations of one long run |
//! | [`paired`] | do two alternatives differ, when both saw the same arrivals? |

pub mod batches;
pub mod interval;
pub mod paired;
pub mod warmup;

pub use batches::BatchMeans;
pub use interval::Interval;
