//! Sequences whose cycles are counted by hand.

use crate::sample::plain;
use crate::simulate::Pipeline;
use crate::simulate::pipeline::{BranchPrediction, Issue, PipelineFigures};
use crate::trace::{Class, Instruction, Registers, Trace};
use warmcore_units::{Bytes, Cycles};

fn regs(registers: &[u32]) -> Registers {
    Registers(registers.iter().map(|register| 1 << register).sum())
}

fn op(address: u64, class: Class, reads: &[u32], writes: &[u32]) -> Instruction {
    Instruction { reads: regs(reads), writes: regs(writes), ..plain(address, class) }
}

fn trace(instructions: &[Instruction]) -> Trace {
    let mut trace = Trace::default();
    instructions.iter().for_each(|instruction| trace.push(instruction, &[]));
    trace
}

fn alpha(instructions: &[Instruction]) -> PipelineFigures {
    Pipeline::alpha_21064().run(&trace(instructions)).expect("it can be")
}

use Class::{Branch, Call, Float, Integer, Jump, Load, Multiply, Other, Return, Store};

#[test]
fn an_aligned_pair_of_two_kinds_issues_at_once() {
    // Cycle 0: load and add. Cycle 1: add and store.
    let figures = alpha(&[
        op(0, Load, &[1], &[2]),
        op(4, Integer, &[3], &[4]),
        op(8, Integer, &[5], &[6]),
        op(12, Store, &[7], &[]),
    ]);
    assert_eq!((figures.cycles, figures.pairs, figures.icpi()), (Cycles(2), 2, 0.5));
    assert_eq!(2 * figures.pairs, figures.instructions);
}

#[test]
fn nothing_else_is_a_pair() {
    // The two of each are of one unit, or in two quadwords, or read what the first writes, or write the same.
    let one_unit = [op(0, Load, &[1], &[2]), op(4, Store, &[3], &[])];
    let integers = [op(0, Integer, &[1], &[2]), op(4, Integer, &[3], &[4])];
    let unaligned = [op(4, Load, &[1], &[2]), op(8, Integer, &[3], &[4])];
    let dependent = [op(0, Integer, &[1], &[2]), op(4, Load, &[2], &[3])];
    let rewritten = [op(0, Integer, &[1], &[2]), op(4, Load, &[3], &[2])];
    let other = [op(0, Other, &[], &[]), op(4, Integer, &[], &[])];
    for pair in [one_unit, integers, unaligned, dependent, rewritten, other] {
        let figures = alpha(&pair);
        assert_eq!((figures.cycles, figures.pairs), (Cycles(2), 0), "{pair:?}");
    }
    assert_eq!(alpha(&[op(0, Float, &[33], &[34]), op(4, Integer, &[1], &[2])]).pairs, 1);
}

#[test]
fn what_is_loaded_can_be_read_three_cycles_later() {
    // Cycle 0: load. Cycle 3: add. Two cycles wait.
    let figures = alpha(&[op(0, Load, &[1], &[2]), op(4, Integer, &[2], &[3])]);
    assert_eq!((figures.cycles, figures.waits), (Cycles(4), Cycles(2)));
    // Cycle 0: load. 1: add of others in another quadword. 2: the same. 3: add.
    let filled = [
        op(4, Load, &[1], &[2]),
        op(8, Integer, &[5], &[6]),
        op(12, Integer, &[7], &[8]),
        op(16, Integer, &[2], &[3]),
    ];
    assert_eq!((alpha(&filled).cycles, alpha(&filled).waits), (Cycles(4), Cycles(0)));
}

#[test]
fn a_multiplication_takes_21_cycles_and_the_multiplier() {
    // Cycle 0: multiply. 21: the one that reads it.
    assert_eq!(alpha(&[op(0, Multiply, &[1], &[2]), op(4, Integer, &[2], &[3])]).cycles, Cycles(22));
    // Cycle 0: multiply. 1: an independent one. 21: the next multiplication.
    let three = [op(0, Multiply, &[1], &[2]), op(4, Integer, &[3], &[4]), op(8, Multiply, &[5], &[6])];
    assert_eq!(alpha(&three).cycles, Cycles(22));
}

#[test]
fn what_goes_elsewhere_costs_a_cycle() {
    // Cycle 0: jump. 1: nothing. 2: add.
    let jump = Instruction { target: Some(64), ..op(0, Jump, &[], &[]) };
    let figures = alpha(&[jump, op(64, Integer, &[], &[])]);
    assert_eq!((figures.cycles, figures.taken, figures.mispredicted), (Cycles(3), 1, 0));
    assert_eq!(figures.penalties, Cycles(1));
    // Cycle 0: call. 2: return. 4: add. The return goes where the call said.
    let call = Instruction { target: Some(64), ..op(0, Call, &[], &[]) };
    let figures = alpha(&[call, op(64, Return, &[], &[]), op(4, Integer, &[], &[])]);
    assert_eq!((figures.cycles, figures.taken, figures.mispredicted), (Cycles(5), 2, 0));
    // Through a register, four cycles: 0 and 5.
    let figures = alpha(&[op(0, Jump, &[], &[]), op(64, Integer, &[], &[])]);
    assert_eq!((figures.cycles, figures.mispredicted), (Cycles(6), 1));
}

#[test]
fn a_branch_is_expected_to_go_as_the_last_time() {
    // A loop of an add (cycle c) and a branch back (c + 1), three times: the words 1 and 2, no pair.
    let back = Instruction { target: Some(4), ..op(8, Branch, &[], &[]) };
    let add = op(4, Integer, &[], &[]);
    let mut steps = Vec::new();
    for _ in 0..3 {
        steps.extend([add, back]);
    }
    steps.push(op(12, Integer, &[], &[]));
    // Backward: expected to be taken. 0 1 | 3 4 | 6 7, then not taken: four cycles lost, 12.
    let figures = alpha(&steps);
    assert_eq!((figures.cycles, figures.taken, figures.mispredicted), (Cycles(13), 2, 1));
    // Forward and taken: not expected the first time, expected the second. 0, 5 | 7 | 9.
    let forward = Instruction { target: Some(64), ..op(0, Branch, &[], &[]) };
    let there = Instruction { target: Some(0), ..op(64, Jump, &[], &[]) };
    let figures = alpha(&[forward, there, forward, there]);
    assert_eq!((figures.mispredicted, figures.cycles), (1, Cycles(10)));
    let is_static = Pipeline { prediction: BranchPrediction::Static, ..Pipeline::alpha_21064() };
    let figures = is_static.run(&trace(&[forward, there, forward, there])).expect("it can be");
    assert_eq!(figures.mispredicted, 2);
}

#[test]
fn a_simple_processor_takes_a_cycle_for_everything() {
    let steps = [
        op(0, Load, &[1], &[2]),
        op(4, Integer, &[2], &[3]),
        op(64, Multiply, &[3], &[4]),
        op(4, Return, &[4], &[]),
    ];
    let figures = Pipeline::scalar().run(&trace(&steps)).expect("it can be");
    assert_eq!((figures.cycles, figures.icpi()), (Cycles(4), 1.0));
}

#[test]
fn an_impossible_pipeline_is_a_fault() {
    let alpha = Pipeline::alpha_21064();
    let block = Pipeline { issue: Issue::AlignedPair(Bytes(12)), ..alpha };
    assert_eq!(block.check().expect_err("12 bytes").field, "issue.aligned-pair");
    let mut never = alpha;
    never.latencies.load = Cycles(0);
    assert_eq!(never.check().expect_err("0 cycles").field, "latencies.load");
    assert_eq!(Pipeline { taken: Cycles(u64::MAX), ..alpha }.check().expect_err("long").field, "taken");
}
