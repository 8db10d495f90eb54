//! Drivers that wrap other drivers and inject the faults of networks and devices.
//!
//! A [`Faulty`] driver injects one [`InjectedFault`] into the frames of another driver. For several faults,
//! wrap one in the other. The frames hit depend only on a seed and the order of the frames. Every fault
//! is [counted](Count), so that the totals of a run can be checked:
//!
//! > frames of the inner driver + duplicated = passed on + dropped + withheld at the end
//!
//! Dropped frames also count as [lost](super::Queue::lost), as those that a device drops.

mod queue;

use super::{Driver, DriverError, Opened, QueueRequest};
use queue::FaultyQueue;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use warmcore_units::Nanos;

/// A fault. Probabilities are per frame and independent.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum InjectedFault {
    /// A frame is lost, with this probability.
    Drop(f64),
    /// A frame arrives twice, with this probability.
    Duplicate(f64),
    /// A frame arrives after its successor, with this probability. If no successor arrives soon, it
    /// arrives by itself.
    Reorder(f64),
    /// One bit of a frame is flipped, with this probability. Which bit is drawn at random.
    Corrupt(f64),
    /// A frame arrives later.
    Delay {
        /// The probability.
        probability: f64,
        /// The delay.
        by: Nanos,
    },
    /// Nothing arrives for a while, then everything at once.
    Stall {
        /// The mean time between the end of one stall and the beginning of the next.
        every: Nanos,
        /// How long each stall lasts.
        lasting: Nanos,
    },
}

/// A driver with a fault injected.
#[derive(Debug)]
pub struct Faulty<D> {
    inner: D,
    fault: InjectedFault,
    seed: u64,
    count: Arc<Count>,
}

/// How often a fault was injected, in all queues of a driver.
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

    /// Frames that have been received and not yet passed on: copies, frames that wait to be overtaken,
    /// delayed ones.
    #[must_use]
    pub fn withheld(&self) -> u64 {
        self.withheld.load(Ordering::Relaxed)
    }
}

impl<D> Faulty<D> {
    /// Injects `fault` into `inner`, at random from `seed`.
    #[must_use]
    pub fn new(inner: D, fault: InjectedFault, seed: u64) -> Self {
        Self { inner, fault, seed, count: Arc::default() }
    }

    /// How often the fault was injected, during a run and after it.
    #[must_use]
    pub fn count(&self) -> Arc<Count> {
        Arc::clone(&self.count)
    }

    fn check(&self) -> Result<(), DriverError> {
        let refuse = |reason: String| Err(DriverError { driver: "faulty", reason });
        match self.fault {
            InjectedFault::Drop(probability)
            | InjectedFault::Duplicate(probability)
            | InjectedFault::Reorder(probability)
            | InjectedFault::Corrupt(probability)
            | InjectedFault::Delay { probability, .. }
                if !(0.0..=1.0).contains(&probability) =>
            {
                refuse(format!("a probability of {probability}; expected one between 0 and 1"))
            }
            InjectedFault::Delay { by, .. } if !(by.0 >= 0.0 && by.0.is_finite()) => {
                refuse(format!("a delay by {by}; expected a time of at least 0"))
            }
            InjectedFault::Stall { every, lasting }
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
        let Opened { queues, prepared } = self.inner.open(request)?;
        // Only corruption needs the bytes of frames.
        let shown =
            if matches!(self.fault, InjectedFault::Corrupt(_)) { prepared.clone() } else { Vec::new() };
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
