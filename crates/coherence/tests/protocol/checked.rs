//! Explores all states of small clusters, and shows that the rules find defects there.

use crate::cluster::Shape;
use crate::defect::Defect;
use crate::model::{Protocol, Step};
use crate::network::Order;
use crate::rules;
use stateright::{Checker, Model};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

const ONE_BLOCK: &[u32] = &[0];

const fn shape(nodes: u32, homes: &'static [u32]) -> Shape {
    Shape { nodes, cpus: 1, homes, order: Order::ByBlock, defect: None }
}

/// Explores every state; says how many there were, and how long that took.
fn explore(shape: Shape) {
    let start = Instant::now();
    let checker = Protocol(shape).checker().spawn_bfs().join();
    checker.assert_properties();
    let Shape { nodes, cpus, homes, order, .. } = shape;
    println!(
        "{nodes} nodes of {cpus}, blocks at {homes:?}, {order:?}: {} states, {} transitions, {:.1?}",
        checker.unique_state_count(),
        checker.state_count(),
        start.elapsed()
    );
}

/// Defective clusters need not be finite; ways of so many steps are enough to find all that is looked for.
const LONGEST: usize = 14;

/// Which rules do not hold after at most `steps` steps, and a way to where each does not.
fn broken_rules(shape: Shape, steps: usize) -> BTreeMap<&'static str, Vec<Step>> {
    let checker = Protocol(shape).checker().target_max_depth(steps + 1).spawn_bfs().join();
    let path = |rule| Some((rule, checker.discovery(rule)?.into_actions()));
    all_rules().filter_map(path).collect()
}

fn all_rules() -> impl Iterator<Item = &'static str> {
    rules::ALWAYS.iter().map(|&(rule, _)| rule).chain([rules::ENDS])
}

#[test]
fn two_nodes_with_two_blocks_of_one_page() {
    explore(shape(2, &[0, 0]));
    explore(Shape { order: Order::ByPair, ..shape(2, &[0, 0]) });
}

#[test]
fn two_nodes_with_a_block_each() {
    explore(shape(2, &[0, 1]));
    explore(Shape { order: Order::ByPair, ..shape(2, &[0, 1]) });
}

#[test]
fn three_nodes_with_one_block() {
    explore(shape(3, ONE_BLOCK));
}

#[test]
fn nodes_of_two_processors() {
    explore(Shape { cpus: 2, ..shape(2, ONE_BLOCK) });
    explore(Shape { cpus: 2, ..shape(3, ONE_BLOCK) });
}

/// `WARMCORE_COHERENCE_NODES` says how many nodes; five have 22 times as many states.
#[test]
fn four_nodes_with_one_block() {
    let nodes = std::env::var("WARMCORE_COHERENCE_NODES")
        .map_or(4, |nodes| nodes.parse().expect("a number of nodes"));
    explore(shape(nodes, ONE_BLOCK));
}

#[test]
fn every_defect_breaks_a_rule_and_every_rule_is_broken() {
    let mut seen = BTreeSet::new();
    for defect in Defect::ALL {
        let broken = broken_rules(Shape { defect: Some(defect), ..shape(3, ONE_BLOCK) }, LONGEST);
        println!("{defect:?}: not {:?}", broken.keys());
        assert!(!broken.is_empty(), "{defect:?} breaks no rule");
        seen.extend(broken.into_keys());
    }
    assert_eq!(seen, all_rules().collect(), "rules that some defect breaks (left) and all");
}

/// With several send queues, or with order in one direction alone.
#[test]
fn messages_about_a_block_must_keep_their_order() {
    for (order, rule) in [
        (Order::ByThread, rules::LAST_WRITE),
        (Order::ToHome, rules::LAST_WRITE),
        (Order::ToHome, rules::ONE_WRITER),
        (Order::FromHome, rules::EXPECTED),
    ] {
        let shape = Shape { order, ..shape(3, ONE_BLOCK) };
        let steps = (1..=LONGEST).find_map(|steps| broken_rules(shape, steps).remove(rule));
        let steps = steps.unwrap_or_else(|| panic!("{order:?} does not break \"{rule}\""));
        println!("{order:?}: not \"{rule}\" after {steps:?}");
    }
}
