//! One UDP port, received by several worker threads through the kernel's own stack.
//!
//! Which worker gets a datagram is the kernel's decision. Each way to make it is one of the policies that
//! Salehi, Kurose & Towsley studied in 1994, under another name ([`Sharing`]):
//!
//! | sharing | mechanism | which worker |
//! |---|---|---|
//! | [`Fifo`](Sharing::Fifo) | one socket; all block in a receive call, each queued behind the others | the first to sleep (LRU) |
//! | [`Lifo`](Sharing::Lifo) | one socket in one epoll instance; all wait there, each before the others | the last to sleep (MRU) |
//! | [`Hash`](Sharing::Hash) | a socket for each worker (`SO_REUSEPORT`) | by the kernel's hash of the flow |
//! | [`Flow`](Sharing::Flow) | the same, with a program of ours (`SO_ATTACH_REUSEPORT_CBPF`) | by our hash of the sender's address and port |
//! | [`Cpu`](Sharing::Cpu) | the same | that of the cpu on which the kernel received it |
//!
//! [`Port::open`] gives a [`WorkerSocket`] to each worker. It receives into a [`Batch`] and sends from an
//! [`Outbox`], each with one system call for many datagrams.
//!
//! # Invariants
//! - No datagram reaches a socket before all sockets of the port are bound and the program is attached: a flow
//!   does not move while the port opens.
//! - [`Port::close`] ends every wait, now and later. A worker then receives what is queued, and after that
//!   [`Received::Closed`]; datagrams that arrive later are dropped by the kernel.
//! - A reply from a socket of all addresses leaves from the address that the request was sent to.
//!
//! # Choices
//! - **`Cpu` by a program, not by `SO_INCOMING_CPU`.** The program says where each cpu's datagrams go, those
//!   without a worker too, since Linux 4.5. The option knows one cpu for a socket, and UDP ports heed it as wanted
//!   since Linux 6.2 only.
//! - **Drops from `SO_MEMINFO`** (Linux 4.12), not from `SO_RXQ_OVFL`. It is the same counter, but is read when
//!   asked for: the other comes with each datagram, and keeps silent about drops after the last one.
//! - **The end of a wait.** A worker waits in the one system call that the policy is made of, with no second
//!   descriptor beside it: `shutdown` ends a receive call, also on a UDP socket without a peer.

mod batch;
mod error;
#[allow(unsafe_code)]
mod kernel;
mod open;
mod outbox;
mod port;
mod port_user;
pub(super) mod program;
mod worker;

pub use batch::{Batch, Datagram};
pub use error::PortError;
pub use outbox::{Outbox, Sent};
pub use port::{Port, PortOptions, Sharing};
pub use worker::{Received, WorkerSocket};
