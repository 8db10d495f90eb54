//! What holds of every trace, layout and machine.

use proptest::prelude::*;
use std::collections::BTreeSet;
use warmcore_cachesim::{Description, Kind, machines};
use warmcore_layout::order::{CallGraph, Node, Placed, Placement, Site, Strategy as Layout};
use warmcore_layout::relocate::relocate;
use warmcore_layout::simulate::{Column, Figures, Misses, Setup, Start, Summary, Words};
use warmcore_layout::trace::{Access, Class, Function, Instruction, Registers, Trace};
use warmcore_units::{Bytes, Cycles};

/// A function as it was drawn: the gap before it and its words.
type Drawn = (u64, u64);

/// A stretch of execution: function, first word, how many, the class of the last, and data of each.
type Run = (prop::sample::Index, prop::sample::Index, u64, u8, u64);

fn class(number: u8) -> Class {
    [Class::Branch, Class::Jump, Class::Call, Class::Return, Class::Load, Class::Multiply]
        [usize::from(number) % 6]
}

fn trace(functions: &[Drawn], runs: &[Run]) -> Trace {
    let mut at = 0x1_0000;
    let mut all = Vec::new();
    for (number, &(gap, words)) in functions.iter().enumerate() {
        at += 4 * gap;
        let name = format!("f{number}");
        all.push(Function { name: name.clone(), symbol: name, address: at, size: 4 * words });
        at += 4 * words;
    }
    let mut trace = Trace::new(all.clone());
    for (function, first, words, last, data) in runs {
        let function = function.get(&all);
        let size = function.size / 4;
        let first = first.index(size as usize) as u64;
        for word in first..(first + words).min(size) {
            trace.push(&instruction(function, word, word + 1 == first + words, *last), &access(*data, word));
        }
    }
    trace
}

/// The word `word` of `function`. Its class and target are those of its first execution.
fn instruction(function: &Function, word: u64, is_last: bool, last: u8) -> Instruction {
    let class = if is_last { class(last) } else { Class::Integer };
    Instruction {
        address: function.address + 4 * word,
        length: 4,
        class,
        reads: Registers(1 << (word % 7)),
        writes: Registers(1 << (word % 5)),
        target: (class == Class::Branch).then_some(function.address),
    }
}

fn access(data: u64, word: u64) -> Vec<Access> {
    let kind = if data.is_multiple_of(2) { Kind::Load } else { Kind::Store };
    let address = 0x80_0000 + (data * 36 + word * 4) % 20_000;
    if word.is_multiple_of(3) { vec![Access { address, size: 8, kind }] } else { Vec::new() }
}

fn traces() -> impl proptest::strategy::Strategy<Value = Trace> {
    let functions = prop::collection::vec((0..40_u64, 1..600_u64), 1..9);
    let run = (any::<prop::sample::Index>(), any::<prop::sample::Index>(), 1..300_u64, 0..6_u8, 0..1000_u64);
    (functions, prop::collection::vec(run, 0..40)).prop_map(|(functions, runs)| trace(&functions, &runs))
}

fn dec() -> Description {
    machines::dec_3000_600(Cycles(50))
}

fn graph(trace: &Trace) -> CallGraph {
    CallGraph::new(trace)
}

fn run(trace: &Trace, start: Start) -> Summary {
    Setup::new(dec()).starting(start).run(trace).expect("the machine can be")
}

fn sum<'a>(figures: impl Iterator<Item = &'a Figures>) -> Figures {
    figures.fold(Figures::default(), |mut sum, one| {
        sum += one;
        sum
    })
}

/// Misses of the nearest cache for instructions.
fn of_instructions(summary: &Summary) -> Misses {
    let Column { misses, replacements, .. } = summary.columns[0];
    Misses { misses, replacements }
}

fn check_sums(trace: &Trace, summary: &Summary) {
    let by_function = sum(summary.functions.iter().map(|function| &function.figures));
    assert_eq!(by_function, sum(summary.blocks.iter().map(|block| &block.figures)));
    assert_eq!(summary.instructions, trace.steps().len() as u64);
    assert_eq!(by_function.instructions, summary.instructions);
    assert_eq!(by_function.stalls, summary.stalls);
    assert_eq!(by_function.cycles, summary.pipeline.cycles);
    assert_eq!(by_function.words, summary.words);
    let columns = summary
        .columns
        .iter()
        .map(|column| Misses { misses: column.misses - column.passed_on, replacements: column.replacements });
    let mut missed = by_function.misses;
    missed.resize(summary.columns.len(), Misses::default());
    assert!(columns.eq(missed));
    for column in &summary.columns {
        assert!(column.replacements <= column.misses && column.misses <= column.accesses, "{column:?}");
    }
    let (mut missed, mut words) = (Misses::default(), Words::default());
    for line in &summary.lines {
        missed += line.misses;
        words += line.words;
    }
    assert_eq!((missed, words), (of_instructions(summary), summary.words));
    for displaced in &summary.displaced {
        let lines: u64 = displaced.functions.iter().map(|pair| pair.lines).sum();
        assert_eq!(lines, displaced.lines.iter().map(|pair| pair.times).sum::<u64>());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn sums_by_function_and_block_are_the_totals(trace in traces()) {
        check_sums(&trace, &run(&trace, Start::Cold));
        check_sums(&trace, &run(&trace, Start::Steady));
    }

    #[test]
    fn every_function_has_one_place_and_it_is_aligned(trace in traces(), shift in 0..7_u32, base in 0..100_u64) {
        let alignment = 4 << shift;
        let site = Site::new(&dec(), base * alignment, Bytes(alignment)).expect("it can be");
        let graph = graph(&trace);
        let executed: BTreeSet<u32> = graph.nodes().iter().map(|node| node.function).collect();
        for layout in Layout::ALL {
            let placement = layout.place(&trace, &graph, &site).expect("it can be placed");
            let placed: Vec<u32> = placement.placed().iter().map(|one| one.function).collect();
            prop_assert_eq!(placed.len(), executed.len(), "{:?}", layout);
            prop_assert_eq!(placed.into_iter().collect::<BTreeSet<_>>(), executed.clone(), "{:?}", layout);
            for one in placement.placed() {
                prop_assert!(one.address.is_multiple_of(alignment) && one.address >= site.base, "{layout:?}");
            }
            Placement::new(placement.placed().to_vec()).expect("no function is over another");
        }
    }

    #[test]
    fn what_moves_executes_the_same(trace in traces()) {
        let site = Site::new(&dec(), 1 << 32, Bytes(16)).expect("it can be");
        let graph = graph(&trace);
        let before = run(&trace, Start::Cold);
        for layout in Layout::ALL {
            let placement = layout.place(&trace, &graph, &site).expect("it can be placed");
            let moved = relocate(&trace, &placement).expect("it can be moved");
            let after = run(&moved, Start::Cold);
            prop_assert_eq!(after.instructions, before.instructions);
            prop_assert_eq!(after.path.executed, before.path.executed);
            // How many stores merge depends on how long blocks take to leave, and so on where code is.
            prop_assert_eq!(after.columns[1].accesses, before.columns[1].accesses);
            let counts = |summary: &Summary| {
                let count = |of: &warmcore_layout::simulate::FunctionFigures| (of.name.clone(), of.figures.instructions);
                summary.functions.iter().map(count).collect::<BTreeSet<_>>()
            };
            prop_assert_eq!(counts(&after), counts(&before));
        }
    }

    #[test]
    fn what_stays_is_unchanged(trace in traces()) {
        let stays = |node: &Node| {
            let address = trace.functions()[node.function as usize].address;
            Placed { function: node.function, address, size: node.size }
        };
        let unchanged = Placement::new(graph(&trace).nodes().iter().map(stays).collect());
        let unchanged = unchanged.expect("no function is over another");
        prop_assert_eq!(&relocate(&trace, &unchanged).expect("it can stay"), &trace);
    }

    #[test]
    fn the_bipartite_layout_keeps_a_library_that_fits_apart_from_the_path(trace in traces()) {
        let site = Site::new(&dec(), 1 << 20, Bytes(16)).expect("it can be");
        let graph = graph(&trace);
        let placement = Layout::Bipartite.place(&trace, &graph, &site).expect("it can be placed");
        let sets = |library: bool| -> BTreeSet<u64> {
            let of = graph.ids().filter(|&id| graph.is_library(id) == library).map(|id| graph.node(id));
            let range = |node: &Node| {
                let at = placement.address(node.function).expect("it is placed");
                at / 32..=(at + node.size.0 - 1) / 32
            };
            of.flat_map(range).map(|line| line % 256).collect()
        };
        let size = |library: bool| -> u64 {
            graph.ids().filter(|&id| graph.is_library(id) == library).map(|id| graph.node(id).size.0 + 16).sum()
        };
        let largest = graph.ids().filter(|&id| !graph.is_library(id)).map(|id| graph.node(id).size.0).max();
        if size(true) + largest.unwrap_or(0) + 32 <= 8192 && size(true) + size(false) > 8192 {
            prop_assert!(sets(true).is_disjoint(&sets(false)));
        }
    }
}
