//! A comparison in a terminal.

use super::{estimate, table};
use warmcore_study::compare::Compared;
use warmcore_study::compare::overheads::RuntimeCosts;
use warmcore_study::compare::present::{load, meaning_of_marks, percent};
use warmcore_units::{Estimate, Nanos};

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
                load(point),
                delay(point.predicted.as_ref()),
                delay(point.measured.as_ref()),
                error,
                point.term().map_or_else(String::new, |term| term.to_string()),
                format!("{:.0}%", point.disturbed * 100.0),
            ]);
        }
    }
    let mut text = format!("\n{table}\n");
    for meaning in meaning_of_marks(all) {
        text += &format!("{meaning}\n");
    }
    for compared in all {
        let by_load = |cost: fn(&RuntimeCosts) -> Estimate<Nanos>| {
            let costs = compared.points.iter().map(|point| estimate(&cost(&point.costs)));
            costs.collect::<Vec<_>>().join(", ")
        };
        text += &format!(
            "{}: by load, deciding costs {}; turning to a packet {}\n",
            compared.scheduling,
            by_load(|costs| costs.deciding),
            by_load(|costs| costs.turning)
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use warmcore_scenario::Scheduling;
    use warmcore_study::compare::point::ComparedPoint;
    use warmcore_units::PerSecond;

    #[test]
    fn a_point_at_another_distance_is_marked_and_the_mark_explained() {
        let nothing = Estimate::new(Nanos::ZERO, Nanos::ZERO);
        let point = |load: f64, near: bool| ComparedPoint {
            load,
            rate: PerSecond(1.0),
            predicted: None,
            measured: None,
            costs: RuntimeCosts { deciding: nothing, turning: nothing },
            disturbed: 0.0,
            rehearsal_disturbed: 0.0,
            near,
        };
        let capacity = Estimate::new(PerSecond(1.0), PerSecond(0.0));
        let compared = |points| Compared { scheduling: Scheduling::default(), capacity, points };
        let text = summary(&[compared(vec![point(0.2, true), point(0.6, false)])]);
        assert!(text.contains("60% ‡") && !text.contains("20% ‡"), "{text}");
        assert_eq!(text.lines().filter(|line| line.starts_with('‡')).count(), 1, "{text}");
        assert!(!summary(&[compared(vec![point(0.2, true)])]).contains('‡'));
    }
}
