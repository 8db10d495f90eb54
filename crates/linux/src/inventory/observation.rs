//! A host over an interval: what is where at its end, and what happened since its beginning.
//!
//! Counts since boot do not tell what a host does now: they average over its whole life, and several of
//! them wrap at 32 bits. So whatever depends on a rate is computed from two inventories, some seconds apart.

use super::receivers::{Holder, Programs, Received};
use super::{Inventory, Rates, handling, receivers};
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
    /// Who has received how much through the connections that were open, where there are no rates: that takes no
    /// interval, but says nothing of now.
    pub holders: Vec<Holder>,
    /// What TCP sockets had received at the end; `None` where that was not asked for or is not to be seen.
    received: Option<Received>,
}

impl Observation {
    /// A single inventory: nothing is known about rates.
    #[must_use]
    pub const fn single(inventory: Inventory) -> Self {
        Self { inventory, rates: None, holders: Vec::new(), received: None }
    }

    /// Observes a host from the look of one probe to that of another: of both halves of a capture.
    ///
    /// # Errors
    /// As for [`Probe::inventory`], and if they are of different hosts or boots, or in the wrong order.
    pub fn of_probes(earlier: &Probe, later: &Probe) -> Result<Self, ProbeError> {
        let beginning = Self::beginning(earlier)?;
        let end = beginning.next(later)?;
        match beginning.inventory.difference(&end.inventory) {
            Some((what, earlier, later)) => Err(ProbeError::AnotherHost { what, earlier, later }),
            None => Ok(end),
        }
    }

    /// Looks once, without an interval.
    ///
    /// # Errors
    /// As for [`Probe::inventory`].
    pub fn once(probe: &Probe) -> Result<Self, ProbeError> {
        let mut look = Self::beginning(probe)?;
        if let Some(received) = &look.received {
            look.holders = probe.holders(received, &look.programs())?;
        }
        Ok(look)
    }

    /// The look at the beginning of an interval.
    ///
    /// # Errors
    /// As for [`Probe::inventory`].
    pub fn beginning(probe: &Probe) -> Result<Self, ProbeError> {
        Ok(Self { received: probe.received()?, ..Self::single(probe.inventory()?) })
    }

    /// Looks again, at the end of the interval that begins with this look.
    ///
    /// # Errors
    /// As for [`Probe::inventory`].
    pub fn next(&self, probe: &Probe) -> Result<Self, ProbeError> {
        let mut inventory = probe.inventory_after(&self.inventory)?;
        let rates = Rates::between(&self.inventory, &inventory);
        let seen = rates.iter().flat_map(|rates| &rates.interrupts);
        handling::note_interval(&mut inventory.interrupts, &inventory.machine.online(), seen);
        let mut next = Self { rates, received: probe.received()?, ..Self::single(inventory) };
        let programs = next.programs();
        if let (Some(rates), Some(earlier), Some(now)) = (&mut next.rates, &self.received, &next.received) {
            let receivers = probe.receivers((earlier, now), rates.elapsed, &programs)?;
            let packets = rates.from_devices(&next.inventory).unwrap_or_default();
            if receivers::account_for(&receivers, packets) {
                rates.receivers = receivers;
            }
        }
        Ok(next)
    }

    /// The programs of the processes that run, except those of the kernel.
    fn programs(&self) -> Programs {
        let threads = self.inventory.threads.iter().filter(|thread| !thread.kernel);
        threads.map(|thread| (thread.key.pid, (thread.group.clone(), thread.process.clone()))).collect()
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
        let beginning = Observation::beginning(self)?;
        sleep(interval);
        beginning.next(later)
    }
}
