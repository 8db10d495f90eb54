//! A system with its parameters and what it executes: one run.

use super::system::System;
use super::work::{App, Work};
use core::fmt;
use serde::{Deserialize, Serialize};
use warmcore_sim::cluster::timing::Timing;
use warmcore_sim::cluster::{Machine, MemoryKind};

/// Interrupt overheads of Table 4.2 in cycles: 0.5, 5 and 50 µs.
pub const INTERRUPTS: [u64; 3] = [200, 2_000, 20_000];
/// The low interrupt overhead, of tuned parallel computers (§4.3.1).
pub const LOW: u64 = INTERRUPTS[0];
/// Nodes of chapter 4's systems.
pub const NODES: u32 = 16;
/// Processors that compute, in all, in chapter 5.
pub const PROCESSORS: u32 = 64;
/// Bytes of a processor's cache (§1.3.1).
pub const CACHE: u64 = 1 << 20;
/// Cycles of the network's latency (Table 5.1).
pub const NETWORK: u64 = 100;
/// Names the random numbers of a run that is not repeated with others.
pub const SEED: u64 = 1;

/// A run: its result depends on this and on the inputs' size alone.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Setup {
    /// Who executes the protocol.
    pub system: System,
    /// How many nodes.
    pub nodes: u32,
    /// Processors of a node that compute.
    pub processors: u32,
    /// Bytes of a block of the protocol.
    pub block_bytes: u64,
    /// Bytes of each cache.
    pub cache_bytes: u64,
    /// Cycles of 400 MHz that an interrupt takes.
    pub interrupt: u64,
    /// Cycles of the network's latency.
    pub network: u64,
    /// Names the random numbers of chapter 4's microbenchmarks.
    pub seed: u64,
    /// What it executes.
    pub work: Work,
}

impl Setup {
    /// A system of chapter 4 whose nodes have `per_node` processors, with the protocol processor of Fixed.
    #[must_use]
    pub const fn chapter_4(system: System, per_node: u32, app: App) -> Self {
        Self {
            system,
            nodes: NODES,
            processors: computing(system, per_node),
            block_bytes: 128,
            cache_bytes: CACHE,
            interrupt: LOW,
            network: NETWORK,
            seed: SEED,
            work: Work::Program(app),
        }
    }

    /// The systems of figures 4-2 to 4-4: two nodes, a microbenchmark.
    #[must_use]
    pub const fn pair(system: System, per_node: u32, work: Work) -> Self {
        Self { nodes: 2, work, ..Self::chapter_4(system, per_node, App::Barnes) }
    }

    /// A system of chapter 5: 8 nodes of 8 processors.
    #[must_use]
    pub const fn chapter_5(system: System, app: App) -> Self {
        Self {
            system,
            nodes: 8,
            processors: 8,
            block_bytes: 64,
            cache_bytes: CACHE,
            interrupt: LOW,
            network: NETWORK,
            seed: SEED,
            work: Work::Program(app),
        }
    }

    /// A single processor.
    #[must_use]
    pub const fn uniprocessor(app: App) -> Self {
        Self { nodes: 1, processors: 1, ..Self::chapter_5(System::SComa, app) }
    }

    /// One processor that reads blocks of another node.
    #[must_use]
    pub const fn remote_read(system: System) -> Self {
        let block_bytes = if system.is_typhoon_1() { 128 } else { 64 };
        let work = Work::RemoteRead;
        Self { nodes: 2, processors: 1, block_bytes, work, ..Self::chapter_5(system, App::Barnes) }
    }

    /// `requesters` nodes that read blocks of one.
    #[must_use]
    pub const fn reply(system: System, requesters: u32) -> Self {
        let work = Work::ReplyBandwidth(requesters);
        Self { nodes: requesters + 1, processors: 1, work, ..Self::chapter_5(system, App::Barnes) }
    }

    /// `requesters` processors of a node that read blocks of as many others.
    #[must_use]
    pub const fn request(system: System, requesters: u32) -> Self {
        let work = Work::RequestBandwidth(requesters);
        Self { nodes: requesters + 1, processors: requesters, work, ..Self::chapter_5(system, App::Barnes) }
    }

    /// The same with blocks of `block_bytes`.
    #[must_use]
    pub const fn blocks(self, block_bytes: u64) -> Self {
        Self { block_bytes, ..self }
    }

    /// The same with caches of `cache_bytes`.
    #[must_use]
    pub const fn caches(self, cache_bytes: u64) -> Self {
        Self { cache_bytes, ..self }
    }

    /// The same with interrupts that take `interrupt` cycles; a system that takes none is what it was.
    #[must_use]
    pub const fn interrupted(self, interrupt: u64) -> Self {
        Self { interrupt: if self.system.interrupts() { interrupt } else { LOW }, ..self }
    }

    /// The same over a network with a latency of `network` cycles.
    #[must_use]
    pub const fn over_network(self, network: u64) -> Self {
        Self { network, ..self }
    }

    /// The same with other random numbers.
    #[must_use]
    pub const fn seeded(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// The same processors on nodes of `per_node`.
    #[must_use]
    pub const fn clustered(self, per_node: u32) -> Self {
        Self { nodes: PROCESSORS / per_node, processors: per_node, ..self }
    }

    /// The machine of the simulator. Lines of the caches have the 64 bytes that it takes, and those of a smaller block.
    #[must_use]
    pub fn machine(&self) -> Machine {
        let machine = Machine::chapter_5(self.nodes, self.processors, self.system.device());
        let memory =
            if self.system.is_typhoon_1() { MemoryKind::SingleBank } else { MemoryKind::Interleaved };
        Machine {
            block_bytes: self.block_bytes,
            cache_bytes: self.cache_bytes,
            line_bytes: machine.line_bytes.min(self.block_bytes),
            memory,
            timing: Timing { interrupt: self.interrupt, network: self.network, ..machine.timing },
            ..machine
        }
    }

    /// How much there is to simulate, roughly: the uniprocessor times of Table 5.3 in millions of cycles, and guesses. It decides
    /// which run begins first, and when a program is given up.
    #[must_use]
    pub const fn weight(&self) -> u64 {
        match self.work {
            Work::Program(App::WaterSp) => 3_965,
            Work::Program(App::Fmm) => 3_351,
            Work::Program(App::Gauss | App::Fft | App::Lu) => 2_489,
            Work::Program(App::Barnes) => 2_284,
            Work::Program(App::Cholesky) => 976,
            Work::Program(App::Radix) => 903,
            Work::Program(App::Em3d) => 740,
            Work::NullHandler(_) | Work::FetchBlock(_) => 5,
            Work::ReplyBandwidth(_) | Work::RequestBandwidth(_) | Work::RemoteRead => 1,
        }
    }
}

/// How many of `per_node` processors compute.
const fn computing(system: System, per_node: u32) -> u32 {
    match system {
        System::Fixed => per_node - 1,
        _ => per_node,
    }
}

impl fmt::Display for Setup {
    /// `barnes on Hurricane 4pp, 8 nodes of 8, blocks of 64 bytes, caches of 1024 KB, interrupts of 200 cycles`, with another
    /// latency or seed than the usual one if it has one; it differs for different runs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { system, nodes, processors, block_bytes, cache_bytes, interrupt, network, seed, work } =
            self;
        let cache = cache_bytes >> 10;
        write!(
            f,
            "{work} on {system}, {nodes} nodes of {processors}, blocks of {block_bytes} bytes, caches of {cache} KB, \
             interrupts of {interrupt} cycles"
        )?;
        if *network != NETWORK {
            write!(f, ", a network of {network} cycles")?;
        }
        if *seed != SEED {
            write!(f, ", seed {seed}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_system_can_stand() {
        for system in System::CHAPTER_5 {
            for per_node in [4, 8, 16] {
                for block in [32, 64, 128] {
                    let setup = Setup::chapter_5(system, App::Fft).clustered(per_node).blocks(block);
                    assert_eq!(setup.machine().check(), Ok(()), "{setup}");
                }
            }
        }
        let small = Setup::chapter_4(System::Fixed, 5, App::Lu).caches(16 << 10).blocks(256);
        assert_eq!((small.machine().check(), small.processors), (Ok(()), 4));
    }

    #[test]
    fn only_who_takes_interrupts_depends_on_them() {
        let at = |system| Setup::chapter_4(system, 2, App::Lu).interrupted(20_000).interrupt;
        assert_eq!((at(System::Fixed), at(System::Floating)), (LOW, 20_000));
    }
}
