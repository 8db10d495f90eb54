//! How cpus are numbered has no say in a plan.
//!
//! The plans of a host and of the same host with other numbers cannot be equal cpu for cpu: of two cores
//! on which nothing happens, one has to be taken. They are equal but for an automorphism of the host: a
//! renaming of cpus that keeps caches, cores, and everything that was there before the plan. Caches, cores
//! and cpus form a tree, so that such a renaming exists exactly if the trees, each cpu with all that is
//! said of it, are equal once what stands beside each other is sorted. No cache but the last on the way to memory is
//! looked at, because a plan knows no other.

use super::sketch::{Sketch, sketch};
use super::{GOALS, picture, planned};
use proptest::prelude::*;
use std::collections::BTreeMap;
use warmcore_study::placement::{HostPlacement, Target};
use warmcore_topology::Within;
use warmcore_units::CpuId;

/// What is said of one cpu; of those of a core, of the cores of a cache, and of the caches, sorted.
type Cpu = Vec<String>;
type Core = Vec<Cpu>;
type Cache = Vec<Core>;

/// The host of `sketch` under `placement`, without the numbers of cpus.
fn unnumbered(sketch: &Sketch, placement: &HostPlacement) -> Vec<Cache> {
    let mut caches: BTreeMap<CpuId, BTreeMap<CpuId, Core>> = BTreeMap::new();
    for cpu in &sketch.machine.cpus {
        let first = |within| sketch.machine.around(cpu.id, within).first().expect("a cpu is near itself");
        let cores = caches.entry(first(Within::LastLevelCache)).or_default();
        cores.entry(first(Within::Core)).or_default().push(said(sketch, placement, cpu.id));
    }
    let sorted = |mut cores: Vec<Core>| {
        cores.iter_mut().for_each(|core| core.sort());
        cores.sort();
        cores
    };
    let mut caches: Vec<Cache> =
        caches.into_values().map(|cores| sorted(cores.into_values().collect())).collect();
    caches.sort();
    caches
}

/// What was on `cpu`, and which lines name it.
fn said(sketch: &Sketch, placement: &HostPlacement, cpu: CpuId) -> Cpu {
    let node = sketch.machine.cpus.iter().find(|of| of.id == cpu).map(|of| of.node);
    let mut said = vec![format!("node {node:?}")];
    let sets = [("isolated", &sketch.isolated), ("slow", &sketch.slow), ("spread", &sketch.spread)];
    said.extend(sets.iter().filter(|(_, cpus)| cpus.contains(cpu)).map(|(name, _)| (*name).to_owned()));
    let queues = sketch.queues.iter().enumerate().filter(|(_, of)| of.0 == cpu.0);
    said.extend(queues.map(|(number, _)| format!("queue {number}")));
    let threads = sketch.threads.iter().enumerate().filter(|&(_, &of)| of == cpu.0);
    said.extend(threads.map(|(number, _)| format!("thread {number}")));
    let lines = placement.plan.lines.iter().map(|line| &line.set);
    let naming = lines.filter(|set| set.cpus().is_some_and(|cpus| cpus.contains(cpu)));
    said.extend(naming.map(ToString::to_string));
    said
}

/// What each line is about, and what it brings.
fn gains(placement: &HostPlacement) -> Vec<(String, bool, String)> {
    let lines = placement.lines.iter();
    lines.map(|line| (line.set.to_string(), line.changes, line.gain.to_string())).collect()
}

/// A host, and other names for its cpus in any order, with numbers left out.
fn renamed() -> impl Strategy<Value = (Sketch, Vec<u32>)> {
    (sketch(), 1..3_u32).prop_flat_map(|(sketch, gap)| {
        let names: Vec<u32> = (0..sketch.machine.cpus.len() as u32).map(|cpu| cpu * gap).collect();
        (Just(sketch), Just(names).prop_shuffle())
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn other_numbers_of_cpus_give_the_same_plan_but_for_an_automorphism((sketch, names) in renamed()) {
        let renamed = sketch.renamed(&names);
        for goal in GOALS {
            let [one, other] = [&sketch, &renamed].map(|of| planned(&picture(of.tree()), &Target::Busiest, goal));
            prop_assert_eq!(one.as_ref().err(), other.as_ref().err());
            if let (Ok(one), Ok(other)) = (one, other) {
                prop_assert_eq!(gains(&one), gains(&other));
                prop_assert_eq!((&one.now, &one.then), (&other.now, &other.then));
                prop_assert_eq!(unnumbered(&sketch, &one), unnumbered(&renamed, &other));
            }
        }
    }
}
