//! Times of the machine around the device, with where each comes from.

/// Cycles of 400 MHz, unless said otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timing {
    /// From a miss to its transaction on the bus (Table 5.1).
    pub issue: u64,
    /// From a transaction on the bus to the loaded word (Table 5.1), for a line of any size: the rest follows.
    pub fill: u64,
    /// How long a transaction keeps others from the address part of the bus. Not stated: one cycle of the bus (§1.3.1).
    pub address: u64,
    /// How long the bus takes for its width of data: one cycle of the bus (§1.3.1).
    pub beat: u64,
    /// How long a bank of memory is busy with a line. Not stated: [`fill`](Self::fill) without the transaction and two beats.
    pub bank: u64,
    /// Entries of the memory controller's write buffer (§4.3.1).
    pub write_buffer: u32,
    /// What a miss in the TLB takes. Not stated: a walk of three levels whose tables are in the cache, with what a miss takes to
    /// be noticed at each. It cannot be a load from memory: em3d would then take 879 of its 740 million cycles on a
    /// uniprocessor (Table 5.3) without any computing.
    pub tlb_miss: u64,
    /// What the first touch of a remote page on a node takes. Not stated: what a trap takes.
    pub page_fault: u64,
    /// From the end of one network interface to the other, with what the interfaces take for 64 bytes (§1.3.1, Table 5.1).
    pub network: u64,
    /// How long a network interface takes for 32 bytes. Not stated: as the bus.
    pub interface_beat: u64,
    /// Bytes of a message beside the block. Not stated: an address, a handler and an argument of four bytes each, and a
    /// header of four.
    pub header_bytes: u64,
    /// From the invocation of an interrupt to the handler (§4.3.1).
    pub interrupt: u64,
    /// From a bus error to the trap's code (§4.3.1).
    pub trap: u64,
    /// What it takes to send a message outside Stache. Not stated: a transaction on the bus, as a line takes.
    pub send: u64,
    /// What a handler outside Stache takes to copy 32 bytes between its cache and the device. Not stated; *set by the stated
    /// round trip* of 6.2 µs for fetch-block (§4.3.2), which is therefore no prediction.
    pub copy_32_bytes: u64,
    /// Lines of data that a protocol thread has of its own, and refers to in each handler: two of its stack, one with arguments,
    /// one for each queue's pointers, and one that says who executes it. Where compute processors execute it in turn, they move
    /// from cache to cache. Not stated.
    pub thread_lines: u32,
    /// Bytes of a directory entry, and of a cached block's state. Not stated: a bit for each of 64 nodes, and as much again.
    pub entry_bytes: u64,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            issue: 5,
            fill: 63,
            address: 4,
            beat: 4,
            bank: 63 - 4 - 2 * 4,
            write_buffer: 4,
            tlb_miss: 3 * 5,
            page_fault: 200,
            network: 100,
            interface_beat: 4,
            header_bytes: 16,
            interrupt: 200,
            trap: 200,
            send: 63,
            copy_32_bytes: 142,
            thread_lines: 6,
            entry_bytes: 16,
        }
    }
}
