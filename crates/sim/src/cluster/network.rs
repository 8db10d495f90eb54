//! The network: a constant latency between any two nodes, contention at the network interfaces (Falsafi 1998, §1.3.1).
//!
//! An interface passes one message after the other. The latency of Table 5.1 is that of a message with a block of 64 bytes;
//! larger ones take the interfaces' time in addition. Messages between two nodes stay in the order in which they
//! were sent, also those of different send queues, so that those about one block do.

use super::occupancy::BUS_WIDTH;
use super::timing::Timing;

/// The network interfaces of all nodes.
#[derive(Clone, Debug)]
pub(super) struct Network {
    timing: Timing,
    out_free: Box<[u64]>,
    in_free: Box<[u64]>,
    /// Cycles that messages waited at interfaces.
    pub(super) waited: u64,
    /// Bytes that were sent.
    pub(super) bytes: u64,
}

impl Network {
    pub(super) fn new(timing: Timing, nodes: usize) -> Self {
        let free = vec![0; nodes].into_boxed_slice();
        Self { timing, out_free: free.clone(), in_free: free, waited: 0, bytes: 0 }
    }

    /// Cycles for which an interface is busy with a message that carries `payload` bytes.
    fn occupancy(&self, payload: u64) -> u64 {
        (self.timing.header_bytes + payload).div_ceil(BUS_WIDTH) * self.timing.interface_beat
    }

    /// Sends a message with `payload` bytes at `now`: when it has come.
    pub(super) fn send(&mut self, now: u64, from: usize, to: usize, payload: u64) -> u64 {
        let busy = self.occupancy(payload);
        let beyond = 2 * busy.saturating_sub(self.occupancy(64));
        let start = now.max(self.out_free[from]);
        self.out_free[from] = start + busy;
        let reached = start + self.timing.network + beyond;
        let arrival = reached.max(self.in_free[to]);
        self.in_free[to] = arrival + busy;
        self.waited += start - now + (arrival - reached);
        self.bytes += self.timing.header_bytes + payload;
        arrival
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_queue_at_interfaces_and_stay_in_order() {
        let mut network = Network::new(Timing::default(), 3);
        assert_eq!(network.send(1000, 0, 1, 64), 1100);
        // The interface is busy with three widths of the bus.
        assert_eq!(network.send(1000, 0, 1, 0), 1112);
        // Another node's message meets the second at the receiver's interface.
        assert_eq!(network.send(1012, 2, 1, 0), 1116);
    }

    #[test]
    fn larger_blocks_take_longer_at_both_ends() {
        let mut network = Network::new(Timing::default(), 2);
        assert_eq!(network.send(0, 0, 1, 128), 100 + 2 * 8);
    }
}
