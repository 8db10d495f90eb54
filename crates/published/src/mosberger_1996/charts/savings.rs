//! Tables 8 and 9.

use super::{CELLS, beside, table};
use crate::mosberger_1996::tables::{STEPS, table_8 as printed_8, table_9 as printed_9};
use crate::mosberger_1996::values::Quantity;
use crate::mosberger_1996::{Build, Measurements, Protocols};
use warmcore_record::Block;
use warmcore_record::table::{Cell, Row};

pub(super) fn table_8(m: &Measurements) -> Vec<Block> {
    let row = |stack: Protocols, step @ (from, to): (Build, Build)| {
        let [share, _, time, accesses, memory] = printed_8(stack, step)?;
        let faster =
            m.microseconds(stack, from).and_then(|before| Ok(before.minus(&m.microseconds(stack, to)?)));
        let cells = vec![
            beside(share, m.due_to_instructions(stack, from, to), 0),
            beside(time, faster, 1),
            beside(accesses, m.saved(stack, from, to, Quantity::BoardAccesses), 0),
            beside(memory, m.saved(stack, from, to, Quantity::BoardReplacements), 0),
        ];
        Some(Row::new(format!("{stack} {from} to {to}"), cells))
    };
    let all = Protocols::ALL.into_iter().flat_map(|stack| STEPS.map(|step| (stack, step)));
    let rows: Vec<Row> = all.filter_map(|(stack, step)| row(stack, step)).collect();
    let header = ["", "I (%)", "processing time (µs)", "b-cache accesses", "b-cache replacement misses"];
    let exchanged = "The printed columns I are exchanged between the stacks: by table 6, each stack's I is that of the other.";
    vec![table("steps", "What each step saves: printed | ours", &header, rows, &[CELLS, exchanged])]
}

pub(super) fn table_9(m: &Measurements) -> Vec<Block> {
    let row = |stack: Protocols| {
        let cells =
            printed_9(stack).into_iter().zip([Build::Std, Build::Out]).flat_map(|((unused, size), build)| {
                [
                    beside(unused, m.spread(stack, build, Quantity::Unused), 1),
                    beside(size as f64, m.spread(stack, build, Quantity::MainLine), 0),
                ]
            });
        Row::new(stack.to_string(), cells.collect::<Vec<Cell>>())
    };
    let header = ["", "STD: unused (%)", "STD: size", "OUT: unused (%)", "OUT: size"];
    let caption = "Unused part of fetched blocks, and the path's size in instructions: printed | ours";
    vec![table("outlining", caption, &header, Protocols::ALL.map(row).to_vec(), &[CELLS])]
}
