//! Hosts with the TCP/IP stack.

use super::{in_table, leak, opaque};
use crate::host::Host;
use crate::layer::{Above, Below, Lost};
use crate::layers::eth::{EthIn, EthOut};
use crate::layers::ip::{IpIn, IpOut};
use crate::layers::lance::{Adaptor, LanceIn, LanceOut, MAX_FRAME};
use crate::layers::tcp::{ConnectionId, Tcp, TcpIn, TcpOut};
use crate::layers::tcptest::{Counts, TcpTest};
use crate::layers::vnet::{Route, VnetIn, VnetOut};
use crate::message::Message;
use crate::switches::Switches;
use core::cell::{Cell, RefCell};
use warmcore_stack::Flow;
use warmcore_stack::wire::ETHERTYPE_IPV4;
use warmcore_stack::wire::ipv4::PROTOCOL_TCP;

/// What both forms of the layers work on.
#[derive(Clone, Copy)]
struct Shared {
    host: &'static Host,
    adaptor: &'static Adaptor,
    tcp: &'static Tcp,
    counts: &'static Counts,
    connection: ConnectionId,
    flow: Flow,
    is_server: bool,
}

/// The layers, bottom and top: who is next is what the given types say.
macro_rules! layers {
    ($form:ident, $wrap:ident, $demux:ident, {
        $($alias:ident = $type:ty;)*
    }) => {
        mod $form {
            #[allow(clippy::wildcard_imports)]
            use super::*;

            $(pub(super) type $alias = $type;)*

            /// The test at the top, and the layer above the adaptor.
            pub(super) fn build(shared: Shared) -> (&'static TcpTest<TcpDown>, &'static EthUp, &'static TcpOut<IpDown>) {
                let Shared { host, adaptor, tcp, counts, connection, flow, is_server } = shared;
                let lance: &'static LanceDown = $wrap(leak(LanceOut { host, adaptor }));
                let (station, peer) = (flow.source_link, flow.destination_link);
                let eth: &'static EthDown = $wrap(leak(EthOut { station, peer, ethertype: ETHERTYPE_IPV4, below: lance }));
                let destination = flow.destination.to_bits();
                let mask = 0xffff_ff00;
                let route = Route { network: destination & mask, mask, below: eth };
                let vnet: &'static VnetDown = $wrap(leak(VnetOut { routes: [Some(route), None], destination }));
                let ip: &'static IpDown = $wrap(leak(IpOut {
                    source: flow.source,
                    destination: flow.destination,
                    protocol: PROTOCOL_TCP,
                    identification: Cell::new(0),
                    below: vnet,
                }));
                let out = leak(TcpOut { tcp, connection, below: ip });
                let below: &'static TcpDown = $wrap(out);
                let test = leak(TcpTest { is_server, counts, below });
                let above: &'static TestUp = $wrap(test);
                let tcp_in = leak(TcpIn { tcp, above, out, flow: flow.reversed() });
                let above = $demux(u32::from(PROTOCOL_TCP), tcp_in, host.switches);
                let ip_in: &'static IpUp = $wrap(leak(IpIn { address: flow.source, above, lost: Cell::default() }));
                let vnet_in = leak(VnetIn { above: ip_in });
                let above = $demux(u32::from(ETHERTYPE_IPV4), vnet_in, host.switches);
                (test, leak(EthIn { station, above, foreign: Cell::new(0) }), out)
            }
        }
    };
}

layers!(layered, opaque, in_table, {
    LanceDown = dyn Below;
    EthDown = dyn Below;
    VnetDown = dyn Below;
    IpDown = dyn Below;
    TcpDown = dyn Below;
    TestUp = dyn Above;
    IpUp = dyn Above;
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
    IpDown = IpOut<VnetDown>;
    TcpDown = TcpOut<IpDown>;
    TestUp = TcpTest<TcpDown>;
    TcpUp = TcpIn<TestUp, IpDown>;
    IpUp = IpIn<Assumed<TcpUp>>;
    EthUp = EthIn<Assumed<VnetIn<IpUp>>>;
});

#[cfg(feature = "path-inlining")]
use inlined as chosen;
#[cfg(not(feature = "path-inlining"))]
use layered as chosen;

#[cfg(not(feature = "path-inlining"))]
type Bottom = dyn Above;
#[cfg(feature = "path-inlining")]
type Bottom = PathOrLayers<chosen::EthUp>;

/// A host with one connection, between the test above and the adaptor below.
pub struct TcpHost {
    shared: Shared,
    test: &'static TcpTest<chosen::TcpDown>,
    out: &'static TcpOut<chosen::IpDown>,
    lance: LanceIn<Bottom>,
}

impl TcpHost {
    /// A client, or the server that it connects to.
    #[must_use]
    pub fn new(is_server: bool, switches: Switches) -> Self {
        let forth = Flow { source_port: 3000, destination_port: 4000, ..Flow::synthetic(1) };
        let flow = if is_server { forth.reversed() } else { forth };
        let host = leak(Host::new(switches));
        let tcp = leak(Tcp::new(host));
        let connection = tcp.open(flow, !is_server);
        let (adaptor, counts) = (leak(Adaptor::default()), leak(Counts::default()));
        let shared = Shared { host, adaptor, tcp, counts, connection, flow, is_server };
        let (test, eth, out) = chosen::build(shared);
        let above = bottom(shared, eth);
        let prepared = RefCell::new(Message::new(MAX_FRAME));
        Self { shared, test, out, lance: LanceIn { host, adaptor, above, prepared } }
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

    /// Whether the connection is established.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.shared.tcp.is_open(self.shared.connection)
    }

    /// Sends what the connection has to send of itself: the first segment of a client.
    pub fn begin(&self) -> Result<(), Lost> {
        self.out.flush(self.shared.connection)
    }

    /// Lets time pass.
    pub fn expire(&self) {
        self.out.expire();
    }

    /// The path down: the test sends its next message.
    #[inline(never)]
    pub fn send(&self) -> Result<(), Lost> {
        self.test.send()
    }

    /// The path up: the adaptor has received something.
    #[inline(never)]
    pub fn interrupt(&self) -> Result<(), Lost> {
        self.lance.interrupt()
    }
}

#[cfg(not(feature = "path-inlining"))]
fn bottom(_: Shared, eth: &'static chosen::EthUp) -> &'static Bottom {
    opaque(eth)
}

#[cfg(feature = "path-inlining")]
fn bottom(shared: Shared, path: &'static chosen::EthUp) -> &'static Bottom {
    let (_, layers, _) = layered::build(shared);
    let classifier = Classifier::tcp(&shared.flow.reversed());
    leak(PathOrLayers { switches: shared.host.switches, classifier, path, layers: opaque(layers) })
}
