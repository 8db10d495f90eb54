//! The results for other programs: one row a simulated run, and one a round trip.

use super::points::{Measurements, Point, Run};
use warmcore_record::columns::ColumnsError;
use warmcore_record::{Column, Columns};

/// A run of one order, or a round trip of one block.
struct Row<'a> {
    point: &'a Point,
    index: usize,
    run: Option<&'a Run>,
    round_trip: Option<f64>,
}

/// Every run and every round trip, with its stack and build. Runs have the distance of memory that the rest of a report has.
pub(super) fn results(m: &Measurements) -> Result<Columns, ColumnsError> {
    let rows: Vec<Row> = m.points.iter().flat_map(rows).collect();
    let text = |name: &str, of: fn(&Row) -> String| Column::texts(name, rows.iter().map(|row| Some(of(row))));
    let count = |name: &str, of: fn(&Run) -> u64| {
        Column::integers(name, rows.iter().map(|row| i64::try_from(of(row.run?)).ok()))
    };
    let float =
        |name: &str, unit: &str, of: fn(&Row) -> Option<f64>| Column::floats(name, unit, rows.iter().map(of));
    let memory = rows.iter().map(|row| row.run.and(i64::try_from(m.memory_cycles).ok()));
    Columns::new(vec![
        text("stack", |row| row.point.stack.to_string()),
        text("build", |row| row.point.build.to_string()),
        text("kind", |row| if row.run.is_some() { "run" } else { "round trip" }.to_owned()),
        Column::integers("index", rows.iter().map(|row| i64::try_from(row.index).ok())),
        Column::integers("memory_cycles", memory),
        count("instructions", |run| run.instructions),
        count("issue_cycles", |run| run.issue_cycles),
        count("stall_cycles", |run| run.stall_cycles),
        count("i_cache_misses", |run| run.instruction_cache.misses),
        count("i_cache_accesses", |run| run.instruction_cache.accesses),
        count("i_cache_replacements", |run| run.instruction_cache.replacements),
        count("d_cache_misses", |run| run.data_cache.misses),
        count("d_cache_accesses", |run| run.data_cache.accesses),
        count("d_cache_replacements", |run| run.data_cache.replacements),
        count("b_cache_misses", |run| run.board_cache.misses),
        count("b_cache_accesses", |run| run.board_cache.accesses),
        count("b_cache_replacements", |run| run.board_cache.replacements),
        float("unused", "", |row| Some(row.run?.unused)),
        count("main_line", |run| run.main_line),
        count("calls", |run| run.calls),
        float("round_trip", "ns", |row| row.round_trip),
    ])
}

fn rows(point: &Point) -> Vec<Row<'_>> {
    let run = |(index, run)| Row { point, index, run: Some(run), round_trip: None };
    let round_trip =
        |(index, &round_trip): (usize, &f64)| Row { point, index, run: None, round_trip: Some(round_trip) };
    let runs = point.runs.iter().enumerate().map(run);
    runs.chain(point.round_trips.iter().enumerate().map(round_trip)).collect()
}
