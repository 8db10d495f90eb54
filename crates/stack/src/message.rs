//! The message structure, built around the driver's buffer.
//!
//! A frame is never copied. A view of the bytes not yet consumed moves up the stack. Each layer strips
//! its header from the front and records in the segment, which came from the free-memory pool, where
//! the next header begins.

use crate::pool::{HeaderOffsets, Segment};
use warmcore_units::StreamId;

/// A packet on its way up.
pub(crate) struct Message<'s, 'f> {
    /// The bytes that the layers below have not consumed.
    pub(crate) rest: &'f [u8],
    pub(crate) frame: &'f [u8],
    segment: &'s mut Segment,
}

impl<'s, 'f> Message<'s, 'f> {
    /// Builds the message around `frame`.
    #[inline]
    pub(crate) fn new(frame: &'f [u8], segment: &'s mut Segment) -> Self {
        Self { rest: frame, frame, segment }
    }

    /// Where the headers begin.
    #[inline]
    pub(crate) fn headers(&mut self) -> &mut HeaderOffsets {
        &mut self.segment.headers
    }
}

/// A packet delivered to the application at the top of the stack.
#[derive(Clone, Copy, Debug)]
pub struct Delivery<'a> {
    /// The stream the packet belongs to.
    pub stream: StreamId,
    /// The UDP payload, in the driver's buffer.
    pub payload: &'a [u8],
    /// The whole frame, in the driver's buffer.
    pub frame: &'a [u8],
    /// Where the headers begin in `frame`.
    pub headers: &'a HeaderOffsets,
}
