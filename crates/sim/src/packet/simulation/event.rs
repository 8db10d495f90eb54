//! The events of a simulation of one's own.

use crate::packet::host::Packet;
use crate::packet::observe::watch::Watcher;
use crate::packet::system::Finished;
use core::ops::ControlFlow;

/// What happens to a packet.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum SimulationEvent {
    /// It arrives.
    Arrived(Packet),
    /// It has just arrived, and is lost: its queue is full.
    Lost(Packet),
    /// It is finished.
    Finished(Finished),
}

/// Shows events to a function until that breaks.
pub(super) struct EventWatcher<'f> {
    pub(super) see: &'f mut dyn FnMut(SimulationEvent) -> ControlFlow<()>,
    pub(super) goes_on: ControlFlow<()>,
}

impl EventWatcher<'_> {
    fn show(&mut self, event: SimulationEvent) -> ControlFlow<()> {
        if self.goes_on.is_continue() {
            self.goes_on = (self.see)(event);
        }
        self.goes_on
    }
}

impl Watcher for EventWatcher<'_> {
    fn arrives(&mut self, packet: &Packet) -> ControlFlow<()> {
        self.show(SimulationEvent::Arrived(*packet))
    }

    fn drops(&mut self, packet: &Packet) {
        // If that is enough, the run ends with the next event, which is not shown.
        let _ = self.show(SimulationEvent::Lost(*packet));
    }

    fn finishes(&mut self, finished: &Finished) -> ControlFlow<()> {
        self.show(SimulationEvent::Finished(*finished))
    }
}
