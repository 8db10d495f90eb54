//! The delays of packets in the shadow simulation.

use crate::policy::Request;
use warmcore_units::Nanos;

/// A packet, with its delays under the strategies whose delays are known on arrival.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct ShadowPacket {
    pub(super) request: Request,
    /// Its delay under [`Strategy::Gather`](super::Strategy::Gather).
    pub(super) gathered: Nanos,
    /// Its delay under [`Strategy::Recent`](super::Strategy::Recent).
    pub(super) recent: Nanos,
}

/// Sums of packets' delays under each strategy. A packet is added once all three of its delays are
/// known, so the sums always cover the same packets.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Delays {
    /// Indexed by [`Strategy`](super::Strategy).
    pub(super) sums: [f64; 3],
    pub(super) packets: u32,
}

impl Delays {
    /// Adds the delays of `packet`, which are `home` under [`Strategy::Home`](super::Strategy::Home).
    #[inline]
    pub(super) fn add(&mut self, packet: &ShadowPacket, home: Nanos) {
        for (sum, delay) in self.sums.iter_mut().zip([packet.gathered, packet.recent, home]) {
            *sum += delay.0;
        }
        self.packets += 1;
    }
}
