//! Clusters of SMP nodes with fine-grain distributed shared memory (Falsafi 1998).
//!
//! A [`Machine`] says what there is, and [`run()`] lets a [`Program`](warmcore_workload::programs::Program) compute on it. The
//! program moves real data about: through caches, over buses, as blocks in messages. A fault of the protocol is a wrong result.
//!
//! ```text
//!  node                                                    the way of a load that no other node has written to
//! ┌──────────────────────────────────────────────┐
//! │ ┌─────────┐ ┌─────────┐      protocol        │   1  processor: TLB, cache: it misses
//! │ │processor│ │processor│  …   processors      │   2  bus: snoops; the fine-grain tag denies the access
//! │ │TLB cache│ │TLB cache│        cache  …      │   3  device: the fault waits in the dispatch queue for a protocol thread
//! │ └────┬────┘ └────┬────┘          │           │   4  handler: coherence::CachedBlock asks the block's home
//! │ ─────┴───────────┴───── bus ─────┴────┬───── │   5  network, device of the home, handler: coherence::DirectoryEntry
//! │   ┌──────────────────┐     ┌──────────┴────┐ │      fetches the block from memory and sends it
//! │   │ memory:          │     │ device:       │ │   6  network, device, handler: places block and tag, resumes
//! │   │ home pages, page │     │ dispatch queue│ │   7  bus: the load tries again, and the block buffer or memory
//! │   │ cache; tags      │     │ block buffers │ │      supplies the line
//! │   └──────────────────┘     └───────┬───────┘ │
//! └────────────────────────────────────┼─────────┘
//!                  network interface ──┴── 100 cycles ── other nodes
//! ```
//!
//! | module | holds |
//! |---|---|
//! | [`machine`] | what a user says: nodes, device, policy, sizes |
//! | [`occupancy`] | Table 5.1: what the protocol's steps take |
//! | [`timing`] | times of everything else |
//! | `processor` | a program on a stack of its own, with its hit path |
//! | `tlb`, `cache`, `bus`, `bank`, `memory` | the parts of an SMP, from the processor down |
//! | `node` | those parts together: what a transaction does |
//! | `device`, `block_buffer`, `control_registers` | the dispatch queue, protocol threads and buffers of the custom device; what crosses the bus to it |
//! | `handlers` | how a handler runs, and what it costs |
//! | `scheduling`, `multiplexed` | compute processors that execute the protocol: Floating, Mult |
//! | `network` | network interfaces and latency |
//! | `synchronization` | locks and barriers, of loads and stores |
//! | `layout`, `paging` | the shared address space and its homes; pages that make way for others |
//! | `system`, `agenda`, `in_flight` | what happens next |
//! | [`microbenchmarks`] | those of chapter 5: remote reads of one processor and of many |
//! | [`exchange`], [`requests`] | that of chapter 4: requests and replies outside Stache |
//! | [`mod@run`], [`tally`], [`outcome`], [`error`] | a run, and what it came to |
//!
//! Time is in cycles of a 400-MHz processor. Events happen one after the other; a processor runs ahead of them by at most
//! [`Machine::run_ahead`] cycles. What a processor does is in one order for all, so that memory is sequentially consistent
//! whatever the run-ahead is; only times are known less exactly the farther processors run ahead.

mod agenda;
mod bank;
mod block_buffer;
mod bus;
mod cache;
mod control_registers;
#[cfg(test)]
mod defects;
mod device;
pub mod error;
pub mod exchange;
mod handlers;
mod in_flight;
mod layout;
pub mod machine;
mod memory;
pub mod microbenchmarks;
mod multiplexed;
mod network;
mod node;
pub mod occupancy;
pub mod outcome;
mod paging;
mod processor;
pub mod requests;
pub mod run;
pub mod scenario;
mod scheduling;
mod synchronization;
mod system;
pub mod tally;
pub mod timing;
mod tlb;

pub use error::{Error, Waiting, WaitsFor};
pub use machine::{Device, Machine, MemoryKind};
pub use occupancy::Occupancy;
pub use outcome::Outcome;
pub use processor::Wait;
pub use run::{Moment, Options, run};
pub use scenario::simulate;
pub use timing::Timing;
