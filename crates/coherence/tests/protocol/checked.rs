//! Explores all states of small clusters, and shows that the rules find defects there.

use crate::cluster::Shape;
use crate::defect::Defect;
use crate::model::{Protocol, State, Step};
use crate::network::Network;
use crate::rules;
use stateright::{Checker, HasDiscoveries, Model, Path};
use std::time::Instant;

const ONE_BLOCK: &[u32] = &[0];

const fn shape(nodes: u32, homes: &'static [u32]) -> Shape {
    Shape { nodes, cpus: 1, homes, network: Network::OrderedByBlock, defect: None }
}

/// Explores every state; says how many there were, and how long that took.
fn explore(shape: Shape) {
    let start = Instant::now();
    let checker = Protocol(shape).checker().spawn_bfs().join();
    checker.assert_properties();
    let Shape { nodes, cpus, homes, network, .. } = shape;
    println!(
        "{nodes} nodes of {cpus}, blocks at {homes:?}, {network:?}: {} states, {} transitions, {:.1?}",
        checker.unique_state_count(),
        checker.state_count(),
        start.elapsed()
    );
}

/// The shortest way to a state in which a rule does not hold.
fn counterexample(shape: Shape) -> Option<(&'static str, Path<State, Step>)> {
    let finish = HasDiscoveries::AnyFailures;
    let mut found = Protocol(shape).checker().finish_when(finish).spawn_bfs().join().discoveries();
    found.retain(|rule, _| rules::ALWAYS.iter().any(|(name, _)| name == rule) || *rule == rules::ENDS);
    found.into_iter().next()
}

#[test]
fn two_nodes_with_two_blocks_of_one_page() {
    explore(shape(2, &[0, 0]));
    explore(Shape { network: Network::OrderedByPair, ..shape(2, &[0, 0]) });
}

#[test]
fn two_nodes_with_a_block_each() {
    explore(shape(2, &[0, 1]));
    explore(Shape { network: Network::OrderedByPair, ..shape(2, &[0, 1]) });
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

/// `WARMCORE_COHERENCE_NODES` says how many nodes; five take a minute in a release build.
#[test]
fn four_nodes_with_one_block() {
    let nodes = std::env::var("WARMCORE_COHERENCE_NODES")
        .map_or(4, |nodes| nodes.parse().expect("a number of nodes"));
    explore(shape(nodes, ONE_BLOCK));
}

#[test]
fn every_defect_is_found() {
    for defect in Defect::ALL {
        let (rule, path) = counterexample(Shape { defect: Some(defect), ..shape(3, ONE_BLOCK) })
            .unwrap_or_else(|| panic!("nothing speaks against {defect:?}"));
        println!("{defect:?}: after {} steps not \"{rule}\"", path.into_actions().len());
    }
}

#[test]
fn messages_about_a_block_must_keep_their_order() {
    for network in [Network::OrderedByThread, Network::OrderedToHome, Network::OrderedFromHome] {
        let (rule, path) = counterexample(Shape { network, ..shape(3, ONE_BLOCK) })
            .unwrap_or_else(|| panic!("nothing speaks against {network:?}"));
        println!("{network:?}: not \"{rule}\" after {:#?}", path.into_actions());
    }
}
