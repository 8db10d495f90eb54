//! Generated hosts: one NIC and one server, on any cpus of a machine.

use super::hosts;
use proptest::prelude::*;
use warmcore_linux::fake::{Cgroup, Device, FakeHost, InterruptNaming, Nic, Tree, Vector, mask};
use warmcore_topology::{CpuSet, Machine, synthetic};
use warmcore_units::CpuId;

/// A host of one NIC and one server.
#[derive(Clone, Debug)]
pub(crate) struct Sketch {
    pub(crate) machine: Machine,
    /// For each queue: the cpu of its interrupt, the number of interrupts, and whether the kernel manages it.
    pub(crate) queues: Vec<(u32, u64, bool)>,
    /// The cpu of each thread.
    pub(crate) threads: Vec<u32>,
    pub(crate) isolated: CpuSet,
    /// Cpus that are slower than the others.
    pub(crate) slow: CpuSet,
    /// The cpus to which RPS distributes the packets of the first queue.
    pub(crate) spread: CpuSet,
}

impl Sketch {
    /// The host's files.
    pub(crate) fn tree(&self) -> Tree {
        let all = self.machine.online();
        let mut host = FakeHost::new(self.machine.clone());
        host.debugfs = true;
        host.cgroup = Cgroup::V2;
        host.interrupt_naming = InterruptNaming::ByDevice;
        let queues = self.queues.len() as u32;
        let vector = |(number, &(cpu, count, managed)): (usize, &(u32, u64, bool))| Vector {
            action: format!("eth0-TxRx-{number}"),
            allowed: [CpuId(cpu)].into_iter().collect(),
            effective: CpuId(cpu),
            count: 10 * count,
            managed,
        };
        host.devices = vec![Device {
            address: "0000:01:00.0".to_owned(),
            driver: "ice".to_owned(),
            node: Some(0),
            virtio: None,
            nic: Some(Nic {
                name: "eth0".to_owned(),
                receive: queues,
                transmit: queues,
                driver_settings: None,
            }),
            vectors: self.queues.iter().enumerate().map(vector).collect(),
        }];
        let mut tree = host.tree().running(&hosts::server(&self.threads, &all.to_string()));
        tree.put("sys/devices/system/cpu/isolated", &self.isolated);
        tree.put("sys/class/net/eth0/queues/rx-0/rps_cpus", mask(&self.spread));
        for cpu in all.iter() {
            let capacity = if self.slow.contains(cpu) { 512 } else { 1024 };
            tree.put(format!("sys/devices/system/cpu/cpu{}/cpu_capacity", cpu.0), capacity);
        }
        tree
    }

    /// The same host, with cpu `n` renamed to `names[n]`.
    pub(crate) fn renamed(&self, names: &[u32]) -> Self {
        let name = |cpu: u32| names[cpu as usize];
        let set = |cpus: &CpuSet| cpus.iter().map(|cpu| CpuId(name(cpu.0))).collect::<CpuSet>();
        let mut machine = self.machine.clone();
        for cpu in &mut machine.cpus {
            (cpu.id, cpu.smt_siblings) = (CpuId(name(cpu.id.0)), set(&cpu.smt_siblings));
        }
        machine.cpus.sort_by_key(|cpu| cpu.id);
        for cache in &mut machine.caches {
            cache.shared_by = set(&cache.shared_by);
        }
        machine.limits.allowed = set(&machine.limits.allowed);
        Self {
            machine,
            queues: self.queues.iter().map(|&(cpu, count, managed)| (name(cpu), count, managed)).collect(),
            threads: self.threads.iter().map(|&cpu| name(cpu)).collect(),
            isolated: set(&self.isolated),
            slow: set(&self.slow),
            spread: set(&self.spread),
        }
    }
}

/// Any generated host.
pub(crate) fn sketch() -> impl Strategy<Value = Sketch> {
    let machines = vec![
        synthetic::two_socket_server(),
        synthetic::hybrid_laptop(),
        synthetic::virtual_machine(2),
        synthetic::virtual_machine(8),
    ];
    prop::sample::select(machines).prop_flat_map(|machine| {
        let cpus = machine.cpus.len() as u32;
        let queue = (0..cpus, 1..1_000_000_u64, any::<bool>());
        let queues = prop::collection::vec(queue, 1..8);
        let threads = prop::collection::vec(0..cpus, 1..8);
        let some = |first| {
            let cpus = prop::collection::btree_set(first..cpus, 0..3);
            cpus.prop_map(|cpus| cpus.into_iter().map(CpuId).collect::<CpuSet>())
        };
        let sets = (some(1), some(1), some(0));
        (Just(machine), queues, threads, sets).prop_map(|(machine, queues, threads, sets)| {
            let (isolated, slow, spread) = sets;
            Sketch { machine, queues, threads, isolated, slow, spread }
        })
    })
}
