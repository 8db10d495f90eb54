//! One receive queue of an interface.
//!
//! Answers leave together while packets keep coming, up to [`TOGETHER`] of them; and at once when
//! there is nothing to receive.

use super::{Entries, Here, Register};
use crate::driver::{Bytes, Incoming, Queue};
use core::ops::Range;
use hashbrown::HashSet;
use std::collections::VecDeque;
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Sender;
use std::sync::{Arc, PoisonError};
use warmcore_linux::net::{Frame, FrameDevice, SendError};
use warmcore_stack::wire::{LinkKind, arp, ethernet};
use warmcore_stack::{Flow, FlowKey, LinkAddress};
use warmcore_units::Nanos;

/// Frames of new_senders that wait at most.
const WAITING: usize = 256;
/// Frames that leave together at most.
const TOGETHER: u32 = 32;
/// Times a send is tried that finds no room.
const ATTEMPTS: u32 = 100;

/// Frames of a device, in the order in which they came.
pub(super) struct DeviceQueue<D: FrameDevice> {
    device: D,
    classifier: Classifier,
    /// Frames sent since the last flush.
    unflushed: u32,
}

/// Where frames are looked at before a worker sees them.
struct Classifier {
    here: Here,
    station: LinkAddress,
    register: Arc<Register>,
    announcements: Sender<Flow>,
    /// What the register said, and in which version.
    entries: Entries,
    version: u64,
    announced: HashSet<FlowKey>,
    /// Frames whose senders have no stream yet.
    waiting: VecDeque<(Nanos, FlowKey, Vec<u8>)>,
    /// Answers to who asked for our address.
    answers: Vec<Vec<u8>>,
    /// A frame in which a checksum that was left out is marked as such.
    marked: Vec<u8>,
}

impl<D: FrameDevice> DeviceQueue<D> {
    pub(super) fn new(
        device: D,
        here: Here,
        station: LinkAddress,
        register: Arc<Register>,
        announcements: Sender<Flow>,
    ) -> Self {
        let classifier = Classifier {
            here,
            station,
            register,
            announcements,
            entries: Entries::default(),
            version: 0,
            announced: HashSet::new(),
            waiting: VecDeque::new(),
            answers: Vec::new(),
            marked: Vec::new(),
        };
        Self { device, classifier, unflushed: 0 }
    }

    fn transmit(&mut self, frame: &[u8]) -> Result<(), SendError> {
        for _ in 0..ATTEMPTS {
            match self.device.send(frame) {
                Err(SendError::Full) => drop(self.device.flush()),
                sent => {
                    self.unflushed += u32::from(sent.is_ok());
                    return sent;
                }
            }
        }
        Err(SendError::Full)
    }

    fn send_answers(&mut self) {
        if self.classifier.answers.is_empty() {
            return;
        }
        let answers = core::mem::take(&mut self.classifier.answers);
        for answer in answers {
            // Who gets no answer asks again.
            let _ = self.transmit(&answer);
        }
    }

    fn flush_device(&mut self) -> Result<(), SendError> {
        self.unflushed = 0;
        self.device.flush()
    }
}

impl Classifier {
    /// Learns who has got a stream, and shows what of theirs has waited; how many frames.
    fn let_in(&mut self, limit: usize, take: &mut dyn FnMut(Incoming<'_>)) -> usize {
        let version = self.register.version.load(Ordering::Acquire);
        if version != self.version {
            self.version = version;
            self.entries = self.register.entries.read().unwrap_or_else(PoisonError::into_inner).clone();
        }
        if self.waiting.is_empty() {
            return 0;
        }
        let Entries { open, is_closed } = &self.entries;
        let (mut shown, mut kept) = (0, VecDeque::new());
        for (at, key, frame) in self.waiting.drain(..) {
            if shown < limit && (*is_closed || open.contains(&key)) {
                take(Incoming { at, bytes: Bytes::Borrowed(&frame) });
                shown += 1;
            } else {
                kept.push_back((at, key, frame));
            }
        }
        self.waiting = kept;
        shown
    }

    /// A frame has come in: it is shown, waits, or is answered here; whether it was shown.
    fn receive(&mut self, at: Nanos, frame: Frame<'_>, take: &mut dyn FnMut(Incoming<'_>)) -> bool {
        let Ok(flow) = Flow::parse(LinkKind::Ethernet, frame.bytes) else {
            if self.answer(frame.bytes) {
                return false;
            }
            take(Incoming { at, bytes: Bytes::Borrowed(frame.bytes) });
            return true;
        };
        let key = flow.key();
        if self.must_wait(&flow, &key) {
            self.waiting.push_back((at, key, frame.bytes.to_vec()));
            return false;
        }
        let bytes =
            if frame.checksum_left_out && self.here.verifies { self.mark(frame.bytes) } else { frame.bytes };
        take(Incoming { at, bytes: Bytes::Borrowed(bytes) });
        true
    }

    /// Whether a stream will be opened for `flow`, and is not yet; then it is announced.
    fn must_wait(&mut self, flow: &Flow, key: &FlowKey) -> bool {
        let is_ours = flow.destination == self.here.address && flow.destination_port == self.here.port;
        let has_waiting = || self.waiting.iter().any(|(_, waiting, _)| waiting == key);
        if !is_ours || self.entries.is_closed || (self.entries.open.contains(key) && !has_waiting()) {
            return false;
        }
        if self.waiting.len() >= WAITING {
            return false;
        }
        if self.announced.insert(*key) {
            // Nobody listens after the run.
            let _ = self.announcements.send(*flow);
        }
        true
    }

    /// Answers `frame` if it asks for our address.
    fn answer(&mut self, frame: &[u8]) -> bool {
        let Some(request) = arp::request(frame).filter(|request| request.target == self.here.address) else {
            return false;
        };
        let mut buffer = [0; arp::MAX_REPLY];
        if let Ok(answer) = request.reply(self.station, &mut buffer) {
            self.answers.push(answer.to_vec());
        }
        true
    }

    /// `frame`, with zero for a checksum: none (RFC 768).
    fn mark(&mut self, frame: &[u8]) -> &[u8] {
        self.marked.clear();
        self.marked.extend_from_slice(frame);
        if let Some(checksum) = self.marked.get_mut(checksum_place(frame)) {
            checksum.fill(0);
        }
        &self.marked
    }
}

/// Where the checksum of `frame` stands, which is a UDP datagram.
fn checksum_place(frame: &[u8]) -> Range<usize> {
    let ip = ethernet::HEADER + LinkKind::Ethernet.tags(frame).length();
    let words = usize::from(frame.get(ip).map_or(0, |first| first & 0xf));
    let checksum = ip + 4 * words + 6;
    checksum..checksum + 2
}

impl<D: FrameDevice> Queue for DeviceQueue<D> {
    fn receive(&mut self, now: Nanos, limit: usize, take: &mut dyn FnMut(Incoming<'_>)) -> usize {
        let Self { device, classifier, .. } = self;
        let mut shown = classifier.let_in(limit, take);
        if shown < limit {
            device.receive(limit - shown, |frame| shown += usize::from(classifier.receive(now, frame, take)));
        }
        self.send_answers();
        if self.unflushed > 0 && (shown == 0 || self.unflushed >= TOGETHER) {
            // What the device cannot send it counts, or keeps for the next time.
            let _ = self.flush_device();
        }
        shown
    }

    fn send(&mut self, frame: &[u8]) -> io::Result<()> {
        self.transmit(frame).map_err(io::Error::other)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.flush_device().map_err(io::Error::other)
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.device.descriptor())
    }

    fn lost(&mut self) -> u64 {
        self.device.dropped()
    }
}

impl<D: FrameDevice> Drop for DeviceQueue<D> {
    /// The last answers of a run.
    fn drop(&mut self) {
        let _ = self.device.flush();
    }
}
