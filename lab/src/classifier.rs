//! A packet classifier: says before any layer whether a frame takes the path that was inlined (§3.3). Patterns are cells
//! of {offset, mask, value}, as in PathFinder (Bailey et al. 1994).

use crate::layer::{Above, Lost};
use crate::message::Message;
use crate::switches::Switches;
use alloc::vec::Vec;
use core::hint::cold_path;
use warmcore_stack::Flow;
use warmcore_stack::wire::ipv4::PROTOCOL_TCP;

/// One test of 16 bits of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cell {
    offset: u16,
    mask: u16,
    value: u16,
}

/// All tests that a frame of the path passes.
pub struct Classifier(Vec<Cell>);

impl Classifier {
    /// Frames that carry established TCP of `flow`, from the peer to this host.
    #[must_use]
    pub fn tcp(flow: &Flow) -> Self {
        let ([a, b, c, d], [e, f, g, h]) = (flow.source.octets(), flow.destination.octets());
        let cell = |offset, mask, value| Cell { offset, mask, value };
        let whole = |offset, value| cell(offset, 0xffff, value);
        let pair = u16::from_be_bytes;
        Self(alloc::vec![
            whole(12, 0x0800),
            // No options of IP, no fragment, TCP.
            cell(14, 0xff00, 0x4500),
            cell(20, 0x3fff, 0),
            cell(22, 0x00ff, u16::from(PROTOCOL_TCP)),
            whole(26, pair([a, b])),
            whole(28, pair([c, d])),
            whole(30, pair([e, f])),
            whole(32, pair([g, h])),
            whole(34, flow.source_port),
            whole(36, flow.destination_port),
            // ACK, and none of SYN, FIN, RST.
            cell(46, 0x0017, 0x0010),
        ])
    }

    /// Frames of type `ethertype` with whole replies of RPC, between the stations of `flow`.
    #[must_use]
    pub fn rpc(flow: &Flow, ethertype: u16) -> Self {
        let ([a, b, c, d, e, f], cell) =
            (flow.source_link.0, |offset, value| Cell { offset, mask: 0xffff, value });
        let pair = u16::from_be_bytes;
        Self(alloc::vec![
            cell(6, pair([a, b])),
            cell(8, pair([c, d])),
            cell(10, pair([e, f])),
            cell(12, ethertype),
            // BLAST: its version, a fragment, the only one.
            cell(14, 0x0101),
            cell(16, 0x0100),
            // BID: a message. CHAN: a reply.
            cell(32, 1),
            cell(42, 2),
        ])
    }

    /// Whether `frame` takes the path.
    #[inline(never)]
    #[must_use]
    pub fn matches(&self, frame: &[u8]) -> bool {
        self.0.iter().all(|cell| {
            let at = usize::from(cell.offset);
            let Some(&[high, low]) = frame.get(at..at + 2) else { return false };
            u16::from_be_bytes([high, low]) & cell.mask == cell.value
        })
    }
}

/// The inlined path for frames that take it, and the layers for all others.
pub struct PathOrLayers<P: Above + 'static> {
    /// Which changes are made: without a classifier every frame takes the path, as in the source's measurements.
    pub switches: Switches,
    /// Says which frames take the path.
    pub classifier: Classifier,
    /// The path.
    pub path: &'static P,
    /// The layers.
    pub layers: &'static dyn Above,
}

impl<P: Above> Above for PathOrLayers<P> {
    #[inline(always)]
    fn pop(&self, message: &mut Message) -> Result<(), Lost> {
        if self.switches.classifier && !self.classifier.matches(message.bytes()) {
            cold_path();
            return self.layers.pop(message);
        }
        self.path.pop(message)
    }
}
