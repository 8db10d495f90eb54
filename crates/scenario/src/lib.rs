//! One description of an experiment, for both the simulator and the runtime.
//!
//! A [`Combination`] names the scheduling alternatives; a [`Study`] is the document that a user writes or
//! gets from a study (`study.toml`); a [`Grid`] is a scenario and the fields to vary; [`document`] reads it, or a machine's profile, and reports file, line
//! and field of an invalid value.

pub mod chosen;
pub mod cluster;
pub mod combination;
pub mod effects;
pub mod extensions;
pub mod grid;
pub mod limits;
pub mod live;
pub mod packet;
pub mod policy;
mod profile_source;
pub mod runqueue;
pub mod scheduling;
pub mod server;
pub mod study;
pub mod traffic;
pub mod unused;

pub use cluster::ClusterScenario;
pub use combination::{Combination, Organisation};
pub use effects::Effects;
pub use extensions::{Extensions, LimitScope, QueueTable, Service};
pub use grid::Grid;
pub use live::{DriverKind, Live, Mode, OverloadRule, ShutdownRule};
pub use packet::{PacketScenario, RunLength, Stacks};
pub use policy::ProcessorPolicy;
pub use profile_source::ProfileSource;
pub use runqueue::RunQueueScenario;
pub use scheduling::{Parallelism, QueueRule, Scheduling, ThreadOrder};
pub use server::ServerPolicy;
pub use study::{Calibration, Prediction, Study};
pub use traffic::{Mixing, OpenTraffic, Process, Traffic, TrafficError};
pub use unused::Unused;
pub use warmcore_files::document::{self, DocumentError};
