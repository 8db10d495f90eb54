//! A grid of scenarios, simulated into a data set.
//!
//! | module | holds |
//! |---|---|
//! | [`plan`] | a grid whose points can all be simulated, and the row of each of them |
//! | [`figures`] | the columns of a row, by model |
//! | [`order`] | what a point will take, and in which order points are begun |
//! | [`engine`] | all points on this machine |
//! | [`opened`] | a finished data set, and whether it is that of its grid |
//! | [`scheduler`] | where a Dask scheduler is |
//!
//! A [`Plan`] is made of a document that holds all it needs, and [`Plan::row`] is a pure function of the plan and the
//! point's number: the same bits on any machine, in any order, once or twice. So whoever runs points needs no protocol
//! beyond handing over numbers and rows: this machine's threads, or workers elsewhere that got the document's text.

pub mod engine;
pub mod figures;
pub mod opened;
pub mod order;
pub mod plan;
pub mod scheduler;

pub use engine::{Ran, RunError, run};
pub use figures::ClusterRun;
pub use opened::inspect;
pub use plan::{Plan, PlanError, PointFailed};
pub use scheduler::scheduler_address;
