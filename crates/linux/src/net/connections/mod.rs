//! One TCP port, whose connections several worker threads accept and serve without blocking.
//!
//! Which worker gets a connection is the kernel's decision ([`Accepting`]):
//!
//! | accepting | mechanism | which worker | its connection |
//! |---|---|---|---|
//! | [`Hash`](Accepting::Hash) | a listener and an epoll instance for each worker (`SO_REUSEPORT`) | by the kernel's hash of addresses and ports | stays |
//! | [`Flow`](Accepting::Flow) | the same, with a program of ours (`SO_ATTACH_REUSEPORT_CBPF`) | by our hash of the peer's address and port | stays |
//! | [`Cpu`](Accepting::Cpu) | the same | that of the cpu on which the kernel received the SYN | stays |
//! | [`Exclusive`](Accepting::Exclusive) | one listener, in the epoll instance of each worker (`EPOLLEXCLUSIVE`) | the one that waits and accepted longest ago | stays |
//! | [`Shared`](Accepting::Shared) | one listener and one epoll instance for all; each connection reports once, then is armed again (`EPOLLONESHOT`) | of those that wait, the last to sleep | moves |
//!
//! [`ListeningPort::open`] gives a [`Poller`] to each worker: it [waits](Poller::wait) for events, [accepts](Poller::accept)
//! [`Connection`]s, and registers them in a [`Registry`] under a number of the caller's.
//!
//! There is no first-in, first-out order of the last kind: the kernel wakes those who wait in one epoll instance last in,
//! first out.
//!
//! # Invariants
//! - No connection reaches a listener before the program is attached; with the privilege for it (`CAP_NET_ADMIN`), none before all
//!   listeners of the port listen.
//! - No call blocks but [`Poller::wait`], and [`ListeningPort::close`] ends every wait, now and later. What was accepted by
//!   the kernel before can still be accepted; peers that come later get no answer, and are refused once the
//!   [listeners end](Poller::end_listening).
//! - Of one registered connection, at most one worker of a shared instance is told at a time, until it is armed again.
//!
//! # Choices
//! - **`EPOLLEXCLUSIVE` with a turn.** The kernel wakes the first in the listener's queue whose worker waits. Left alone, the
//!   worker that was registered first gets nearly every connection of a port with little load (all of 60 on Linux 6.18). So a
//!   worker that has accepted registers the listener anew, behind the others, for two system calls a connection.
//! - **One connection for each wake-up** under that choice: a worker that took all that are queued would have them for life.

mod connection;
mod poller;
mod port;

pub use super::opening::PortError;
pub use connection::{Connection, ConnectionError, Received};
pub use poller::{Accepted, Events, Interest, Poller, Ready, Registry};
pub use port::{Accepting, ListeningPort};
