//! State of the consumers that is passed between threads in a run: for each consumer, its packet
//! buffers and the protocol thread that processes its packets.
//!
//! Invariant: a frame that is [resident](FrameLines::Resident) is written before the run begins and
//! never again, so that its lines stay in the caches of the one processor that reads it.

use crate::run::pattern::{STREAMS, Step};
use warmcore_costs::FrameLines;
use warmcore_linux::ProtocolThread;
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
    /// Creates the buffers of one consumer. Resident frames are written here.
    fn new(frames: &[Vec<u8>; STREAMS], lines: FrameLines) -> Self {
        match lines {
            FrameLines::Written => Self::Written(Buffer::new()),
            FrameLines::Resident => Self::Resident(frames.each_ref().map(|frame| {
                let mut buffer = Buffer::new();
                buffer.write(frame);
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

/// The state of one consumer.
struct Consumer {
    buffers: Buffers,
    thread: ProtocolThread,
}

/// The state of all consumers of a run.
#[derive(Default)]
pub(crate) struct Consumers {
    consumers: Vec<Consumer>,
}

impl Consumers {
    /// Adds a consumer: its thread, and buffers for `frames`, one of each stream.
    pub(crate) fn add(&mut self, frames: &[Vec<u8>; STREAMS], lines: FrameLines, thread: ProtocolThread) {
        self.consumers.push(Consumer { buffers: Buffers::new(frames, lines), thread });
    }

    /// The waiting packet of `length` bytes, and the thread to process it on.
    #[inline(always)]
    pub(crate) fn packet(&mut self, step: Step, length: usize) -> (&[u8], &mut ProtocolThread) {
        let Consumer { buffers, thread } = &mut self.consumers[step.consumer];
        (&buffers.get(step.stream).0[..length], thread)
    }

    /// Writes a packet into the buffer of its consumer, as the network interface does. Does nothing for
    /// resident frames.
    pub(crate) fn write_packet(&mut self, step: Step, frames: &[Vec<u8>; STREAMS]) {
        if let Buffers::Written(buffer) = &mut self.consumers[step.consumer].buffers {
            buffer.write(&frames[step.stream]);
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
        let unlike = frames.clone().map(|frame| vec![0; frame.len()]);
        let mut consumers = Consumers::default();
        for _ in 0..CONSUMERS {
            let thread = ProtocolThread::new(0).unwrap();
            consumers.add(&frames, FrameLines::Resident, thread);
        }
        let mut lines = Vec::new();
        for consumer in 0..CONSUMERS {
            assert_eq!(consumers.written_buffer(consumer), None);
            for (stream, expected) in frames.iter().enumerate() {
                let step = Step { consumer, stream };
                consumers.write_packet(step, &unlike);
                let (frame, _) = consumers.packet(step, expected.len());
                assert_eq!(frame, expected);
                lines.push(frame.as_ptr().addr() / align_of::<Buffer>());
            }
        }
        lines.sort_unstable();
        lines.dedup();
        assert_eq!(lines.len(), CONSUMERS * STREAMS);
    }
}
