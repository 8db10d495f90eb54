//! What a cycle of latency changes for each program.

use super::table;
use crate::falsafi_1998::measured::Obtained;
use crate::falsafi_1998::runs::Runs;
use crate::falsafi_1998::scatter::{PERTURBED, ProgramOf, cycles};
use crate::falsafi_1998::setup::Setup;
use std::collections::BTreeMap;
use warmcore_record::Block;
use warmcore_record::table::{Cell, Row};

/// A row for each program of each chapter and each system.
pub(super) fn table_of(runs: &Runs) -> Block {
    let rows = ProgramOf::all().flat_map(|program| {
        let base = program.base();
        let first = base[0];
        base.into_iter().map(move |setup| row(runs, program, setup, first))
    });
    let latencies = PERTURBED.map(|cycles| cycles.to_string()).join(", ");
    let header = [
        "",
        "cycles: greatest over least",
        "speed over the first system's: least to greatest",
        "a run scatters by",
    ];
    let note = format!(
        "Network latencies of {latencies} cycles. The first system of a program is Single in chapter 4 and S-COMA in chapter 5. The last \
         column is the half-width of a run's 95 % interval, from the standard deviation pooled over the systems of the program; all \
         claims about the program are judged with it."
    );
    table("scatter-of-programs", "What a cycle of latency changes", &header, rows.collect(), &note)
}

fn row(runs: &Runs, program: ProgramOf, setup: Setup, first: Setup) -> Row {
    let results: &BTreeMap<Setup, Obtained> = &runs.results;
    let [ours, firsts] = [setup, first].map(|setup| cycles(results, setup));
    let missing = || Cell::missing("A run has no result.");
    let is_complete = ours.len() == PERTURBED.len() && firsts.len() == PERTURBED.len();
    let range = |values: &[f64]| {
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        (least, values.iter().copied().fold(f64::NEG_INFINITY, f64::max))
    };
    let spread = if is_complete {
        let (least, greatest) = range(&ours);
        Cell::text(format!("+{:.2} %", 100.0 * (greatest / least - 1.0)))
    } else {
        missing()
    };
    let relative = if is_complete {
        let speeds: Vec<f64> = ours.iter().zip(&firsts).map(|(ours, first)| 100.0 * first / ours).collect();
        let (least, greatest) = range(&speeds);
        Cell::text(format!("{least:.1} to {greatest:.1} %"))
    } else {
        missing()
    };
    let scatter = runs
        .scatter
        .of_program(program)
        .map_or_else(missing, |half| Cell::text(format!("± {:.2} %", 100.0 * half)));
    let processors =
        if setup.system.is_typhoon_1() { format!(", {} computing", setup.processors) } else { String::new() };
    Row::new(
        format!("{} under {}{processors}", program.name(), setup.system),
        vec![spread, relative, scatter],
    )
}
