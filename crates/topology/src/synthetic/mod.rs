//! Synthetic machines, in place of machines that we do not have.
//!
//! | machine | purpose |
//! |---|---|
//! | [`sgi_challenge_xl`] | the machine of Salehi, Kurose & Towsley 1994 |
//! | [`sgi_4d_340`] | the machine of Torrellas, Tucker & Gupta 1995 |
//! | [`dec_3000_600`] | the machine of Mosberger et al. 1996 |
//! | [`two_socket_server`] | 128 cpus: SMT, two NUMA nodes, several last-level caches in a socket |
//! | [`hybrid_laptop`] | two kinds of core: one with SMT, one in clusters that share a cache level |
//! | [`arm_server`] | 64 plain cores behind one last-level cache |
//! | [`virtual_machine`] | a few cpus, no SMT, one node |
//! | [`single_cpu`] | nowhere to migrate to |
//!
//! Each passes [`Machine::validate`]. [`Machine::limited_to`] simulates a container, and
//! [`Machine::without`] takes cpus offline.

mod modern;
mod published;

pub use modern::{
    arm_server, eight_socket_server, hybrid_laptop, single_cpu, two_socket_server, virtual_machine,
};
pub use published::{dec_3000_600, sgi_4d_340, sgi_challenge_xl};

use crate::{Cache, CacheKind, Cpu, CpuSet, Geometry, Limits, Machine};
use warmcore_units::{Bytes, CpuId};

/// A machine under construction: first its cpus, then its caches level by level.
struct Draft {
    name: &'static str,
    cpus: Vec<Cpu>,
    caches: Vec<Cache>,
}

impl Draft {
    /// A machine of `cpus` cpus, each a core of its own, in one package and one node.
    fn new(name: &'static str, cpus: u32) -> Self {
        let plain = |cpu| Cpu { id: CpuId(cpu), core: cpu, package: 0, node: 0, smt_siblings: set([cpu]) };
        Self { name, cpus: (0..cpus).map(plain).collect(), caches: Vec::new() }
    }

    /// Adds one cache for each of `groups`, whose cpus share it.
    fn cache(
        mut self,
        level: u32,
        kind: CacheKind,
        geometry: Geometry,
        groups: impl IntoIterator<Item = CpuSet>,
    ) -> Self {
        self.caches.extend(groups.into_iter().map(|shared_by| Cache { level, kind, geometry, shared_by }));
        self
    }

    /// The set of siblings of each core.
    fn cores(&self) -> Vec<CpuSet> {
        let first = |cpu: &&Cpu| cpu.smt_siblings.first() == Some(cpu.id);
        self.cpus.iter().filter(first).map(|cpu| cpu.smt_siblings.clone()).collect()
    }

    fn finish(mut self) -> Machine {
        self.caches.sort_by_key(Cache::sort_key);
        Machine {
            name: self.name.to_owned(),
            limits: Limits { allowed: self.cpus.iter().map(|cpu| cpu.id).collect(), cpu_quota: None },
            cpus: self.cpus,
            caches: self.caches,
        }
    }
}

fn set(cpus: impl IntoIterator<Item = u32>) -> CpuSet {
    cpus.into_iter().map(CpuId).collect()
}

const fn geometry(kib: u64, line: u64, ways: u32) -> Geometry {
    Geometry { size: Bytes::kib(kib), line: Bytes(line), ways }
}
