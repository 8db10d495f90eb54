//! A host over an interval: what is where at its end, and what happened since its beginning.
//!
//! Counts since boot do not tell what a host does now: they average over its whole life, and several of
//! them wrap at 32 bits. So whatever depends on a rate is computed from two inventories, some seconds apart.

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

    /// The interval from `earlier` to `later`, which must be [taken after](Probe::inventory_after) it.
    #[must_use]
    pub fn between(earlier: &Inventory, later: Inventory) -> Self {
        let rates = Rates::between(earlier, &later);
        Self { inventory: later, rates }
    }

    /// Takes an inventory with each probe: of the same host, or of the two halves of a capture.
    ///
    /// # Errors
    /// As for [`Probe::inventory`].
    pub fn of_probes(earlier: &Probe, later: &Probe) -> Result<Self, ProbeError> {
        let first = earlier.inventory()?;
        later.inventory_after(&first).map(|second| Self::between(&first, second))
    }
}

impl Probe {
    /// Takes two inventories, `interval` apart.
    ///
    /// # Errors
    /// As for [`inventory`](Self::inventory).
    pub fn observe(&self, interval: Duration) -> Result<Observation, ProbeError> {
        let first = self.inventory()?;
        sleep(interval);
        self.inventory_after(&first).map(|second| Observation::between(&first, second))
    }
}
