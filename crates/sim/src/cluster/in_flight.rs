//! Block access faults and messages that have not got to their device yet.

use super::device::ProtocolEvent;

/// What is in flight, each by its place.
#[derive(Debug, Default)]
pub(super) struct InFlight {
    events: Vec<Option<ProtocolEvent>>,
    free: Vec<u32>,
    /// Buffers that hold no block.
    blocks: Vec<Box<[u64]>>,
}

impl InFlight {
    /// A buffer for a block of so many words, with anything in it.
    pub(super) fn buffer(&mut self, words: usize) -> Box<[u64]> {
        self.blocks.pop().filter(|buffer| buffer.len() == words).unwrap_or_else(|| vec![0; words].into())
    }

    /// Takes back a buffer that is no longer needed.
    pub(super) fn recycle(&mut self, buffer: Box<[u64]>) {
        self.blocks.push(buffer);
    }

    /// Keeps `event`; its place.
    pub(super) fn put(&mut self, event: ProtocolEvent) -> u32 {
        if let Some(place) = self.free.pop() {
            self.events[place as usize] = Some(event);
            return place;
        }
        self.events.push(Some(event));
        (self.events.len() - 1) as u32
    }

    /// The event at `place`, if there is one; the place is free from now on.
    pub(super) fn take(&mut self, place: u32) -> Option<ProtocolEvent> {
        let event = self.events.get_mut(place as usize)?.take();
        if event.is_some() {
            self.free.push(place);
        }
        event
    }
}
