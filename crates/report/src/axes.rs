//! Axes as the charting library needs them: a heading with the unit, a range, and readable ticks.

use crate::numbers;
use crate::text::{markup, wrapped};
use serde_json::{Value, json};
use warmcore_record::chart::{Axis, Direction, Scale, Unit};

const INK: &str = "var(--ink)";
const GRID: &str = "var(--grid)";
/// Characters in a line of a category's name on a vertical axis.
const NAME: usize = 24;

/// The least and the greatest positive value that an axis must show.
pub(crate) type Extent = (f64, f64);

/// An axis with the metric prefix in which its values are drawn.
///
/// On a linear axis all ticks have one prefix, which the heading names; the values of the view are divided by
/// it. On a logarithmic axis each tick has its own prefix.
pub(crate) struct DrawnAxis<'a> {
    axis: &'a Axis,
    direction: Direction,
    prefix: &'static str,
    factor: f64,
}

impl<'a> DrawnAxis<'a> {
    /// The axis for `values`, which must be all values that the view can show on it.
    pub(crate) fn new(axis: &'a Axis, direction: Direction, values: impl Iterator<Item = f64>) -> Self {
        let largest = values.map(f64::abs).fold(0.0, f64::max);
        let (prefix, factor) = match axis.scale {
            Scale::Linear if axis.unit.prefixed => numbers::prefix_for(largest),
            _ => ("", 1.0),
        };
        Self { axis, direction, prefix, factor }
    }

    /// Where `value` is drawn, in the library's coordinates.
    pub(crate) fn place(&self, value: f64) -> f64 {
        value / self.factor
    }

    /// Roughly how far along the axis `value` is drawn, from 0 to 1. A linear axis may begin slightly below
    /// the values and end slightly above them.
    pub(crate) fn fraction(&self, value: f64, extent: Extent) -> f64 {
        let (value, [from, to]) = match (self.is_log(), self.direction) {
            (true, _) => (value.log10(), log_range(extent)),
            (false, Direction::X) => (value, [extent.0, extent.1]),
            (false, Direction::Y) if self.names().is_some() => (value, [extent.1 + 0.5, -0.5]),
            (false, Direction::Y) => (value, [0.0, extent.1 * 1.06]),
        };
        (value - from) / (to - from)
    }

    /// The names of its categories, if it has categories.
    pub(crate) fn names(&self) -> Option<&[String]> {
        match &self.axis.scale {
            Scale::Categories(names) => Some(names),
            Scale::Linear | Scale::Log => None,
        }
    }

    pub(crate) fn is_log(&self) -> bool {
        self.axis.scale == Scale::Log
    }

    /// Quantity and unit. If the ticks carry the unit, the heading does not.
    pub(crate) fn heading(&self) -> String {
        let symbol = format!("{}{}", self.prefix, self.axis.unit.symbol);
        if symbol.is_empty() || (self.is_log() && self.axis.unit.prefixed) {
            return self.axis.label.clone();
        }
        format!("{} ({symbol})", self.axis.label)
    }

    /// The library's options for a view whose values on this axis lie within `extent`.
    pub(crate) fn options(&self, extent: Option<Extent>) -> Value {
        let across = self.direction == Direction::X;
        let mut options = json!({
            "automargin": true, "zeroline": false, "showline": across, "linecolor": INK, "linewidth": 1.2,
            "showgrid": true, "gridcolor": GRID, "ticks": if across { "outside" } else { "" }, "ticklen": 5,
            "tickcolor": INK, "separatethousands": true, "exponentformat": "none",
        });
        if across {
            let font = json!({ "size": 13.5, "weight": 600 });
            options["title"] = json!({ "text": markup(&self.heading()), "standoff": 12, "font": font });
        }
        match (&self.axis.scale, extent) {
            (Scale::Linear, _) if across => {}
            (Scale::Linear, _) => options["rangemode"] = json!("tozero"),
            (Scale::Log, Some(extent)) => self.set_log_options(&mut options, extent),
            (Scale::Log, None) => options["type"] = json!("log"),
            (Scale::Categories(names), _) => {
                options["tickvals"] = (0..names.len()).collect();
                // Side by side there is little room for each name; one below the other, the first is at the top.
                let width = if across { 7 } else { NAME };
                options["ticktext"] = names.iter().map(|name| wrapped(name, width)).collect();
                options["showgrid"] = json!(!across);
                if !across {
                    options["range"] = json!([names.len() as f64 - 0.5, -0.5]);
                    options["ticklabelstandoff"] = json!(4);
                }
                options["ticks"] = json!("");
            }
        }
        options
    }

    fn set_log_options(&self, options: &mut Value, extent: Extent) {
        let range = log_range(extent);
        let ticks = log_ticks(range, self.direction);
        options["type"] = json!("log");
        options["range"] = json!(range);
        options["tickvals"] = json!(ticks);
        options["ticktext"] = ticks.iter().map(|tick| markup(&self.tick(*tick))).collect();
        // Used when the reader has zoomed in between two ticks.
        options["tickformat"] = json!("~s");
        options["ticksuffix"] = json!(markup(&self.axis.unit.symbol));
    }

    fn tick(&self, value: f64) -> String {
        let bare = Unit::plain("");
        numbers::value(value, if self.axis.unit.prefixed { &self.axis.unit } else { &bare })
    }
}

/// The decimal logarithms of the range that is drawn: `extent` with a margin.
pub(crate) fn log_range((from, to): Extent) -> [f64; 2] {
    let (from, to) = (from.log10(), to.log10());
    let room = ((to - from) * 0.035).max(0.03);
    [from - room, to + room]
}

/// Whole powers of ten, and values between them if there is room.
fn log_ticks([from, to]: [f64; 2], direction: Direction) -> Vec<f64> {
    let roomy = if direction == Direction::X { 2.5 } else { 4.0 };
    let mantissas: &[f64] = match to - from {
        span if span < 0.8 => &[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0],
        span if span < roomy => &[1.0, 2.0, 5.0],
        _ => &[1.0],
    };
    let mut ticks = Vec::new();
    let mut decade = from.floor();
    while decade <= to {
        ticks.extend(mantissas.iter().map(|mantissa| mantissa * 10_f64.powf(decade)));
        decade += 1.0;
    }
    ticks.retain(|tick| (from..=to).contains(&tick.log10()));
    ticks
}

/// A value of an axis in words: a category's name, or the value with its unit.
pub(crate) fn in_words(axis: &Axis, value: f64) -> String {
    match &axis.scale {
        Scale::Categories(names) => {
            let named = names.iter().zip(0_u32..).find(|(_, index)| f64::from(*index) == value);
            named.map_or_else(|| value.to_string(), |(name, _)| name.clone())
        }
        Scale::Linear | Scale::Log => numbers::value(value, &axis.unit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_linear_axis_names_its_prefix_once() {
        let axis = Axis::linear("Time", Unit::seconds());
        let drawn = DrawnAxis::new(&axis, Direction::Y, [1.2e-6, 4.5e-6].into_iter());
        assert_eq!(drawn.heading(), "Time (µs)");
        assert!((drawn.place(4.5e-6) - 4.5).abs() < 1e-12);
    }

    #[test]
    fn a_logarithmic_axis_has_ticks_with_units_of_their_own() {
        let axis = Axis::log("Rate", Unit::per_second());
        let drawn = DrawnAxis::new(&axis, Direction::X, [400.0, 6e6].into_iter());
        let options = drawn.options(Some((400.0, 6e6)));
        assert_eq!(drawn.heading(), "Rate");
        assert_eq!(options["ticktext"], json!(["1 k/s", "10 k/s", "100 k/s", "1 M/s"]));
    }

    #[test]
    fn even_a_narrow_logarithmic_axis_has_ticks() {
        for extent in [(3.1, 4.9), (1.0, 1.0), (0.11, 0.12), (1e-9, 1e9)] {
            let range = log_range(extent);
            assert!(range[0] < extent.0.log10() && extent.1.log10() < range[1]);
        }
        assert_eq!(log_ticks(log_range((3.1, 4.9)), Direction::Y), [3.0, 4.0, 5.0]);
    }
}
