//! Drivers around drivers that do to frames what networks and devices do.
//!
//! A [`Faulty`] driver injects one [`Fault`] into what another driver receives; several are put
//! around each other. When which frame is struck follows from a seed and the order of the frames.
//! Every fault is [counted](Count), so that the books of a run can be balanced:
//!
//! > frames of the driver within + duplicated = shown + dropped + withheld at the end
//!
//! Dropped frames are also [lost](super::Queue::lost), as a device's are.

mod queue;

use super::{Driver, DriverError, Opened, QueueRequest};
use queue::FaultyQueue;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use warmcore_units::Nanos;

/// What goes wrong. Probabilities are per frame, and independent.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Fault {
    /// A frame disappears, with this probability.
    Drop(f64),
    /// A frame comes twice, with this probability.
    Duplicate(f64),
    /// A frame comes after the one behind it, with this probability; if none comes behind it soon,
    /// by itself.
    Reorder(f64),
    /// One bit of a frame is flipped, with this probability. Which bit is drawn at random.
    Corrupt(f64),
    /// A frame arrives later.
    Delay {
        /// With this probability.
        probability: f64,
        /// By so much.
        by: Nanos,
    },
    /// Nothing comes for a while, then everything at once.
    Stall {
        /// The mean time between the end of one stall and the beginning of the next.
        every: Nanos,
        /// How long each lasts.
        lasting: Nanos,
    },
}

/// A driver with a fault.
#[derive(Debug)]
pub struct Faulty<D> {
    within: D,
    fault: Fault,
    seed: u64,
    count: Arc<Count>,
}

/// How often a fault has struck, in all queues of a driver.
#[derive(Debug, Default)]
pub struct Count {
    injected: AtomicU64,
    withheld: AtomicU64,
}

impl Count {
    /// Frames dropped, duplicated, reordered, corrupted or delayed; stalls begun.
    #[must_use]
    pub fn injected(&self) -> u64 {
        self.injected.load(Ordering::Relaxed)
    }

    /// Frames that have been received and are still to be shown: copies, frames that wait for one
    /// to overtake them, delayed ones.
    #[must_use]
    pub fn withheld(&self) -> u64 {
        self.withheld.load(Ordering::Relaxed)
    }
}

impl<D> Faulty<D> {
    /// `within`, with `fault`, which strikes as `seed` has it.
    #[must_use]
    pub fn new(within: D, fault: Fault, seed: u64) -> Self {
        Self { within, fault, seed, count: Arc::default() }
    }

    /// How often the fault has struck, while a run lasts and after it.
    #[must_use]
    pub fn count(&self) -> Arc<Count> {
        Arc::clone(&self.count)
    }

    fn check(&self) -> Result<(), DriverError> {
        let refuse = |reason: String| Err(DriverError { driver: "faulty", reason });
        match self.fault {
            Fault::Drop(probability)
            | Fault::Duplicate(probability)
            | Fault::Reorder(probability)
            | Fault::Corrupt(probability)
            | Fault::Delay { probability, .. }
                if !(0.0..=1.0).contains(&probability) =>
            {
                refuse(format!("a probability of {probability}; expected one between 0 and 1"))
            }
            Fault::Delay { by, .. } if !(by.0 >= 0.0 && by.0.is_finite()) => {
                refuse(format!("a delay by {by}; expected a time of at least 0"))
            }
            Fault::Stall { every, lasting }
                if !(every.0 > 0.0 && lasting.0 > 0.0 && lasting.0.is_finite()) =>
            {
                refuse(format!("a stall of {lasting} every {every}; expected times above 0"))
            }
            _ => Ok(()),
        }
    }
}

impl<D: Driver> Driver for Faulty<D> {
    fn open(&mut self, request: &QueueRequest<'_>) -> Result<Opened, DriverError> {
        self.check()?;
        let Opened { queues, prepared } = self.within.open(request)?;
        // Only whoever flips bits looks at frames.
        let shown = if matches!(self.fault, Fault::Corrupt(_)) { prepared.clone() } else { Vec::new() };
        let prepared_here: Arc<[_]> = shown.into();
        let around = |(number, queue)| -> Box<dyn super::Queue> {
            let seed = self.seed.wrapping_add(number as u64);
            let count = Arc::clone(&self.count);
            Box::new(FaultyQueue::new(queue, self.fault, seed, Arc::clone(&prepared_here), count))
        };
        Ok(Opened { queues: queues.into_iter().enumerate().map(around).collect(), prepared })
    }
}

impl Driver for Box<dyn Driver> {
    fn open(&mut self, request: &QueueRequest<'_>) -> Result<Opened, DriverError> {
        (**self).open(request)
    }
}
