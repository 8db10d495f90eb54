//! Hosts with the RPC stack.

use super::{in_table, leak, opaque};
use crate::host::Host;
use crate::layer::{Above, Below, Lost};
use crate::layers::bid::{BidIn, BidOut, Bids};
use crate::layers::blast::{BlastIn, BlastOut, Blasts};
use crate::layers::chan::{ChanIn, ChanOut, Channels};
use crate::layers::eth::{EthIn, EthOut};
use crate::layers::lance::{Adaptor, LanceIn, LanceOut, MAX_FRAME};
use crate::layers::mselect::{MselectIn, MselectOut, MselectServer};
use crate::layers::tcptest::Counts;
use crate::layers::vchan::{Pool, VchanIn, VchanOut};
use crate::layers::vnet::{Route, VnetIn, VnetOut};
use crate::layers::xrpctest::{XrpcEnd, XrpcTest};
use crate::message::Message;
use crate::switches::Switches;
use crate::thread::Threads;
use alloc::boxed::Box;
use core::cell::{Cell, RefCell};
use core::num::NonZero;
use warmcore_stack::Flow;
use warmcore_stack::rpc::{BootId, Mselect};

/// EtherType of BLAST's frames: one for experiments (IEEE 802).
pub const ETHERTYPE_RPC: u16 = 0x88b5;
/// The procedure that the test calls.
const PROCEDURE: u16 = 40;
const THREADS: u32 = 4;

/// What both forms of the layers work on.
#[derive(Clone, Copy)]
struct Shared {
    host: &'static Host,
    adaptor: &'static Adaptor,
    threads: &'static Threads,
    blasts: &'static Blasts,
    bids: &'static Bids,
    channels: &'static Channels,
    pool: &'static Pool,
    mselect: &'static Mselect,
    counts: &'static Counts,
    flow: Flow,
}

/// What a host needs of its layers.
struct Ends<T: 'static, U: ?Sized + 'static, E: 'static, C: 'static> {
    test: &'static T,
    /// Where replies go up, by channel.
    replies: Box<[&'static U]>,
    /// The layer above the adaptor.
    bottom: &'static E,
    chan: &'static C,
}

macro_rules! layers {
    ($form:ident, $wrap:ident, $demux:ident, { $($alias:ident = $type:ty;)* }) => {
        mod $form {
            #[allow(clippy::wildcard_imports)]
            use super::*;

            $(pub(super) type $alias = $type;)*
            pub(super) type Test = XrpcTest<MselectDown>;
            pub(super) type Chan = ChanIn<ServerUp, BidDown>;

            pub(super) fn build(shared: Shared) -> Ends<Test, ReplyUp, EthUp, Chan> {
                let Shared { host, adaptor, blasts, bids, channels, pool, mselect, counts, flow, .. } = shared;
                let lance: &'static LanceDown = $wrap(leak(LanceOut { host, adaptor }));
                let (station, peer) = (flow.source_link, flow.destination_link);
                let eth: &'static EthDown = $wrap(leak(EthOut { station, peer, ethertype: ETHERTYPE_RPC, below: lance }));
                let destination = flow.destination.to_bits();
                let mask = 0xffff_ff00;
                let route = Route { network: destination & mask, mask, below: eth };
                let vnet: &'static VnetDown = $wrap(leak(VnetOut { routes: [Some(route), None], destination }));
                let blast_out = leak(BlastOut { blasts, peer: 0, below: vnet });
                let blast: &'static BlastDown = $wrap(blast_out);
                let bid: &'static BidDown = $wrap(leak(BidOut { bids, peer: 0, below: blast }));
                let channel = |channel| -> &'static ChanDown { $wrap(leak(ChanOut { channels, channel, below: bid })) };
                let vchan = VchanOut { pool, channels: (0..channels.count()).map(channel).collect() };
                let vchan: &'static VchanDown = $wrap(leak(vchan));
                let down: &'static MselectDown = $wrap(leak(MselectOut { mselect, procedure: PROCEDURE, below: vchan }));

                let end: &'static EndUp = $wrap(leak(XrpcEnd { counts }));
                let replies: &'static MselectUp = $wrap(leak(MselectIn { mselect, above: end }));
                let reply = |channel| -> &'static ReplyUp { $wrap(leak(VchanIn { pool, channel, above: replies })) };
                let replies = (0..channels.count()).map(reply).collect();
                let server: &'static ServerUp = $wrap(leak(MselectServer { mselect, above: end }));
                let chan = leak(ChanIn { channels, server, below: bid });
                let above: &'static ChanUp = $wrap(chan);
                let bid_in: &'static BidUp = $wrap(leak(BidIn { bids, above, watch: chan, below: blast }));
                let blast_in: &'static BlastUp = $wrap(leak(BlastIn { blasts, above: bid_in, out: blast_out }));
                let vnet_in = leak(VnetIn { above: blast_in });
                let above = $demux(u32::from(ETHERTYPE_RPC), vnet_in, host.switches);
                let bottom = leak(EthIn { station, above, foreign: Cell::new(0) });
                Ends { test: leak(XrpcTest { below: down }), replies, bottom, chan }
            }
        }
    };
}

layers!(layered, opaque, in_table, {
    LanceDown = dyn Below;
    EthDown = dyn Below;
    VnetDown = dyn Below;
    BlastDown = dyn Below;
    BidDown = dyn Below;
    ChanDown = dyn Below;
    VchanDown = dyn Below;
    MselectDown = dyn Below;
    EndUp = dyn Above;
    MselectUp = dyn Above;
    ReplyUp = dyn Above;
    ServerUp = dyn Above;
    ChanUp = dyn Above;
    BidUp = dyn Above;
    BlastUp = dyn Above;
    EthUp = EthIn<super::super::table::Table>;
});

#[cfg(feature = "path-inlining")]
use super::{assumed, known};
#[cfg(feature = "path-inlining")]
use crate::classifier::{Classifier, PathOrLayers};
#[cfg(feature = "path-inlining")]
use crate::layer::Assumed;

#[cfg(feature = "path-inlining")]
layers!(inlined, known, assumed, {
    LanceDown = LanceOut;
    EthDown = EthOut<LanceDown>;
    VnetDown = VnetOut<EthDown>;
    BlastDown = BlastOut<VnetDown>;
    BidDown = BidOut<BlastDown>;
    ChanDown = ChanOut<BidDown>;
    VchanDown = VchanOut<ChanDown>;
    MselectDown = MselectOut<VchanDown>;
    EndUp = XrpcEnd;
    MselectUp = MselectIn<EndUp>;
    ReplyUp = VchanIn<MselectUp>;
    ServerUp = MselectServer<EndUp>;
    ChanUp = Chan;
    BidUp = BidIn<Chan, BlastDown, Chan>;
    BlastUp = BlastIn<BidUp, VnetDown>;
    EthUp = EthIn<Assumed<VnetIn<BlastUp>>>;
});

#[cfg(feature = "path-inlining")]
use inlined as chosen;
#[cfg(not(feature = "path-inlining"))]
use layered as chosen;

#[cfg(not(feature = "path-inlining"))]
type Bottom = dyn Above;
#[cfg(feature = "path-inlining")]
type Bottom = PathOrLayers<chosen::EthUp>;

/// A host that calls, or serves.
pub struct RpcHost {
    shared: Shared,
    ends: Ends<chosen::Test, chosen::ReplyUp, chosen::EthUp, chosen::Chan>,
    lance: LanceIn<Bottom>,
}

impl RpcHost {
    /// A client, or the server that it calls.
    #[must_use]
    pub fn new(is_server: bool, switches: Switches) -> Self {
        let forth = Flow::synthetic(1);
        let flow = if is_server { forth.reversed() } else { forth };
        let peers = [flow.destination_link];
        let host = leak(Host::new(switches));
        let threads = leak(Threads::new(THREADS));
        let channels = leak(Channels::new(host, threads));
        let shared = Shared {
            host,
            adaptor: leak(Adaptor::default()),
            threads,
            blasts: leak(Blasts::new(host, &peers)),
            bids: leak(Bids::new(host, BootId(NonZero::<u32>::MIN), &peers)),
            channels,
            pool: leak(Pool::new(channels.count())),
            mselect: leak(Mselect::new(&[PROCEDURE])),
            counts: leak(Counts::default()),
            flow,
        };
        let ends = chosen::build(shared);
        let above = bottom(shared, ends.bottom);
        let prepared = RefCell::new(Message::new(MAX_FRAME));
        Self { shared, ends, lance: LanceIn { host, adaptor: shared.adaptor, above, prepared } }
    }

    /// The adaptor.
    #[must_use]
    pub fn adaptor(&self) -> &'static Adaptor {
        self.shared.adaptor
    }

    /// The host's clock and events.
    #[must_use]
    pub fn host(&self) -> &'static Host {
        self.shared.host
    }

    /// What the test has seen.
    #[must_use]
    pub fn counts(&self) -> &'static Counts {
        self.shared.counts
    }

    /// Lets time pass.
    pub fn expire(&self) {
        self.ends.chan.expire();
    }

    /// The path down: the test makes a call, and its thread waits.
    #[inline(never)]
    pub fn send(&self) -> Result<(), Lost> {
        self.ends.test.send()
    }

    /// The path up: the adaptor has received something, and then threads go on.
    #[inline(never)]
    pub fn interrupt(&self) -> Result<(), Lost> {
        self.lance.interrupt()?;
        self.resume()
    }

    /// The threads whose replies have come go on.
    #[inline(never)]
    fn resume(&self) -> Result<(), Lost> {
        while let Some(channel) = self.shared.threads.dispatch() {
            if let Some(mut reply) = self.shared.channels.take_reply(channel) {
                self.ends.replies[channel.0 as usize].pop(&mut reply)?;
            }
        }
        Ok(())
    }
}

#[cfg(not(feature = "path-inlining"))]
fn bottom(_: Shared, eth: &'static chosen::EthUp) -> &'static Bottom {
    opaque(eth)
}

#[cfg(feature = "path-inlining")]
fn bottom(shared: Shared, path: &'static chosen::EthUp) -> &'static Bottom {
    let layers = layered::build(shared).bottom;
    let classifier = Classifier::rpc(&shared.flow.reversed(), ETHERTYPE_RPC);
    leak(PathOrLayers { switches: shared.host.switches, classifier, path, layers: opaque(layers) })
}
