//! The time to receive one TCP segment of an established connection, on the hot path: in order, read at once by the
//! application, and acknowledged as each stack does.
//!
//! Both receivers verify both checksums, find the connection, take the segment in, hand over its data, and write the frames
//! of the acknowledgements that they send. Frames are made before they are timed.

use super::table::{self, Column};
use super::{PACKETS_PER_ROUND, touch};
use hashbrown::HashMap;
use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::phy::{Device, DeviceCapabilities, Medium, RxToken, TxToken};
use smoltcp::socket::tcp::{Socket, SocketBuffer};
use smoltcp::time::Instant as SmoltcpInstant;
use smoltcp::wire::{EthernetAddress, IpCidr};
use std::hint::black_box;
use std::time::{Duration, Instant};
use warmcore_stack::tcp::{Changes, Config as TcpConfig, Connection};
use warmcore_stack::wire::tcp::{Options, Payload, Segment, parse_frame};
use warmcore_stack::wire::{FrameBuilder, LinkKind, SequenceNumber};
use warmcore_stack::{Flow, FlowKey};

const BUFFER: usize = 1 << 16;
const FIRST: SequenceNumber = SequenceNumber(1000);
/// Longest frame, rounded up.
const FRAME: usize = 1536;

/// Something that receives the segments of one connection.
trait Receiver {
    /// Takes a frame and does all that it calls for. Frames that are sent end in `sent`.
    fn receive(&mut self, frame: &[u8], sent: &mut Vec<u8>);
}

/// Measures both with data of this length, and prints a table.
pub(super) fn compare(payload: usize, rounds: usize) {
    let flow = Flow::synthetic(1);
    let mut smoltcp = Stream::open(Smoltcp::new(&flow), flow, payload);
    let mut ours = Stream::open(Ours::new(&flow, false), flow, payload);
    let mut predicting = Stream::open(Ours::new(&flow, true), flow, payload);
    let mut columns = ["smoltcp, whole poll", "connection", "header prediction"].map(Column::new);
    for _ in 0..rounds {
        columns[0].push(smoltcp.round());
        columns[1].push(ours.round());
        columns[2].push(predicting.round());
    }
    table::print(&format!("TCP segment of {payload} bytes, in order"), &columns);
}

/// A receiver with the sender's side of its connection.
struct Stream<R> {
    receiver: R,
    builder: FrameBuilder,
    next: SequenceNumber,
    theirs: SequenceNumber,
    payload: Vec<u8>,
    frames: Vec<u8>,
    ends: Vec<usize>,
    sent: Vec<u8>,
}

impl<R: Receiver> Stream<R> {
    fn open(receiver: R, flow: Flow, payload: usize) -> Self {
        let mut stream = Self {
            receiver,
            builder: FrameBuilder::new(LinkKind::Ethernet, flow),
            next: FIRST + 1,
            theirs: SequenceNumber(0),
            payload: (0..payload).map(|at| at as u8).collect(),
            frames: Vec::new(),
            ends: Vec::new(),
            sent: Vec::with_capacity(FRAME),
        };
        let options = Options { max_segment_size: Some(1460), ..Options::default() };
        let syn = Segment { sequence: FIRST, syn: true, window: u16::MAX, options, ..Segment::default() };
        stream.give(&syn);
        let (_, answer) = parse_frame(LinkKind::Ethernet, &stream.sent).expect("SYN is answered");
        assert!(answer.syn && answer.acknowledgement == Some(FIRST + 1), "with SYN and its acknowledgement");
        stream.theirs = answer.sequence + 1;
        let ack = Segment { payload: Payload::default(), ..stream.segment() };
        stream.give(&ack);
        stream
    }

    /// The next segment, without its data.
    fn segment(&self) -> Segment<'static> {
        let acknowledgement = Some(self.theirs);
        Segment { sequence: self.next, acknowledgement, window: u16::MAX, ..Segment::default() }
    }

    fn give(&mut self, segment: &Segment<'_>) {
        let mut buffer = [0; FRAME];
        let frame = self.builder.write_segment(segment, &mut buffer).expect("the segment fits");
        self.sent.clear();
        self.receiver.receive(frame, &mut self.sent);
    }

    /// Nanoseconds per segment.
    fn round(&mut self) -> f64 {
        self.frames.clear();
        self.ends.clear();
        for _ in 0..PACKETS_PER_ROUND {
            let mut buffer = [0; FRAME];
            let segment = Segment { payload: Payload::from(&self.payload[..]), push: true, ..self.segment() };
            let frame = self.builder.write_segment(&segment, &mut buffer).expect("the segment fits");
            self.frames.extend_from_slice(frame);
            self.ends.push(self.frames.len());
            self.next = self.next + self.payload.len() as u32;
        }
        let start = Instant::now();
        let mut from = 0;
        for &end in &self.ends {
            self.receiver.receive(black_box(&self.frames[from..end]), &mut self.sent);
            from = end;
        }
        start.elapsed().as_nanos() as f64 / f64::from(PACKETS_PER_ROUND)
    }
}

/// One connection of ours, found by the flow of its segments.
struct Ours {
    connections: HashMap<FlowKey, Connection>,
    builder: FrameBuilder,
    frame: [u8; FRAME],
    data: Vec<u8>,
}

impl Ours {
    fn new(flow: &Flow, header_prediction: bool) -> Self {
        let changes = Changes { header_prediction, ..Changes::default() };
        let config =
            TcpConfig { send_buffer: BUFFER, receive_buffer: BUFFER, changes, ..TcpConfig::default() };
        let connection = Connection::listen(config, SequenceNumber(5000));
        Self {
            connections: HashMap::from([(flow.key(), connection)]),
            builder: FrameBuilder::new(LinkKind::Ethernet, flow.reversed()),
            frame: [0; FRAME],
            data: vec![0; BUFFER],
        }
    }
}

impl Receiver for Ours {
    fn receive(&mut self, frame: &[u8], sent: &mut Vec<u8>) {
        let (flow, segment) = parse_frame(LinkKind::Ethernet, frame).expect("the frame is valid");
        let connection = self.connections.get_mut(&flow.key()).expect("the connection is there");
        let now = Duration::ZERO;
        connection.arrives(now, &segment);
        if connection.readable() > 0 {
            let length = connection.read(&mut self.data).expect("the connection is open");
            touch(&self.data[..length]);
        }
        while let Some(segment) = connection.transmit(now) {
            let frame = self.builder.write_segment(&segment, &mut self.frame).expect("it fits");
            sent.clear();
            sent.extend_from_slice(frame);
        }
    }
}

/// smoltcp with one listening socket.
struct Smoltcp {
    interface: Interface,
    sockets: SocketSet<'static>,
    socket: SocketHandle,
    data: Vec<u8>,
}

impl Smoltcp {
    fn new(flow: &Flow) -> Self {
        let mut sent = Vec::new();
        let mut device = OneFrame { frame: None, sent: &mut sent };
        let config = Config::new(EthernetAddress(flow.destination_link.0).into());
        let mut interface = Interface::new(config, &mut device, SmoltcpInstant::ZERO);
        interface.update_ip_addrs(|addresses| {
            addresses.push(IpCidr::new(flow.destination.into(), 8)).expect("the list holds one address");
        });
        let mut socket = Socket::new(SocketBuffer::new(vec![0; BUFFER]), SocketBuffer::new(vec![0; BUFFER]));
        socket.listen(flow.destination_port).expect("the socket listens once");
        let mut sockets = SocketSet::new(vec![]);
        let socket = sockets.add(socket);
        let mut peer = Self { interface, sockets, socket, data: vec![0; BUFFER] };
        // It asks for the sender's station before it answers.
        peer.learn(flow);
        peer
    }

    /// Tells it where the sender is, by a request for its own address.
    fn learn(&mut self, flow: &Flow) {
        let mut request = [0; 60];
        request[..6].fill(0xff);
        request[6..12].copy_from_slice(&flow.source_link.0);
        request[12..22].copy_from_slice(&[0x08, 0x06, 0, 1, 0x08, 0, 6, 4, 0, 1]);
        request[22..28].copy_from_slice(&flow.source_link.0);
        request[28..32].copy_from_slice(&flow.source.octets());
        request[38..42].copy_from_slice(&flow.destination.octets());
        self.receive(&request, &mut Vec::new());
    }
}

impl Receiver for Smoltcp {
    fn receive(&mut self, frame: &[u8], sent: &mut Vec<u8>) {
        let mut device = OneFrame { frame: Some(frame), sent };
        self.interface.poll(SmoltcpInstant::ZERO, &mut device, &mut self.sockets);
        let socket = self.sockets.get_mut::<Socket>(self.socket);
        if socket.can_recv() {
            let length = socket.recv_slice(&mut self.data).expect("the connection is open");
            touch(&self.data[..length]);
        }
    }
}

/// A device that receives one frame, and keeps the last one sent.
struct OneFrame<'f> {
    frame: Option<&'f [u8]>,
    sent: &'f mut Vec<u8>,
}

impl Device for OneFrame<'_> {
    type RxToken<'a>
        = Received<'a>
    where
        Self: 'a;
    type TxToken<'a>
        = Kept<'a>
    where
        Self: 'a;

    fn receive(&mut self, _: SmoltcpInstant) -> Option<(Self::RxToken<'_>, Self::TxToken<'_>)> {
        self.frame.take().map(|frame| (Received(frame), Kept(self.sent)))
    }

    fn transmit(&mut self, _: SmoltcpInstant) -> Option<Self::TxToken<'_>> {
        Some(Kept(self.sent))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ethernet;
        capabilities.max_transmission_unit = 1514;
        capabilities
    }
}

struct Received<'f>(&'f [u8]);

impl RxToken for Received<'_> {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, read: F) -> R {
        read(self.0)
    }
}

struct Kept<'f>(&'f mut Vec<u8>);

impl TxToken for Kept<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, length: usize, write: F) -> R {
        self.0.clear();
        self.0.resize(length, 0);
        write(self.0)
    }
}
