//! Identifiers and quantities as types: the words every other room speaks.
//!
//! | module | holds |
//! |---|---|
//! | [`id`] | who: [`CpuId`], [`StreamId`], [`StackId`], [`ThreadId`] |
//! | [`quantity`] | how much: [`Nanos`], [`Bytes`], [`PerSecond`] |
//! | [`estimate`] | how sure: [`Estimate`], a mean with its 95% half-width |
//! | [`fault`] | what is wrong with a value somebody gave: [`Fault`] |
#![no_std]

extern crate alloc;

pub mod estimate;
pub mod fault;
pub mod id;
pub mod quantity;

pub use estimate::Estimate;
pub use fault::Fault;
pub use id::{CpuId, StackId, StreamId, ThreadId};
pub use quantity::{Bytes, Nanos, PerSecond};
