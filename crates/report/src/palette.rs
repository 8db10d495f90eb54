//! Colours and patterns that can be distinguished without colour vision and in greyscale.
//!
//! The colours are those of Okabe & Ito ("Color Universal Design", 2008) without their yellow, which is too
//! light for a line on white; the darker ones come first. The style sheet defines them, once for light mode
//! and once for dark mode. Within a group of the legend every colour has its own marker shape, and patterns
//! differ by dash and hatching, so nothing depends on colour alone. Levels of a quantity are steps of one hue, the more the
//! further from the paper, and have their numbers written into them.

use warmcore_record::chart::{Look, Style};

const COLOURS: [&str; 7] = [
    "var(--series-0)",
    "var(--series-1)",
    "var(--series-2)",
    "var(--series-3)",
    "var(--series-4)",
    "var(--series-5)",
    "var(--series-6)",
];
const DASHES: [&str; 4] = ["solid", "9px,4px", "2px,3px", "9px,3px,2px,3px"];
const MARKERS: [Marker; 12] = [
    Marker { symbol: "circle", outline: "M20 7 m-4 0 a4 4 0 1 0 8 0 a4 4 0 1 0 -8 0 Z" },
    Marker { symbol: "square", outline: "M16.3 3.3 H23.7 V10.7 H16.3 Z" },
    Marker { symbol: "diamond", outline: "M20 1.8 L25.2 7 L20 12.2 L14.8 7 Z" },
    Marker { symbol: "triangle-up", outline: "M20 2.2 L24.9 11 H15.1 Z" },
    Marker { symbol: "cross", outline: "M18.4 2.4 h3.2 v3 h3 v3.2 h-3 v3 h-3.2 v-3 h-3 v-3.2 h3 Z" },
    Marker { symbol: "triangle-down", outline: "M20 11.8 L24.9 3 H15.1 Z" },
    Marker {
        symbol: "star-diamond",
        outline: "M20 1 L21.8 5.2 L26 7 L21.8 8.8 L20 13 L18.2 8.8 L14 7 L18.2 5.2 Z",
    },
    Marker {
        symbol: "x",
        outline: "M16 4.6 L17.6 3 L20 5.4 L22.4 3 L24 4.6 L21.6 7 L24 9.4 L22.4 11 L20 8.6 L17.6 11 L16 9.4 L18.4 7 Z",
    },
    Marker { symbol: "hourglass", outline: "M15.5 2.5 H24.5 L15.5 11.5 H24.5 Z" },
    Marker { symbol: "bowtie", outline: "M15.5 2.5 V11.5 L24.5 2.5 V11.5 Z" },
    Marker { symbol: "pentagon", outline: "M20 2 L25 5.6 L23.1 11.5 H16.9 L15 5.6 Z" },
    Marker {
        symbol: "star",
        outline: "M20 1 L21.5 5.2 H26 L22.4 7.9 L23.7 12.2 L20 9.6 L16.3 12.2 L17.6 7.9 L14 5.2 H18.5 Z",
    },
];
const HATCHES: [Hatch; 4] = [
    Hatch { shape: "", lines: "" },
    Hatch { shape: "/", lines: "M8 14 L20 0 M16 14 L28 0 M24 14 L36 0" },
    Hatch { shape: ".", lines: "M12 4 h2 M20 4 h2 M28 4 h2 M16 10 h2 M24 10 h2" },
    Hatch { shape: "x", lines: "M8 14 L20 0 M18 14 L30 0 M28 14 L34 7 M20 14 L8 0 M30 14 L18 0" },
];

struct Marker {
    /// Its name in the charting library.
    symbol: &'static str,
    /// The SVG path of its swatch.
    outline: &'static str,
}

struct Hatch {
    /// Its name in the charting library.
    shape: &'static str,
    /// The SVG path of its swatch.
    lines: &'static str,
}

/// How many levels of a quantity have a colour of their own: `--heat-0` and so on in the style sheet.
pub(crate) const HEAT_LEVELS: usize = 5;

/// A sample of a level's colour, as inline SVG.
pub(crate) fn heat_swatch(level: usize) -> String {
    let level = level.min(HEAT_LEVELS - 1);
    format!(
        r#"<svg viewBox="0 0 14 14" aria-hidden="true"><rect width="14" height="14" rx="2" fill="var(--heat-{level})"/></svg>"#
    )
}

/// The appearance of a series. Colours are variables of the style sheet.
#[derive(Clone, Copy)]
pub(crate) struct Appearance {
    pub(crate) colour: &'static str,
    pub(crate) dash: &'static str,
    pub(crate) marker: &'static str,
    pub(crate) hatch: &'static str,
    outline: &'static str,
    hatching: &'static str,
}

/// The look of the series at index `place`, for charts that ask for none.
pub(crate) fn look_of_place(place: usize) -> Look {
    Look { colour: place, pattern: place }
}

/// The appearance of `look`, with the marker of this index.
pub(crate) fn appearance(look: Look, marker: usize) -> Appearance {
    let marker = &MARKERS[marker % MARKERS.len()];
    let hatch = &HATCHES[look.pattern % HATCHES.len()];
    Appearance {
        colour: COLOURS[look.colour % COLOURS.len()],
        dash: DASHES[look.pattern % DASHES.len()],
        marker: marker.symbol,
        hatch: hatch.shape,
        outline: marker.outline,
        hatching: hatch.lines,
    }
}

impl Appearance {
    /// The colour with the opacity of a shaded band.
    pub(crate) fn band(&self) -> String {
        format!("{}33", self.colour)
    }

    /// The marker; hollow if a precision target was missed.
    pub(crate) fn symbol(&self, hollow: bool) -> String {
        format!("{}{}", self.marker, if hollow { "-open" } else { "" })
    }

    /// A sample of the series for the legend, as inline SVG.
    pub(crate) fn swatch(&self, style: Style) -> String {
        let drawn = match style {
            Style::Bars => self.bar(),
            Style::Curve => self.line(),
            Style::Points => self.marker(),
            Style::Line => self.line() + &self.marker(),
        };
        format!(r#"<svg class="swatch" viewBox="0 0 40 14" aria-hidden="true">{drawn}</svg>"#)
    }

    fn line(&self) -> String {
        let colour = self.colour;
        let dashes = self.dash.replace("solid", "").replace("px", "");
        format!(r#"<path d="M1 7H39" stroke="{colour}" stroke-width="2.4" stroke-dasharray="{dashes}"/>"#)
    }

    fn marker(&self) -> String {
        let Self { colour, outline, .. } = self;
        format!(r##"<path d="{outline}" fill="{colour}" stroke="var(--paper)" stroke-width="0.8"/>"##)
    }

    fn bar(&self) -> String {
        let Self { colour, hatching, .. } = self;
        let bar = format!(r#"<rect x="8" y="0" width="24" height="14" fill="{colour}"/>"#);
        format!(r##"{bar}<path d="{hatching}" stroke="var(--paper)" stroke-width="1.6"/>"##)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_dozen_series_in_order_are_told_apart_by_dash_and_marker_alone() {
        let looks: BTreeSet<_> = (0..12)
            .map(|place| appearance(look_of_place(place), place))
            .map(|appearance| (appearance.dash, appearance.marker))
            .collect();
        assert_eq!(looks.len(), 12);
    }
}
