//! Identifiers and quantities as types, used by all other crates.
//!
//! | module | holds |
//! |---|---|
//! | [`id`] | identifiers: [`CpuId`], [`StreamId`], [`StackId`], [`ThreadId`], [`TaskId`], [`NodeId`] |
//! | [`quantity`] | quantities: [`Nanos`], [`Cycles`], [`Bytes`], [`PerSecond`] |
//! | [`estimate`] | [`Estimate`], a mean with its 95% half-width |
//! | [`checked`] | [`Checked`], a document with checks beyond the types of its values |
//! | [`fault`] | [`Fault`], an invalid value in a user's input |
//! | [`spelling`] | names that a user may have meant |
//! | [`transport`] | [`Transport`], what packets carry above IP |
#![no_std]

extern crate alloc;

pub mod checked;
pub mod estimate;
pub mod fault;
pub mod id;
pub mod quantity;
pub mod spelling;
pub mod transport;

pub use checked::Checked;
pub use estimate::Estimate;
pub use fault::Fault;
pub use id::{CpuId, NodeId, StackId, StreamId, TaskId, ThreadId};
pub use quantity::{Bytes, Cycles, Nanos, PerSecond};
pub use transport::Transport;
