//! The numbers of cpus do not influence a plan.
//!
//! The plans of a host and of the same host with other cpu numbers need not be equal cpu by cpu: of two idle
//! cores, one has to be taken. They are equal up to an automorphism of the host, which is a renaming of cpus
//! that preserves caches, cores, and everything that was there before the plan. Caches, cores and cpus form a
//! tree. Such a renaming therefore exists exactly if the trees, in which each cpu carries everything that the
//! plan says about it, are equal after siblings are sorted. Only the last-level cache is considered, because
//! a plan considers no other.

use super::hosts::server_named as server;
use super::sketch::{Sketch, sketch};
use super::{GOALS, observed, planned};
use proptest::prelude::*;
use std::collections::BTreeMap;
use warmcore_study::placement::HostPlacement;
use warmcore_topology::Within;
use warmcore_units::CpuId;

/// What is said about one cpu; about the cpus of a core, the cores of a cache, and the caches, each sorted.
type Cpu = Vec<String>;
type Core = Vec<Cpu>;
type Cache = Vec<Core>;

/// The host of `sketch` under `placement`, without cpu numbers.
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

/// The subject of each line, and what the line gains.
fn gains(placement: &HostPlacement) -> Vec<(String, bool, String)> {
    let lines = placement.lines.iter();
    lines.map(|line| (line.set.to_string(), line.changes, line.gain.to_string())).collect()
}

/// A host, and new names for its cpus in any order, with gaps.
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
            let [one, other] = [&sketch, &renamed].map(|of| planned(&observed(&of.tree()), &server(), goal));
            prop_assert_eq!(one.as_ref().err(), other.as_ref().err());
            if let (Ok(one), Ok(other)) = (one, other) {
                prop_assert_eq!(gains(&one), gains(&other));
                prop_assert_eq!((&one.now, &one.then), (&other.now, &other.then));
                prop_assert_eq!(unnumbered(&sketch, &one), unnumbered(&renamed, &other));
            }
        }
    }
}
