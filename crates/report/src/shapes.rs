//! Shapes drawn behind the data: named intervals and named values.

use crate::axes::{self, DrawnAxis, Extent};
use crate::text::{markup, wrapped};
use serde_json::{Value, json};
use warmcore_record::chart::{Direction, Mark, Region};

const SHADES: [&str; 2] = ["var(--region)", "var(--paper)"];
const QUIET: &str = "var(--soft)";

/// The intervals, shaded and white in turn, clipped to what the axis shows of `extent`.
pub(crate) fn regions(regions: &[Region], x: &DrawnAxis<'_>, extent: Option<Extent>) -> Vec<Value> {
    let Some(extent) = extent else { return Vec::new() };
    let [from, to] = if x.is_log() {
        axes::log_range(extent).map(|logarithm| 10_f64.powf(logarithm))
    } else {
        extent.into()
    };
    let cut = regions.iter().map(|region| (region, region.from.max(from), region.to.min(to)));
    let visible = cut.filter(|(_, from, to)| from < to).zip(SHADES.into_iter().cycle());
    visible
        .map(|((region, left, right), shade)| {
            let share = x.fraction(right, extent) - x.fraction(left, extent);
            interval(&label(region, share), [left, right].map(|v| x.place(v)), shade)
        })
        .collect()
}

/// The name of a region that takes up `share` of the width, in lines that fit on a phone; empty if not even a
/// short word fits.
fn label(region: &Region, share: f64) -> String {
    const LETTERS_ACROSS: f64 = 46.0;
    const SHORT_WORD: usize = 5;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share is from 0 to 1")]
    let letters = (share.clamp(0.0, 1.0) * LETTERS_ACROSS) as usize;
    if letters < SHORT_WORD { String::new() } else { wrapped(&region.label, letters) }
}

fn interval(label: &str, [from, to]: [f64; 2], shade: &str) -> Value {
    json!({
        "type": "rect", "layer": "below", "xref": "x", "x0": from, "x1": to, "yref": "paper", "y0": 0, "y1": 1,
        "fillcolor": shade, "line": { "width": 0 },
        "label": { "text": label, "textposition": "top center", "font": { "size": 12, "color": QUIET } },
    })
}

/// A dashed line across the chart at the fraction `at` of the axis. Its label is placed where it covers the
/// least of `data`, which are the drawn points as fractions of the plot's width and height.
pub(crate) fn mark(mark: &Mark, place: f64, at: f64, data: &[(f64, f64)]) -> Value {
    let across = mark.axis == Direction::Y;
    let (x0, x1, y0, y1) = if across { (0.0, 1.0, place, place) } else { (place, place, 0.0, 1.0) };
    let (xref, yref) = if across { ("paper", "y") } else { ("x", "paper") };
    let (xanchor, yanchor, position) = match across {
        true => roomiest(at, data),
        // The label is at the foot of the line, on the side that has room, since regions are named at the
        // top.
        false if at > 0.6 => ("right", "bottom", "start"),
        false => ("left", "bottom", "start"),
    };
    json!({
        "type": "line", "layer": "below", "xref": xref, "yref": yref, "x0": x0, "x1": x1, "y0": y0, "y1": y1,
        "line": { "color": QUIET, "width": 1.3, "dash": "4px,4px" },
        "label": {
            "text": markup(&mark.label), "textposition": position, "textangle": 0, "xanchor": xanchor,
            "yanchor": yanchor, "font": { "size": 12, "color": QUIET },
        },
    })
}

/// Points on the line through `corners`, close enough together that a label over the line covers at least
/// one.
pub(crate) fn path(corners: &[(f64, f64)]) -> Vec<(f64, f64)> {
    const STEPS: u32 = 16;
    let between = |pair: &[(f64, f64)]| {
        let [(x0, y0), (x1, y1)] = [pair[0], pair[1]];
        (0..STEPS)
            .map(move |step| f64::from(step) / f64::from(STEPS))
            .map(move |way| (x0 + way * (x1 - x0), y0 + way * (y1 - y0)))
    };
    corners.windows(2).flat_map(between).chain(corners.last().copied()).collect()
}

/// The place at a horizontal line where a label covers the fewest points: anchors and position, for the
/// library.
fn roomiest(at: f64, data: &[(f64, f64)]) -> (&'static str, &'static str, &'static str) {
    const LABEL: (f64, f64) = (0.3, 0.08);
    let places = [
        ("right", "bottom", "end"),
        ("left", "bottom", "start"),
        ("right", "top", "end"),
        ("left", "top", "start"),
    ];
    let covered = |(xanchor, yanchor, _): &(&str, &str, &str)| {
        let beside = |x: f64| if *xanchor == "left" { x <= LABEL.0 } else { x >= 1.0 - LABEL.0 };
        let height = |y: f64| if *yanchor == "bottom" { y - at } else { at - y };
        data.iter().filter(|(x, y)| beside(*x) && (-0.02..LABEL.1).contains(&height(*y))).count()
    };
    // Of places with equal room the first is taken: above the line, at its right end.
    places.into_iter().min_by_key(covered).unwrap_or(places[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_gives_way_to_the_data() {
        assert_eq!(roomiest(0.5, &[]), ("right", "bottom", "end"));
        assert_eq!(roomiest(0.5, &[(0.95, 0.53)]), ("left", "bottom", "start"));
        assert_eq!(roomiest(0.5, &[(0.95, 0.53), (0.05, 0.53)]), ("right", "top", "end"));
    }

    #[test]
    fn a_steep_line_is_met_between_its_corners() {
        let steep = path(&[(0.9, 0.1), (0.95, 0.9)]);
        assert_eq!(roomiest(0.5, &steep), ("left", "bottom", "start"));
        assert_eq!(path(&[(0.5, 0.5)]), [(0.5, 0.5)]);
    }
}
