//! The results for other programs: one row a run, with the value of all its repetitions together.

use super::measured::{Measured, Obtained};
use super::runs::Runs;
use super::setup::Setup;
use warmcore_record::columns::ColumnsError;
use warmcore_record::{Column, Columns};
use warmcore_units::Estimate;

/// All runs, with what came of them.
pub(super) fn results(runs: &Runs) -> Result<Columns, ColumnsError> {
    let rows: Vec<(&Setup, &Obtained)> = runs.results.iter().collect();
    let measured = |obtained: &Obtained| match obtained {
        Obtained::Measured(measured) => Some(*measured),
        Obtained::Failed(_) => None,
    };
    let value = |(run, _): &(&Setup, &Obtained)| {
        let setup = run.repeated();
        runs.estimate(&[setup], |runs| Ok(runs.get(&setup)?.cycles as f64)).ok()
    };
    let values: Vec<Option<Estimate<f64>>> = rows.iter().map(value).collect();
    let text = |name: &str, of: fn(&Setup) -> String| {
        Column::texts(name, rows.iter().map(|(setup, _)| Some(of(setup))))
    };
    let parameter = |name: &str, of: fn(&Setup) -> u64| {
        Column::integers(name, rows.iter().map(|(setup, _)| i64::try_from(of(setup)).ok()))
    };
    let count = |name: &str, of: fn(&Measured) -> u64| {
        let value = |obtained: &Obtained| i64::try_from(of(&measured(obtained)?)).ok();
        Column::integers(name, rows.iter().map(|(_, obtained)| value(obtained)))
    };
    let float = |name: &str, unit: &str, of: fn(&Measured) -> Option<f64>| {
        Column::floats(name, unit, rows.iter().map(|(_, obtained)| of(&measured(obtained)?)))
    };
    let reason = |obtained: &Obtained| match obtained {
        Obtained::Measured(_) => None,
        Obtained::Failed(reason) => Some(reason.clone()),
    };
    Columns::new(vec![
        text("work", |setup| setup.work.to_string()),
        text("system", |setup| setup.system.to_string()),
        parameter("nodes", |setup| setup.nodes.into()),
        parameter("processors", |setup| setup.processors.into()),
        parameter("block_bytes", |setup| setup.block_bytes),
        parameter("cache_bytes", |setup| setup.cache_bytes),
        parameter("interrupt_cycles", |setup| setup.interrupt),
        parameter("network_cycles", |setup| setup.network),
        parameter("seed", |setup| setup.seed),
        count("cycles", |one| one.cycles),
        count("references", |one| one.references),
        Column::floats("value_cycles", "cycles", values.iter().map(|value| Some(value.as_ref()?.mean))),
        Column::floats(
            "value_cycles_half_width",
            "cycles",
            values.iter().map(|value| value.as_ref()?.half_width),
        ),
        float("computing", "%", |one| Some(one.computing)),
        float("round_trip", "cycles", |one| one.round_trip),
        float("bandwidth", "B/cycle", |one| one.bandwidth),
        count("remote_misses", |one| one.remote_misses),
        count("interrupts", |one| one.interrupts),
        count("messages", |one| one.messages),
        count("handlers", |one| one.handlers),
        float("waited", "cycles", |one| Some(one.waited)),
        float("occupancy", "cycles", |one| Some(one.occupancy)),
        float("state_miss", "cycles", |one| Some(one.state_miss)),
        Column::texts("no_result", rows.iter().map(|(_, obtained)| reason(obtained))),
    ])
}
