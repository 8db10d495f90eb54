//! A queue with the far ends of conversations behind it: a scheduled packet is a message that its peer sends,
//! and peers take the answers.
//!
//! Peers are real ones, which acknowledge, wait for a window or a free channel, and send again. A message
//! that a peer has no room for is not sent, and counts as lost. Peers take their answers when a worker polls, so
//! that their work is no part of a packet's.

use super::{Memory, Schedule};
use crate::driver::{Bytes, Due, Incoming, Queue};
use core::time::Duration;
use std::collections::VecDeque;
use std::io;
use warmcore_stack::wire::ipv4;
use warmcore_stack::{Config, Conversations, Peer};
use warmcore_units::{Nanos, StreamId};

/// Bytes that both ends of a stream take at most.
pub(super) const STREAM_MEMORY: u64 = 256 << 10;

pub(super) struct Conversing {
    schedule: Schedule,
    /// By stream: the far ends of those that this queue receives.
    peers: Vec<Option<Box<Peer>>>,
    message: Vec<u8>,
    /// Frames of the stack that no peer has taken yet.
    answers: VecDeque<Vec<u8>>,
    /// Buffers of answers that were taken.
    spare: Vec<Vec<u8>>,
    /// Frames that peers sent when they had an answer.
    ready: VecDeque<(Nanos, Vec<u8>)>,
    /// The time of the last poll.
    polled: Nanos,
    unsent: u64,
}

impl Conversing {
    /// A queue whose `schedule` says which of `streams` streams sends a message of `payload` bytes.
    pub(super) fn new(schedule: Schedule, streams: u32, payload: u16, conversations: Conversations) -> Self {
        let config = Config { link: Memory::LINK, verify_udp_checksum: true };
        let mut is_received = vec![false; streams as usize];
        schedule.frames.iter().for_each(|&frame| is_received[frame as usize] = true);
        let peer = |(stream, is_received): (usize, bool)| {
            let flow = Memory::flow(StreamId::from(stream));
            is_received.then(|| Box::new(Peer::new(config, Some(conversations), flow)))
        };
        let peers = is_received.into_iter().enumerate().map(peer).collect();
        let message = vec![0x5a; payload.into()];
        Self {
            schedule,
            peers,
            message,
            answers: VecDeque::new(),
            spare: Vec::new(),
            ready: VecDeque::new(),
            polled: Nanos::ZERO,
            unsent: 0,
        }
    }

    /// Gives peers what was sent to them.
    fn deliver_answers(&mut self, now: Nanos) {
        while let Some(frame) = self.answers.pop_front() {
            let Self { peers, ready, .. } = self;
            let peer = stream(&frame).and_then(|stream| peers.get_mut(stream)).and_then(Option::as_mut);
            if let Some(peer) = peer {
                let mut send = |frame: &[u8]| ready.push_back((now, frame.to_vec()));
                peer.arrives(since_start(now), &frame, &mut send);
            }
            self.spare.push(frame);
        }
    }
}

fn since_start(now: Nanos) -> Duration {
    Duration::from_nanos(now.0.max(0.0) as u64)
}

impl Queue for Conversing {
    fn begin(&mut self, now: Nanos) {
        self.schedule.begin(now);
    }

    fn receive(&mut self, now: Nanos, limit: usize, sink: &mut dyn FnMut(Incoming<'_>)) -> usize {
        self.polled = now;
        self.deliver_answers(now);
        let mut passed_on = 0;
        while passed_on < limit
            && let Some((at, frame)) = self.ready.pop_front()
        {
            sink(Incoming { at, bytes: Bytes::Borrowed(&frame) });
            passed_on += 1;
        }
        let Self { schedule, peers, message, ready, unsent, .. } = self;
        // What comes as fast as it is taken in waits until there is room.
        let waits = schedule.saturating;
        schedule.receive(now, limit - passed_on, &mut |Incoming { at, bytes }| {
            let Bytes::Prepared(stream) = bytes else { return };
            let Some(peer) = peers.get_mut(stream as usize).and_then(Option::as_mut) else { return };
            let mut send = |frame: &[u8]| {
                if passed_on < limit {
                    sink(Incoming { at, bytes: Bytes::Borrowed(frame) });
                    passed_on += 1;
                } else {
                    ready.push_back((at, frame.to_vec()));
                }
            };
            let is_busy = peer.offer(since_start(now), message, &mut send).is_err();
            *unsent += u64::from(is_busy && !waits);
        });
        passed_on
    }

    fn due(&self) -> Due {
        if self.ready.is_empty() { self.schedule.due() } else { Due::At(self.polled) }
    }

    /// Keeps the frame for the peer that it is for.
    fn send(&mut self, frame: &[u8]) -> io::Result<()> {
        let mut buffer = self.spare.pop().unwrap_or_default();
        buffer.clear();
        buffer.extend_from_slice(frame);
        self.answers.push_back(buffer);
        Ok(())
    }

    fn lost(&mut self) -> u64 {
        self.unsent
    }
}

/// The stream of a frame that our stack sent: it is told by address and port of the receiver.
fn stream(frame: &[u8]) -> Option<usize> {
    let ip = Memory::LINK.header();
    let host = frame.get(ip + 18..ip + 20)?;
    let port = frame.get(ip + ipv4::HEADER + 2..ip + ipv4::HEADER + 4)?;
    Memory::stream(u16::from_be_bytes(host.try_into().ok()?), u16::from_be_bytes(port.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use warmcore_stack::wire::FrameBuilder;

    #[test]
    fn an_answer_finds_its_stream() {
        for number in [0, 1, 59_999, 60_000, 130_001] {
            let flow = Memory::flow(StreamId(number)).reversed();
            let mut buffer = [0; 100];
            let frame = FrameBuilder::new(Memory::LINK, flow).write(b"answer", &mut buffer).unwrap();
            assert_eq!(stream(frame), Some(number as usize));
        }
    }
}
