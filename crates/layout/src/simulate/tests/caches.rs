//! Misses, stalls and attribution.

use crate::sample::{Walk, function};
use crate::simulate::{Column, Misses, Setup, Side, Stalls, Summary, Words};
use crate::trace::{Class, Trace};
use warmcore_cachesim::observe::{MissKinds, Unused};
use warmcore_cachesim::{CacheId, Description, Hierarchy, Kind, Reference, Writes, machines};
use warmcore_units::{Bytes, CpuId, Cycles};

fn dec() -> Description {
    machines::dec_3000_600(Cycles(50))
}

fn run(trace: &Trace) -> Summary {
    Setup::new(dec()).run(trace).expect("the machine can be")
}

/// Two functions of one line each, called in turn three times.
fn two(second: u64) -> Trace {
    let mut walk = Walk::new(&[function("a", 0x10000, 32), function("b", second, 32)]);
    for _ in 0..3 {
        walk.whole("a").whole("b");
    }
    walk.trace
}

#[test]
fn two_functions_of_one_set_displace_each_other() {
    let summary = run(&two(0x10000 + 8192));
    let column = Column {
        cache: 1,
        level: 1,
        side: Side::Instructions,
        misses: 6,
        accesses: 48,
        replacements: 4,
        passed_on: 0,
    };
    assert_eq!(summary.columns[0], column);
    assert_eq!((summary.columns[2].misses, summary.columns[2].accesses), (2, 6), "the b-cache has both");
    // Two from memory: 50 - 1 each. Four from the b-cache: 10 - 1 each.
    assert_eq!(summary.stalls, Stalls { instructions: Cycles(2 * 49 + 4 * 9), data: Cycles(0) });
    assert_eq!(summary.mcpi(), 134.0 / 48.0);
    for of in &summary.functions {
        assert_eq!(of.figures.misses[0], Misses { misses: 3, replacements: 2 }, "{}", of.name);
        assert_eq!(of.figures.instructions, 24);
    }
    let pairs = &summary.displaced[0].functions;
    assert_eq!((pairs[0].victim, pairs[0].by, pairs[0].lines, pairs[0].misses), (Some(0), Some(1), 3, 2));
    assert_eq!((pairs[1].victim, pairs[1].by, pairs[1].lines, pairs[1].misses), (Some(1), Some(0), 2, 2));
    assert_eq!(summary.displaced[0].lines[0].victim, 0x10000);
    assert_eq!(summary.displaced[0].lines[0].by, 0x12000);
}

#[test]
fn two_functions_of_two_sets_leave_each_other_alone() {
    let summary = run(&two(0x10000 + 8192 + 32));
    assert_eq!((summary.columns[0].misses, summary.columns[0].replacements), (2, 0));
    assert_eq!(summary.stalls.instructions, Cycles(98));
    assert!(summary.displaced[0].functions.is_empty());
}

#[test]
fn merged_stores_count_as_hits_and_blocks_that_leave_as_misses() {
    let mut walk = Walk::new(&[function("a", 0x10000, 64)]);
    for word in 0..8 {
        walk.data("a", word, Kind::Store, 0x100 + 4 * word);
    }
    walk.data("a", 8, Kind::Store, 0x200).data("a", 9, Kind::Load, 0x300).data("a", 10, Kind::Load, 0x304);
    let summary = run(&walk.trace);
    // Nine stores in two blocks, two loads of one line.
    let column = &summary.columns[1];
    assert_eq!((column.misses, column.accesses, column.replacements, column.passed_on), (3, 11, 0, 2));
    // Two lines of code, a load, two blocks.
    assert_eq!((summary.columns[2].misses, summary.columns[2].accesses), (5, 5));
    assert_eq!(summary.functions[0].figures.misses[1], Misses { misses: 1, replacements: 0 });
    assert_eq!(summary.stalls.data, Cycles(49));
}

#[test]
fn without_a_buffer_every_store_is_passed_on() {
    let through = dec().with(|cache| cache.write_buffer = None);
    let mut walk = Walk::new(&[function("a", 0x10000, 64)]);
    walk.data("a", 0, Kind::Store, 0x100).data("a", 1, Kind::Store, 0x104);
    let column = Setup::new(through.clone()).run(&walk.trace).expect("it runs").columns[1].clone();
    assert_eq!((column.misses, column.accesses, column.passed_on), (2, 2, 2));
    let back = through.with(|cache| cache.writes = Writes::Back);
    let column = Setup::new(back).run(&walk.trace).expect("it runs").columns[1].clone();
    assert_eq!((column.misses, column.accesses, column.passed_on), (1, 2, 0));
}

#[test]
fn words_that_are_jumped_over_are_fetched_and_not_used() {
    // Words 0 to 3, then 12 to 15: of two lines, eight words between are not executed.
    let mut walk = Walk::new(&[function("a", 0x10000, 128)]);
    walk.words("a", 0, 4, Class::Branch).words("a", 12, 16, Class::Return);
    let summary = run(&walk.trace);
    assert_eq!(summary.words, Words { fetched: 16, unused: 8 });
    assert_eq!(summary.words.unused_part(), 0.5);
    assert_eq!(summary.path.instructions, 8);
    assert_eq!(summary.path.executed, Bytes(32));
    assert_eq!(summary.path.main_line, Bytes(64), "from the beginning of the function to word 15");
    assert_eq!(summary.path.unused_part(), 0.5);
    assert_eq!(summary.path.lines, Bytes(64));
    assert_eq!(summary.path.functions, Bytes(128));
    assert_eq!(summary.blocks.len(), 2);
    assert_eq!(summary.blocks[1].figures.words, Words { fetched: 8, unused: 4 });
}

#[test]
fn a_page_counts_once_and_only_if_something_in_it_is_executed() {
    // Two functions in one page, one across the limit of two others, and one page that only unexecuted code has.
    let functions = [
        function("a", 0x10000, 32),
        function("b", 0x10800, 32),
        function("c", 0x11ff0, 32),
        function("never", 0x14000, 32),
    ];
    let mut walk = Walk::new(&functions);
    walk.whole("a").whole("b").whole("c").whole("a");
    assert_eq!(run(&walk.trace).path.pages, 3);
    assert_eq!(run(&Trace::default()).path.pages, 0);
}

#[test]
fn blocks_are_cut_at_branches_targets_and_calls() {
    let mut walk = Walk::new(&[function("a", 0x10000, 64), function("b", 0x11000, 16)]);
    // A loop of words 2 to 4, twice; a call of b after word 5; the rest.
    walk.words("a", 0, 5, Class::Branch).words("a", 2, 5, Class::Branch).words("a", 5, 6, Class::Call);
    walk.whole("b").words("a", 6, 8, Class::Return);
    let summary = run(&walk.trace);
    let blocks: Vec<(u64, u64, u64)> =
        summary.blocks.iter().map(|block| (block.address, block.size.0, block.executions)).collect();
    assert_eq!(
        blocks,
        [(0x10000, 8, 1), (0x10008, 12, 2), (0x10014, 4, 1), (0x10018, 8, 1), (0x11000, 16, 1)]
    );
}

#[test]
fn misses_and_unused_words_are_those_that_the_caches_observers_see() {
    let trace = two(0x10000 + 8192);
    let observers = (MissKinds::new(&dec()), Unused::new(&dec(), Bytes(4)));
    let mut caches = Hierarchy::observed(&dec(), observers).expect("it can be built");
    for step in trace.steps() {
        caches.access(CpuId(0), Reference::new(Kind::Fetch, step.instruction.address, 4));
    }
    let (kinds, unused) = caches.observer();
    let summary = run(&trace);
    assert_eq!(summary.columns[0].replacements, kinds.get(CacheId(1)).replacement());
    let unused = unused.get(CacheId(1));
    assert_eq!(summary.words, Words { fetched: unused.fetched, unused: unused.unused });
}

#[test]
fn what_cannot_be_is_a_fault() {
    let trace = two(0x12000);
    let odd = dec().with(|cache| cache.geometry.line = Bytes(24));
    assert_eq!(Setup::new(odd).run(&trace).expect_err("24 bytes").field, "caches[0].geometry.line");
    let mut halved = dec();
    halved.caches.retain(|cache| cache.kind == warmcore_topology::CacheKind::Data);
    let fault = Setup::new(halved).run(&trace).expect_err("nothing for instructions");
    assert!(fault.found.contains("instructions"), "{fault}");
    let word = Setup { word: Bytes(3), ..Setup::new(dec()) };
    assert_eq!(word.run(&trace).expect_err("3 bytes").field, "word");
}

#[test]
fn nothing_executed_is_nothing_counted_and_a_summary_survives_json() {
    let empty = run(&Trace::default());
    assert_eq!((empty.instructions, empty.mcpi(), empty.icpi()), (0, 0.0, 0.0));
    let summary = run(&two(0x12000));
    let text = serde_json::to_string(&summary).expect("it can be written");
    assert_eq!(serde_json::from_str::<Summary>(&text).expect("it can be read"), summary);
}
