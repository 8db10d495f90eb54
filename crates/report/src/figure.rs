//! A chart as the charting library wants it: for each view its traces and its layout.
//!
//! The page's script puts the two together (`templates/charts.js`); all text in them is ready to be
//! shown, so that the script formats nothing.

use crate::axes::{self, DrawnAxis, Extent};
use crate::legend::{self, Legend};
use crate::numbers;
use crate::palette::Appearance;
use crate::shapes;
use crate::text::{markup, wrapped};
use serde::Serialize;
use serde_json::{Map, Value, json};
use warmcore_record::chart::{Chart, Direction, Mark, Point, Series, Style, View};

const INK: &str = "#1b2733";
const FONT: &str = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";

/// What the page's script reads for one chart.
#[derive(Serialize)]
pub(crate) struct Figure {
    views: Vec<FigureView>,
}

#[derive(Serialize)]
struct FigureView {
    picks: Vec<usize>,
    traces: Vec<Value>,
    layout: Value,
}

/// What a view is drawn with.
struct Drawing<'a> {
    chart: &'a Chart,
    x: DrawnAxis<'a>,
    y: DrawnAxis<'a>,
}

impl Figure {
    pub(crate) fn of(chart: &Chart, legend: &Legend<'_>) -> Self {
        let points = || chart.views.iter().flat_map(|view| &view.series).flat_map(drawable);
        let drawing = Drawing {
            chart,
            x: DrawnAxis::of(&chart.x, Direction::X, points().map(|point| point.x)),
            y: DrawnAxis::of(&chart.y, Direction::Y, points().map(|point| point.y.mean)),
        };
        let views = chart.views.iter().map(|view| FigureView {
            picks: view.picks.clone(),
            traces: drawing.traces(view, legend),
            layout: drawing.layout(view),
        });
        Self { views: views.collect() }
    }
}

impl Drawing<'_> {
    fn traces(&self, view: &View, legend: &Legend<'_>) -> Vec<Value> {
        let mut traces = Vec::new();
        for series in &view.series {
            let Some((entry, appearance)) = legend.entry_of(series) else { continue };
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
            Style::Line | Style::Curve | Style::Points => scatter(&points, series.style, appearance),
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

    /// The half-widths of a curve, as an area around it; `None` if it has none.
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
        lines.extend(point.missed_target.then(|| "† half-width wider than aimed at".to_owned()));
        lines.extend(point.note.iter().map(|note| wrapped(note, 44)));
        lines.join("<br>")
    }

    fn marks(&self, view: &View, x_extent: Option<Extent>, y_extent: Option<Extent>) -> Vec<Value> {
        let (Some(across), Some(up)) = (x_extent, y_extent) else { return Vec::new() };
        let place = |point: &Point| (self.x.fraction(point.x, across), self.y.fraction(point.y.mean, up));
        let path = |series: &Series| shapes::path(&drawable(series).map(place).collect::<Vec<_>>());
        let shown = view.series.iter().filter(|series| !series.hidden);
        let data: Vec<(f64, f64)> = shown.flat_map(path).collect();
        let shape = |mark: &Mark| match mark.axis {
            Direction::X => {
                shapes::mark(mark, self.x.place(mark.at), self.x.fraction(mark.at, across), &data)
            }
            Direction::Y => shapes::mark(mark, self.y.place(mark.at), self.y.fraction(mark.at, up), &data),
        };
        view.marks.iter().map(shape).collect()
    }

    fn layout(&self, view: &View) -> Value {
        let (x_extent, y_extent) = (extent(xs(view)), extent(ys(view)));
        let regions = shapes::regions(&view.regions, &self.x, x_extent);
        let shapes = [regions, self.marks(view, x_extent, y_extent)].concat();
        json!({
            "autosize": true, "showlegend": false, "hovermode": "closest", "hoverdistance": 30,
            "barmode": "group", "bargap": 0.22, "bargroupgap": 0.06, "dragmode": "zoom",
            "paper_bgcolor": "#ffffff", "plot_bgcolor": "#ffffff",
            "font": { "family": FONT, "size": 13, "color": INK },
            "margin": { "l": 12, "r": 16, "t": 40, "b": 12 },
            "title": {
                "text": markup(&self.y.heading()), "font": { "size": 13.5, "weight": 600 },
                "x": 0, "xanchor": "left", "xref": "container", "y": 1, "yanchor": "top", "yref": "container",
                "pad": { "t": 6, "l": 2 },
            },
            "hoverlabel": { "bgcolor": "#ffffff", "bordercolor": INK, "align": "left",
                            "font": { "family": FONT, "size": 13.5, "color": INK } },
            "xaxis": self.x.options(x_extent),
            "yaxis": self.y.options(y_extent),
            "shapes": shapes,
        })
    }
}

fn scatter(points: &[&Point], style: Style, appearance: &Appearance) -> Map<String, Value> {
    let mode = match style {
        Style::Points => "markers",
        Style::Line => "lines+markers",
        Style::Curve | Style::Bars => "lines",
    };
    // A hollow marker says that the target was missed.
    let symbol =
        |point: &&Point| format!("{}{}", appearance.marker, if point.missed_target { "-open" } else { "" });
    let symbols: Vec<String> = points.iter().map(symbol).collect();
    let outlines = points.iter().map(|point| if point.missed_target { 2.0 } else { 1.0 });
    let outline = json!({ "color": "#ffffff", "width": outlines.collect::<Vec<_>>() });
    let mut trace = Map::new();
    trace.insert("type".into(), json!("scatter"));
    trace.insert("mode".into(), json!(mode));
    trace
        .insert("line".into(), json!({ "color": appearance.colour, "dash": appearance.dash, "width": 2.25 }));
    trace.insert(
        "marker".into(),
        json!({ "color": appearance.colour, "symbol": symbols, "size": 8, "line": outline }),
    );
    trace
}

fn bars(points: &[&Point], appearance: &Appearance) -> Map<String, Value> {
    let hatching = json!({
        "shape": appearance.hatch, "bgcolor": appearance.colour, "fgcolor": "#ffffff", "size": 7, "solidity": 0.22,
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

/// The points that have a place; the others would break the data format.
fn drawable(series: &Series) -> impl Iterator<Item = &Point> {
    series.points.iter().filter(|point| point.x.is_finite() && point.y.mean.is_finite())
}

fn half_width(point: &Point) -> f64 {
    point.y.half_width.unwrap_or(0.0)
}

/// Every x that the view must show.
fn xs(view: &View) -> impl Iterator<Item = f64> {
    let points = view.series.iter().flat_map(drawable).map(|point| point.x);
    points.chain(marked(view, Direction::X))
}

/// Every y that the view must show: means, ends of half-widths, and marks.
fn ys(view: &View) -> impl Iterator<Item = f64> {
    let points = view.series.iter().flat_map(drawable);
    let ends = points.flat_map(|point| [-1.0, 0.0, 1.0].map(|sign| point.y.mean + sign * half_width(point)));
    ends.chain(marked(view, Direction::Y))
}

fn marked(view: &View, direction: Direction) -> impl Iterator<Item = f64> {
    view.marks.iter().filter(move |mark: &&Mark| mark.axis == direction).map(|mark| mark.at)
}

/// The least and greatest positive value, between which a logarithmic axis lies.
fn extent(values: impl Iterator<Item = f64>) -> Option<Extent> {
    values.filter(|value| *value > 0.0 && value.is_finite()).fold(None, |extent, value| match extent {
        None => Some((value, value)),
        Some((from, to)) => Some((value.min(from), value.max(to))),
    })
}
