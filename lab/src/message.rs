//! Messages: bytes with space in front for the headers of the layers below.

use crate::switches::Switches;
use alloc::boxed::Box;
use alloc::rc::Rc;
use core::hint::cold_path;
use core::mem::MaybeUninit;

/// Space for all headers of either stack.
const HEADERS: usize = 128;

/// Bytes in a buffer, with those for headers.
type Buffer = Box<[MaybeUninit<u8>]>;

/// A message on its way.
///
/// All bytes from `start` to `end` have been written.
pub struct Message {
    buffer: Rc<Buffer>,
    start: usize,
    end: usize,
}

impl Message {
    /// An empty message that can have `capacity` bytes.
    #[inline(never)]
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        let buffer = Rc::new(Box::new_uninit_slice(HEADERS + capacity));
        Self { buffer, start: HEADERS, end: HEADERS }
    }

    /// Bytes in the message.
    #[inline]
    #[must_use]
    pub const fn len(&self) -> usize {
        self.end - self.start
    }

    /// Whether there are none.
    #[inline]
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes.
    #[inline]
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        let written = &self.buffer[self.start..self.end];
        // SAFETY: all bytes from `start` to `end` have been written: `lengthen` and `push` write all they add.
        unsafe { written.assume_init_ref() }
    }

    /// The bytes, to be changed. Nobody else may hold the message.
    #[inline]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        let Some(buffer) = Rc::get_mut(&mut self.buffer) else {
            cold_path();
            return &mut [];
        };
        let written = &mut buffer[self.start..self.end];
        // SAFETY: as in `bytes`.
        unsafe { written.assume_init_mut() }
    }

    /// Puts a header of `N` zero bytes in front, and returns it; nothing if there is no space.
    #[inline(never)]
    pub fn push(&mut self, length: usize) -> Option<&mut [u8]> {
        let Some(start) = self.start.checked_sub(length) else {
            cold_path();
            return None;
        };
        let Some(buffer) = Rc::get_mut(&mut self.buffer) else {
            cold_path();
            return None;
        };
        self.start = start;
        let header = &mut buffer[start..start + length];
        header.fill(MaybeUninit::new(0));
        // SAFETY: the line before writes them.
        Some(unsafe { header.assume_init_mut() })
    }

    /// Takes `length` bytes off the front. Returns whether there were so many.
    #[inline(never)]
    pub fn strip(&mut self, length: usize) -> bool {
        if length > self.len() {
            cold_path();
            return false;
        }
        self.start += length;
        true
    }

    /// Keeps no more than the first `length` bytes.
    #[inline]
    pub fn truncate(&mut self, length: usize) {
        self.end = self.end.min(self.start + length);
    }

    /// Makes the message `length` zero bytes longer and returns these; nothing if there is no space.
    #[inline(never)]
    pub fn lengthen(&mut self, length: usize) -> Option<&mut [u8]> {
        let end = self.end + length;
        let buffer = Rc::get_mut(&mut self.buffer)?;
        let Some(added) = buffer.get_mut(self.end..end) else {
            cold_path();
            return None;
        };
        added.fill(MaybeUninit::new(0));
        self.end = end;
        // SAFETY: they were written two lines before.
        Some(unsafe { added.assume_init_mut() })
    }

    /// Another that holds the same bytes.
    #[must_use]
    pub fn share(&self) -> Self {
        Self { buffer: Rc::clone(&self.buffer), start: self.start, end: self.end }
    }

    /// Makes the message empty again, for the next one to be received into it (§2.2.2): in place if nobody else holds
    /// its buffer, with another buffer if somebody does, or always if `switches` has it so.
    #[inline(never)]
    pub fn refresh(&mut self, switches: Switches) {
        if switches.refresh_in_place && Rc::strong_count(&self.buffer) == 1 {
            (self.start, self.end) = (HEADERS, HEADERS);
        } else {
            cold_path();
            *self = Self::new(self.buffer.len() - HEADERS);
        }
    }
}
