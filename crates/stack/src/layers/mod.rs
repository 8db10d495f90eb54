//! The layers of Salehi 1994, figure 2, written once for all forms of the stack.
//!
//! Each layer's `receive` takes the layer above as a function. It passes a packet up by calling that
//! function, and unwinds by returning from it. The compiler inlines all of them, so that the way up is
//! straight code.

mod ip;
mod link;
mod ports;
mod rpc;
mod tcp;
mod udp;
mod vnet;

use crate::Config;
use crate::active_map::SessionId;
use crate::conversation::{Conversations, Exchange};
use crate::counters::{Counters, DropCounts};
use crate::discipline::{Discipline, Guarded};
use crate::drop_reason::DropReason;
use crate::flow::Flow;
use crate::message::{Delivery, Message};
use crate::pool::Pool;
use crate::wire::ipv4::{Datagram, PROTOCOL_TCP, PROTOCOL_UDP};
use alloc::vec::Vec;
use core::time::Duration;
use ip::IpLayer;
use link::LinkLayer;
use rpc::RpcLayer;
use tcp::TcpLayer;
use udp::UdpLayer;
use vnet::VnetLayer;
use warmcore_units::StreamId;

/// No session: nothing is above.
const NONE: SessionId = SessionId::MAX;

/// What a stack with `conversations` carries in its datagrams.
pub(crate) const fn protocol(conversations: Option<&Conversations>) -> u8 {
    match conversations {
        Some(Conversations::Tcp(_)) => PROTOCOL_TCP,
        Some(Conversations::Rpc { .. }) | None => PROTOCOL_UDP,
    }
}

/// One complete stack: driver entry, its layers, and the counts of what was dropped.
pub(crate) struct Layers<D: Discipline> {
    conversations: Option<Conversations>,
    link: LinkLayer<D>,
    vnet: VnetLayer<D>,
    ip: IpLayer<D>,
    udp: UdpLayer<D>,
    tcp: TcpLayer<D>,
    rpc: RpcLayer<D>,
    drops: D::Guarded<DropCounts>,
}

impl<D: Discipline> Layers<D> {
    /// Layers that receive datagrams or, if there are `conversations`, these.
    pub(crate) fn new(config: Config, conversations: Option<Conversations>) -> Self {
        Self {
            link: LinkLayer::new(config.link),
            vnet: VnetLayer::new(),
            ip: IpLayer::new(protocol(conversations.as_ref())),
            // RPC relies on the checksum.
            udp: UdpLayer::new(config.verify_udp_checksum || conversations.is_some()),
            tcp: TcpLayer::new(config.link),
            rpc: RpcLayer::new(config.link),
            conversations,
            drops: D::Guarded::new(DropCounts::default()),
        }
    }

    /// Builds a message around `frame` and takes it up through this stack.
    #[inline]
    pub(crate) fn receive<R>(
        &self,
        pool: &Pool,
        frame: &[u8],
        deliver: impl FnOnce(Delivery<'_>) -> R,
    ) -> Result<R, DropReason> {
        pool.lend(|segment| self.ascend(&mut Message::new(frame, segment), deliver))
            .unwrap_or_else(|| Err(self.dropped(DropReason::PoolExhausted)))
    }

    /// Passes a datagram up the layers. As the calls return, the packet unwinds.
    #[inline]
    pub(crate) fn ascend<R>(
        &self,
        message: &mut Message<'_, '_>,
        deliver: impl FnOnce(Delivery<'_>) -> R,
    ) -> Result<R, DropReason> {
        self.ascend_ip(message, |message, datagram, below| {
            self.udp.receive(message, datagram, below, |delivery, _| deliver(delivery))
        })
    }

    /// Passes a packet of a conversation up the layers, and gives its answers to `exchange`.
    #[inline]
    pub(crate) fn converse(
        &self,
        now: Duration,
        message: &mut Message<'_, '_>,
        exchange: &mut Exchange,
        deliver: impl FnMut(Delivery<'_>, &mut Vec<u8>),
    ) -> Result<(), DropReason> {
        match self.conversations {
            Some(Conversations::Tcp(_)) => self.ascend_ip(message, |message, datagram, below| {
                self.tcp.receive(now, message, datagram, below, exchange, deliver)
            }),
            Some(Conversations::Rpc { .. }) => self.ascend_ip(message, |message, datagram, below| {
                let up = |delivery: Delivery<'_>, session| {
                    self.rpc.receive(now, delivery, session, exchange, deliver)
                };
                self.udp.receive(message, datagram, below, up)?
            }),
            None => Err(self.dropped(DropReason::IpProtocol)),
        }
    }

    /// Passes the packet up to the layer above IP, which is `top`.
    #[inline]
    fn ascend_ip<'s, 'f, R>(
        &self,
        message: &mut Message<'s, 'f>,
        top: impl FnOnce(&mut Message<'s, 'f>, &Datagram<'f>, SessionId) -> Result<R, DropReason>,
    ) -> Result<R, DropReason> {
        self.link
            .receive(message, |message, vnet_session| {
                self.vnet.receive(message, vnet_session, |message| self.ip.receive(message, top))
            })
            .map_err(|reason| self.dropped(reason))
    }

    /// Tells conversations that time has come to `now`: of every `parts` of them, number `part`.
    pub(crate) fn time_passes(&self, now: Duration, part: usize, parts: usize, exchange: &mut Exchange) {
        match self.conversations {
            Some(Conversations::Tcp(_)) => self.tcp.time_passes(now, part, parts, exchange),
            Some(Conversations::Rpc { .. }) => self.rpc.time_passes(now, part, parts, exchange),
            None => {}
        }
    }

    /// Whether the conversation of `flow` is over, or was never begun by its peer.
    pub(crate) fn is_idle(&self, flow: &Flow) -> bool {
        match (self.conversations, self.ip.session(flow)) {
            (Some(Conversations::Tcp(_)), Some(below)) => self.tcp.is_idle(flow, below),
            _ => true,
        }
    }

    /// Counts a drop.
    #[cold]
    pub(crate) fn dropped(&self, reason: DropReason) -> DropReason {
        self.drops.with(|drops| drops.count(reason));
        reason
    }

    pub(crate) fn open(&mut self, flow: &Flow, stream: StreamId) {
        self.link.open(flow, || self.vnet.open());
        let below = self.ip.open(flow);
        match self.conversations {
            None => self.udp.open(flow, below, stream, NONE),
            Some(Conversations::Tcp(config)) => self.tcp.open(flow, below, stream, config),
            Some(Conversations::Rpc { config, boot }) => {
                let up = self.rpc.open(flow, config, boot);
                self.udp.open(flow, below, stream, up);
            }
        }
    }

    pub(crate) fn close(&mut self, flow: &Flow) {
        self.link.close(flow, |session| self.vnet.close(session));
        if let Some(below) = self.ip.session(flow) {
            self.tcp.close(flow, below);
            if let Some(up) = self.udp.close(flow, below).filter(|up| *up != NONE) {
                self.rpc.close(up);
            }
        }
        self.ip.close(flow);
    }

    pub(crate) fn counters(&self) -> Counters {
        let delivered = self.udp.total_delivered() + self.tcp.total_received();
        self.drops.with(|drops| drops.with_delivered(delivered))
    }

    pub(crate) fn stream_state(&self, flow: &Flow) -> Option<StreamState> {
        let below = self.ip.session(flow)?;
        let delivered = self.udp.delivered(flow, below).or_else(|| self.tcp.received(flow, below))?;
        Some(StreamState { delivered, last_identification: Some(self.ip.last_identification(flow)?) })
    }

    pub(crate) fn references(&self) -> References {
        References {
            link: self.link.sessions.references(),
            vnet: self.vnet.sessions.references(),
            ip: self.ip.sessions.references(),
            udp: self.udp.sessions.references(),
            tcp: self.tcp.sessions.references(),
            rpc: self.rpc.sessions.references(),
        }
    }
}

/// The records of one stream's sessions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StreamState {
    /// Packets delivered since the stream was opened, or segments received by its connection.
    pub delivered: u64,
    /// IP identification of the last datagram between the stream's hosts; zero before the first. `None`
    /// if the stream is open in every stack: each stack keeps its own, and none knows which was last.
    pub last_identification: Option<u16>,
}

/// Packets inside a stack, from the reference counters of each layer's sessions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct References {
    /// Above FDDI or Ethernet sessions.
    pub link: u64,
    /// Above VNET sessions.
    pub vnet: u64,
    /// Above IP sessions.
    pub ip: u64,
    /// Above UDP sessions.
    pub udp: u64,
    /// Above TCP sessions.
    pub tcp: u64,
    /// Above RPC sessions.
    pub rpc: u64,
}
