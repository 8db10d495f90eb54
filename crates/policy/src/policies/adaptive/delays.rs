//! What packets met in the rehearsals.

use crate::policy::Request;
use warmcore_units::Nanos;

/// A packet, and its delays where they are known on arrival.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct ShadowPacket {
    pub(super) request: Request,
    /// On one processor with all others.
    pub(super) gathered: Nanos,
    /// On the most recently used processors.
    pub(super) recent: Nanos,
}

/// The delays of packets under every choice, added up. A packet is among them once all three are
/// known, so that it is always the same packets that are compared.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Delays {
    /// By [`Strategy`](super::Strategy).
    pub(super) sums: [f64; 3],
    pub(super) packets: u32,
}

impl Delays {
    /// `packet` has the delay `home` if it goes home.
    #[inline]
    pub(super) fn add(&mut self, packet: &ShadowPacket, home: Nanos) {
        for (sum, delay) in self.sums.iter_mut().zip([packet.gathered, packet.recent, home]) {
            *sum += delay.0;
        }
        self.packets += 1;
    }
}
