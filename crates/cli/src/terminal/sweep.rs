//! The summary of a sweep, curve by curve.

use super::{OF_THE_SIMULATION, estimate, table};
use warmcore_sim::packet::{Outcome, PointResult};
use warmcore_study::sweep::Swept;

/// The capacity of each curve, and its delay at the lowest and at the highest rate.
pub(crate) fn summary(swept: &Swept) -> String {
    let header = [
        "scheduling",
        "processors",
        "batch",
        "capacity",
        "mean delay, lowest rate",
        "highest rate kept up with",
    ];
    let mut table = table(header);
    for curve in swept.curves() {
        let Some((scenario, result)) = curve.first() else { continue };
        // A trace ends, and so has a delay at any rate.
        let is_kept_up_with =
            |result: &PointResult| result.capture.is_none() || result.rate.0 <= result.capacity.rate.mean.0;
        let known = |result: &PointResult| {
            let outcome = result.outcome.and_then(Outcome::steady)?;
            is_kept_up_with(result).then_some((result.rate, outcome.delay))
        };
        let mut steady: Vec<_> = curve.iter().filter_map(|(_, result)| known(result)).collect();
        steady.sort_by(|one, other| one.0.0.total_cmp(&other.0.0));
        let [lowest, highest] = [steady.first(), steady.last()].map(|point| {
            let shown = point.map(|(rate, delay)| format!("{} at {rate}", estimate(delay)));
            shown.unwrap_or_else(|| "none known".to_owned())
        });
        table.add_row([
            scenario.scheduling.to_string(),
            scenario.processors.to_string(),
            scenario.traffic.batch.mean.to_string(),
            estimate(&result.capacity.rate),
            lowest,
            highest,
        ]);
    }
    format!("\n{table}\n{OF_THE_SIMULATION}\n")
}
