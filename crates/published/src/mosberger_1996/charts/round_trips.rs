//! Tables 4 and 5.

use super::{bars, builds, by_stack, drawn, figure, rows, table};
use crate::Value;
use crate::mosberger_1996::tables::{CONTROLLER, slowdown_4, slowdown_5, table_4 as printed};
use crate::mosberger_1996::values::Found;
use crate::mosberger_1996::{Build, Measurements, Protocols};
use warmcore_record::Block;
use warmcore_record::chart::{Axis, Unit, View};
use warmcore_record::table::Cell;
use warmcore_stats::Interval;
use warmcore_units::Estimate;

/// What a reader must know of round trips.
const ANOTHER: &str = "Ours are of this machine and not of the source's, with 95 % intervals over blocks: only which build is faster can be compared.";

pub(super) fn table_4(m: &Measurements) -> Vec<Block> {
    let header = ["", "published (µs)", "ours (µs)", "published over ALL", "ours over ALL"];
    let cells = |stack, build| {
        let [mean, deviation] = printed(stack, build);
        let published =
            [format!("{mean:.1} ± {deviation:.2}"), format!("{:+.1} %", slowdown_4(stack, build))];
        let [time, slowdown] = published.map(Cell::text);
        vec![time, shown(measured(m, stack, build), 2, ""), slowdown, over_all(m, stack, build)]
    };
    let caption = "Round trips; published ones with standard deviations";
    vec![table("round-trips", caption, &header, rows(cells), &[ANOTHER]), slowdowns(m)]
}

pub(super) fn table_5(m: &Measurements) -> Vec<Block> {
    let header = ["", "published (µs)", "published over ALL", "ours over ALL"];
    let cells = |stack, build| {
        let time = printed(stack, build)[0] - CONTROLLER;
        let published = [format!("{time:.1}"), format!("{:+.1} %", slowdown_5(stack, build))];
        published.map(Cell::text).into_iter().chain([over_all(m, stack, build)]).collect()
    };
    let caption = "Round trips without 210 µs of the network controller. Ours have no controller, and are those of table 4";
    vec![table("adjusted", caption, &header, rows(cells), &[ANOTHER])]
}

/// The mean round trip in microseconds.
fn measured(m: &Measurements, stack: Protocols, build: Build) -> Found<Value> {
    let Interval { mean, half_width, .. } = Interval::from_observations(m.round_trips(stack, build)?);
    Ok(Estimate::new(mean / 1000.0, half_width / 1000.0).into())
}

fn over_all(m: &Measurements, stack: Protocols, build: Build) -> Cell {
    match build {
        Build::All => Cell::text("+0.0 %"),
        _ => shown(m.slower(stack, build, Build::All), 1, " %"),
    }
}

fn shown(value: Found<Value>, decimals: usize, unit: &str) -> Cell {
    match value {
        Ok(value) => Cell::text(format!("{}{unit}", figure(value, decimals))),
        Err(reason) => Cell::missing(reason),
    }
}

/// Slowdowns over ALL: published without the controller, and ours.
fn slowdowns(m: &Measurements) -> Block {
    let view = |(pick, stack): (usize, Protocols)| {
        let published = |stack, build| Some(Estimate { mean: slowdown_5(stack, build), half_width: None });
        let ours = |stack, build| match build {
            Build::All => None,
            _ => drawn(m.slower(stack, build, Build::All).ok()?),
        };
        let series =
            vec![bars(stack, ("published, table 5", 0, 1), published), bars(stack, ("ours", 0, 0), ours)];
        View { picks: vec![pick], series, ..View::default() }
    };
    Block::Chart(by_stack(
        "slowdowns",
        "Slowdown over ALL, by build",
        "Without a controller, as ours has none. Whiskers are 95 % intervals over blocks.",
        builds(),
        Axis::linear("slowdown of a round trip", Unit::plain("%")),
        Protocols::ALL.into_iter().enumerate().map(view).collect(),
    ))
}
