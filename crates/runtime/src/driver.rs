//! Where frames come from and go to.
//!
//! A [`Driver`] opens receive queues before the run; from then on each [`Queue`] is used by one
//! worker at a time. Faults and the like are queues around queues ([`faults`]).
//!
//! | driver | frames |
//! |---|---|
//! | [`memory`] | prepared before the run, arriving at the times of a scenario's traffic |
//! | [`device`] | from a network interface: packet socket, XDP or TUN |
//! | [`faults`] | another driver's, with something gone wrong |

pub mod counting;
pub mod device;
pub mod faults;
pub mod memory;

pub use faults::{Fault, Faulty};
pub use memory::Memory;

use std::io;
use std::os::fd::BorrowedFd;
use warmcore_units::{Nanos, StreamId};

/// A source of frames that is opened once for each run.
pub trait Driver {
    /// Opens the queues of a run.
    ///
    /// # Errors
    /// If the driver cannot be used as asked.
    fn open(&mut self, request: &QueueRequest<'_>) -> Result<Opened, DriverError>;
}

/// What a run wants of its driver.
#[derive(Clone, Copy, Debug)]
pub struct QueueRequest<'a> {
    /// How many queues: one for all workers, or one for each.
    pub queues: u32,
    /// By stream: the queue its packets are to come in at, where the driver can steer.
    pub steering: &'a [u32],
}

/// The queues of a run.
pub struct Opened {
    /// One or more, up to the number asked for. Worker `i` polls queue `i` modulo their number.
    pub queues: Vec<Box<dyn Queue>>,
    /// Frames that were made ready, with the stream of each; queues name them by their index.
    pub prepared: Vec<Prepared>,
}

/// A frame made ready before the run.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// Whose it is.
    pub stream: StreamId,
    /// The whole frame.
    pub bytes: Vec<u8>,
}

/// A frame that has arrived.
#[derive(Clone, Copy, Debug)]
pub struct Incoming<'a> {
    /// When.
    pub at: Nanos,
    /// Its bytes.
    pub bytes: Bytes<'a>,
}

/// The bytes of a frame that has arrived.
#[derive(Clone, Copy, Debug)]
pub enum Bytes<'a> {
    /// Those of this [`Prepared`] frame.
    Prepared(u32),
    /// In the driver's memory, for as long as it is shown.
    Borrowed(&'a [u8]),
}

/// When a queue will have something.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Due {
    /// Then.
    At(Nanos),
    /// Nobody knows: ask.
    Unknown,
    /// Never again.
    Never,
}

/// One receive queue, and the way out beside it.
pub trait Queue: Send {
    /// The run begins `now`: what arrives by itself arrives from now on.
    fn begin(&mut self, now: Nanos) {
        let _ = now;
    }

    /// Shows up to `limit` frames that have arrived by `now`, in the order in which they did, and
    /// says how many.
    fn receive(&mut self, now: Nanos, limit: usize, take: &mut dyn FnMut(Incoming<'_>)) -> usize;

    /// When there will be something to receive.
    fn due(&self) -> Due {
        Due::Unknown
    }

    /// Sends `frame`, at the latest when [`flush`](Queue::flush) is called.
    ///
    /// # Errors
    /// If it cannot be sent: it is lost then, and counted.
    fn send(&mut self, frame: &[u8]) -> io::Result<()>;

    /// Sends what has been put off.
    ///
    /// # Errors
    /// If the system refuses.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// What to wait on for something to receive, if it can be waited on.
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    /// Frames lost before they could be received, so far.
    fn lost(&mut self) -> u64 {
        0
    }
}

/// A driver cannot be used as asked.
#[derive(Debug, thiserror::Error)]
#[error("the {driver} driver cannot be opened: {reason}")]
pub struct DriverError {
    /// Which.
    pub driver: &'static str,
    /// Why, and what would be right.
    pub reason: String,
}
