//! Frames that are ready to be sent.

use crate::packet::Packet;
use alloc::boxed::Box;

/// A queue of fixed size.
#[derive(Debug)]
pub(super) struct FrameQueue {
    frames: Box<[Packet]>,
    first: usize,
    length: usize,
}

impl FrameQueue {
    /// A queue of as many packets as `packet` makes.
    pub(super) fn new(frames: usize, packet: impl Fn() -> Packet) -> Self {
        Self { frames: (0..frames.max(1)).map(|_| packet()).collect(), first: 0, length: 0 }
    }

    /// Appends a frame. One that finds the queue full, or does not fit a packet, is lost.
    #[inline]
    pub(super) fn push(&mut self, frame: &[u8]) {
        if self.length == self.frames.len() {
            return;
        }
        let at = (self.first + self.length) % self.frames.len();
        let fits = self.frames[at].replace(frame).is_ok();
        self.length += usize::from(fits);
    }

    /// Swaps the first frame with `target`, a packet of the same size. Returns `false` if there is none.
    #[inline]
    pub(super) fn pop(&mut self, target: &mut Packet) -> bool {
        if self.length == 0 {
            return false;
        }
        core::mem::swap(target, &mut self.frames[self.first]);
        self.first = (self.first + 1) % self.frames.len();
        self.length -= 1;
        true
    }
}
