//! Tables 1 to 3, and what a classifier costs.

use super::{beside, figure, table};
use crate::Value;
use crate::mosberger_1996::Measurements;
use crate::mosberger_1996::tables::{TABLE_1, TABLE_2, TABLE_3, TOTAL_1};
use crate::mosberger_1996::values::CYCLES_PER_MICROSECOND;
use warmcore_record::Block;
use warmcore_record::table::{Cell, Row};

pub(super) fn table_1(m: &Measurements) -> Vec<Block> {
    let row = |(name, printed): (&str, u64)| {
        let found = m.savings.iter().find(|one| one.technique == name);
        let saved = found.and_then(|one| one.instructions).map(|saved| Value::exact(saved as f64));
        let ours = beside(printed as f64, saved.ok_or_else(|| "cannot be taken back here".to_owned()), 0);
        Row::new(name, vec![ours, Cell::text(found.map_or("", |one| one.note.as_str()))])
    };
    let total = m
        .improvement
        .ok_or_else(|| "not run without the changes".to_owned())
        .map(|it| Value::exact(it.original.instructions as f64 - it.improved.instructions as f64));
    let total = Row::new("Total", vec![beside(TOTAL_1 as f64, total, 0), Cell::text("")]);
    let rows = TABLE_1.into_iter().map(row).chain([total]).collect();
    let alone = "Ours are instructions that the path has more without this change alone. The total is without all of them, so it need not be the sum.";
    vec![table("savings", "Instructions saved: printed | ours", &["", "saved", "note"], rows, &[alone])]
}

pub(super) fn table_2(m: &Measurements) -> Vec<Block> {
    let ours = |of: fn(&crate::mosberger_1996::Run) -> f64| {
        let it = m.improvement.ok_or_else(|| "not run without the changes".to_owned());
        it.map(|it| [it.original, it.improved].map(|run| Value::exact(of(&run))))
    };
    let row = |name: &str, printed: [f64; 2], of, decimals| {
        let cell = |column: usize| beside(printed[column], ours(of).map(|both| both[column]), decimals);
        Row::new(name, vec![cell(0), cell(1)])
    };
    let [before, after] = TABLE_2;
    let [instructions, cycles] = [[before.instructions, after.instructions], [before.cycles, after.cycles]]
        .map(|both| both.map(|count| count as f64));
    let trips = [before, after].map(|kernel| Cell::text(format!("{:.1} | not measured", kernel.round_trip)));
    let rows = vec![
        Row::new("round trip (µs)", trips.to_vec()),
        row("instructions", instructions, |run| run.instructions as f64, 0),
        row("processing time (cycles)", cycles, |run| run.cycles() as f64, 0),
        row("CPI", [before.cpi, after.cpi], |run| run.memory_cpi() + run.instruction_cpi(), 2),
    ];
    vec![table(
        "improvement",
        "TCP/IP before and after the changes: printed | ours",
        &["", "original", "improved"],
        rows,
        &[],
    )]
}

pub(super) fn table_3(m: &Measurements) -> Vec<Block> {
    let printed =
        |count: Option<u64>| count.map_or_else(|| Cell::text(""), |count| Cell::text(count.to_string()));
    let ours = [None, None, m.stages.map(|it| it.ip_to_tcp), m.stages.map(|it| it.tcp_to_user)];
    let rows = TABLE_3.into_iter().zip(ours).map(|(row, ours)| {
        let beside = match row.x_kernel {
            Some(count) => {
                let ours = ours.map(|ours| Value::exact(ours as f64));
                beside(count as f64, ours.ok_or_else(|| "not counted".to_owned()), 0)
            }
            None => Cell::text(""),
        };
        Row::new(row.part, vec![printed(row.i386), printed(row.dec_unix), beside])
    });
    let header = ["", "80386, printed", "DEC Unix, printed", "x-kernel, printed | ours"];
    vec![table("stages", "Instructions of TCP/IP on the way up", &header, rows.collect(), &[])]
}

pub(super) fn classifier(m: &Measurements) -> Vec<Block> {
    let rows = m.classified.iter().map(|one| {
        let time = Value::exact(one.cycles as f64 / CYCLES_PER_MICROSECOND);
        let cells =
            [one.instructions.to_string(), one.cycles.to_string(), format!("1 to 4 | {}", figure(time, 1))];
        Row::new(one.stack.to_string(), cells.map(Cell::text).to_vec())
    });
    let header = ["", "instructions", "cycles", "time (µs), printed | ours"];
    vec![table("classifier", "What a packet classifier adds to build ALL", &header, rows.collect(), &[])]
}
