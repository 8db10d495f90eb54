//! Everything that can be observed of a point.

use crate::document::AnyScenario;
use crate::failure::{Class, Failure};
use crate::figures::{self, Said};
use crate::interruptible::{interruptible, on_threads};
use crate::models::{Models, Observed};
use crate::profile::{chosen, named_by};
use crate::table::Table;
use pyo3::prelude::*;
use std::time::Instant;
use warmcore_record::{Column, Columns};
use warmcore_sim::packet::observe::{Observations, SlowerShare};
use warmcore_sim::packet::{Observed as Seen, Point};
use warmcore_study::observed::{NamedTable, tables};
use warmcore_units::Estimate;

/// Figures as JSON, the table of the point, and tables by name.
type Tables = (String, Table, Vec<(String, Table)>);

/// Simulates the packets of a JSON `document` and observes what the JSON `wanted` names; and the events of the first `events`
/// packets, if there are any; with `models` of one's own, if there are any. Returns the figures as JSON, the point's table, and the tables by name.
#[pyfunction]
#[pyo3(signature = (document, wanted, models, events = 0, profile = None))]
pub(crate) fn observe(
    py: Python<'_>,
    document: &str,
    wanted: &str,
    models: Models,
    events: u64,
    profile: Option<&str>,
) -> PyResult<Tables> {
    let AnyScenario::Packet(mut scenario) = AnyScenario::from_json("packet", document)? else {
        return Err(Failure::plain(Class::Scenario, "expected a scenario of packets").into());
    };
    let wanted: Observations = serde_json::from_str(wanted)
        .map_err(|error| Failure::plain(Class::Other, format!("not observations: {error}")))?;
    let costs = chosen(&scenario.profile, profile)?;
    named_by(&mut scenario.profile, &costs, profile);
    let began = Instant::now();
    let traffic = models.traffic(&mut scenario)?;
    let seen = if models.are_code() {
        let task = Observed { wanted: &wanted, events };
        models.run(py, &scenario, traffic, &costs, task).map_err(as_arguments)
    } else {
        interruptible(py, |stop| {
            on_threads(|| {
                let traffic = traffic.stopped_by(stop);
                let point = || Point::new(&scenario, &traffic, &costs);
                // Without events, nothing is recorded.
                let trace = (events > 0).then(|| point()?.events(events)).transpose()?;
                let (result, observed) = match wanted.is_empty() {
                    true => (point()?.simulate()?, Seen::default()),
                    false => point()?.observe(&wanted)?,
                };
                Ok((result, observed, trace))
            })
        })
        .map_err(as_arguments)
    };
    let (result, observed, trace) = seen?;
    let Said { mut figures, table } = Said::of_point(&scenario, models.policy_name.as_deref(), &result)?;
    figures.set_wall_time(began.elapsed().as_secs_f64());
    let broken = |error: &dyn std::fmt::Display| Failure::Broken(error.to_string());
    let mut named = Vec::new();
    for NamedTable { name, columns } in tables(&observed).map_err(|error| broken(&error))? {
        named.push((name.to_owned(), Table::new(columns)?));
    }
    if let Some(slower) = &observed.slower {
        named.push(("slower".to_owned(), Table::new(figures::table(slower_columns(slower))?)?));
    }
    if let Some(trace) = trace {
        let columns = Columns::new(trace.columns()).map_err(|error| broken(&error))?;
        named.push(("events".to_owned(), Table::new(columns)?));
    }
    Ok((figures.to_json()?, Table::new(table)?, named))
}

/// The share of packets that take longer than a limit.
fn slower_columns(slower: &SlowerShare) -> Vec<Column> {
    let share = Estimate { mean: slower.share, half_width: slower.half_width };
    let mut columns = vec![Column::floats("limit", "ns", [Some(slower.limit_ns)])];
    columns.extend(figures::estimates("share", "", &[share]));
    columns
}

/// The fault of an observation, by the name of its argument in Python.
fn as_arguments(failure: Failure) -> Failure {
    let argument = |field: &str| match field {
        "slower_than" => Some("slower_than_ns"),
        "time_series" => Some("window_ns"),
        "event_packets" => Some("events"),
        _ => None,
    };
    failure.with_field(argument)
}
