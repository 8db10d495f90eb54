//! Figure 2, and Tables 6 and 7.

use super::{CELLS, bars, beside, builds, by_stack, drawn, figure, rows, table};
use crate::mosberger_1996::points::name;
use crate::mosberger_1996::tables::{table_6 as printed_6, table_7 as printed_7};
use crate::mosberger_1996::values::Quantity;
use crate::mosberger_1996::{Assumed, Build, Measurements, Protocols};
use std::collections::BTreeMap;
use warmcore_record::chart::{Axis, Point, Series, Style, Unit, View};
use warmcore_record::table::{Cell, Row};
use warmcore_record::{Block, Chart};
use warmcore_units::Estimate;

/// How full the fetched blocks of each build are.
pub(super) fn figure_2(m: &Measurements) -> Vec<Block> {
    let cells = |stack, build| {
        let shown = |quantity, decimals| match m.spread(stack, build, quantity) {
            Ok(spread) => Cell::text(figure(spread.value(), decimals)),
            Err(reason) => Cell::missing(reason),
        };
        vec![shown(Quantity::Unused, 1), shown(Quantity::InstructionMisses, 0), shown(Quantity::MainLine, 0)]
    };
    let header = ["", "unused in fetched blocks (%)", "i-cache misses", "main line (instructions)"];
    let unused = table("footprint", "What the path takes of the i-cache; ours", &header, rows(cells), &[]);
    let bars = |stack| {
        let ours = |stack, build| drawn(m.spread(stack, build, Quantity::Unused).ok()?.value());
        vec![bars(stack, ("unused", 0, 0), ours)]
    };
    let caption = "Outlining takes exceptional code out of the way, and cloning puts the path's functions one behind the other.";
    let y = Axis::linear("unused part of fetched blocks", Unit::plain("%"));
    vec![chart("gaps", "Unused instructions in fetched blocks, by build", caption, y, bars), unused]
}

pub(super) fn table_6(m: &Measurements) -> Vec<Block> {
    let columns: [&[(&str, Quantity, usize)]; 3] = [
        &[
            ("misses", Quantity::InstructionMisses, 0),
            ("accesses", Quantity::Instructions, 1),
            ("replacements", Quantity::InstructionReplacements, 2),
        ],
        &[
            ("misses", Quantity::DataMisses, 0),
            ("accesses", Quantity::DataAccesses, 1),
            ("replacements", Quantity::DataReplacements, 2),
        ],
        &[
            ("misses", Quantity::BoardMisses, 0),
            ("accesses", Quantity::BoardAccesses, 1),
            ("replacements", Quantity::BoardReplacements, 2),
        ],
    ];
    let caches = [("i-cache", "i-cache"), ("d-cache", "d-cache and write buffer"), ("b-cache", "b-cache")];
    let tables = caches.into_iter().zip(columns).enumerate().map(|(cache, ((id, title), columns))| {
        let cells = |stack, build| {
            let counts = printed_6(stack, build)[cache];
            let printed = [counts.misses, counts.accesses, counts.replacements];
            let cell = |&(_, quantity, column): &(&str, Quantity, usize)| {
                beside(printed[column] as f64, m.spread(stack, build, quantity), 0)
            };
            columns.iter().map(cell).collect()
        };
        let header: Vec<&str> = [""].into_iter().chain(columns.iter().map(|(name, ..)| *name)).collect();
        table(id, &format!("Accesses of the {title}: printed | ours"), &header, rows(cells), &[CELLS])
    });
    let series = |stack| {
        let printed = |stack, build| {
            let [cache, ..] = printed_6(stack, build);
            Some(Estimate { mean: cache.replacements as f64, half_width: None })
        };
        let ours =
            |stack, build| drawn(m.spread(stack, build, Quantity::InstructionReplacements).ok()?.value());
        vec![bars(stack, ("published", 0, 1), printed), bars(stack, ("ours", 0, 0), ours)]
    };
    let caption = "Misses of lines that had been in the i-cache before. Whiskers span random orders, and what the text leaves open.";
    let y = Axis::linear("replacement misses", Unit::plain(""));
    [chart("replacement-misses", "I-cache replacement misses, by build", caption, y, series)]
        .into_iter()
        .chain(tables)
        .collect()
}

pub(super) fn table_7(m: &Measurements) -> Vec<Block> {
    let cells = |stack, build| {
        let printed = printed_7(stack, build);
        let ours = |quantity| m.spread(stack, build, quantity);
        vec![
            beside(printed.microseconds, m.microseconds(stack, build), 1),
            beside(printed.length as f64, ours(Quantity::Instructions), 0),
            beside(printed.memory_cpi, ours(Quantity::MemoryCpi), 2),
            beside(printed.instruction_cpi, ours(Quantity::InstructionCpi), 2),
        ]
    };
    let header = ["", "processing time (µs)", "length", "mCPI", "iCPI"];
    let model = format!(
        "Our times are issue and stall cycles of the simulated processor at 175 MHz: nothing overlaps, and memory is {} cycles away.",
        m.memory_cycles
    );
    let costs = table("costs", "Protocol processing: printed | ours", &header, rows(cells), &[CELLS, &model]);
    let distances = (!m.by_memory.is_empty()).then(|| [Block::Chart(by_memory(m)), factors_by_memory(m)]);
    [costs].into_iter().chain(distances.into_iter().flatten()).chain(assumed_bad(m)).collect()
}

/// mCPI at other distances of memory.
fn by_memory(m: &Measurements) -> Chart {
    let view = |(pick, stack): (usize, Protocols)| {
        let line = |build: Build| {
            let name = name(stack, build);
            let at = |(cycles, mcpi): &(u64, BTreeMap<String, f64>)| {
                let y = Estimate { mean: *mcpi.get(&name)?, half_width: None };
                Some(Point::new(*cycles as f64, y))
            };
            Series::new(build.to_string(), Style::Line, m.by_memory.iter().filter_map(at).collect())
        };
        View { picks: vec![pick], series: Build::ALL.map(line).to_vec(), ..View::default() }
    };
    by_stack(
        "memory-distance",
        "mCPI by the distance of memory",
        "The text does not say how many cycles memory is away. One distance is taken, which was not chosen by claims; values have a range over all.",
        Axis::linear("distance of memory", Unit::plain("cycles")),
        Axis::linear("mCPI", Unit::plain("")),
        Protocols::ALL.into_iter().enumerate().map(view).collect(),
    )
}

/// Factors of mCPI at other distances of memory.
fn factors_by_memory(m: &Measurements) -> Block {
    let factors =
        Protocols::ALL.into_iter().flat_map(|stack| [Build::Bad, Build::Std].map(|build| (stack, build)));
    let row = |(cycles, mcpi): &(u64, BTreeMap<String, f64>)| {
        let factor = |(stack, build)| {
            let of = |build| mcpi.get(&name(stack, build));
            match (of(build), of(Build::All)) {
                (Some(one), Some(all)) => Cell::text(format!("{:.2}", one / all)),
                _ => Cell::missing("not simulated at this distance"),
            }
        };
        Row::new(format!("{cycles} cycles"), factors.clone().map(factor).collect())
    };
    let printed = factors.clone().map(|(stack, build)| {
        let factor = printed_7(stack, build).memory_cpi / printed_7(stack, Build::All).memory_cpi;
        Cell::text(format!("{factor:.2}"))
    });
    let rows = [Row::new("published", printed.collect())].into_iter().chain(m.by_memory.iter().map(row));
    let header = ["", "TCP/IP: BAD", "TCP/IP: STD", "RPC: BAD", "RPC: STD"];
    let caption = "mCPI over that of ALL, by the distance of memory";
    table("memory-factors", caption, &header, rows.collect(), &[])
}

/// BAD under every assumption; `None` without any.
fn assumed_bad(m: &Measurements) -> Option<Block> {
    let bad = Protocols::ALL.map(|stack| m.point(stack, Build::Bad).map_or(&[][..], |point| &point.assumed));
    let cells = |(stack, one): (Protocols, &Assumed)| {
        let all = &m.point(stack, Build::All).ok()?;
        let alike =
            |other: &&Assumed| (other.hottest, other.memory_cycles) == (one.hottest, one.memory_cycles);
        let all = all.assumed.iter().find(alike).map_or(&all.runs, |other| &other.runs).first()?.memory_cpi();
        let bad = one.runs.first()?;
        let replaced = bad.board_cache.replacements.to_string();
        let mcpi = bad.memory_cpi();
        Some([replaced, format!("{mcpi:.2}"), format!("{:.2}", mcpi / all)].map(Cell::text))
    };
    let row = |(tcp, rpc): (&Assumed, &Assumed)| {
        let cells: Option<Vec<_>> = Protocols::ALL.into_iter().zip([tcp, rpc]).map(cells).collect();
        let name = format!("{} functions, memory {} cycles away", tcp.hottest, tcp.memory_cycles);
        Some(Row::new(name, cells?.concat()))
    };
    let rows: Vec<Row> = bad[0].iter().zip(bad[1]).filter_map(row).collect();
    let header = [
        "",
        "TCP/IP: b-cache replacements",
        "mCPI",
        "over ALL",
        "RPC: b-cache replacements",
        "mCPI",
        "over ALL",
    ];
    let caption =
        "BAD, by how many functions meet in the b-cache and how far memory is: the text has neither";
    (!rows.is_empty()).then(|| table("assumed-bad", caption, &header, rows, &[]))
}

/// A chart of bars by build, with a view for each stack.
fn chart(id: &str, title: &str, caption: &str, y: Axis, series: impl Fn(Protocols) -> Vec<Series>) -> Block {
    let view = |(pick, stack): (usize, Protocols)| View {
        picks: vec![pick],
        series: series(stack),
        ..View::default()
    };
    let views = Protocols::ALL.into_iter().enumerate().map(view).collect();
    Block::Chart(by_stack(id, title, caption, builds(), y, views))
}
