//! Where instructions wait: caches, functions, blocks, and who displaces whom.

use super::words::{Names, cache, count};
use crate::compare::Comparison;
use crate::simulate::{BlockFigures, FunctionFigures, FunctionPair, Summary};
use std::cmp::Reverse;
use warmcore_record::table::{Cell, Row};
use warmcore_record::{Block, Section, Table};
use warmcore_units::Estimate;

/// Rows of a table at most.
const ROWS: usize = 25;

/// The section on where instructions wait.
pub(super) fn waits(comparison: &Comparison) -> Section {
    Section {
        heading: "Where instructions wait".to_owned(),
        anchor: "waits".to_owned(),
        intro: vec![
            "A function is charged for its own instructions, not for those of functions that it calls. Misses are those of \
             the instruction cache."
                .to_owned(),
        ],
        blocks: [functions, blocks, caches].map(|table| Block::Table(table(&comparison.present))).to_vec(),
        folded: false,
    }
}

/// The section on who displaces whom.
pub(super) fn displacements(comparison: &Comparison) -> Section {
    let pairs = comparison.present.pairs_by_misses();
    let block = match pairs.is_empty() {
        true => Block::Paragraph("No line of the instruction cache made way for another.".to_owned()),
        false => Block::Table(pair_table(&comparison.present, &pairs)),
    };
    Section {
        heading: "Who displaces whom".to_owned(),
        anchor: "displacements".to_owned(),
        intro: vec![
            "Pairs of functions whose lines compete for the same sets of the instruction cache as the code lies. To keep the \
             first pairs apart gains most; what is displaced and not missed later costs nothing."
                .to_owned(),
        ],
        blocks: vec![block],
        folded: false,
    }
}

fn functions(summary: &Summary) -> Table {
    let names = Names::new(summary);
    let all = summary.stalls.all().0.max(1) as f64;
    let row = |of: &&FunctionFigures| {
        let figures = &of.figures;
        let misses = figures.misses.first().copied().unwrap_or_default();
        let stalls = figures.stalls;
        Row::new(
            names.get(of.function),
            vec![
                whole(stalls.all().0),
                part(stalls.all().0 as f64 / all),
                whole(stalls.instructions.0),
                whole(stalls.data.0),
                whole(figures.instructions),
                whole(misses.misses),
                whole(misses.replacements),
                part(figures.words.unused_part()),
            ],
        )
    };
    let functions = summary.functions_by_stalls();
    let header = [
        "Function",
        "Stall cycles",
        "Of all, %",
        "For code",
        "For data",
        "Instructions",
        "Misses",
        "Replacement misses",
        "Unused, %",
    ];
    Table {
        id: "functions".to_owned(),
        caption: "Functions by the cycles in which they wait for memory".to_owned(),
        header: Table::simple_header(header),
        rows: functions.iter().take(ROWS).map(row).collect(),
        notes: left_out(functions.len(), "functions"),
    }
}

fn blocks(summary: &Summary) -> Table {
    let names = Names::new(summary);
    let mut blocks: Vec<&BlockFigures> = summary.blocks.iter().collect();
    blocks.sort_by_key(|block| (Reverse(block.figures.stalls.all()), block.address));
    let row = |block: &&BlockFigures| {
        let misses = block.figures.misses.first().copied().unwrap_or_default();
        Row::new(
            format!("{} at {:#x}", names.get(block.function), block.address),
            vec![
                whole(block.size.0),
                whole(block.executions),
                whole(block.figures.stalls.all().0),
                whole(misses.misses),
                whole(misses.replacements),
            ],
        )
    };
    let header = ["Block", "Bytes", "Executions", "Stall cycles", "Misses", "Replacement misses"];
    Table {
        id: "blocks".to_owned(),
        caption: "Basic blocks by the cycles in which they wait for memory".to_owned(),
        header: Table::simple_header(header),
        rows: blocks.iter().take(ROWS).map(row).collect(),
        notes: left_out(blocks.len(), "blocks"),
    }
}

fn caches(summary: &Summary) -> Table {
    let row = |column: &crate::simulate::Column| {
        let figures = [column.accesses, column.misses, column.replacements, column.passed_on];
        Row::new(cache(column), figures.map(whole).to_vec())
    };
    Table {
        id: "caches".to_owned(),
        caption: "What each cache was asked".to_owned(),
        header: Table::simple_header(["Cache", "Accesses", "Misses", "Replacement misses", "Passed on"]),
        rows: summary.columns.iter().map(row).collect(),
        notes: vec![
            "Passed on: of the misses, blocks of stores that a write-through cache handed to the next one."
                .to_owned(),
        ],
    }
}

fn pair_table(summary: &Summary, pairs: &[FunctionPair]) -> Table {
    let names = Names::new(summary);
    let row = |pair: &FunctionPair| {
        let by = if pair.by == pair.victim { "itself" } else { names.get(pair.by) };
        Row::new(names.get(pair.victim), vec![Cell::text(by), whole(pair.misses), whole(pair.lines)])
    };
    Table {
        id: "pairs".to_owned(),
        caption: "Whose lines made way for whose in the instruction cache".to_owned(),
        header: Table::simple_header(["Displaced", "By", "Missed later", "Lines displaced"]),
        rows: pairs.iter().take(ROWS).map(row).collect(),
        notes: left_out(pairs.len(), "pairs"),
    }
}

fn whole(number: u64) -> Cell {
    Cell::value(Estimate::published(number as f64), 0)
}

fn part(part: f64) -> Cell {
    Cell::value(Estimate::published(100.0 * part), 1)
}

/// Says that a table does not have all rows.
fn left_out(all: usize, of_what: &str) -> Vec<String> {
    let note = || format!("The first {ROWS} of {} {of_what}.", count(all as u64));
    (all > ROWS).then(note).into_iter().collect()
}
