//! One receive queue of an interface.
//!
//! While packets keep coming, up to [`SEND_BATCH`] answers are sent together. When there is nothing to
//! receive, they are sent at once.

use super::{FlowSet, LocalEndpoint, OpenFlows};
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

/// Most frames of new senders that wait at a time.
const MAX_WAITING: usize = 256;
/// Most frames that are sent together.
const SEND_BATCH: u32 = 32;
/// How often to try a send when the device's queue is full.
const SEND_ATTEMPTS: u32 = 100;

/// The frames of a device in order of arrival.
pub(super) struct DeviceQueue<D: FrameDevice> {
    device: D,
    classifier: Classifier,
    /// Frames sent since the last flush.
    unflushed: u32,
}

/// Inspects frames before a worker sees them.
struct Classifier {
    local: LocalEndpoint,
    station: LinkAddress,
    open_flows: Arc<OpenFlows>,
    announcements: Sender<Flow>,
    /// Copy of the shared set of flows, and its version.
    flows: FlowSet,
    version: u64,
    announced: HashSet<FlowKey>,
    /// Frames whose senders have no stream yet.
    waiting: VecDeque<(Nanos, FlowKey, Vec<u8>)>,
    /// ARP replies to be sent.
    answers: Vec<Vec<u8>>,
    /// Copy of a frame whose missing checksum has been set to zero.
    rewritten: Vec<u8>,
}

impl<D: FrameDevice> DeviceQueue<D> {
    pub(super) fn new(
        device: D,
        local: LocalEndpoint,
        station: LinkAddress,
        open_flows: Arc<OpenFlows>,
        announcements: Sender<Flow>,
    ) -> Self {
        let classifier = Classifier {
            local,
            station,
            open_flows,
            announcements,
            flows: FlowSet::default(),
            version: 0,
            announced: HashSet::new(),
            waiting: VecDeque::new(),
            answers: Vec::new(),
            rewritten: Vec::new(),
        };
        Self { device, classifier, unflushed: 0 }
    }

    fn transmit(&mut self, frame: &[u8]) -> Result<(), SendError> {
        for _ in 0..SEND_ATTEMPTS {
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
            // A peer without an answer asks again.
            let _ = self.transmit(&answer);
        }
    }

    fn flush_device(&mut self) -> Result<(), SendError> {
        self.unflushed = 0;
        self.device.flush()
    }
}

impl Classifier {
    /// Updates the set of flows and passes on waiting frames whose flow now has a stream. Returns their
    /// number.
    fn deliver_waiting(&mut self, limit: usize, sink: &mut dyn FnMut(Incoming<'_>)) -> usize {
        let version = self.open_flows.version.load(Ordering::Acquire);
        if version != self.version {
            self.version = version;
            self.flows = self.open_flows.flows.read().unwrap_or_else(PoisonError::into_inner).clone();
        }
        if self.waiting.is_empty() {
            return 0;
        }
        let FlowSet { open, is_full } = &self.flows;
        let (mut delivered, mut kept) = (0, VecDeque::new());
        for (at, key, frame) in self.waiting.drain(..) {
            if delivered < limit && (*is_full || open.contains(&key)) {
                sink(Incoming { at, bytes: Bytes::Borrowed(&frame) });
                delivered += 1;
            } else {
                kept.push_back((at, key, frame));
            }
        }
        self.waiting = kept;
        delivered
    }

    /// Handles a received frame: it is passed on, waits, or is answered here. Returns whether it was
    /// passed on.
    fn receive(&mut self, at: Nanos, frame: Frame<'_>, sink: &mut dyn FnMut(Incoming<'_>)) -> bool {
        let Ok(flow) = Flow::parse(LinkKind::Ethernet, frame.bytes) else {
            if self.answer(frame.bytes) {
                return false;
            }
            sink(Incoming { at, bytes: Bytes::Borrowed(frame.bytes) });
            return true;
        };
        let key = flow.key();
        if self.must_wait(&flow, &key) {
            self.waiting.push_back((at, key, frame.bytes.to_vec()));
            return false;
        }
        let bytes = if frame.checksum_left_out && self.local.verify_checksum {
            self.clear_checksum(frame.bytes)
        } else {
            frame.bytes
        };
        sink(Incoming { at, bytes: Bytes::Borrowed(bytes) });
        true
    }

    /// Whether `flow` must wait for its stream to be opened. Announces the flow the first time.
    fn must_wait(&mut self, flow: &Flow, key: &FlowKey) -> bool {
        let is_ours = flow.destination == self.local.address && flow.destination_port == self.local.port;
        let has_waiting = || self.waiting.iter().any(|(_, waiting, _)| waiting == key);
        if !is_ours || self.flows.is_full || (self.flows.open.contains(key) && !has_waiting()) {
            return false;
        }
        if self.waiting.len() >= MAX_WAITING {
            return false;
        }
        if self.announced.insert(*key) {
            // Sending fails only after the run, when nobody listens any more.
            let _ = self.announcements.send(*flow);
        }
        true
    }

    /// Queues a reply if `frame` is an ARP request for our address. Returns whether it was.
    fn answer(&mut self, frame: &[u8]) -> bool {
        let Some(request) = arp::request(frame).filter(|request| request.target == self.local.address) else {
            return false;
        };
        let mut buffer = [0; arp::MAX_REPLY];
        if let Ok(answer) = request.reply(self.station, &mut buffer) {
            self.answers.push(answer.to_vec());
        }
        true
    }

    /// Returns `frame` with its UDP checksum set to zero, which means none (RFC 768).
    fn clear_checksum(&mut self, frame: &[u8]) -> &[u8] {
        self.rewritten.clear();
        self.rewritten.extend_from_slice(frame);
        if let Some(checksum) = self.rewritten.get_mut(checksum_range(frame)) {
            checksum.fill(0);
        }
        &self.rewritten
    }
}

/// Byte range of the UDP checksum in `frame`, a UDP datagram.
fn checksum_range(frame: &[u8]) -> Range<usize> {
    let ip = ethernet::HEADER + LinkKind::Ethernet.tags(frame).length();
    let words = usize::from(frame.get(ip).map_or(0, |first| first & 0xf));
    let checksum = ip + 4 * words + 6;
    checksum..checksum + 2
}

impl<D: FrameDevice> Queue for DeviceQueue<D> {
    fn receive(&mut self, now: Nanos, limit: usize, sink: &mut dyn FnMut(Incoming<'_>)) -> usize {
        let Self { device, classifier, .. } = self;
        let mut delivered = classifier.deliver_waiting(limit, sink);
        if delivered < limit {
            device.receive(limit - delivered, |frame| {
                delivered += usize::from(classifier.receive(now, frame, sink));
            });
        }
        self.send_answers();
        if self.unflushed > 0 && (delivered == 0 || self.unflushed >= SEND_BATCH) {
            // The device counts what it cannot send, or keeps it for the next flush.
            let _ = self.flush_device();
        }
        delivered
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
    /// Sends the last answers of a run.
    fn drop(&mut self) {
        let _ = self.device.flush();
    }
}
