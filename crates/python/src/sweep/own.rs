//! The points of a grid under models of one's own, which no other process can be handed.

use super::Plan;
use crate::failure::Failure;
use crate::interruptible::{interruptible, on_threads};
use crate::models::{Models, Simulated};
use crate::table::Table;
use pyo3::prelude::*;
use warmcore_record::dataset::Row;
use warmcore_sim::packet::Point;
use warmcore_study::grid::Plan as Checked;

/// The figures of one point.
#[pyclass(frozen, module = "warmcore._native")]
pub(crate) struct OwnRow {
    index: u64,
    row: Row,
}

/// Simulates the point of this `index` of a plan of packets with `models` of one's own.
#[pyfunction]
pub(crate) fn grid_row(py: Python<'_>, plan: &Plan, index: u64, models: Models) -> PyResult<OwnRow> {
    let (mut scenario, traffic, profile) =
        interruptible(py, |_| on_threads(|| Ok(plan.plan.point(index)?)))?;
    let traffic = if models.has_arrivals() { models.traffic(&mut scenario)? } else { traffic };
    let result = if models.are_code() {
        models.run(py, &scenario, traffic, profile, Simulated)
    } else {
        interruptible(py, |stop| {
            let traffic = traffic.stopped_by(stop);
            on_threads(|| Ok(Point::new(&scenario, &traffic, profile)?.simulate()?))
        })
    }?;
    Ok(OwnRow { index, row: Checked::row_of(&result) })
}

/// The table of `rows`: the fields that are varied, and the figures, as a sweep's data set has them.
#[pyfunction]
pub(crate) fn grid_table(plan: &Plan, rows: Vec<Py<OwnRow>>) -> PyResult<Table> {
    let rows = rows.iter().map(|row| (row.get().index, row.get().row.clone())).collect();
    let columns = plan.plan.table(rows).map_err(|error| Failure::Broken(error.to_string()))?;
    Ok(Table::new(columns)?)
}
