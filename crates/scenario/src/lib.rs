//! One description of an experiment, read by the simulator and by what runs it alike.
//!
//! A [`Combination`] names what is scheduled how; a [`Study`] is the document a user writes or
//! gets back from a study (`study.toml`); [`document`] reads it, or a machine's profile, and
//! says file, line and field when something in it cannot be used.

pub mod chosen;
pub mod combination;
pub mod document;
pub mod effects;
pub mod live;
pub mod packet;
pub mod policy;
pub mod scheduling;
pub mod study;
pub mod traffic;
pub mod unused;

pub use combination::{Combination, Organisation};
pub use document::DocumentError;
pub use effects::Effects;
pub use live::{DriverKind, Live, Mode, OverloadRule, ShutdownRule};
pub use packet::{PacketScenario, RunLength, Stacks};
pub use policy::ProcessorPolicy;
pub use scheduling::{Parallelism, QueueRule, Scheduling, ThreadOrder};
pub use study::{Calibration, Prediction, ProfileSource, Study};
pub use traffic::{Mixing, OpenTraffic, Process, Traffic, TrafficError};
pub use unused::Unused;
