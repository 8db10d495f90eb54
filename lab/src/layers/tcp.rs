//! TCP: finds the connection of a segment, and sends what connections have to send.

use crate::event::EventId;
use crate::host::Host;
use crate::layer::{Above, Below, Lost};
use crate::map::Map;
use crate::message::Message;
use crate::on_path;
use alloc::vec::Vec;
use core::cell::{Cell, RefCell};
use core::hint::cold_path;
use core::net::Ipv4Addr;
use warmcore_stack::Flow;
use warmcore_stack::tcp::{Changes, Config, Connection, Event, refuse};
use warmcore_stack::wire::SequenceNumber;
use warmcore_stack::wire::tcp;

/// Largest segment on an Ethernet.
const MAX_SEGMENT: u16 = 1460;

/// The connections of a host.
pub struct Tcp {
    host: &'static Host,
    map: Map,
    connections: RefCell<Vec<Open>>,
    refused: Cell<u64>,
}

struct Open {
    connection: Connection,
    flow: Flow,
    timer: EventId,
}

/// A connection's place among those of its host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ConnectionId(u32);

/// What a segment's connection is found by: the peer's address, and both ports.
fn key(peer: Ipv4Addr, theirs: u16, ours: u16) -> [u8; 8] {
    let [a, b, c, d] = peer.octets();
    let ([e, f], [g, h]) = (theirs.to_be_bytes(), ours.to_be_bytes());
    [a, b, c, d, e, f, g, h]
}

impl Tcp {
    /// No connections.
    #[must_use]
    pub fn new(host: &'static Host) -> Self {
        let connections = RefCell::new(Vec::new());
        Self { host, map: Map::default(), connections, refused: Cell::new(0) }
    }

    /// A connection of `flow`, whose source is this host: one that begins, or one that waits.
    pub fn open(&self, flow: Flow, is_active: bool) -> ConnectionId {
        let changes = Changes { avoid_division: self.host.switches.avoid_division, ..Changes::default() };
        let config = Config { max_segment_size: MAX_SEGMENT, changes, ..Config::default() };
        let initial = SequenceNumber(u32::from(flow.source_port) << 16);
        let make = if is_active { Connection::connect } else { Connection::listen };
        let mut connections = self.connections.borrow_mut();
        let id = connections.len() as u32;
        self.map.bind(&key(flow.destination, flow.destination_port, flow.source_port), id);
        connections.push(Open { connection: make(config, initial), flow, timer: self.host.events.add() });
        ConnectionId(id)
    }

    /// Sets the timer of a connection to its next deadline.
    #[inline(never)]
    fn set_timer(&self, open: &Open) {
        self.host.events.set(open.timer, open.connection.deadline());
    }

    /// Whether `id` is established.
    pub fn is_open(&self, id: ConnectionId) -> bool {
        let connections = self.connections.borrow();
        connections[id.0 as usize].connection.state() == warmcore_stack::tcp::State::Established
    }
}

/// The way down: what the user writes to one connection, and what connections send.
pub struct TcpOut<B: Below + ?Sized + 'static> {
    /// The connections.
    pub tcp: &'static Tcp,
    /// The connection of the user above.
    pub connection: ConnectionId,
    /// Who is below.
    pub below: &'static B,
}

impl<B: Below + ?Sized> Below for TcpOut<B> {
    on_path! {
        fn push(&self, message: &mut Message) -> Result<(), Lost> {
            {
                let mut connections = self.tcp.connections.borrow_mut();
                let connection = &mut connections[self.connection.0 as usize].connection;
                if connection.write(message.bytes()) != Ok(message.len()) {
                    cold_path();
                    return Err(Lost::NoSpace);
                }
            }
            self.flush(self.connection)
        }
    }
}

impl<B: Below + ?Sized> TcpOut<B> {
    on_path! {
        /// Sends what `id` has to send.
        pub fn flush(&self, id: ConnectionId) -> Result<(), Lost> {
            let mut connections = self.tcp.connections.borrow_mut();
            let open = &mut connections[id.0 as usize];
            let now = self.tcp.host.now.get();
            let mut result = Ok(());
            while let Some(segment) = open.connection.transmit(now) {
                let mut message = Message::new(segment.length_on_wire());
                let Some(bytes) = message.lengthen(segment.length_on_wire()) else {
                    cold_path();
                    return Err(Lost::NoSpace);
                };
                if segment.write(&open.flow, bytes).is_err() {
                    cold_path();
                    return Err(Lost::NoSpace);
                }
                result = self.below.push(&mut message);
            }
            self.tcp.set_timer(open);
            result
        }
    }

    /// Lets time pass for the connections whose timers have expired.
    pub fn expire(&self) {
        let now = self.tcp.host.now.get();
        while let Some(event) = self.tcp.host.events.expired(now) {
            let found = self.tcp.connections.borrow().iter().position(|open| open.timer == event);
            if let Some(at) = found {
                self.tcp.connections.borrow_mut()[at].connection.time_passes(now);
                let _ = self.flush(ConnectionId(at as u32));
            }
        }
    }

    /// Answers a segment of no connection with a reset.
    #[inline(never)]
    fn refuse(&self, segment: &tcp::Segment<'_>, flow: Flow) -> Result<(), Lost> {
        self.tcp.refused.set(self.tcp.refused.get() + 1);
        if let Some(reset) = refuse(segment) {
            let mut message = Message::new(reset.length_on_wire());
            if let Some(bytes) = message.lengthen(reset.length_on_wire())
                && reset.write(&flow, bytes).is_ok()
            {
                self.below.push(&mut message)?;
            }
        }
        Err(Lost::Unclaimed)
    }
}

/// The way up: segments to their connections, and their data to the user.
pub struct TcpIn<A: Above + ?Sized + 'static, B: Below + ?Sized + 'static> {
    /// The connections.
    pub tcp: &'static Tcp,
    /// The user of all connections.
    pub above: &'static A,
    /// The way down.
    pub out: &'static TcpOut<B>,
    /// The addresses of segments that come up: from the peer to this host. The ports are the segment's.
    pub flow: Flow,
}

impl<A: Above + ?Sized, B: Below + ?Sized> Above for TcpIn<A, B> {
    on_path! {
        fn pop(&self, message: &mut Message) -> Result<(), Lost> {
            let Ok(parsed) = tcp::parse(message.bytes()) else {
                cold_path();
                return Err(Lost::Malformed);
            };
            if parsed.verify_flow(&self.flow).is_err() {
                cold_path();
                return Err(Lost::Malformed);
            }
            let (theirs, ours) = (parsed.header.source_port.get(), parsed.header.destination_port.get());
            let key = key(self.flow.source, theirs, ours);
            let Some(id) = self.tcp.map.resolve(&key, self.tcp.host.switches.inline_cache_test) else {
                cold_path();
                let flow = Flow { source_port: ours, destination_port: theirs, ..self.flow.reversed() };
                return self.out.refuse(&parsed.segment, flow);
            };
            let mut data = None;
            {
                let mut connections = self.tcp.connections.borrow_mut();
                let connection = &mut connections[id as usize].connection;
                connection.arrives(self.tcp.host.now.get(), &parsed.segment);
                let readable = connection.readable();
                if readable > 0 {
                    let mut up = Message::new(readable);
                    if let Some(bytes) = up.lengthen(readable) {
                        let _ = connection.read(bytes);
                        data = Some(up);
                    }
                }
                while let Some(event) = connection.event() {
                    if let Event::Ended(_) = event {
                        cold_path();
                        self.tcp.refused.set(self.tcp.refused.get() + 1);
                    }
                }
            }
            if let Some(mut data) = data {
                self.above.pop(&mut data)?;
            }
            self.out.flush(ConnectionId(id))
        }
    }
}
