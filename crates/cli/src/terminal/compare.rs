//! A comparison in a terminal.

use super::{estimate, table};
use warmcore_study::compare::Compared;
use warmcore_study::compare::present::percent;
use warmcore_units::PerSecond;

/// Every point of `all`.
pub(crate) fn summary(all: &[Compared]) -> String {
    let mut table = table(["scheduling", "load", "predicted", "measured", "error", "most of it", "left out"]);
    for compared in all {
        for point in &compared.points {
            let delay = |figures: Option<&warmcore_study::compare::point::Figures>| {
                figures.map_or_else(|| "not known".to_owned(), |figures| estimate(&figures.delay))
            };
            let error = point.error().map_or_else(String::new, |error| percent(&error));
            table.add_row([
                compared.scheduling.to_string(),
                format!("{:.0}%", point.load * 100.0),
                delay(point.predicted.as_ref()),
                delay(point.measured.as_ref()),
                error,
                point.term().map_or_else(String::new, |term| term.to_string()),
                format!("{:.0}%", point.disturbed * 100.0),
            ]);
        }
    }
    let mut text = format!("\n{table}\n");
    for compared in all {
        let costs = compared.points.iter().map(|point| compared.overheads.at(point.rate).deciding);
        let costs: Vec<String> = costs.map(|deciding| estimate(&deciding)).collect();
        let turning = compared.overheads.at(PerSecond(f64::INFINITY)).turning;
        text += &format!(
            "{}: by load, deciding costs {}; turning to a packet {}\n",
            compared.scheduling,
            costs.join(", "),
            estimate(&turning)
        );
    }
    text
}
