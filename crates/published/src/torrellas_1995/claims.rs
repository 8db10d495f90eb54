//! The claims of the text, how they are read, and how our values are derived.
//!
//! Tables are compared cell by cell: a claim holds all cells of a column, each the difference of our value from the published
//! one. A difference within the tolerance counts as stated. Claims about the standard scheduler are no predictions: the models were
//! fitted to it, and the open parameters chosen by it.

mod affinity;
mod alternatives;
mod columns;
mod tables;

use super::predictions::{Policy, Predictions, Quantity};
use super::tables::Workload;
use crate::{Basis, Claim, Finding, Reading, Value, ValueAt};

const ALL: &[Workload] = &Workload::TABLE_V;
const MATRICES: &[Workload] = &[Workload::MatrixMatrix];
/// Where two processes share a processor, and rarely block.
const CALM: &[Workload] = &[Workload::MatrixMatrix, Workload::MatrixCholesky];
const ORACLE: &[Workload] = &[Workload::Oracle];

/// All claims: first the tables, then what the text says of them.
#[must_use]
pub fn all() -> Vec<Claim<Predictions>> {
    [tables::all(), columns::all(), affinity::all(), alternatives::all()].concat()
}

/// A prediction, from its id, section, figure, statement, published value, reading, unit, recipe and derivation.
#[expect(clippy::too_many_arguments, reason = "the fields of a claim, which each have a type of their own")]
fn claim(
    id: &'static str,
    section: &'static str,
    needs: &'static [&'static str],
    says: &'static str,
    published: &'static str,
    (reading, unit): (Reading, &'static str),
    recipe: &'static str,
    derive: fn(&Predictions) -> Option<Finding>,
) -> Claim<Predictions> {
    let (basis, contradicts) = (Basis::Prediction, None);
    Claim { id, section, needs, says, published, reading, unit, recipe, basis, derive, contradicts }
}

/// By how many percent time or misses under `policy` are below those under `base`, at each of `workloads`.
fn savings(
    predictions: &Predictions,
    workloads: &[Workload],
    policy: Policy,
    base: Policy,
    quantity: Quantity,
) -> Option<Finding> {
    let at = |&workload: &Workload| {
        let Value { mean, low, high } = predictions.change(workload, policy, base, quantity)?.into();
        Some(ValueAt::new(workload.name(), Value { mean: -mean, low: -high, high: -low }))
    };
    Finding::new(workloads.iter().filter_map(at).collect(), "")
}

/// By how many percent the time under `policy` exceeds that of the standard scheduler.
fn slower(predictions: &Predictions, policy: Policy, workloads: &[Workload]) -> Option<Finding> {
    let at = |&workload: &Workload| {
        let change = predictions.change(workload, policy, Policy::Standard, Quantity::Time)?;
        Some(ValueAt::new(workload.name(), change))
    };
    Finding::new(workloads.iter().filter_map(at).collect(), "")
}

/// By how many points of idle time `policy` exceeds `base`, at each of `workloads`.
fn more_idle(
    predictions: &Predictions,
    workloads: &[Workload],
    policy: Policy,
    base: Policy,
) -> Option<Finding> {
    let at = |&workload: &Workload| {
        let [one, base] = [policy, base].map(|policy| {
            let outcome = predictions.outcomes.get(&(workload, policy))?;
            Some(outcome.runs.iter().map(|run| 100.0 * run.idle).collect::<Vec<f64>>())
        });
        let interval = warmcore_stats::paired::difference(&one?, &base?)?;
        let value = warmcore_units::Estimate::new(interval.mean, interval.half_width);
        Some(ValueAt::new(workload.name(), value))
    };
    Finding::new(workloads.iter().filter_map(at).collect(), "")
}
