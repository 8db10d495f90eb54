//! Tempest's events and the directory protocol Stache as pure transitions.
#![no_std]

extern crate alloc;

pub mod action;
pub mod cacher;
pub mod home;
pub mod layout;
pub mod message;
pub mod page_cache;
pub mod set;
pub mod tempest;
pub mod unexpected;

pub use action::{Action, Handler, Step};
pub use cacher::{CachedBlock, Request};
pub use home::{DirectoryEntry, Sharing};
pub use layout::Layout;
pub use message::Message;
pub use page_cache::{NoFrame, PageCache};
pub use set::{CpuSet, NodeSet};
pub use tempest::{Access, Event, Object, Tag};
pub use unexpected::{State, Unexpected};
