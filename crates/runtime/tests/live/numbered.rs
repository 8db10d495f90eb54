//! A driver with a finite number of packets. Each payload holds the stream and the number of its
//! packet.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use warmcore_runtime::Memory;
use warmcore_runtime::driver::{
    Bytes, Driver, DriverError, Due, Incoming, Opened, Prepared, Queue, QueueRequest,
};
use warmcore_stack::wire::{FrameBuilder, LinkKind};
use warmcore_units::{Nanos, StreamId};

pub(crate) const LINK: LinkKind = LinkKind::Ethernet;

/// On which queue the packets of a stream arrive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Spread {
    /// The one requested by the run.
    Steered,
    /// The one after the requested one.
    NextQueue,
    /// One queue for all streams.
    SingleQueue,
}

/// A driver with `each` packets of each stream.
#[derive(Clone, Debug)]
pub(crate) struct Numbered {
    pub(crate) streams: u32,
    pub(crate) each: u64,
    pub(crate) spread: Spread,
    /// Whether frames are prepared before the run; otherwise they are borrowed.
    pub(crate) prepared: bool,
    pub(crate) seed: u64,
    /// Frames that workers have taken so far.
    pub(crate) offered: Arc<AtomicU64>,
}

impl Numbered {
    pub(crate) fn new(streams: u32, each: u64) -> Self {
        Self { streams, each, spread: Spread::Steered, prepared: false, seed: 1, offered: Arc::default() }
    }

    pub(crate) fn total(&self) -> u64 {
        u64::from(self.streams) * self.each
    }

    fn frame(&self, packet: Packet) -> Vec<u8> {
        let mut payload = [0; 12];
        payload[..4].copy_from_slice(&packet.stream.to_be_bytes());
        payload[4..].copy_from_slice(&packet.number.to_be_bytes());
        let builder = FrameBuilder::new(LINK, Memory::flow(StreamId(packet.stream)));
        let mut frame = vec![0; builder.frame_length(payload.len())];
        builder.write(&payload, &mut frame).expect("a short payload fits");
        frame
    }
}

/// The contents of a payload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Packet {
    pub(crate) stream: u32,
    pub(crate) number: u64,
}

impl Packet {
    pub(crate) fn parse(payload: &[u8]) -> Option<Self> {
        let (stream, number) = payload.split_at_checked(4)?;
        let stream = u32::from_be_bytes(stream.try_into().ok()?);
        // A short Ethernet frame is padded.
        Some(Self { stream, number: u64::from_be_bytes(number.get(..8)?.try_into().ok()?) })
    }
}

impl Driver for Numbered {
    fn open(&mut self, request: &QueueRequest<'_>) -> Result<Opened, DriverError> {
        let queues = if self.spread == Spread::SingleQueue { 1 } else { request.queues as usize };
        let mut random = Xoshiro256PlusPlus::seed_from_u64(self.seed);
        let mut left: Vec<u64> = vec![self.each; self.streams as usize];
        let mut packets: Vec<Vec<Packet>> = vec![Vec::new(); queues];
        let mut prepared = Vec::new();
        for _ in 0..self.total() {
            let mut stream = random.random_range(0..left.len());
            while left[stream] == 0 {
                stream = (stream + 1) % left.len();
            }
            let packet = Packet { stream: stream as u32, number: self.each - left[stream] };
            left[stream] -= 1;
            let steered = request.steering.get(stream).copied().unwrap_or_default() as usize;
            let queue = (steered + usize::from(self.spread == Spread::NextQueue)) % queues;
            packets[queue].push(packet);
        }
        let queue = |packets: Vec<Packet>| -> Box<dyn Queue> {
            let frames: Vec<Vec<u8>> = packets.iter().map(|packet| self.frame(*packet)).collect();
            let first = prepared.len() as u32;
            if self.prepared {
                let streams = packets.iter().map(|packet| StreamId(packet.stream));
                let ready = streams.zip(frames.clone()).map(|(stream, bytes)| Prepared { stream, bytes });
                prepared.extend(ready);
            }
            Box::new(NumberedQueue {
                frames,
                next: 0,
                prepared_from: self.prepared.then_some(first),
                random: Xoshiro256PlusPlus::seed_from_u64(self.seed),
                offered: Arc::clone(&self.offered),
            })
        };
        let queues = packets.into_iter().map(queue).collect();
        Ok(Opened { queues, prepared })
    }
}

/// The packets of one queue, a few at a time.
struct NumberedQueue {
    frames: Vec<Vec<u8>>,
    next: usize,
    prepared_from: Option<u32>,
    random: Xoshiro256PlusPlus,
    offered: Arc<AtomicU64>,
}

impl Queue for NumberedQueue {
    fn receive(&mut self, now: Nanos, limit: usize, sink: &mut dyn FnMut(Incoming<'_>)) -> usize {
        let left = self.frames.len() - self.next;
        let taken = self.random.random_range(0..=limit).min(left);
        for _ in 0..taken {
            let bytes = match self.prepared_from {
                Some(first) => Bytes::Prepared(first + self.next as u32),
                None => Bytes::Borrowed(&self.frames[self.next]),
            };
            self.next += 1;
            self.offered.fetch_add(1, Ordering::Relaxed);
            sink(Incoming { at: now, bytes });
        }
        taken
    }

    fn due(&self) -> Due {
        if self.next < self.frames.len() { Due::Unknown } else { Due::Never }
    }

    fn send(&mut self, _frame: &[u8]) -> io::Result<()> {
        Ok(())
    }
}
