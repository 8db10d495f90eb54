//! The layers of Salehi 1994, figure 2, written once for all forms of the stack.
//!
//! Each layer's `receive` takes the layer above as a function. It passes a packet up by calling that
//! function, and unwinds by returning from it. The compiler inlines all of them, so that the way up is
//! straight code.

mod ip;
mod link;
mod udp;
mod vnet;

use crate::Config;
use crate::counters::{Counters, DropCounts};
use crate::discipline::{Discipline, Guarded};
use crate::drop_reason::DropReason;
use crate::flow::Flow;
use crate::message::{Delivery, Message};
use crate::pool::Pool;
use ip::IpLayer;
use link::LinkLayer;
use udp::UdpLayer;
use vnet::VnetLayer;
use warmcore_units::StreamId;

/// One complete stack: driver entry, four layers, and the counts of what was dropped.
pub(crate) struct Layers<D: Discipline> {
    link: LinkLayer<D>,
    vnet: VnetLayer<D>,
    ip: IpLayer<D>,
    udp: UdpLayer<D>,
    drops: D::Guarded<DropCounts>,
}

impl<D: Discipline> Layers<D> {
    pub(crate) fn new(config: Config) -> Self {
        Self {
            link: LinkLayer::new(config.link),
            vnet: VnetLayer::new(),
            ip: IpLayer::new(),
            udp: UdpLayer::new(config.verify_udp_checksum),
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

    /// Passes the packet up the layers. As the calls return, the packet unwinds.
    #[inline]
    pub(crate) fn ascend<R>(
        &self,
        message: &mut Message<'_, '_>,
        deliver: impl FnOnce(Delivery<'_>) -> R,
    ) -> Result<R, DropReason> {
        self.link
            .receive(message, |message, vnet_session| {
                self.vnet.receive(message, vnet_session, |message| {
                    self.ip.receive(message, |message, datagram, ip_session| {
                        self.udp.receive(message, datagram, ip_session, deliver)
                    })
                })
            })
            .map_err(|reason| self.dropped(reason))
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
        self.udp.open(flow, below, stream);
    }

    pub(crate) fn close(&mut self, flow: &Flow) {
        self.link.close(flow, |session| self.vnet.close(session));
        if let Some(below) = self.ip.session(flow) {
            self.udp.close(flow, below);
        }
        self.ip.close(flow);
    }

    pub(crate) fn counters(&self) -> Counters {
        self.drops.with(|drops| drops.with_delivered(self.udp.total_delivered()))
    }

    pub(crate) fn stream_state(&self, flow: &Flow) -> Option<StreamState> {
        let delivered = self.udp.delivered(flow, self.ip.session(flow)?)?;
        Some(StreamState { delivered, last_identification: Some(self.ip.last_identification(flow)?) })
    }

    pub(crate) fn references(&self) -> References {
        References {
            link: self.link.sessions.references(),
            vnet: self.vnet.sessions.references(),
            ip: self.ip.sessions.references(),
            udp: self.udp.sessions.references(),
        }
    }
}

/// The records of one stream's sessions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StreamState {
    /// Packets delivered since the stream was opened.
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
}
