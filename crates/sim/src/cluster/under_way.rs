//! Block access faults and messages that have not got to their device yet.

use super::device::ProtocolEvent;

/// What is under way, each by its place.
#[derive(Debug, Default)]
pub(super) struct UnderWay {
    events: Vec<Option<ProtocolEvent>>,
    free: Vec<u32>,
    /// Room for blocks that nothing is in.
    blocks: Vec<Box<[u64]>>,
}

impl UnderWay {
    /// Room for a block of so many words, with anything in it.
    pub(super) fn room(&mut self, words: usize) -> Box<[u64]> {
        self.blocks.pop().filter(|room| room.len() == words).unwrap_or_else(|| vec![0; words].into())
    }

    /// Gives room back.
    pub(super) fn give_back(&mut self, room: Box<[u64]>) {
        self.blocks.push(room);
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
