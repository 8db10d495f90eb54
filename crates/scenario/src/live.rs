//! The `[live]` table of a scenario: settings for processing real packets on this machine.
//!
//! ```toml
//! [live]
//! seconds = 10.0
//! mode = "floating"
//! work_kib = 65536
//! driver = "memory"
//! ```

use core::time::Duration;
use serde::{Deserialize, Serialize};
use std::net::Ipv4Addr;
use warmcore_units::{Fault, Transport};

/// How a scenario is run on this machine. The simulator uses only the costs of a packet beyond its
/// reception.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Live {
    /// Where frames come from.
    pub driver: DriverKind,
    /// The interface of a driver that has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interface: Option<String>,
    /// The IPv4 address to answer for on that interface.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<Ipv4Addr>,
    /// The port to receive on.
    pub port: u16,
    /// What packets carry above IP: datagrams, connections, or remote procedure calls over UDP.
    #[serde(skip_serializing_if = "Transport::is_default")]
    pub transport: Transport,
    /// Numbers of the processors to run on; empty for the first usable ones, one per core.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cpus: Vec<u32>,
    /// How long to run, in seconds.
    pub seconds: f64,
    /// What processors without a packet do.
    pub mode: Mode,
    /// Data touched by the other work of floating processors, in KiB. With 0 there is no other work, and
    /// they sleep.
    pub work_kib: u32,
    /// Bytes of data in a packet of the memory driver.
    pub payload_bytes: u16,
    /// Whether UDP checksums are verified in software.
    pub verify_udp_checksum: bool,
    /// How long the handler of each packet computes, in nanoseconds.
    pub handler_ns: f64,
    /// Bytes of the stream's own memory that the handler reads and writes for each packet.
    #[serde(skip_serializing_if = "is_zero")]
    pub handler_bytes: u32,
    /// Bytes of the handler's answer to each packet of the memory driver. Over a network the handler sends back
    /// what it received.
    #[serde(skip_serializing_if = "is_none")]
    pub reply_bytes: u16,
    /// The most packets held, waiting and in service.
    pub capacity: u32,
    /// What happens to packets beyond that.
    pub overload: OverloadRule,
    /// What happens to packets still held at the end.
    pub shutdown: ShutdownRule,
}

/// Where frames come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DriverKind {
    /// From memory, at the times of the scenario's traffic.
    #[default]
    Memory,
    /// From an interface, through a packet socket's ring.
    PacketSocket,
    /// From an interface, through an XDP socket.
    Xdp,
    /// From a TUN interface created for the run.
    Tun,
    /// No frames: requests to the kernel's UDP sockets, which a server of ours receives. Only its own commands run that.
    UdpSocket,
    /// The same of TCP connections.
    TcpSocket,
}

impl DriverKind {
    /// Whether frames come from an interface.
    #[must_use]
    pub const fn is_device(self) -> bool {
        matches!(self, Self::PacketSocket | Self::Xdp | Self::Tun)
    }

    /// How requests come to the kernel's sockets, if they do.
    #[must_use]
    pub const fn of_sockets(self) -> Option<Transport> {
        match self {
            Self::UdpSocket => Some(Transport::Udp),
            Self::TcpSocket => Some(Transport::Tcp),
            Self::Memory | Self::PacketSocket | Self::Xdp | Self::Tun => None,
        }
    }
}

/// What processors without a packet do.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// All processors compute; one that gets a packet turns to it.
    #[default]
    Floating,
    /// All processors are dedicated to protocol work, and poll.
    Fixed,
}

/// What happens to packets that arrive when `capacity` packets are held.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OverloadRule {
    /// They are dropped and counted.
    #[default]
    Drop,
    /// They stay with the driver.
    HoldBack,
}

/// What happens to packets still held at the end of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ShutdownRule {
    /// They are processed.
    #[default]
    Drain,
    /// They are discarded and counted.
    Discard,
}

impl Default for Live {
    fn default() -> Self {
        Self {
            driver: DriverKind::Memory,
            interface: None,
            address: None,
            port: 9000,
            transport: Transport::Udp,
            cpus: Vec::new(),
            seconds: 5.0,
            mode: Mode::Floating,
            work_kib: 65_536,
            payload_bytes: 64,
            verify_udp_checksum: false,
            handler_ns: 0.0,
            handler_bytes: 0,
            reply_bytes: 0,
            capacity: 4096,
            overload: OverloadRule::Drop,
            shutdown: ShutdownRule::Drain,
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the serializer passes a reference")]
const fn is_zero(bytes: &u32) -> bool {
    *bytes == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the serializer passes a reference")]
const fn is_none(bytes: &u16) -> bool {
    *bytes == 0
}

/// The longest run, in seconds: a day.
const LONGEST: f64 = 86_400.0;
/// The longest handler, in nanoseconds.
const LONGEST_HANDLER: f64 = 1e6;

impl Live {
    /// The largest footprint of other work, in KiB.
    pub const MAX_WORK_KIB: u32 = 1 << 20;
    /// The most memory that a handler touches for a packet: touching it takes less than the time after which a
    /// handler counts as stalled.
    pub const MAX_HANDLER_BYTES: u32 = 1 << 16;
    /// The most payload and the longest answer of a call.
    pub const MAX_MESSAGE_BYTES: u16 = 1400;
    /// How long the stream of a sender from an interface must have received nothing before it is closed for another
    /// sender, when all streams are in use. Connections of TCP are not closed so: they end by themselves.
    pub const STREAM_IDLE: Duration = Duration::from_secs(5);

    /// Whether checksums over the payload are verified in software. Conversations rely on that.
    #[must_use]
    pub const fn verifies_checksum(&self) -> bool {
        self.verify_udp_checksum || self.transport.is_conversation()
    }

    /// Checks that every value is possible.
    ///
    /// # Errors
    /// The first fault found, fields named from the `live` table.
    pub fn check(&self) -> Result<(), Fault> {
        if !(self.seconds > 0.0 && self.seconds <= LONGEST) {
            return Err(Fault::new("seconds", self.seconds, format!("above 0, at most {LONGEST}")));
        }
        if self.work_kib > Self::MAX_WORK_KIB {
            return Err(Fault::new("work_kib", self.work_kib, format!("at most {}", Self::MAX_WORK_KIB)));
        }
        if !(0.0..=LONGEST_HANDLER).contains(&self.handler_ns) {
            return Err(Fault::new(
                "handler_ns",
                self.handler_ns,
                format!("between 0 and {LONGEST_HANDLER}"),
            ));
        }
        if self.handler_bytes > Self::MAX_HANDLER_BYTES {
            return Err(Fault::new(
                "handler_bytes",
                self.handler_bytes,
                format!("at most {}", Self::MAX_HANDLER_BYTES),
            ));
        }
        if self.transport == Transport::Udp && self.reply_bytes > 0 {
            let expected = "0: datagrams from memory are not answered; or `transport = \"tcp\"` or `\"rpc\"`";
            return Err(Fault::new("reply_bytes", self.reply_bytes, expected));
        }
        let longest = self.payload_bytes.max(self.reply_bytes);
        if self.transport.is_conversation() && longest > Self::MAX_MESSAGE_BYTES {
            let field = if longest == self.reply_bytes { "reply_bytes" } else { "payload_bytes" };
            let expected = format!("at most {} with {}", Self::MAX_MESSAGE_BYTES, self.transport);
            return Err(Fault::new(field, longest, expected));
        }
        if self.transport == Transport::Tcp && self.payload_bytes == 0 {
            return Err(Fault::new(
                "payload_bytes",
                0,
                "at least 1 with tcp: a segment without data is no packet",
            ));
        }
        if self.capacity == 0 {
            return Err(Fault::new("capacity", 0, "at least one packet"));
        }
        if self.port == 0 {
            return Err(Fault::new("port", 0, "a port from 1 to 65535"));
        }
        let named = matches!(self.driver, DriverKind::PacketSocket | DriverKind::Xdp);
        if named && self.interface.is_none() {
            return Err(Fault::new("interface", "missing", "the interface to receive from"));
        }
        if self.driver.is_device() && self.address.is_none() {
            return Err(Fault::new("address", "missing", "the IPv4 address to answer for"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_settings_are_refused_with_their_field() {
        let faults = [
            (Live { seconds: 0.0, ..Live::default() }, "seconds"),
            (Live { seconds: f64::NAN, ..Live::default() }, "seconds"),
            (Live { handler_ns: -1.0, ..Live::default() }, "handler_ns"),
            (Live { handler_bytes: 1 << 17, ..Live::default() }, "handler_bytes"),
            (Live { reply_bytes: 1, ..Live::default() }, "reply_bytes"),
            (Live { reply_bytes: 5000, transport: Transport::Rpc, ..Live::default() }, "reply_bytes"),
            (Live { payload_bytes: 5000, transport: Transport::Rpc, ..Live::default() }, "payload_bytes"),
            (Live { payload_bytes: 0, transport: Transport::Tcp, ..Live::default() }, "payload_bytes"),
            (Live { capacity: 0, ..Live::default() }, "capacity"),
            (Live { port: 0, ..Live::default() }, "port"),
            (Live { driver: DriverKind::Xdp, ..Live::default() }, "interface"),
            (Live { driver: DriverKind::Tun, ..Live::default() }, "address"),
        ];
        assert_eq!(Live::default().check(), Ok(()));
        for (live, field) in faults {
            assert_eq!(live.check().map_err(|fault| fault.field), Err(field.to_owned()));
        }
    }
}
