//! A host over an interval: what is where at its end, and what happened since its beginning.
//!
//! Counts since boot do not tell what a host does now: they average over its whole life, and several of
//! them wrap at 32 bits. So whatever depends on a rate is computed from two inventories, some seconds apart.

use super::receivers::Received;
use super::{Inventory, Rates};
use crate::Probe;
use crate::probe::ProbeError;
use std::thread::sleep;
use std::time::Duration;

/// The folder of a capture that holds the inventory taken first. The capture itself holds the second one.
pub const EARLIER: &str = "earlier";

/// A host at the end of an interval.
#[derive(Clone, PartialEq, Debug)]
pub struct Observation {
    /// What was where at the end.
    pub inventory: Inventory,
    /// What happened meanwhile; `None` for a single inventory, or where the kernel hides the uptime.
    pub rates: Option<Rates>,
}

impl Observation {
    /// A single inventory: nothing is known about rates.
    #[must_use]
    pub const fn single(inventory: Inventory) -> Self {
        Self { inventory, rates: None }
    }

    /// Observes a host from the look of one probe to that of another: of both halves of a capture.
    ///
    /// # Errors
    /// As for [`Probe::inventory`].
    pub fn of_probes(earlier: &Probe, later: &Probe) -> Result<Self, ProbeError> {
        Beginning::new(earlier)?.observe(later)
    }
}

/// The look at the beginning of an interval.
#[derive(Debug)]
struct Beginning {
    inventory: Inventory,
    received: Option<Received>,
}

impl Beginning {
    fn new(probe: &Probe) -> Result<Self, ProbeError> {
        Ok(Self { inventory: probe.inventory()?, received: probe.received()? })
    }

    /// Looks again, at the end.
    fn observe(&self, probe: &Probe) -> Result<Observation, ProbeError> {
        let inventory = probe.inventory_after(&self.inventory)?;
        let received = probe.received()?;
        let mut rates = Rates::between(&self.inventory, &inventory);
        if let (Some(rates), Some(earlier), Some(now)) = (&mut rates, &self.received, &received) {
            let pids = inventory.threads.iter().filter(|thread| !thread.kernel).map(|thread| thread.key.pid);
            rates.receivers = probe.receivers((earlier, now), rates.elapsed, &pids.collect())?;
        }
        Ok(Observation { inventory, rates })
    }
}

impl Probe {
    /// Takes two inventories, `interval` apart.
    ///
    /// # Errors
    /// As for [`inventory`](Self::inventory).
    pub fn observe(&self, interval: Duration) -> Result<Observation, ProbeError> {
        self.observe_until(interval, self)
    }

    /// Takes two inventories, `interval` apart: the first with this probe, the second with `later`, so that each can
    /// be [recorded](Self::recorded) by itself.
    ///
    /// # Errors
    /// As for [`inventory`](Self::inventory).
    pub fn observe_until(&self, interval: Duration, later: &Self) -> Result<Observation, ProbeError> {
        let beginning = Beginning::new(self)?;
        sleep(interval);
        beginning.observe(later)
    }
}
