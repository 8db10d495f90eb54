//! What the tests of single layers share.

use std::num::NonZero;
use std::time::Duration;
use warmcore_stack::Packet;
use warmcore_stack::rpc::BootId;

/// A packet with room for all headers and for the longest message.
pub(super) fn packet(bytes: &[u8]) -> Packet {
    let mut packet = Packet::with_capacity(64, 70_000);
    packet.append(bytes).expect("the packet has room");
    packet
}

pub(super) fn boot(id: u32) -> BootId {
    BootId(NonZero::new(id).expect("boot ids begin with 1"))
}

pub(super) const fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Bytes no two neighbours of which are equal.
pub(super) fn bytes(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at % 251) as u8).collect()
}
