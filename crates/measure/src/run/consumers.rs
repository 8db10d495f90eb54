//! State of the consumers that is passed between threads in a run: for each consumer, its packet
//! buffers and the protocol thread that processes its packets; and where the packets come from.
//!
//! Invariant: a buffer for [resident](FrameLines::Resident) frames is written by no processor but the one
//! that reads it, so that its lines stay in that one's caches. A datagram's frame is in it before the run
//! begins. Frames of a conversation differ (sequence numbers, acknowledgements), so their consumer copies
//! each into its buffer, before the timer starts: what stays resident is the buffer.

use crate::error::RunError;
use crate::run::pattern::{STREAMS, Step};
use crate::run::remote_end::RemoteEnd;
use core::time::Duration;
use warmcore_costs::FrameLines;
use warmcore_linux::ProtocolThread;
use warmcore_stack::Exchange;
use warmcore_stack::wire::LinkKind;

/// The measured link: FDDI, as in Salehi 1994.
pub(crate) const LINK: LinkKind = LinkKind::Fddi;

/// A driver's buffer for one frame.
#[repr(align(64))]
struct Buffer([u8; Self::SIZE]);

impl Buffer {
    const SIZE: usize = LINK.max_frame().next_multiple_of(64);

    fn new() -> Box<Self> {
        Box::new(Self([0; Self::SIZE]))
    }

    fn write(&mut self, frame: &[u8]) {
        self.0[..frame.len()].copy_from_slice(frame);
    }
}

/// The packet buffers of one consumer.
enum Buffers {
    /// One buffer, into which every packet is written ([`FrameLines::Written`]).
    Written(Box<Buffer>),
    /// One for each stream, with its frame in it ([`FrameLines::Resident`]).
    Resident([Box<Buffer>; STREAMS]),
}

impl Buffers {
    /// Creates the buffers of one consumer. Resident frames of datagrams are written here.
    fn new(source: &Source, lines: FrameLines) -> Self {
        match lines {
            FrameLines::Written => Self::Written(Buffer::new()),
            FrameLines::Resident => Self::Resident(core::array::from_fn(|stream| {
                let mut buffer = Buffer::new();
                buffer.write(source.frame(stream));
                buffer
            })),
        }
    }

    /// The buffer that holds a packet of `stream` when it is received.
    #[inline(always)]
    fn get(&self, stream: usize) -> &Buffer {
        match self {
            Self::Written(buffer) => buffer,
            Self::Resident(buffers) => &buffers[stream],
        }
    }
}

/// Where the packets of the streams come from.
pub(crate) enum Source {
    /// One frame of each stream, received over and over: datagrams.
    Frames([Vec<u8>; STREAMS]),
    /// The far ends of conversations.
    RemoteEnds(Box<[RemoteEnd; STREAMS]>),
}

impl Source {
    /// The frame of the current packet of `stream`.
    #[inline(always)]
    fn frame(&self, stream: usize) -> &[u8] {
        match self {
            Self::Frames(frames) => &frames[stream],
            Self::RemoteEnds(ends) => ends[stream].frame(),
        }
    }
}

/// The state of one consumer.
struct Consumer {
    buffers: Buffers,
    thread: ProtocolThread,
    /// What it is about to send. `None` for datagrams.
    exchange: Option<Exchange>,
}

/// A packet that waits to be received.
pub(crate) struct WaitingPacket<'a> {
    pub(crate) frame: &'a [u8],
    /// The thread to process it on.
    pub(crate) thread: &'a mut ProtocolThread,
    /// Where its answers go; `None` for datagrams.
    pub(crate) exchange: Option<&'a mut Exchange>,
}

/// The state of all consumers of a run.
pub(crate) struct Consumers {
    consumers: Vec<Consumer>,
    source: Source,
}

impl Consumers {
    /// No consumers yet, for packets from `source`.
    pub(crate) const fn new(source: Source) -> Self {
        Self { consumers: Vec::new(), source }
    }

    /// Adds a consumer: its thread, and its buffers.
    pub(crate) fn add(&mut self, lines: FrameLines, thread: ProtocolThread) {
        let buffers = Buffers::new(&self.source, lines);
        let exchange = matches!(self.source, Source::RemoteEnds(_)).then(Exchange::default);
        self.consumers.push(Consumer { buffers, thread, exchange });
    }

    /// Opens every conversation, so that the next packet of each finds all its memory mapped: with the
    /// exchange of each consumer, whose number `receive` is given too. Does nothing for datagrams.
    ///
    /// # Errors
    /// See [`RemoteEnd::open`].
    pub(crate) fn open(
        &mut self,
        now: Duration,
        mut receive: impl FnMut(usize, &[u8], &mut Exchange) -> Result<(), RunError>,
    ) -> Result<(), RunError> {
        let Source::RemoteEnds(ends) = &mut self.source else { return Ok(()) };
        for end in ends.iter_mut() {
            for (number, consumer) in self.consumers.iter_mut().enumerate() {
                let Some(exchange) = &mut consumer.exchange else { continue };
                end.open(now, exchange, |frame, exchange| receive(number, frame, exchange))?;
            }
        }
        Ok(())
    }

    /// The waiting packet of `step`.
    #[inline(always)]
    pub(crate) fn packet(&mut self, step: Step) -> WaitingPacket<'_> {
        let length = self.source.frame(step.stream).len();
        let Consumer { buffers, thread, exchange } = &mut self.consumers[step.consumer];
        let frame = &buffers.get(step.stream).0[..length];
        WaitingPacket { frame, thread, exchange: exchange.as_mut() }
    }

    /// Makes a packet as its sender does, which has got all answers to its last one, and writes it into the
    /// buffer of its consumer, as the network interface does. For the producer. Does nothing for resident
    /// datagrams, and leaves resident frames of conversations to [`fetch_packet`](Self::fetch_packet).
    ///
    /// # Errors
    /// See [`RemoteEnd::send`].
    pub(crate) fn write_packet(&mut self, step: Step, now: Duration) -> Result<(), RunError> {
        if let Source::RemoteEnds(ends) = &mut self.source {
            ends[step.stream].send(now)?;
        }
        if let Buffers::Written(buffer) = &mut self.consumers[step.consumer].buffers {
            buffer.write(self.source.frame(step.stream));
        }
        Ok(())
    }

    /// Copies a frame of a conversation into the resident buffer of its consumer. For that consumer, before
    /// its caches are made cold and its timer starts.
    pub(crate) fn fetch_packet(&mut self, step: Step) {
        if let Source::RemoteEnds(ends) = &self.source
            && let Buffers::Resident(buffers) = &mut self.consumers[step.consumer].buffers
        {
            buffers[step.stream].write(ends[step.stream].frame());
        }
    }

    /// Puts the answers to the packet of `step` on their way to its sender. Does nothing for datagrams.
    pub(crate) fn send_answers(&mut self, step: Step) {
        if let Source::RemoteEnds(ends) = &mut self.source
            && let Some(exchange) = &mut self.consumers[step.consumer].exchange
        {
            ends[step.stream].take_answers(exchange);
        }
    }

    /// Bytes of answers that the sender of `stream` has got.
    #[cfg(test)]
    pub(crate) fn answered(&self, stream: usize) -> u64 {
        match &self.source {
            Source::Frames(_) => 0,
            Source::RemoteEnds(ends) => ends[stream].received(),
        }
    }

    /// The buffer into which the consumer's packets are written; `None` if they are resident.
    pub(crate) fn written_buffer(&self, consumer: usize) -> Option<&[u8]> {
        match &self.consumers[consumer].buffers {
            Buffers::Written(buffer) => Some(&buffer.0),
            Buffers::Resident(_) => None,
        }
    }

    /// Makes the stack of the consumer's thread migrate to the calling processor.
    pub(crate) fn zero_stack(&mut self, consumer: usize) {
        self.consumers[consumer].thread.zero();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::pattern::CONSUMERS;

    #[test]
    fn resident_frames_lie_apart_and_are_never_written() {
        let frames = [vec![1; 100], vec![2; 100]];
        let mut consumers = Consumers::new(Source::Frames(frames.clone()));
        for _ in 0..CONSUMERS {
            consumers.add(FrameLines::Resident, ProtocolThread::new(0).unwrap());
        }
        let unlike = frames.clone().map(|frame| vec![0; frame.len()]);
        consumers.source = Source::Frames(unlike);
        let mut lines = Vec::new();
        for consumer in 0..CONSUMERS {
            assert_eq!(consumers.written_buffer(consumer), None);
            for (stream, expected) in frames.iter().enumerate() {
                let step = Step { consumer, stream };
                consumers.write_packet(step, Duration::ZERO).unwrap();
                consumers.fetch_packet(step);
                let WaitingPacket { frame, .. } = consumers.packet(step);
                assert_eq!(frame, expected);
                lines.push(frame.as_ptr().addr() / align_of::<Buffer>());
            }
        }
        lines.sort_unstable();
        lines.dedup();
        assert_eq!(lines.len(), CONSUMERS * STREAMS);
    }
}
