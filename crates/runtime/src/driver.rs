//! Where frames come from and go to.
//!
//! A [`Driver`] opens receive queues before the run. During the run one worker at a time uses a
//! [`Queue`]. Faults and counting are queues wrapped around other queues ([`faults`], [`counting`]).
//!
//! | driver | frames |
//! |---|---|
//! | [`memory`] | prepared before the run, arriving at the times of a scenario's traffic |
//! | [`device`] | from a network interface: packet socket, XDP or TUN |
//! | [`faults`] | from another driver, with a fault injected |

pub mod counting;
pub mod device;
pub mod faults;
pub mod memory;

pub use faults::{Faulty, InjectedFault};
pub use memory::Memory;

use std::io;
use std::os::fd::BorrowedFd;
use warmcore_units::{Nanos, StreamId};

/// A source of frames that is opened once for each run.
pub trait Driver {
    /// Opens the queues of a run.
    ///
    /// # Errors
    /// If the driver cannot meet the request.
    fn open(&mut self, request: &QueueRequest<'_>) -> Result<Opened, DriverError>;
}

/// What a run asks of its driver.
#[derive(Clone, Copy, Debug)]
pub struct QueueRequest<'a> {
    /// Number of queues: one for all workers, or one for each.
    pub queues: u32,
    /// By stream: the queue on which its packets should arrive, if the driver can steer them. A driver that cannot
    /// has the stream chosen by the queue, as [`device`] does.
    pub steering: &'a [u32],
}

/// The queues of a run.
pub struct Opened {
    /// At least one, and at most as many as requested. Worker `i` polls queue `i` modulo their number.
    pub queues: Vec<Box<dyn Queue>>,
    /// Frames built before the run, with the stream of each. Queues refer to them by index.
    pub prepared: Vec<Prepared>,
}

/// A frame built before the run.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The stream it belongs to.
    pub stream: StreamId,
    /// The whole frame.
    pub bytes: Vec<u8>,
}

/// A frame that has arrived.
#[derive(Clone, Copy, Debug)]
pub struct Incoming<'a> {
    /// Time of arrival.
    pub at: Nanos,
    /// Its bytes.
    pub bytes: Bytes<'a>,
}

/// The bytes of a frame that has arrived.
#[derive(Clone, Copy, Debug)]
pub enum Bytes<'a> {
    /// Index of a [`Prepared`] frame.
    Prepared(u32),
    /// Bytes in the driver's memory, valid only during the call.
    Borrowed(&'a [u8]),
}

/// When the next frame of a queue is due.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Due {
    /// At this time.
    At(Nanos),
    /// Unknown: the queue must be polled.
    Unknown,
    /// No frame will arrive any more.
    Never,
}

/// One receive queue, which can also send.
pub trait Queue: Send {
    /// The run begins `now`. Scheduled arrivals count from here.
    fn begin(&mut self, now: Nanos) {
        let _ = now;
    }

    /// Passes up to `limit` frames that have arrived by `now` to `sink`, in order of arrival. Returns
    /// their number.
    fn receive(&mut self, now: Nanos, limit: usize, sink: &mut dyn FnMut(Incoming<'_>)) -> usize;

    /// Passes up to `limit` [prepared](Prepared) frames that have arrived by `now` to `sink`: their indices, many that
    /// arrived at one time in one call. Returns their number; 0 also from a queue whose frames come one by one, and
    /// are [received](Queue::receive).
    fn receive_prepared(&mut self, now: Nanos, limit: usize, sink: &mut dyn FnMut(Nanos, &[u32])) -> usize {
        let _ = (now, limit, sink);
        0
    }

    /// When the next frame is due.
    fn due(&self) -> Due {
        Due::Unknown
    }

    /// Sends `frame`, possibly not before [`flush`](Queue::flush) is called.
    ///
    /// # Errors
    /// If it cannot be sent. The frame is then lost, and the worker counts it.
    fn send(&mut self, frame: &[u8]) -> io::Result<()>;

    /// Sends all frames that are still buffered.
    ///
    /// # Errors
    /// If the system refuses.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// A descriptor that becomes readable when a frame arrives, if there is one.
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    /// Frames lost before they could be received, so far.
    fn lost(&mut self) -> u64 {
        0
    }

    /// Whether frames can still arrive. Asked now and then while nothing arrives; an error ends the run.
    ///
    /// # Errors
    /// If the queue receives nothing any more, whatever is sent to it.
    fn check(&mut self) -> Result<(), QueueError> {
        Ok(())
    }
}

/// Why a queue receives nothing any more.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum QueueError {
    /// Its interface exists no more.
    #[error("interface `{interface}` is gone: it was deleted, or moved to another network namespace")]
    Gone {
        /// Name of the interface.
        interface: String,
    },
    /// It has failed in another way.
    #[error("the {driver} driver receives no more: {reason}")]
    Failed {
        /// Name of the driver.
        driver: &'static str,
        /// What the system says.
        reason: String,
    },
}

/// A driver cannot be opened.
#[derive(Debug, thiserror::Error)]
#[error("the {driver} driver cannot be opened: {reason}")]
pub struct DriverError {
    /// Name of the driver.
    pub driver: &'static str,
    /// Why, and what was expected.
    pub reason: String,
}
