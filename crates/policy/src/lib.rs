//! Decisions, and nothing else: which processor runs a packet, and which thread carries it.
//!
//! A policy reads no clock, touches no thread and does not know whether it runs in a simulation
//! or on a live machine. It is shown the idle processors through a [`View`] and answers with a
//! [`Decision`] that a *driver* applies; the simulator and the runtime are the two drivers.
//!
//! The policies are those of Salehi, Kurose & Towsley 1994, §2.3, Table 1.
#![no_std]

extern crate alloc;

pub mod processor;
pub mod recency;
pub mod threads;

pub use processor::{Decision, LeastRecentlyUsed, Line, MostRecentlyUsed, Policy, View, WiredStreams};
pub use recency::Recency;
pub use threads::{Order, ThreadPool};
