//! The hosts. Rates are made up; names of interrupts, numbers of queues and masks are as drivers choose them.

mod asked;
mod clouds;
mod servers;
mod special;

use super::Case;
use warmcore_linux::fake::{Device, FakeHost, Nic, Thread, Tree, Vector};
use warmcore_study::placement::Target;
use warmcore_topology::{CpuSet, Machine};
use warmcore_units::CpuId;

/// Interrupts per second of a queue.
const RATE: u64 = 4_000;

/// How long fake hosts have been up.
const SECONDS: u64 = 3_600;

pub(super) fn all() -> Vec<Case> {
    [servers::all(), clouds::all(), special::all(), asked::all()].into_iter().flatten().collect()
}

/// A card whose queues have one interrupt each, named by `action`, on `cpus` in turn.
fn card(
    (address, name, driver): (&str, &str, &str),
    node: Option<u32>,
    queues: u32,
    action: impl Fn(u32) -> String,
    cpus: &[u32],
) -> Device {
    let vector = |(queue, &cpu): (u32, &u32)| vector(&action(queue), cpu, RATE);
    Device {
        address: address.to_owned(),
        driver: driver.to_owned(),
        node,
        virtio: None,
        nic: Some(Nic { name: name.to_owned(), receive: queues, transmit: queues, driver_settings: None }),
        vectors: (0..queues).zip(cpus.iter().cycle()).map(vector).collect(),
    }
}

fn vector(action: &str, cpu: u32, rate: u64) -> Vector {
    Vector {
        action: action.to_owned(),
        allowed: [CpuId(cpu)].into_iter().collect(),
        effective: CpuId(cpu),
        count: rate * SECONDS,
        managed: false,
    }
}

/// The threads of one process, each using `percent` of a cpu, on `cpus`; they may run on `allowed`.
fn process(pid: u32, name: &str, percent: u64, cpus: &[u32], allowed: &CpuSet) -> Vec<Thread> {
    let thread = |(tid, &cpu): (u32, &u32)| Thread {
        pid,
        tid,
        name: name.to_owned(),
        ticks: percent * SECONDS,
        last_cpu: CpuId(cpu),
        allowed: allowed.clone(),
        group: format!("/system.slice/{name}.service"),
    };
    (pid..).zip(cpus).map(thread).collect()
}

fn host(machine: Machine, devices: Vec<Device>, threads: Vec<Thread>) -> Tree {
    let mut host = FakeHost::new(machine);
    host.devices = devices;
    host.threads = threads;
    host.tree()
}

fn case(name: &'static str, source: &'static str, tree: Tree, expert: &'static str) -> Case {
    Case {
        name,
        source,
        tree,
        reader: Target::Evident,
        spread: &[],
        channels: false,
        expert,
        queues: Vec::new(),
        others: Vec::new(),
    }
}

/// Queue `n` of `interface` goes to `cpus[n]`.
fn in_turn(interface: &'static str, cpus: impl IntoIterator<Item = u32>) -> Vec<(&'static str, u32, u32)> {
    (0..).zip(cpus).map(|(queue, cpu)| (interface, queue, cpu)).collect()
}
