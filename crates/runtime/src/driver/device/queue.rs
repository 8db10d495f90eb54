//! One receive queue of an interface.
//!
//! While packets keep coming, up to [`SEND_BATCH`] answers are sent together. When there is nothing to
//! receive, they are sent at once.

use super::senders::{FlowSet, OpenFlows};
use super::{LocalEndpoint, key};
use crate::driver::{Bytes, Incoming, Queue, QueueError};
use crate::frames;
use crate::run_handle::NewFlow;
use core::ops::Range;
use hashbrown::{HashMap, HashSet};
use std::collections::VecDeque;
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use warmcore_linux::net::{DeviceError, Frame, FrameDevice, SendError};
use warmcore_stack::tcp::refuse;
use warmcore_stack::wire::{FrameBuilder, LinkKind, ethernet, tcp};
use warmcore_stack::{Flow, FlowKey, LinkAddress};
use warmcore_units::{Nanos, Transport};

/// Most frames of new senders that wait at a time.
const MAX_WAITING: usize = 256;
/// After how long a flow that is not open is announced again: no stream was left when it was announced.
const ANNOUNCED_AGAIN: Nanos = Nanos(100e6);
/// Most refused senders that are told apart.
const MAX_REFUSED: usize = 1 << 16;
/// Most frames that are sent together.
const SEND_BATCH: u32 = 32;

/// The frames of a device in order of arrival.
pub(super) struct DeviceQueue<D: FrameDevice> {
    /// Name of the driver.
    driver: &'static str,
    device: D,
    classifier: Classifier,
    /// Frames sent since the last flush.
    unflushed: u32,
}

/// Tells of new senders whose frames arrive on one queue.
pub(super) struct Announcements {
    pub(super) queue: usize,
    pub(super) sender: Sender<NewFlow>,
}

impl Announcements {
    fn send(&self, flow: &Flow) {
        // This fails only after the run, when nobody listens any more.
        let _ = self.sender.send(NewFlow { flow: *flow, queue: Some(self.queue) });
    }
}

/// Inspects frames before a worker sees them.
struct Classifier {
    local: LocalEndpoint,
    station: LinkAddress,
    open_flows: Arc<OpenFlows>,
    announcements: Announcements,
    /// Copy of the shared set of flows, and its version.
    flows: FlowSet,
    version: u64,
    /// Flows that were announced and are not open yet, and when.
    announced: HashMap<FlowKey, Nanos>,
    /// Frames whose senders have no stream yet.
    waiting: VecDeque<(Nanos, FlowKey, Vec<u8>)>,
    /// Senders that were refused.
    refused: HashSet<FlowKey>,
    /// ARP replies and resets to be sent.
    answers: Vec<Vec<u8>>,
    /// Copy of a frame whose missing checksum has been set to zero.
    rewritten: Vec<u8>,
}

impl<D: FrameDevice> DeviceQueue<D> {
    pub(super) fn new(
        driver: &'static str,
        device: D,
        local: LocalEndpoint,
        station: LinkAddress,
        open_flows: Arc<OpenFlows>,
        announcements: Announcements,
    ) -> Self {
        let classifier = Classifier {
            local,
            station,
            open_flows,
            announcements,
            flows: FlowSet::default(),
            version: 0,
            announced: HashMap::new(),
            waiting: VecDeque::new(),
            refused: HashSet::new(),
            answers: Vec::new(),
            rewritten: Vec::new(),
        };
        Self { driver, device, classifier, unflushed: 0 }
    }

    fn transmit(&mut self, frame: &[u8]) -> Result<(), SendError> {
        let sent = frames::transmit(&mut self.device, frame);
        self.unflushed += u32::from(sent.is_ok());
        sent
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
        if let Some((version, flows)) = self.open_flows.newer_than(self.version) {
            (self.version, self.flows) = (version, flows);
            // Should they be closed, they are announced again.
            self.announced.retain(|key, _| !self.flows.open.contains_key(key));
        }
        if self.waiting.is_empty() {
            return 0;
        }
        let (mut delivered, mut kept) = (0, VecDeque::new());
        for (at, key, frame) in core::mem::take(&mut self.waiting) {
            let is_open = self.flows.open.contains_key(&key);
            if delivered >= limit || !(is_open || self.flows.is_full) {
                kept.push_back((at, key, frame));
                continue;
            }
            if !is_open {
                self.refuse(key);
                if self.local.transport == Transport::Tcp {
                    self.begins_connection(&frame, false);
                }
            }
            self.announced.remove(&key);
            sink(Incoming { at, bytes: Bytes::Borrowed(&frame) });
            delivered += 1;
        }
        self.waiting = kept;
        delivered
    }

    /// Handles a received frame: it is passed on, waits, or is answered here. Returns whether it was
    /// passed on.
    fn receive(&mut self, at: Nanos, frame: Frame<'_>, sink: &mut dyn FnMut(Incoming<'_>)) -> bool {
        let transport = self.local.transport;
        let parsed = match transport {
            Transport::Tcp => Flow::parse_tcp(LinkKind::Ethernet, frame.bytes),
            Transport::Udp | Transport::Rpc => Flow::parse(LinkKind::Ethernet, frame.bytes),
        };
        let Ok(flow) = parsed else {
            if self.answer(frame.bytes) {
                return false;
            }
            sink(Incoming { at, bytes: Bytes::Borrowed(frame.bytes) });
            return true;
        };
        let key = key(transport, &flow);
        let mut rewritten = core::mem::take(&mut self.rewritten);
        let bytes = if frame.checksum_left_out && self.local.verify_checksum {
            make_checksum_good(transport, frame.bytes, &mut rewritten);
            &rewritten
        } else {
            frame.bytes
        };
        let waits = self.waits(at, &flow, key, bytes);
        if waits {
            self.waiting.push_back((at, key, bytes.to_vec()));
        } else {
            sink(Incoming { at, bytes: Bytes::Borrowed(bytes) });
        }
        self.rewritten = rewritten;
        !waits
    }

    /// Whether a frame must wait for the stream of `flow` to be opened. Announces the flow the first time. A
    /// segment that begins no connection and belongs to none is answered with a reset.
    fn waits(&mut self, at: Nanos, flow: &Flow, key: FlowKey, frame: &[u8]) -> bool {
        let is_ours = flow.destination == self.local.address && flow.destination_port == self.local.port;
        let has_waiting = || self.waiting.iter().any(|(_, waiting, _)| *waiting == key);
        if !is_ours {
            return false;
        }
        if let Some(last_seen) = self.flows.open.get(&key) {
            last_seen.note(at);
            if !has_waiting() {
                return false;
            }
        }
        let is_admitted = !self.flows.is_full && self.waiting.len() < MAX_WAITING;
        if self.local.transport == Transport::Tcp && !self.begins_connection(frame, is_admitted) {
            return false;
        }
        if self.flows.is_full {
            self.refuse(key);
        }
        if is_admitted && self.announced.get(&key).is_none_or(|before| at - *before > ANNOUNCED_AGAIN) {
            self.announced.insert(key, at);
            self.announcements.send(flow);
        }
        is_admitted
    }

    /// Counts a sender that is refused, once.
    fn refuse(&mut self, key: FlowKey) {
        if self.refused.len() < MAX_REFUSED && self.refused.insert(key) {
            self.open_flows.refuse();
        }
    }

    /// Whether `frame` begins a connection. If not, or if none is admitted, a reset is queued.
    fn begins_connection(&mut self, frame: &[u8], is_admitted: bool) -> bool {
        // What is spoilt the stack refuses.
        let Ok((flow, segment)) = tcp::parse_frame(LinkKind::Ethernet, frame) else { return false };
        let begins = segment.syn && segment.acknowledgement.is_none();
        if !(begins && is_admitted)
            && let Some(reset) = refuse(&segment)
        {
            let tags = LinkKind::Ethernet.tags(frame);
            let builder = FrameBuilder { tags, ..FrameBuilder::new(LinkKind::Ethernet, flow.reversed()) };
            let mut answer = vec![0; builder.segment_frame_length(&reset)];
            if builder.write_segment(&reset, &mut answer).is_ok() {
                self.answers.push(answer);
            }
        }
        begins
    }

    /// Queues a reply if `frame` is an ARP request for our address. Returns whether it was.
    fn answer(&mut self, frame: &[u8]) -> bool {
        let reply = frames::arp_reply(frame, self.local.address, self.station);
        let is_asked = reply.is_some();
        self.answers.extend(reply);
        is_asked
    }
}

/// Copies `frame` to `rewritten` and makes its checksum, which the sender left to the device, good: that of UDP
/// is set to zero, which means none (RFC 768).
fn make_checksum_good(transport: Transport, frame: &[u8], rewritten: &mut Vec<u8>) {
    rewritten.clear();
    rewritten.extend_from_slice(frame);
    match transport {
        Transport::Tcp => tcp::write_checksum(LinkKind::Ethernet, rewritten),
        Transport::Udp | Transport::Rpc => {
            if let Some(checksum) = rewritten.get_mut(checksum_range(frame)) {
                checksum.fill(0);
            }
        }
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

    fn check(&mut self) -> Result<(), QueueError> {
        match self.device.check() {
            // An interface that is down may come up again.
            Ok(()) | Err(DeviceError::Down { .. }) => Ok(()),
            Err(DeviceError::Gone { name }) => Err(QueueError::Gone { interface: name }),
            Err(error) => Err(QueueError::Failed { driver: self.driver, reason: error.to_string() }),
        }
    }
}

impl<D: FrameDevice> Drop for DeviceQueue<D> {
    /// Sends the last answers of a run.
    fn drop(&mut self) {
        let _ = self.device.flush();
    }
}
