//! What the layers of a host share.

use crate::event::Events;
use crate::switches::Switches;
use core::cell::Cell;
use core::time::Duration;

/// A host's clock, events and switches.
pub struct Host {
    /// The time, told from outside.
    pub now: Cell<Duration>,
    /// What is to be done later.
    pub events: Events,
    /// Which changes are made.
    pub switches: Switches,
}

impl Host {
    /// A host at time zero.
    #[must_use]
    pub fn new(switches: Switches) -> Self {
        Self { now: Cell::new(Duration::ZERO), events: Events::default(), switches }
    }
}
