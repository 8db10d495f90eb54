//! Output analysis: from observations to estimates with confidence intervals.
//!
//! | module | answers |
//! |---|---|
//! | [`interval`] | what is the mean of independent observations, and how sure is it? |
//! | [`series`] | the same for a few values that are still correlated with their neighbours |
//! | [`warmup`] | how much of a run's beginning is not yet steady state? |
//! | [`batches`] | what are the means of one long run of correlated observations? |
//! | [`stopping`] | when is that run long enough? |
//! | [`control`] | what if another quantity's mean is known exactly? |
//! | [`ratio`] | what is the ratio of two means? |
//! | [`histogram`], [`quantiles`] | below which value do 99% of the observations lie? |
//! | [`replications`], [`paired`] | what do independent runs say, and do two alternatives differ? |
//! | [`spread`] | what value did a figure have in each round? |
//! | [`blocks`] | in which order are alternatives tried, and is a difference real? |
//! | [`greatest()`] | how great is the greatest of several means? |
//! | [`fairness`] | are streams treated alike? |
//! | [`drift`] | does the queue grow without bound? |

pub mod batches;
pub mod blocks;
pub mod control;
pub mod drift;
pub mod fairness;
pub mod greatest;
pub mod histogram;
pub mod interval;
pub mod paired;
pub mod quantiles;
pub mod ratio;
pub mod replications;
pub mod series;
pub mod spread;
pub mod stopping;
pub mod warmup;

pub use batches::BatchMeans;
pub use greatest::{Greatest, greatest};
pub use interval::Interval;
pub use quantiles::Quantiles;
pub use replications::Replications;
pub use spread::Spread;
pub use stopping::{StopDecision, StoppingRule};
