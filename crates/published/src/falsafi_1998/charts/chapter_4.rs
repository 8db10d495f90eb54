//! Charts and tables of chapter 4.

use super::{Frame, Named, Picks, beside, line, percent, plain, speedup, table};
use crate::falsafi_1998::plan::{
    BLOCKS_4, CACHES, COST_UTILIZATIONS, COSTED, HIGH, HIGHEST, MOST, MOST_COSTED, MOST_PAIRED, PROTOCOLS,
    UTILIZATIONS, fixed, floating, single,
};
use crate::falsafi_1998::runs::{Found, Runs};
use crate::falsafi_1998::setup::{INTERRUPTS, LOW, Setup};
use crate::falsafi_1998::system::System;
use crate::falsafi_1998::tables;
use crate::falsafi_1998::work::{App, Work};
use warmcore_record::Block;
use warmcore_record::chart::Series;
use warmcore_record::table::Row;
use warmcore_units::Estimate;

type Protocol = fn(u32) -> Work;

fn protocols() -> Vec<(String, Protocol)> {
    ["null-handler", "fetch-block"].map(str::to_owned).into_iter().zip(PROTOCOLS).collect()
}

/// One choice only.
fn alone() -> [(String, ()); 1] {
    [(String::new(), ())]
}

/// Execution time of `system` on nodes of `per_node` over that of Fixed on nodes of `fixed`.
fn time(
    runs: &Runs,
    system: System,
    per_node: u32,
    cycles: u64,
    fixed: u32,
    work: Work,
) -> Found<Estimate<f64>> {
    let other = Setup::pair(System::Fixed, fixed, work);
    speedup(runs, other, Setup::pair(system, per_node, work).interrupted(cycles))
}

pub(super) fn interrupts_paired(runs: &Runs) -> Vec<Block> {
    let (protocols, alone) = (protocols(), alone());
    let picks = Picks { first: ("Protocol", &protocols), second: ("", &alone) };
    let series = |protocol: &Protocol, (): &()| {
        let lines = [("Single", 1), ("Floating", 2)].into_iter().flat_map(|(name, per_node)| {
            [(LOW, "0.5 µs"), (HIGH, "5 µs")].map(|(cycles, overhead)| (name, per_node, cycles, overhead))
        });
        let of = |(name, per_node, cycles, overhead): (&str, u32, u64, &str)| {
            let at = |u: u32| (f64::from(u), time(runs, System::Floating, per_node, cycles, 2, protocol(u)));
            line(format!("{name}, interrupts of {overhead}"), UTILIZATIONS.map(at))
        };
        lines.map(of).collect::<Vec<Series>>()
    };
    vec![
        Frame {
            id: "figure-4-2-time",
            title: "Time on nodes of one and two processors against Fixed with two",
            caption: "Above 1 Fixed is faster.",
            x: percent("thread compute-utilization U"),
            y: plain("execution time over Fixed's"),
        }
        .block(picks.choices(), picks.views(series)),
    ]
}

pub(super) fn processors_paired(runs: &Runs) -> Vec<Block> {
    let (protocols, alone) = (protocols(), alone());
    let picks = Picks { first: ("Protocol", &protocols), second: ("", &alone) };
    let series = |protocol: &Protocol, (): &()| {
        let of = |per_node: u32| {
            let at =
                |u: u32| (f64::from(u), time(runs, System::Floating, per_node, LOW, per_node, protocol(u)));
            line(format!("{per_node} processors"), UTILIZATIONS.map(at))
        };
        (2..=MOST_PAIRED).map(of).collect()
    };
    vec![
        Frame {
            id: "figure-4-3-time",
            title: "Time under Floating against Fixed on nodes of as many processors",
            caption: "Above 1 Fixed is faster. Interrupts take 0.5 µs.",
            x: percent("thread compute-utilization U"),
            y: plain("execution time over Fixed's"),
        }
        .block(picks.choices(), picks.views(series)),
    ]
}

/// Fixed and Floating over the number of processors, each with `value`.
fn both(most: u32, value: impl Fn(System, u32) -> Found<Estimate<f64>>) -> Vec<Series> {
    let of = |system: System| line(system.to_string(), (2..=most).map(|n| (f64::from(n), value(system, n))));
    [System::Fixed, System::Floating].map(of).to_vec()
}

pub(super) fn costs_paired(runs: &Runs) -> Vec<Block> {
    let protocols = protocols();
    let utilizations = COST_UTILIZATIONS.map(|u| (format!("{u} %"), u));
    let picks = Picks { first: ("Protocol", &protocols), second: ("U", &utilizations) };
    let series = |protocol: &Protocol, &u: &u32| {
        let work = protocol(u);
        let alone = Setup::pair(System::Floating, 1, work);
        both(MOST_PAIRED, |system, n| costed(runs, Setup::pair(system, n, work), n, alone))
    };
    vec![cost("figure-4-4-cost").block(picks.choices(), picks.views(series))]
}

/// Cost over performance of nodes with `per_node` processors of which `setup` makes use, against those of `single`.
fn costed(runs: &Runs, setup: Setup, per_node: u32, single: Setup) -> Found<Estimate<f64>> {
    runs.estimate(&[setup, single], |runs| runs.cost_performance(&setup, per_node, &single))
}

fn cost(id: &str) -> Frame<'_> {
    Frame {
        id,
        title: "Cost over performance, against a uniprocessor node",
        caption: "Below 1 a node is cost-effective; the lowest point is the most cost-effective system.",
        x: plain("processors per node"),
        y: plain("cost-performance"),
    }
}

/// Figures 4-5 to 4-7: speedup over Single.
pub(super) fn speedups(runs: &Runs, figure: &str) -> Vec<Block> {
    let apps = App::CHAPTER_4.map(|app| (app.name().to_owned(), app));
    let (label, varied): (&str, Named<(u64, u64)>) = match figure {
        "4-6" => ("Block", BLOCKS_4.map(|bytes| (format!("{bytes} bytes"), (bytes, 1 << 20))).to_vec()),
        "4-7" => ("Caches", CACHES.map(|bytes| (format!("{} KB", bytes >> 10), (128, bytes))).to_vec()),
        _ => ("", vec![(String::new(), (128, 1 << 20))]),
    };
    let picks = Picks { first: ("Program", &apps), second: (label, &varied) };
    let series = |&app: &App, &(block, cache): &(u64, u64)| {
        let vary = |setup: Setup| setup.blocks(block).caches(cache);
        both(MOST, |system, n| speedup(runs, vary(Setup::chapter_4(system, n, app)), vary(single(app))))
    };
    vec![
        Frame {
            id: &format!("figure-{figure}-speedup"),
            title: "Speedup over a uniprocessor node",
            caption: "16 nodes. Above 1 the system is faster than Single with the same blocks and caches.",
            x: plain("processors per node"),
            y: plain("speedup over Single"),
        }
        .block(picks.choices(), picks.views(series)),
    ]
}

pub(super) fn table_4_2(runs: &Runs) -> Vec<Block> {
    let row = |app: App| {
        let published = tables::table_4_2(app).unwrap_or_default();
        let ours = |column| {
            let setups = [fixed(2, app), time_4_2(app, column)];
            runs.estimate(&setups, |runs| column_4_2(runs, app, column))
        };
        let cells = (0..6).map(|column| beside(published[column], ours(column), 2));
        Row::new(app.name(), cells.collect())
    };
    let header = ["", "Single / Fixed, 0.5 µs", "5 µs", "50 µs", "Floating / Fixed, 0.5 µs", "5 µs", "50 µs"];
    let note = "Published | ours: execution times over those of Fixed with two processors per node, ours with what their runs scatter.";
    let rows = App::CHAPTER_4.map(row).to_vec();
    vec![table("table-4-2-times", "Sensitivity to the interrupt overhead", &header, rows, note)]
}

/// A column of Table 4.2.
pub(crate) fn column_4_2(runs: &Runs, app: App, column: usize) -> Found<f64> {
    runs.speedup(&fixed(2, app), &time_4_2(app, column))
}

/// Whose time it is.
fn time_4_2(app: App, column: usize) -> Setup {
    let setup = if column < 3 { single(app) } else { floating(2, app) };
    setup.interrupted(INTERRUPTS[column % 3])
}

pub(super) fn costs(runs: &Runs) -> Vec<Block> {
    let apps = COSTED.map(|app| (app.name().to_owned(), app));
    let overheads = [("0.5 µs".to_owned(), LOW), ("50 µs".to_owned(), HIGHEST)];
    let picks = Picks { first: ("Program", &apps), second: ("Interrupts", &overheads) };
    let series = |&app: &App, &cycles: &u64| {
        both(MOST_COSTED, |system, n| {
            let setup = Setup::chapter_4(system, n, app).interrupted(cycles);
            costed(runs, setup, n, single(app).interrupted(cycles))
        })
    };
    vec![cost("figure-4-8-cost").block(picks.choices(), picks.views(series))]
}
