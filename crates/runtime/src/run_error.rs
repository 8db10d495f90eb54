//! Why a run could not start, or ended early.

use crate::calls::Stuck;
use crate::driver::{DriverError, QueueError};
use crate::report::Report;
use core::time::Duration;
use std::io;
use warmcore_linux::AffinityError;
use warmcore_stack::OpenError;

/// Why a run could not start, or ended early.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// An option has a value that cannot be used.
    #[error("`{field}` is {found}, expected {expected}")]
    Option {
        /// Name of the option.
        field: &'static str,
        /// Its value.
        found: String,
        /// What was expected.
        expected: String,
    },
    /// The driver cannot be opened.
    #[error(transparent)]
    Driver(#[from] DriverError),
    /// A worker cannot be pinned to its processor.
    #[error("worker {worker} cannot be pinned to its cpu: {source}")]
    Pin {
        /// Number of the worker.
        worker: usize,
        /// The error.
        source: AffinityError,
    },
    /// A stream cannot be opened.
    #[error("stream {number} cannot be opened: {source}")]
    Stream {
        /// Index of the stream among those given.
        number: usize,
        /// The error.
        source: OpenError,
    },
    /// The system has no memory, descriptors or threads for it.
    #[error("cannot start a worker: {0}")]
    System(#[from] io::Error),
    /// A worker panicked outside the handler: in a driver, or in its other work.
    #[error("worker {worker} panicked: {message}")]
    Panicked {
        /// Number of the worker.
        worker: usize,
        /// The panic's message.
        message: String,
    },
    /// A queue receives nothing any more, as when its interface is deleted.
    #[error("{source}; the run ended after {}, with {} packets delivered", report.duration, report.total().packets())]
    Queue {
        /// Why.
        source: QueueError,
        /// The results until then.
        report: Box<Report>,
    },
    /// A worker did not pause or end within the [limit](crate::Options::drain_limit), because a call does not return.
    #[error(
        "{stuck}; expected it to return within {limit:?} of the end. {delivered} packets were delivered until then"
    )]
    Stuck {
        /// The worker, and where it is.
        stuck: Stuck,
        /// The limit.
        limit: Duration,
        /// Packets that all workers had delivered.
        delivered: u64,
    },
    /// A handler panicked and asked to end the run.
    #[error("a handler panicked and ended the run")]
    Handler,
}
