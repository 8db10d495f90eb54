//! Layouts whose answer is known by hand.

use super::{CallGraph, NodeId, Placement, Site, Strategy, chains};
use crate::relocate::relocate;
use crate::sample::{Walk, function};
use crate::simulate::{Column, Setup};
use crate::trace::{Class, Trace};
use warmcore_cachesim::machines;
use warmcore_units::{Bytes, Cycles};

const BASE: u64 = 0x10_0000;

fn site() -> Site {
    Site::new(&machines::dec_3000_600(Cycles(50)), BASE, Bytes(16)).expect("it can be")
}

fn graph(trace: &Trace) -> CallGraph {
    CallGraph::new(trace)
}

fn place(trace: &Trace, strategy: Strategy) -> Placement {
    strategy.place(trace, &graph(trace), &site()).expect("it can be placed")
}

/// Names by address, and how far each is from the base.
fn names(trace: &Trace, placement: &Placement) -> Vec<(String, u64)> {
    let name = |function: u32| trace.functions()[function as usize].name.clone();
    placement.placed().iter().map(|one| (name(one.function), one.address - BASE)).collect()
}

fn order(trace: &Trace, strategy: Strategy) -> String {
    place(trace, strategy).symbols(trace).concat()
}

/// The i-cache's column of `trace` as it would be.
fn moved(trace: &Trace, placement: &Placement) -> Column {
    simulated(&relocate(trace, placement).expect("it can be moved"))
}

/// The i-cache's column of `trace` as it is.
fn simulated(trace: &Trace) -> Column {
    let summary = Setup::new(machines::dec_3000_600(Cycles(50))).run(trace).expect("it runs");
    summary.columns[0].clone()
}

#[test]
fn a_graph_counts_calls_tail_jumps_and_invocations() {
    let functions =
        [function("m", 0, 64), function("a", 64, 64), function("b", 128, 64), function("s", 192, 64)];
    let mut walk = Walk::new(&functions);
    walk.words("m", 0, 2, Class::Call);
    // a jumps to b, which returns to m; m calls s twice.
    walk.words("a", 0, 2, Class::Jump).words("b", 0, 2, Class::Return);
    walk.words("m", 2, 4, Class::Call).words("s", 0, 2, Class::Return);
    walk.words("m", 2, 4, Class::Call);
    // s calls itself, and loops to its beginning, which is no invocation.
    walk.words("s", 0, 1, Class::Integer).words("s", 4, 5, Class::Call);
    walk.words("s", 0, 1, Class::Integer).words("s", 5, 6, Class::Branch).words("s", 0, 2, Class::Return);
    let graph = graph(&walk.trace);
    let [m, a, b, s] = [0, 1, 2, 3].map(NodeId);
    let calls: Vec<_> = graph.calls().collect();
    assert_eq!(calls, [(m, a, 1), (m, s, 2), (a, b, 1), (s, s, 1)]);
    let invocations: Vec<u64> = graph.nodes().iter().map(|node| node.invocations).collect();
    assert_eq!(invocations, [1, 1, 1, 3]);
    assert_eq!(graph.nodes().iter().map(|node| node.steps).collect::<Vec<_>>(), [6, 2, 2, 8]);
    assert!(graph.is_library(s) && !graph.is_library(a));
}

/// Three path functions of 3 KiB and a library function of 1 KiB that is called before, between and after them.
fn path_and_library() -> Trace {
    // l where p's beginning is, modulo 8 KiB.
    let functions = [
        function("p", 0x10000, 3072),
        function("q", 0x10c00, 3072),
        function("l", 0x12000, 1024),
        function("r", 0x14000, 3072),
    ];
    let mut walk = Walk::new(&functions);
    walk.whole("l").whole("p").whole("l").whole("q").whole("l").whole("r").whole("l");
    walk.trace
}

#[test]
fn bipartite_takes_every_conflict_of_path_and_library_away() {
    let trace = path_and_library();
    // The library has the last 1 KiB of the cache; r does not fit into the other 7 with p and q.
    let placement = place(&trace, Strategy::Bipartite);
    let expected = [("p", 0), ("q", 3072), ("l", 7168), ("r", 8192)];
    assert_eq!(names(&trace, &placement), expected.map(|(name, at)| (name.to_owned(), at)));
    assert_eq!(placement.gaps(), Bytes(1024));
    // 10 KiB of code are 320 lines, each missed once.
    let column = moved(&trace, &placement);
    assert_eq!((column.misses, column.replacements), (320, 0));
    // Where it was, p and r take all 32 lines of l.
    assert_eq!(simulated(&trace).replacements, 64);
}

#[test]
fn a_linear_layout_lets_the_path_run_over_the_library() {
    let trace = path_and_library();
    let placement = place(&trace, Strategy::Linear);
    assert_eq!(placement.symbols(&trace).concat(), "lpqr");
    assert_eq!(placement.gaps(), Bytes(0));
    // r is at 7 to 10 KiB: it runs over l, which is called once more.
    assert_eq!(moved(&trace, &placement).replacements, 32);
}

#[test]
fn what_fits_the_cache_has_no_gap_and_what_is_larger_than_its_part_comes_first_in_a_window() {
    let functions = [function("p", 0, 64), function("l", 64, 64)];
    let mut walk = Walk::new(&functions);
    walk.whole("l").whole("p").whole("l");
    let small = place(&walk.trace, Strategy::Bipartite);
    assert_eq!((small.symbols(&walk.trace).concat(), small.gaps()), ("pl".to_owned(), Bytes(0)));
    // 7.5 KiB do not fit 7: half a KiB of l is run over, and l is where p's rest is not.
    let functions = [function("a", 0, 64), function("p", 0x1000, 7680), function("l", 0x3000, 1024)];
    let mut walk = Walk::new(&functions);
    walk.whole("l").whole("a").whole("p").whole("l");
    let large = place(&walk.trace, Strategy::Bipartite);
    let expected = [("a", 0), ("l", 7168), ("p", 8192)];
    assert_eq!(names(&walk.trace, &large), expected.map(|(name, at)| (name.to_owned(), at)));
    assert_eq!(moved(&walk.trace, &large).replacements, 16);
}

#[test]
fn micro_positioning_finds_a_place_without_conflict() {
    let trace = path_and_library();
    // l, p and q fit the cache behind each other. r finds one KiB behind them and then l. One KiB further it would run
    // over all of l; behind l's lines it meets those of p and q only, which are not needed again.
    let placement = place(&trace, Strategy::Micro);
    let expected = [("l", 0), ("p", 1024), ("q", 4096), ("r", 8192 + 1024)];
    assert_eq!(names(&trace, &placement), expected.map(|(name, at)| (name.to_owned(), at)));
    assert_eq!(moved(&trace, &placement).replacements, 0);
}

#[test]
fn the_pessimal_layout_makes_all_collide() {
    let functions =
        ["a", "b", "c"].map(|name| function(name, 0x10000 + u64::from(name.as_bytes()[0]) * 64, 64));
    let mut walk = Walk::new(&functions);
    for _ in 0..5 {
        walk.whole("a").whole("b").whole("c");
    }
    walk.whole("b");
    let all = place(&walk.trace, Strategy::Pessimal { hottest: 2 });
    let mib = 1 << 20;
    let expected = [("b", 0), ("a", 2 * mib), ("c", 2 * mib + 8192)];
    assert_eq!(names(&walk.trace, &all), expected.map(|(name, at)| (name.to_owned(), at)));
    let relocated = relocate(&walk.trace, &all).expect("it can be moved");
    let summary = Setup::new(machines::dec_3000_600(Cycles(50))).run(&relocated).expect("it runs");
    // Each of 16 executions misses both lines, 13 of them not for the first time. In the b-cache a and b displace each
    // other: 5 misses of each, of which 4 are replacement misses. The last b finds what the fifth brought. c misses once.
    assert_eq!((summary.columns[0].misses, summary.columns[0].replacements), (32, 26));
    assert_eq!((summary.columns[2].misses, summary.columns[2].replacements), (2 * (5 + 5 + 1), 2 * (4 + 4)));
}

/// `from` calls `to` so many times, once it is itself called by the first; each call is one word of each.
fn calls(sizes: &[(&str, u64)], calls: &[(&str, &str, u64)]) -> Trace {
    let mut at = 0x10000;
    let mut functions = Vec::new();
    for &(name, size) in sizes {
        functions.push(function(name, at, size));
        at += size;
    }
    let mut walk = Walk::new(&functions);
    for &(from, to, times) in calls {
        for _ in 0..times {
            // The caller is where it was before a call: nothing called it.
            walk.words(from, 3, 4, Class::Call).words(to, 0, 1, Class::Return);
        }
    }
    walk.trace
}

#[test]
fn chains_put_functions_behind_their_hottest_callers() {
    // a calls b 3 times and c 5 times; b calls d 6 times; c calls d 2 times. Steps: a 8 as a caller; b 3 + 6; c 5 + 2;
    // d 8. By steps: b 9, a 8, d 8, c 7 (the returns go to callers, and are no calls).
    //   b: its caller is a: "ab".  a: none calls it.  d: b calls it most: "abd".  c: "abdc".
    let wanted = [("a", "b", 3), ("a", "c", 5), ("b", "d", 6), ("c", "d", 2)];
    let sizes = [("a", 64), ("b", 64), ("c", 64), ("d", 64)];
    let trace = calls(&sizes, &wanted);
    assert_eq!(order(&trace, Strategy::Chains), "abdc");
    let in_pages = |trace: &Trace, page| {
        let graph = graph(trace);
        let function = |id| trace.functions()[graph.node(id).function as usize].name.as_str();
        chains::order(&graph, Bytes(page)).into_iter().map(function).collect::<String>()
    };
    // Two functions in a page: "ab" is full, d stays alone; c's caller too is in "ab". By steps in a byte: ab 17 in 128,
    // d 8 in 64, c 7 in 64.
    assert_eq!(in_pages(&trace, 128), "abdc");
    // A small d is denser than all others.
    let trace = calls(&[("a", 64), ("b", 64), ("c", 64), ("d", 16)], &wanted);
    assert_eq!(in_pages(&trace, 128), "dabc");
}

#[test]
fn pettis_and_hansen_put_the_closest_next_to_each_other() {
    // Weights: ad 4, bc 10, ce 1, bd 3 and ab 2.
    //   bc 10: "bc".  ad 4: "ad".  Between both bd 3 + ab 2: of these bd is heavier. d ends "ad", b begins "bc": "adbc".
    //   ce 1: c ends it, e is alone: "adbce".
    let wanted = [("a", "d", 4), ("b", "c", 10), ("c", "e", 1), ("b", "d", 3), ("a", "b", 2)];
    let sizes = ["a", "b", "c", "d", "e"].map(|name| (name, 64));
    let trace = calls(&sizes, &wanted);
    assert_eq!(order(&trace, Strategy::PettisHansen), "adbce");
    // With ab the heaviest of the two, "ad" is turned: "dabc".
    let wanted = [("a", "d", 4), ("b", "c", 10), ("c", "e", 1), ("b", "d", 2), ("a", "b", 3)];
    assert_eq!(order(&calls(&sizes, &wanted), Strategy::PettisHansen), "dabce");
}

#[test]
fn an_impossible_site_is_a_fault() {
    let trace = path_and_library();
    let faulty =
        |site: Site| Strategy::Linear.place(&trace, &graph(&trace), &site).expect_err("it cannot be").field;
    assert_eq!(faulty(Site { alignment: Bytes(12), ..site() }), "alignment");
    assert_eq!(faulty(Site { alignment: Bytes(16384), ..site() }), "alignment");
    assert_eq!(faulty(Site { base: 8, ..site() }), "base");
    let mut odd = site();
    odd.instructions.size = Bytes(8000);
    assert_eq!(faulty(odd), "instructions");
    let mut none = site();
    none.instructions.ways = 0;
    assert_eq!(faulty(none), "instructions");
}
