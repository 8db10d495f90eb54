//! The protocol stacks of Mosberger 1996, figure 1, as a host runs them: layers that call each other up and down, over
//! the machines of `warmcore-stack`.
//!
//! ```text
//!   TCPTEST                XRPCTEST
//!   TCP                    MSELECT VCHAN CHAN BID BLAST
//!   IP
//!   VNET                   VNET
//!   ETH                    ETH
//!   LANCE                  LANCE
//! ```
//!
//! A [`Message`](message::Message) goes down through [`Below::push`](layer::Below) and up through
//! [`Above::pop`](layer::Above). Who is next is a type: behind `dyn` the layers stay apart as the source's do, and are
//! found by a map; as concrete types the path becomes one function (`path-inlining`, §3.3). The source of the layers is
//! the same.
//!
//! Exceptional branches are marked (`cold_path`). Whether a build moves them out of the way is the compiler's switch.

#![no_std]

extern crate alloc;

pub mod classifier;
pub mod event;
pub mod graph;
pub mod host;
pub mod layer;
pub mod layers;
pub mod map;
pub mod message;
pub mod switches;
pub mod thread;
