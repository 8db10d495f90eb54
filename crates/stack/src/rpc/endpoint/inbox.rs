//! What arrived and was not taken yet: a place for each channel in each direction.

use super::event::{Event, Failure};
use crate::packet::Packet;
use crate::rpc::{CallId, ServedCall};
use alloc::boxed::Box;

/// The places of one direction.
#[derive(Debug)]
pub(super) struct Inbox<T> {
    places: Box<[Place<T>]>,
}

#[derive(Debug)]
struct Place<T> {
    what: Option<T>,
    bytes: Packet,
}

/// A call of the peer's, and what it replies to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Called {
    pub(super) call: ServedCall,
    pub(super) handler: usize,
}

/// A call of ours that is over.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ended {
    pub(super) call: CallId,
    pub(super) failure: Option<Failure>,
}

impl<T> Inbox<T> {
    pub(super) fn new(channels: u16, max_message: usize) -> Self {
        let place = || Place { what: None, bytes: Packet::with_capacity(0, max_message) };
        Self { places: (0..channels).map(|_| place()).collect() }
    }

    /// Puts something for a channel in place of what was there. What does not fit is lost.
    #[inline]
    pub(super) fn put(&mut self, channel: u16, what: T, bytes: &[u8]) {
        let Some(place) = self.places.get_mut(usize::from(channel)) else { return };
        let fits = place.bytes.replace(bytes).is_ok();
        place.what = fits.then_some(what);
    }

    /// Forgets what is there for a channel.
    pub(super) fn forget(&mut self, channel: u16) {
        if let Some(place) = self.places.get_mut(usize::from(channel)) {
            place.what = None;
        }
    }

    /// Forgets all.
    pub(super) fn clear(&mut self) {
        self.places.iter_mut().for_each(|place| place.what = None);
    }

    /// The next thing, with its bytes.
    #[inline]
    pub(super) fn take(&mut self) -> Option<(T, &[u8])> {
        self.places.iter_mut().find_map(|place| Some((place.what.take()?, place.bytes.payload())))
    }
}

impl Called {
    pub(super) const fn event(self, request: &[u8]) -> Event<'_> {
        Event::Called { call: self.call, handler: self.handler, request }
    }
}

impl Ended {
    pub(super) const fn event(self, results: &[u8]) -> Event<'_> {
        match self.failure {
            None => Event::Replied { call: self.call, results },
            Some(failure) => Event::Failed { call: self.call, failure },
        }
    }
}
