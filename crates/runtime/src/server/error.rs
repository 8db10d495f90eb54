//! Why a server cannot start, or did not stop in order.

use super::policy::Policy;
use crate::metrics::EndpointError;
use core::time::Duration;
use std::io;
use std::net::SocketAddr;
use warmcore_linux::ProbeError;
use warmcore_linux::net::DeviceError;
use warmcore_linux::net::sockets::PortError;

/// Why a server cannot start, or did not stop in order.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The text is no address.
    #[error("`{text}` is no address: {source}; expected ADDRESS:PORT, such as 0.0.0.0:7 or [::]:7")]
    Address {
        /// What was given.
        text: String,
        /// The error.
        source: io::Error,
    },
    /// An option cannot be used.
    #[error("`{option}` is {found}: expected {expected}")]
    Option {
        /// The option.
        option: &'static str,
        /// Its value.
        found: String,
        /// What would be right.
        expected: &'static str,
    },
    /// The kernel has no such way to share a port of this kind.
    #[error("`Policy::{policy:?}` is not for {transport}: {because}")]
    Policy {
        /// The policy.
        policy: Policy,
        /// UDP or TCP.
        transport: &'static str,
        /// Why, and what to take instead.
        because: &'static str,
    },
    /// The cores of this machine cannot be read.
    #[error("{0}; name the number of workers instead")]
    Cores(#[from] ProbeError),
    /// The port cannot be opened.
    #[error(transparent)]
    Port(#[from] PortError),
    /// The interface cannot be served on.
    #[error(transparent)]
    Interface(#[from] DeviceError),
    /// This process has no descriptors left for the interface's queues.
    #[error(
        "cannot wait for frames: {0}; expected descriptors for the interface's queues: raise the limit (`ulimit -n`)"
    )]
    Descriptors(String),
    /// The page with the metrics cannot be served.
    #[error(transparent)]
    Metrics(#[from] EndpointError),
    /// A thread cannot be started.
    #[error("cannot start worker {worker}: {source}; expected threads and memory for its stack")]
    Thread {
        /// Number of the worker.
        worker: usize,
        /// The error.
        source: io::Error,
    },
    /// Signals cannot be caught.
    #[error(
        "cannot catch SIGTERM: {0}; use `start` in a program that catches it itself, and `stop` when it comes"
    )]
    Signals(String),
    /// A worker cannot go on. All others have stopped.
    #[error("worker {worker} died, and the server with it: {message}")]
    Died {
        /// Number of the worker.
        worker: usize,
        /// Its panic, or the error of the kernel.
        message: String,
    },
    /// A handler did not return. Its thread goes on until the process ends.
    #[error(
        "the handler of worker {worker} has not returned for at least {least:?}, called for {peer}: the server stopped without it"
    )]
    Stuck {
        /// Number of the worker.
        worker: usize,
        /// The flow that it was called for.
        peer: SocketAddr,
        /// It has not returned for at least this time: since the server was asked to stop, or since its call was seen after
        /// that.
        least: Duration,
    },
    /// Requests were left when the time for them was over.
    #[error("requests were left in the queue {limit:?} after the server was asked to stop")]
    Undrained {
        /// The time that it had.
        limit: Duration,
    },
}
