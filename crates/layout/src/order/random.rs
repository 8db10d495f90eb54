//! A random order, without gaps: what a layout is worth is told by how it compares with many of these.
//!
//! The shuffle is that of Fisher & Yates ("Statistical Tables", 1938; Durstenfeld, CACM 7(7), 1964, algorithm 235). Numbers
//! are drawn by xoshiro256++ (Blackman & Vigna 2021), so that a seed gives the same order on every machine.

use super::graph::{CallGraph, NodeId};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// The functions of `graph` in an order that depends on `seed` alone.
pub(super) fn order(graph: &CallGraph, seed: u64) -> Vec<NodeId> {
    let mut order: Vec<NodeId> = graph.ids().collect();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    for last in (1..order.len()).rev() {
        order.swap(last, below(random.next_u64(), last as u64 + 1) as usize);
    }
    order
}

/// A number below `limit` of a random one: the upper half of a product. For so few functions its bias is below 2⁻⁴⁰.
fn below(random: u64, limit: u64) -> u64 {
    ((u128::from(random) * u128::from(limit)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::below;
    use crate::order::{CallGraph, Site, Strategy};
    use crate::sample::{Walk, function};
    use std::collections::BTreeMap;
    use warmcore_cachesim::machines;
    use warmcore_units::{Bytes, Cycles};

    fn walk(names: &str) -> Walk {
        let functions: Vec<_> =
            (0..).zip(names.chars()).map(|(at, name)| function(&name.to_string(), 64 * at, 64)).collect();
        let mut walk = Walk::new(&functions);
        names.chars().for_each(|name| {
            walk.whole(&name.to_string());
        });
        walk
    }

    fn order(walk: &Walk, seed: u64) -> String {
        let graph = CallGraph::new(&walk.trace);
        let site = Site::new(&machines::dec_3000_600(Cycles(50)), 0, Bytes(16)).expect("it can be");
        let placement =
            Strategy::Random { seed }.place(&walk.trace, &graph, &site).expect("it can be placed");
        placement.symbols(&walk.trace).concat()
    }

    #[test]
    fn a_seed_gives_the_same_order_and_every_function_once() {
        let walk = walk("abcdefgh");
        assert_eq!(order(&walk, 7), order(&walk, 7));
        assert_ne!(order(&walk, 7), order(&walk, 8));
        let mut letters: Vec<char> = order(&walk, 7).chars().collect();
        letters.sort_unstable();
        assert_eq!(letters.into_iter().collect::<String>(), "abcdefgh");
    }

    /// Of 6000 orders of three functions each of the six is expected 1000 times, with a standard deviation of 29.
    #[test]
    fn all_orders_are_equally_likely() {
        let walk = walk("abc");
        let mut times: BTreeMap<String, u32> = BTreeMap::new();
        for seed in 0..6000 {
            *times.entry(order(&walk, seed)).or_default() += 1;
        }
        assert_eq!(times.len(), 6);
        assert!(times.values().all(|&times| times.abs_diff(1000) < 5 * 29), "{times:?}");
    }

    #[test]
    fn numbers_reach_both_ends_and_no_further() {
        assert_eq!((below(0, 5), below(u64::MAX, 5)), (0, 4));
    }
}
