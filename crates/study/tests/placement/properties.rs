//! What holds of every plan.

use super::{GOALS, hosts, picture, planned, plans};
use proptest::prelude::*;
use std::time::{Duration, Instant};
use warmcore_linux::fake::{Cgroup, Device, Host, Messages, Nic, Tree, Vector};
use warmcore_linux::inventory::Managed;
use warmcore_linux::tuning::Setting;
use warmcore_linux::{Inventory, fake};
use warmcore_study::placement::{Goal, Placement, Subject};
use warmcore_topology::{CpuSet, Machine, synthetic};
use warmcore_units::CpuId;

/// What is wrong with a plan for the host in `picture`.
fn fault(picture: &Inventory, goal: Goal, placement: &Placement) -> Option<String> {
    if let Err(fault) = placement.plan.check() {
        return Some(fault.to_string());
    }
    if placement.plan.missing().is_some() {
        return Some("half a plan".to_owned());
    }
    placement.plan.lines.iter().find_map(|line| {
        let wrong = wrong(picture, goal, &line.set)?;
        Some(format!("{}: {wrong}", line.set))
    })
}

fn wrong(picture: &Inventory, goal: Goal, set: &Setting) -> Option<&'static str> {
    let cpus = set.cpus().cloned().unwrap_or_default();
    if !cpus.difference(&picture.machine.online()).is_empty() {
        return Some("offline");
    }
    match set {
        Setting::Thread { thread, .. } => {
            let thread = picture.threads.iter().find(|of| Some(of.key.tid) == *thread)?;
            let cpuset = picture.cpusets.iter().find(|cpuset| Some(&cpuset.group) == thread.group.as_ref());
            let outside = cpuset.is_some_and(|cpuset| !cpus.difference(&cpuset.cpus).is_empty());
            outside.then_some("outside the cpuset")
        }
        Setting::Interrupt { device, action, .. } => {
            let is_meant = |of: &&warmcore_linux::inventory::Interrupt| {
                of.devices.iter().any(|address| address.to_string() == *device)
                    && Some(of.id.actions.join(",")) == *action
            };
            let managed = picture.interrupts.iter().find(is_meant).map(|of| of.managed);
            let isolated = !cpus.intersection(&picture.apart.isolated).is_empty();
            match managed {
                None => Some("nobody's interrupt"),
                Some(Managed::Yes) => Some("managed"),
                _ if isolated && goal != Goal::Isolation => Some("isolated"),
                _ => None,
            }
        }
        Setting::RpsCpus { .. } if !cpus.intersection(&picture.apart.isolated).is_empty() => Some("isolated"),
        _ => None,
    }
}

#[test]
fn every_plan_keeps_to_what_may_be_used() {
    for (host, picture, goal, placement) in plans() {
        assert_eq!(fault(&picture, goal, &placement), None, "{} for {goal}", host.name);
    }
}

#[test]
fn every_gain_has_its_half_width_or_says_why_there_is_none() {
    for (host, _, goal, placement) in plans() {
        for line in &placement.plan.lines {
            let gain = &line.expected_gain;
            let honest = gain.contains(" ± ") || gain.starts_with("unknown: ") || gain.starts_with("none: ");
            assert!(honest && !line.reason.is_empty(), "{} for {goal}: {gain}", host.name);
        }
    }
}

/// Debug builds take ten times as long as release builds, and a busy machine some times that.
#[test]
fn a_host_of_128_cpus_and_64_queues_takes_no_time() {
    let picture = picture(fake::hosts::two_socket_server());
    for goal in GOALS {
        let began = Instant::now();
        let placement = planned(&picture, &Subject::Busiest, goal).expect("a plan");
        let took = began.elapsed();
        assert!(took < Duration::from_secs(10), "{goal}: {took:?}");
        assert!(placement.lines.len() > 32, "{goal}");
        println!("{goal}: {took:?}");
    }
}

/// A host of one NIC and one server.
#[derive(Clone, Debug)]
struct Sketch {
    machine: Machine,
    /// The cpu of each queue's interrupt, how often it came, and whether the kernel manages it.
    queues: Vec<(u32, u64, bool)>,
    /// The cpu of each thread.
    threads: Vec<u32>,
    isolated: CpuSet,
}

impl Sketch {
    fn tree(&self) -> Tree {
        let all = self.machine.online();
        let mut host = Host::new(self.machine.clone());
        host.debugfs = true;
        host.cgroup = Cgroup::V2;
        host.messages = Messages::ByDevice;
        let queues = self.queues.len() as u32;
        let vector = |(number, &(cpu, count, managed)): (usize, &(u32, u64, bool))| Vector {
            action: format!("eth0-TxRx-{number}"),
            allowed: [CpuId(cpu)].into_iter().collect(),
            effective: CpuId(cpu),
            count,
            managed,
        };
        host.devices = vec![Device {
            address: "0000:01:00.0".to_owned(),
            driver: "ice".to_owned(),
            node: Some(0),
            virtio: None,
            nic: Some(Nic { name: "eth0".to_owned(), receive: queues, transmit: queues }),
            vectors: self.queues.iter().enumerate().map(vector).collect(),
        }];
        let mut tree = host.tree().running(&hosts::server(&self.threads, &all.to_string()));
        tree.put("sys/devices/system/cpu/isolated", &self.isolated);
        tree
    }

    /// The same with cpu `n` called `names[n]`.
    fn renamed(&self, names: &[u32]) -> Self {
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
        }
    }
}

fn sketch() -> impl Strategy<Value = Sketch> {
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
        let isolated = prop::collection::btree_set(1..cpus, 0..2);
        (Just(machine), queues, threads, isolated).prop_map(|(machine, queues, threads, isolated)| Sketch {
            machine,
            queues,
            threads,
            isolated: isolated.into_iter().map(CpuId).collect(),
        })
    })
}

/// Which cpus lines name together: the same for hosts that differ by the names of their cpus only.
fn structure(placement: &Placement, names: &dyn Fn(CpuId) -> CpuId) -> Vec<(String, CpuSet)> {
    let lines = placement.plan.lines.iter();
    let cpus = |set: &Setting| set.cpus().map(|cpus| cpus.iter().map(names).collect()).unwrap_or_default();
    lines.map(|line| (line.set.to_string(), cpus(&line.set))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn plans_of_any_host_keep_to_what_may_be_used_and_are_the_same_again(sketch in sketch()) {
        let picture = picture(sketch.tree());
        for goal in GOALS {
            let placement = planned(&picture, &Subject::Busiest, goal);
            prop_assert_eq!(&placement, &planned(&picture, &Subject::Busiest, goal));
            if let Ok(placement) = placement {
                prop_assert_eq!(fault(&picture, goal, &placement), None);
            }
        }
    }

    /// Names that keep the order of cpus leave nothing to chance between those that are alike.
    #[test]
    fn other_names_of_cpus_give_the_plan_with_those_names(sketch in sketch(), gap in 2..5_u32) {
        let names: Vec<u32> = (0..sketch.machine.cpus.len() as u32).map(|cpu| cpu * gap + 1).collect();
        let renamed = sketch.renamed(&names);
        for goal in GOALS {
            let [one, other] = [&sketch, &renamed].map(|of| planned(&picture(of.tree()), &Subject::Busiest, goal));
            prop_assert_eq!(one.is_ok(), other.is_ok());
            if let (Ok(one), Ok(other)) = (one, other) {
                let name = |cpu: CpuId| CpuId(names[cpu.0 as usize]);
                prop_assert_eq!(structure(&one, &name), structure(&other, &|cpu| cpu));
            }
        }
    }
}
