//! Scheduling decisions only: which processor runs a packet, and which thread carries it.
//!
//! A policy reads no clock, touches no thread and does not know whether it runs in a simulation
//! or on a live machine. It sees the processors through a [`View`] and a random source, and answers with
//! a [`Decision`]. A *driver* applies the decision; the simulator and the runtime are the two drivers.
//! Both use the same [`Dispatcher`] to apply a policy.
//!
//! [`policies`] holds the policies of Salehi, Kurose & Towsley 1994, §2.3, Table 1, and today's
//! alternatives. [`pdq`] holds the parallel dispatch queue of Falsafi 1998, §2.3, which dispatches events to threads.
//! [`runqueue`] holds a UNIX run queue with the affinity of Torrellas, Tucker & Gupta 1995, [`fair`] Linux's fair scheduler.
#![no_std]

extern crate alloc;

pub mod assignment;
pub mod dispatch;
pub mod fair;
pub mod load_order;
pub mod pdq;
pub mod policies;
pub mod policy;
pub mod recency;
pub mod runqueue;
pub mod threads;

pub use dispatch::Dispatcher;
pub use policy::{Decision, Policy, Queues, Request, View};
pub use recency::Recency;
pub use threads::{Order, ThreadPool};
