//! The predicted columns of Table V, cell by cell.

use super::super::predictions::{Policy, Predictions, Quantity};
use super::super::tables::{TableV, Workload};
use super::claim;
use crate::{Claim, Finding, Reading, ValueAt};

pub(super) fn all() -> Vec<Claim<Predictions>> {
    use Policy::{Attached, Heavy, Light};
    use Quantity::{Misses, Time};
    vec![
        column(
            "light-time",
            "Light affinity changes execution times as in Table V.",
            "−6.1, −4.2, +0.5, −10.3, −7.5, −1.6, −8.0 %",
            TIME,
            |p| less_published(p, Light, Time, |row| row.light[0]),
        ),
        column(
            "light-misses",
            "Light affinity changes misses as in Table V.",
            "−36.3, −13.4, −8.7, −11.8, −6.7, −6.5, −7.1 %",
            MISSES,
            |p| less_published(p, Light, Misses, |row| row.light[1]),
        ),
        column(
            "heavy-time",
            "Heavy affinity changes execution times as in Table V.",
            "−6.8, −6.6, −3.6, −2.5, −5.2, −1.2, −7.0 %",
            TIME,
            |p| less_published(p, Heavy, Time, |row| row.heavy[0]),
        ),
        column(
            "heavy-misses",
            "Heavy affinity changes misses as in Table V.",
            "−39.4, −18.3, −15.6, −15.6, −9.7, −8.0, −8.1 %",
            MISSES,
            |p| less_published(p, Heavy, Misses, |row| row.heavy[1]),
        ),
        column(
            "attached-time",
            "Attached scheduling changes execution times as in Table V.",
            "−1.1, +1.0, +11.0, +44.1, +45.9, +75.7, +15.6 %",
            TIME,
            |p| less_published(p, Attached, Time, |row| row.attached[0]),
        ),
        column(
            "attached-misses",
            "Attached scheduling changes misses as in Table V.",
            "−9.1, −15.7, +17.4, −13.4, −6.8, +1.8, −11.4 %",
            MISSES,
            |p| less_published(p, Attached, Misses, |row| row.attached[1]),
        ),
    ]
}

/// How many points a change of time may be off.
const TIME: f64 = 1.5;
/// How many points a change of misses may be off.
pub(super) const MISSES: f64 = 5.0;

fn column(
    id: &'static str,
    says: &'static str,
    published: &'static str,
    tolerance: f64,
    derive: fn(&Predictions) -> Option<Finding>,
) -> Claim<Predictions> {
    let section = if id.starts_with("attached") { "5.2" } else { "5.1" };
    let reading = (Reading::Within(tolerance), "points");
    claim(id, section, &["table-5"], says, published, reading, "our change less the published one", derive)
}

/// How far our changes under `policy` are from the published ones, at every workload of Table V.
fn less_published(
    predictions: &Predictions,
    policy: Policy,
    quantity: Quantity,
    published: fn(TableV) -> f64,
) -> Option<Finding> {
    let at = |workload: Workload| {
        let value = predictions.miss(workload, policy, quantity, published(workload.row()?))?;
        Some(ValueAt::new(workload.name(), value))
    };
    Finding::new(Workload::TABLE_V.into_iter().filter_map(at).collect(), "")
}
