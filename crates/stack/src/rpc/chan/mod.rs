//! CHAN: requests and replies, each request served at most once (O'Malley & Peterson 1992; the semantics
//! are those of Sprite RPC).
//!
//! A channel carries one call at a time, from its client to its server. Calls are numbered.
//!
//! ```text
//!   client                                server
//!     │ request n ──────────────────────────► │ new: to the handler
//!     │ ...            timeout                │
//!     │ request n ──────────────────────────► │ known: ack while the handler works,
//!     │ ◄────────────────────────────── ack n │        or the kept reply
//!     │ ◄──────────────────────────── reply n │ kept until request n + 1 arrives
//! ```
//!
//! The reply acknowledges the request, and the next request the reply. A request is sent again after a
//! timeout that doubles. A server acknowledges a request that it has worked on for a while, so that its
//! client goes on waiting. Messages of calls that are over, or were not made yet, are dropped.
//!
//! A client that gives a call up does not know whether it was served. This holds only between two
//! incarnations: the layer below must keep the messages of others away, and this one be told of a
//! reboot.

mod client;
mod config;
mod outcome;
mod server;

pub use config::{ChanConfig, MAX_CHANNELS};
pub use outcome::{CallId, ChanError, ChanReceived, ServedCall};

use super::RpcDropReason;
use crate::packet::{Packet, PacketFull};
use crate::wire::rpc::chan::{ACK, ChanHeader, REPLY, REQUEST};
use alloc::boxed::Box;
use client::{ClientChannel, Expiry};
use core::hint::cold_path;
use core::time::Duration;
use server::ServerChannel;
use zerocopy::network_endian::{U16, U32};

/// The CHAN layer of one peer: its channels as a client, and as a server. The module's documentation says
/// what it does.
#[derive(Debug)]
pub struct Chan {
    config: ChanConfig,
    clients: Box<[ClientChannel]>,
    servers: Box<[ServerChannel]>,
    /// A bit for each client channel whose request is to be sent again.
    resend: u64,
    /// A bit for each server channel whose call is to be acknowledged.
    ack: u64,
    /// A bit for each client channel whose call failed.
    failed: u64,
}

impl Chan {
    /// A layer whose channels are all idle. All memory is allocated here. Limits of `config` are applied.
    #[must_use]
    pub fn new(config: ChanConfig) -> Self {
        let config = config.bounded();
        Self {
            config,
            clients: (0..config.channels).map(|_| ClientChannel::new(config.max_message)).collect(),
            servers: (0..config.channels).map(|_| ServerChannel::new(config.max_message)).collect(),
            resend: 0,
            ack: 0,
            failed: 0,
        }
    }

    /// Channels in each direction.
    #[must_use]
    pub const fn channels(&self) -> u16 {
        self.config.channels
    }

    /// Sends a call on a channel: keeps the request, and prepends the header.
    ///
    /// # Errors
    /// The channel is busy or does not exist, or the request is too long for the channel or the packet.
    #[inline]
    pub fn call(&mut self, now: Duration, channel: u16, request: &mut Packet) -> Result<CallId, ChanError> {
        let client = self.clients.get_mut(usize::from(channel)).ok_or(ChanError::NoChannel)?;
        let sequence = client.call(now, &self.config, channel, request)?;
        self.resend &= !bit(channel);
        self.failed &= !bit(channel);
        Ok(CallId { channel, sequence })
    }

    /// Sends the reply to a call: keeps it, and prepends the header.
    ///
    /// # Errors
    /// Nobody waits for it, or it is too long for the channel or the packet; then a shorter one may be
    /// sent.
    #[inline]
    pub fn reply(&mut self, call: ServedCall, reply: &mut Packet) -> Result<(), ChanError> {
        let server = self.servers.get_mut(usize::from(call.channel)).ok_or(ChanError::NoChannel)?;
        server.reply((call.channel, call.sequence, call.generation), reply)?;
        self.ack &= !bit(call.channel);
        Ok(())
    }

    /// Takes a message, strips its header, and says what to do with it.
    #[inline]
    pub fn receive(&mut self, now: Duration, message: &mut Packet) -> ChanReceived {
        let Some(header) = message.strip_header::<ChanHeader>() else {
            cold_path();
            return ChanReceived::Drop(RpcDropReason::ChanTruncated);
        };
        let (channel, sequence) = (header.channel.get(), header.sequence.get());
        let received = match header.kind.get() {
            REQUEST => self.receive_request(now, channel, sequence, message),
            REPLY => self.client(channel).and_then(|client| client.reply(sequence)).map(|()| {
                self.resend &= !bit(channel);
                ChanReceived::Reply(CallId { channel, sequence })
            }),
            ACK => {
                cold_path();
                self.client(channel).and_then(|client| client.ack(now, sequence)).map(|()| {
                    self.resend &= !bit(channel);
                    ChanReceived::Acknowledged(CallId { channel, sequence })
                })
            }
            _ => Err(RpcDropReason::ChanKind),
        };
        match received {
            Ok(received) => received,
            Err(reason) => {
                cold_path();
                ChanReceived::Drop(reason)
            }
        }
    }

    #[inline]
    fn client(&mut self, channel: u16) -> Result<&mut ClientChannel, RpcDropReason> {
        self.clients.get_mut(usize::from(channel)).ok_or(RpcDropReason::ChanNoChannel)
    }

    #[inline]
    fn receive_request(
        &mut self,
        now: Duration,
        channel: u16,
        sequence: u32,
        message: &mut Packet,
    ) -> Result<ChanReceived, RpcDropReason> {
        let server = self.servers.get_mut(usize::from(channel)).ok_or(RpcDropReason::ChanNoChannel)?;
        if server.request(now, &self.config, sequence)? {
            let generation = server.generation();
            return Ok(ChanReceived::Request(ServedCall { channel, sequence, generation }));
        }
        cold_path();
        self.ack &= !bit(channel);
        match server.answer(channel, message) {
            Ok(true) => Ok(ChanReceived::Answer),
            Ok(false) => Err(RpcDropReason::ChanStale),
            Err(PacketFull) => Err(RpcDropReason::ChanNoRoom),
        }
    }

    /// The peer's incarnation is known now, and it refused what was sent before: requests that wait are
    /// sent again at once.
    pub fn peer_learned(&mut self, now: Duration) {
        for (channel, client) in (0..).zip(&mut self.clients) {
            if client.peer_learned(now) {
                self.resend |= bit(channel);
            }
        }
    }

    /// The peer has rebooted: calls that wait for it fail, and its own are forgotten.
    pub fn peer_rebooted(&mut self) {
        for (channel, client) in (0..).zip(&mut self.clients) {
            if client.fail() {
                self.failed |= bit(channel);
            }
        }
        self.servers.iter_mut().for_each(ServerChannel::reset);
        (self.resend, self.ack) = (0, 0);
    }

    /// The next call that failed. Nothing is reported of a call whose channel was used again.
    #[inline]
    pub fn failed(&mut self) -> Option<CallId> {
        let channel = take_first(&mut self.failed)?;
        let sequence = self.clients.get(usize::from(channel))?.sequence();
        Some(CallId { channel, sequence })
    }

    /// Makes the packet the next message that is due: a request that is sent again, or an
    /// acknowledgement. Returns `false` if there is none. One that does not fit the packet is lost.
    #[inline]
    pub fn transmit(&mut self, packet: &mut Packet) -> bool {
        if self.resend | self.ack == 0 {
            return false;
        }
        cold_path();
        self.write_next(packet)
    }

    fn write_next(&mut self, packet: &mut Packet) -> bool {
        while let Some(channel) = take_first(&mut self.resend) {
            let client = self.clients.get(usize::from(channel));
            if client.is_some_and(|client| client.resend(channel, packet) == Ok(true)) {
                return true;
            }
        }
        while let Some(channel) = take_first(&mut self.ack) {
            let server = self.servers.get_mut(usize::from(channel));
            if server.is_some_and(|server| server.answer(channel, packet) == Ok(true)) {
                return true;
            }
        }
        false
    }

    /// When [`time_passes`](Self::time_passes) must be called at the latest.
    #[must_use]
    pub fn deadline(&self) -> Option<Duration> {
        let clients = self.clients.iter().filter_map(ClientChannel::deadline);
        clients.chain(self.servers.iter().filter_map(ServerChannel::deadline)).min()
    }

    /// Time has come to `now`. Calls may have [failed](Self::failed), and messages be due, which come from
    /// [`transmit`](Self::transmit).
    pub fn time_passes(&mut self, now: Duration) {
        for (channel, client) in (0..).zip(&mut self.clients) {
            match client.time_passes(now, &self.config) {
                Some(Expiry::Resend) => self.resend |= bit(channel),
                Some(Expiry::Failed) => self.failed |= bit(channel),
                None => {}
            }
        }
        for (channel, server) in (0..).zip(&mut self.servers) {
            if server.time_passes(now) {
                self.ack |= bit(channel);
            }
        }
    }
}

#[inline]
const fn bit(channel: u16) -> u64 {
    1 << (channel % MAX_CHANNELS)
}

/// Clears the lowest bit that is set, and returns its channel.
#[inline]
fn take_first(bits: &mut u64) -> Option<u16> {
    let first = (*bits != 0).then(|| bits.trailing_zeros() as u16)?;
    *bits &= *bits - 1;
    Some(first)
}

#[inline]
fn push_header(packet: &mut Packet, kind: u16, channel: u16, sequence: u32) -> Result<(), PacketFull> {
    packet.push_header(&ChanHeader {
        kind: U16::new(kind),
        channel: U16::new(channel),
        sequence: U32::new(sequence),
    })
}
