//! The shading behind a chart's curves, which shows where each piece of advice holds.

use crate::decide;
use warmcore_record::chart::{Direction, Mark, Region, View};

/// A view with the advice's regions of load, each named by what to use there, and the intervals of their
/// borders between them. If a border is not determined only its estimate is marked.
pub(super) fn shading(advised: &[decide::Region]) -> View {
    let within = |region: &decide::Region| region.border.and_then(|border| border.within);
    let mut view = View::default();
    for (index, region) in advised.iter().enumerate() {
        let interval = within(region);
        let begin = interval.map_or(region.from, |[_, high]| high);
        let end = advised.get(index + 1).and_then(within).map_or(region.to, |[low, _]| low);
        if let Some([low, high]) = interval {
            view.regions.push(Region { label: "either".to_owned(), from: low.0, to: high.0 });
        }
        view.regions.push(Region { label: region.best.to_string(), from: begin.0, to: end.0 });
        let undetermined = region.border.filter(|border| border.within.is_none());
        view.marks.extend(undetermined.map(|border| Mark {
            label: "border not determined".to_owned(),
            axis: Direction::X,
            at: border.at.0,
        }));
    }
    view
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decide::Border;
    use warmcore_scenario::Combination;
    use warmcore_units::PerSecond;

    fn region(from: f64, to: f64, within: Option<[f64; 2]>) -> decide::Region {
        let border = Border { at: PerSecond(from), within: within.map(|ends| ends.map(PerSecond)) };
        decide::Region {
            border: (from > 1.0).then_some(border),
            ..decide::Region::between(from, to, Combination::COMMON_DEFAULT, 1)
        }
    }

    #[test]
    fn the_interval_of_a_border_lies_between_its_regions() {
        let view = shading(&[region(1.0, 100.0, None), region(100.0, 1e4, Some([60.0, 300.0]))]);
        let spans: Vec<(f64, f64)> = view.regions.iter().map(|region| (region.from, region.to)).collect();
        assert_eq!(spans, [(1.0, 60.0), (60.0, 300.0), (300.0, 1e4)]);
        assert_eq!(view.regions[1].label, "either");
        assert!(view.marks.is_empty());
    }

    #[test]
    fn an_undetermined_border_is_marked_as_such() {
        let view = shading(&[region(1.0, 100.0, None), region(100.0, 1e4, None)]);
        assert_eq!(view.regions.len(), 2);
        assert!(view.marks.len() == 1 && view.marks[0].label.contains("not determined"));
    }
}
