//! VCHAN: a virtual channel for any number of callers, made of a few real ones (O'Malley & Peterson 1992).
//!
//! A channel carries one call at a time. This layer picks a free one for each call. It has no header.

use alloc::boxed::Box;
use alloc::vec;

/// A pool of channels. The one that was freed last is picked first: its memory is most likely in the
/// caches.
#[derive(Debug)]
pub struct Vchan {
    /// The free channels are the first `free` of these.
    channels: Box<[u16]>,
    free: usize,
    is_busy: Box<[bool]>,
}

impl Vchan {
    /// A pool of the channels from 0 to `channels` - 1, all free.
    #[must_use]
    pub fn new(channels: u16) -> Self {
        Self {
            channels: (0..channels).rev().collect(),
            free: channels.into(),
            is_busy: vec![false; channels.into()].into_boxed_slice(),
        }
    }

    /// Picks a free channel for a call, which is then busy. Returns `None` if none is free.
    #[inline]
    pub fn acquire(&mut self) -> Option<u16> {
        let last = self.free.checked_sub(1)?;
        let channel = *self.channels.get(last)?;
        self.free = last;
        self.is_busy[usize::from(channel)] = true;
        Some(channel)
    }

    /// The call on a channel is over, so that the channel is free. One that is free already stays so.
    #[inline]
    pub fn release(&mut self, channel: u16) {
        let Some(is_busy) = self.is_busy.get_mut(usize::from(channel)) else { return };
        if core::mem::take(is_busy) {
            self.channels[self.free] = channel;
            self.free += 1;
        }
    }

    /// Channels that are free.
    #[must_use]
    pub const fn available(&self) -> usize {
        self.free
    }
}
