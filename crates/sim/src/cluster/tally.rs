//! What is counted during a run.

use std::collections::BTreeMap;
use warmcore_coherence::{Handler, Message};
use warmcore_workload::programs::BarrierId;

/// How often, and for how many cycles in all.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Count {
    /// How often.
    pub times: u64,
    /// Cycles in all.
    pub cycles: u64,
}

impl Count {
    pub(super) fn add(&mut self, cycles: u64) {
        self.times += 1;
        self.cycles += cycles;
    }
}

/// Where a compute processor's time went, in cycles.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Breakdown {
    /// Until it left the program.
    pub end: u64,
    /// Served by the node's caches and memory.
    pub cache_misses: Count,
    /// From a block access fault to the completed reference.
    pub remote_misses: Count,
    /// Waits for a frame of the page cache.
    pub page_waits: Count,
    /// In locks and barriers with everything that happens there, and waiting for words to change.
    pub synchronization: u64,
    /// Handlers that it executed although it did not wait: in interrupts, and after its wait had ended.
    pub protocol: u64,
    /// Getting into interrupts.
    pub interrupts: Count,
    /// Translations that were not in the TLB.
    pub tlb_misses: u64,
    /// First touches of remote pages.
    pub page_faults: u64,
    /// Loads and stores of shared data.
    pub references: u64,
}

impl Breakdown {
    /// What is left: the program's instructions, with references that hit and TLB misses.
    #[must_use]
    pub fn computing(&self) -> u64 {
        let waits = self.cache_misses.cycles + self.remote_misses.cycles + self.page_waits.cycles;
        let other = self.synchronization + self.protocol + self.interrupts.cycles;
        self.end.saturating_sub(waits + other)
    }
}

/// What happened at a device.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DeviceTally {
    /// Handlers, with the time from dispatch to end.
    pub handlers: BTreeMap<Handler, Count>,
    /// Handlers of requests outside Stache.
    pub exchanges: Count,
    /// Cycles that events waited for a thread, in all.
    pub waited: u64,
    /// The most events that waited at a time.
    pub longest: usize,
    /// Interrupts that found a critical section, and were put off to its end.
    pub put_off: u64,
    /// References of protocol threads to the protocol's data that missed their cache.
    pub state_misses: Count,
    /// Blocks that were written to memory to make room in a block buffer.
    pub buffer_write_backs: u64,
}

/// The end of one use of a barrier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Episode {
    /// Which barrier.
    pub barrier: BarrierId,
    /// When the last processor came to it.
    pub cycles: u64,
}

/// What happened on a node.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NodeTally {
    /// At its device.
    pub device: DeviceTally,
    /// Cycles in which the address part of the bus was taken.
    pub bus_address: u64,
    /// Cycles in which the data part of the bus was taken.
    pub bus_data: u64,
    /// Cycles that transactions waited for the bus.
    pub bus_waited: u64,
    /// Cycles in which a bank of memory was busy, all banks together.
    pub memory: u64,
    /// Pages of memory that were touched.
    pub pages: usize,
    /// Remote pages that made way for others.
    pub pages_unmapped: u64,
}

/// What was sent.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NetworkTally {
    /// Messages of each kind.
    pub messages: BTreeMap<Message, u64>,
    /// Bytes of all messages.
    pub bytes: u64,
    /// Cycles that messages waited at network interfaces.
    pub waited: u64,
}
