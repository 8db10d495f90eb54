//! A chart as the charting library needs it: the traces and the layout of each view.
//!
//! The page's script combines the two (`templates/charts.js`). All text is ready to be shown, so the script
//! formats nothing. Colours are variables of the style sheet, which the script looks up, since they differ in
//! dark mode.

use crate::axes::{self, DrawnAxis, Extent};
use crate::legend::{self, Legend};
use crate::numbers;
use crate::palette::Appearance;
use crate::shapes;
use crate::text::{markup, wrapped};
use serde::Serialize;
use serde_json::{Map, Value, json};
use warmcore_record::chart::{Chart, Direction, Mark, Point, Series, Style, View};

const INK: &str = "var(--ink)";
const PAPER: &str = "var(--paper)";
const FONT: &str = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";

/// Height of a category's row on a vertical axis, and of everything above and below the rows, in pixels.
const ROW: usize = 34;
const FRAME: usize = 110;

/// What the page's script reads for one chart.
#[derive(Serialize)]
pub(crate) struct DrawnChart {
    views: Vec<DrawnView>,
}

#[derive(Serialize)]
struct DrawnView {
    picks: Vec<usize>,
    traces: Vec<Value>,
    /// The layout for the series that are shown at first.
    layout: Value,
    /// The layout after the reader has switched on hidden series; `None` if none is hidden.
    wide: Option<Value>,
}

/// Everything needed to draw a view.
struct Drawing<'a> {
    chart: &'a Chart,
    legend: &'a Legend<'a>,
    view: &'a View,
    x: DrawnAxis<'a>,
    y: DrawnAxis<'a>,
}

impl DrawnChart {
    pub(crate) fn new(chart: &Chart, legend: &Legend<'_>) -> Self {
        let view = |view| {
            let drawing = Drawing::new(chart, legend, view);
            let hides = view.series.iter().any(|series| !drawing.is_shown(series));
            DrawnView {
                picks: view.picks.clone(),
                traces: drawing.traces(),
                layout: drawing.layout(|series| drawing.is_shown(series)),
                wide: hides.then(|| drawing.layout(|_| true)),
            }
        };
        Self { views: chart.views.iter().map(view).collect() }
    }
}

impl<'a> Drawing<'a> {
    fn new(chart: &'a Chart, legend: &'a Legend<'a>, view: &'a View) -> Self {
        let points = || view.series.iter().flat_map(drawable);
        let x = DrawnAxis::new(&chart.x, Direction::X, points().map(|point| point.x));
        let y = DrawnAxis::new(&chart.y, Direction::Y, points().map(|point| point.y.mean));
        Self { chart, legend, view, x, y }
    }

    /// Whether `series` is shown at first.
    fn is_shown(&self, series: &Series) -> bool {
        self.legend.entry_of(series).is_some_and(|(index, _)| self.legend.entries[index].shown)
    }

    /// The traces in drawing order: emphasised series are drawn on top.
    fn traces(&self) -> Vec<Value> {
        let mut traces = Vec::new();
        let layers = [false, true].map(|top| self.view.series.iter().filter(move |s| s.emphasised == top));
        for series in layers.into_iter().flatten() {
            let Some((entry, appearance)) = self.legend.entry_of(series) else { continue };
            if series.style == Style::Curve {
                traces.extend(self.band(series, appearance, entry));
            }
            traces.push(self.trace(series, appearance, entry));
        }
        traces
    }

    /// The trace of a series; its `meta` is its index in the legend.
    fn trace(&self, series: &Series, appearance: &Appearance, entry: usize) -> Value {
        let points: Vec<&Point> = drawable(series).collect();
        let mut trace = match series.style {
            Style::Bars => bars(&points, appearance),
            Style::Line | Style::Curve | Style::Points => scatter(&points, series, appearance),
        };
        let mut set = |key: &str, value: Value| trace.insert(key.into(), value);
        set("meta", json!(entry));
        set("name", json!(markup(&series.name)));
        set("x", points.iter().map(|point| self.x.place(point.x)).collect());
        set("y", points.iter().map(|point| self.y.place(point.y.mean)).collect());
        set("hovertext", points.iter().map(|point| self.hover_text(series, point)).collect());
        set("hovertemplate", json!("%{hovertext}<extra></extra>"));
        if series.style != Style::Curve && points.iter().any(|point| point.y.half_width.is_some()) {
            let widths: Vec<f64> = points.iter().map(|point| self.y.place(half_width(point))).collect();
            let colour = if series.style == Style::Bars { INK } else { appearance.colour };
            let bars =
                json!({ "type": "data", "array": widths, "color": colour, "thickness": 1.3, "width": 3.5 });
            set("error_y", bars);
        }
        Value::Object(trace)
    }

    /// The half-widths of a curve as a shaded area around it; `None` if it has none.
    fn band(&self, series: &Series, appearance: &Appearance, entry: usize) -> Option<Value> {
        let points: Vec<&Point> = drawable(series).collect();
        if points.iter().all(|point| half_width(point) == 0.0) {
            return None;
        }
        let edge = |point: &Point, sign: f64| {
            (self.x.place(point.x), self.y.place(point.y.mean + sign * half_width(point)))
        };
        let upper = points.iter().map(|point| edge(point, 1.0));
        let lower = points.iter().rev().map(|point| edge(point, -1.0));
        let (x, y): (Vec<f64>, Vec<f64>) = upper.chain(lower).unzip();
        Some(json!({
            "meta": entry, "type": "scatter", "mode": "lines", "x": x, "y": y, "fill": "toself",
            "fillcolor": appearance.band(), "line": { "width": 0 }, "hoverinfo": "skip",
        }))
    }

    fn hover_text(&self, series: &Series, point: &Point) -> String {
        let (x, y) = (&self.chart.x, &self.chart.y);
        let mut lines = vec![
            format!("<b>{}</b>", wrapped(&legend::full_name(series), 44)),
            format!("{}: <b>{}</b>", markup(&y.label), markup(&numbers::figure(point.y, &y.unit))),
            format!("{}: {}", markup(&x.label), markup(&axes::in_words(x, point.x))),
        ];
        lines.extend(point.missed_target.then(|| "† half-width wider than its target".to_owned()));
        lines.extend(point.note.iter().map(|note| wrapped(note, 44)));
        lines.join("<br>")
    }

    /// All values of x that must be visible for `series` and the marks.
    fn xs(&self, series: &[&Series]) -> impl Iterator<Item = f64> {
        let points = series.iter().copied().flat_map(drawable).map(|point| point.x);
        points.chain(self.marked(Direction::X))
    }

    /// All values of y that must be visible for `series` (means and ends of half-widths) and the marks.
    fn ys(&self, series: &[&Series]) -> impl Iterator<Item = f64> {
        let points = series.iter().copied().flat_map(drawable);
        let ends =
            points.flat_map(|point| [-1.0, 0.0, 1.0].map(|sign| point.y.mean + sign * half_width(point)));
        ends.chain(self.marked(Direction::Y))
    }

    fn marked(&self, direction: Direction) -> impl Iterator<Item = f64> {
        self.view.marks.iter().filter(move |mark: &&Mark| mark.axis == direction).map(|mark| mark.at)
    }

    /// The marks. Each label is placed where it covers the fewest points of `shown`.
    fn marks(&self, shown: &[&Series], x_extent: Option<Extent>, y_extent: Option<Extent>) -> Vec<Value> {
        let (Some(across), Some(up)) = (x_extent, y_extent) else { return Vec::new() };
        let place = |point: &Point| (self.x.fraction(point.x, across), self.y.fraction(point.y.mean, up));
        let path = |series: &Series| shapes::path(&drawable(series).map(place).collect::<Vec<_>>());
        let data: Vec<(f64, f64)> = shown.iter().copied().flat_map(path).collect();
        let shape = |mark: &Mark| match mark.axis {
            Direction::X => {
                shapes::mark(mark, self.x.place(mark.at), self.x.fraction(mark.at, across), &data)
            }
            Direction::Y => shapes::mark(mark, self.y.place(mark.at), self.y.fraction(mark.at, up), &data),
        };
        self.view.marks.iter().map(shape).collect()
    }

    /// A layout with enough room for all series for which `has_room` is true.
    fn layout(&self, has_room: impl Fn(&Series) -> bool) -> Value {
        let series: Vec<&Series> = self.view.series.iter().filter(|series| has_room(series)).collect();
        let x_extent = extent(self.xs(&series), self.x.is_log());
        // The names of regions are written above the curves.
        let named = self.y.is_log() && !self.view.regions.is_empty();
        let y_extent = extent(self.ys(&series), self.y.is_log())
            .map(|extent| if named { with_headroom(extent) } else { extent });
        let regions = shapes::regions(&self.view.regions, &self.x, x_extent);
        let shapes = [regions, self.marks(&series, x_extent, y_extent)].concat();
        let mut layout = json!({
            "autosize": true, "showlegend": false, "hovermode": "closest", "hoverdistance": 30,
            "barmode": "group", "bargap": 0.22, "bargroupgap": 0.06, "dragmode": "zoom",
            "paper_bgcolor": PAPER, "plot_bgcolor": PAPER,
            "font": { "family": FONT, "size": 13, "color": INK },
            "margin": { "l": 12, "r": 16, "t": 40, "b": 12 },
            "title": {
                "text": markup(&self.y.heading()), "font": { "size": 13.5, "weight": 600 },
                "x": 0, "xanchor": "left", "xref": "container", "y": 1, "yanchor": "top", "yref": "container",
                "pad": { "t": 6, "l": 2 },
            },
            "hoverlabel": { "bgcolor": PAPER, "bordercolor": INK, "align": "left",
                            "font": { "family": FONT, "size": 13.5, "color": INK } },
            "xaxis": self.x.options(x_extent),
            "yaxis": self.y.options(y_extent),
            "shapes": shapes,
        });
        if let Some(names) = self.y.names() {
            layout["height"] = json!(FRAME + ROW * names.len());
        }
        layout
    }
}

fn scatter(points: &[&Point], series: &Series, appearance: &Appearance) -> Map<String, Value> {
    let mode = match series.style {
        Style::Points => "markers",
        Style::Line => "lines+markers",
        Style::Curve | Style::Bars => "lines",
    };
    // A hollow marker means that the precision target was missed.
    let symbols: Vec<String> = points.iter().map(|point| appearance.symbol(point.missed_target)).collect();
    let (width, size) = if series.emphasised { (4.5, 10) } else { (2.0, 8) };
    let outlines = points.iter().map(|point| if point.missed_target { 2.0 } else { 1.0 });
    let outline = json!({ "color": PAPER, "width": outlines.collect::<Vec<_>>() });
    let mut trace = Map::new();
    trace.insert("type".into(), json!("scatter"));
    trace.insert("mode".into(), json!(mode));
    trace.insert(
        "line".into(),
        json!({ "color": appearance.colour, "dash": appearance.dash, "width": width }),
    );
    trace.insert(
        "marker".into(),
        json!({ "color": appearance.colour, "symbol": symbols, "size": size, "line": outline }),
    );
    trace
}

fn bars(points: &[&Point], appearance: &Appearance) -> Map<String, Value> {
    let hatching = json!({
        "shape": appearance.hatch, "bgcolor": appearance.colour, "fgcolor": PAPER, "size": 7, "solidity": 0.22,
    });
    let outline = json!({ "color": appearance.colour, "width": 1.2 });
    let daggers = points.iter().map(|point| if point.missed_target { "†" } else { "" });
    let mut trace = Map::new();
    trace.insert("type".into(), json!("bar"));
    trace
        .insert("marker".into(), json!({ "color": appearance.colour, "pattern": hatching, "line": outline }));
    trace.insert("text".into(), daggers.collect());
    trace.insert("textposition".into(), json!("outside"));
    trace
}

/// The points that can be drawn; others would break the data format.
fn drawable(series: &Series) -> impl Iterator<Item = &Point> {
    series.points.iter().filter(|point| point.x.is_finite() && point.y.mean.is_finite())
}

/// The length of a point's error bar. An unknown half-width has none; the hover text mentions it.
fn half_width(point: &Point) -> f64 {
    point.y.half_width.filter(|half| half.is_finite()).unwrap_or(0.0)
}

/// `extent` with a seventh added at the top of a logarithmic axis.
fn with_headroom((from, to): Extent) -> Extent {
    (from, to * (to / from).powf(1.0 / 7.0))
}

/// The least and the greatest value that an axis must show; on a logarithmic one, of those above zero.
fn extent(values: impl Iterator<Item = f64>, is_log: bool) -> Option<Extent> {
    values.filter(|value| value.is_finite() && (*value > 0.0 || !is_log)).fold(None, |extent, value| {
        match extent {
            None => Some((value, value)),
            Some((from, to)) => Some((value.min(from), value.max(to))),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use warmcore_record::Estimate;
    use warmcore_record::chart::{Axis, Unit};

    fn views(y: Axis, views: Vec<Vec<Series>>) -> Vec<DrawnView> {
        let view = |(pick, series)| View { picks: vec![pick], series, ..View::default() };
        let (id, title, caption) = (String::new(), String::new(), String::new());
        let views = views.into_iter().enumerate().map(view).collect();
        let x = Axis::log("", Unit::per_second());
        let chart = Chart { id, title, caption, x, y, choices: Vec::new(), views };
        DrawnChart::new(&chart, &Legend::new(&chart)).views
    }

    fn series(name: &str, y: f64) -> Series {
        Series::new(name, Style::Line, vec![Point::new(1.0, Estimate::published(y))])
    }

    #[test]
    fn each_view_has_a_prefix_that_suits_it() {
        let linear = Axis::linear("capacity", Unit::per_second());
        let drawn = views(linear, vec![vec![series("MRU", 35e3)], vec![series("MRU", 2e6)]]);
        let shown = |view: &DrawnView| (view.layout["title"]["text"].clone(), view.traces[0]["y"].clone());
        assert_eq!(shown(&drawn[0]), (json!("capacity (k/s)"), json!([35.0])));
        assert_eq!(shown(&drawn[1]), (json!("capacity (M/s)"), json!([2.0])));
    }

    #[test]
    fn hidden_series_take_no_room_until_they_are_shown() {
        let all = vec![series("MRU", 1e-4), Series { hidden: true, ..series("LRU", 1.0) }];
        let drawn = views(Axis::log("delay", Unit::seconds()), vec![all]);
        let top = |layout: &Value| layout["yaxis"]["range"][1].as_f64().unwrap();
        assert!(top(&drawn[0].layout) < -3.0 && top(drawn[0].wide.as_ref().unwrap()) > 0.0);
    }

    #[test]
    fn emphasised_series_are_on_top_and_bold() {
        let all = vec![Series { emphasised: true, ..series("MRU", 1.0) }, series("LRU", 1.0)];
        let drawn = views(Axis::log("delay", Unit::seconds()), vec![all]);
        let traces: Vec<_> =
            drawn[0].traces.iter().map(|t| (&t["name"], t["line"]["width"].as_f64())).collect();
        assert!(traces[0].0 == "LRU" && traces[1].0 == "MRU" && traces[1].1 > traces[0].1, "{traces:?}");
    }
}
