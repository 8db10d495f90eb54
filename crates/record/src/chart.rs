//! A chart as data: its axes and units, and its points with their half-widths.
//!
//! A chart has one [`View`] for every combination of its [`Choice`]s; a chart without choices has
//! exactly one. The reader picks the combination. All views share the axes and the title.

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use warmcore_units::{Estimate, Fault};

/// One chart.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Chart {
    /// Name of the chart within the report, for links: letters, digits and hyphens.
    pub id: String,
    /// What it shows, as a title.
    pub title: String,
    /// What the reader should notice, in a sentence or two.
    pub caption: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// What the reader can choose between; empty for a chart with one view.
    pub choices: Vec<Choice>,
    /// One view for each combination of the choices' options.
    pub views: Vec<View>,
}

/// Something the reader picks, such as the number of processors.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Choice {
    /// What is chosen, such as `Processors`.
    pub label: String,
    /// The options, in the order shown.
    pub options: Vec<String>,
    /// Index of the option shown first.
    pub initial: usize,
}

/// What the chart shows for one combination of its choices.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct View {
    /// For each choice of the chart, the index of its option.
    pub picks: Vec<usize>,
    /// The data.
    pub series: Vec<Series>,
    /// Named intervals of x, shaded.
    pub regions: Vec<Region>,
    /// Named values, drawn as lines across the chart.
    pub marks: Vec<Mark>,
}

/// One axis.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Axis {
    /// The quantity, such as `mean delay`.
    pub label: String,
    /// Its unit.
    pub unit: Unit,
    /// How values are placed.
    pub scale: Scale,
}

/// The unit of an axis.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Unit {
    /// Its symbol (`µs`, `s`, `/s`), or empty for a pure number.
    pub symbol: String,
    /// Whether values are shown with metric prefixes: with symbol `s`, 2·10⁻⁵ is shown as `20 µs`.
    pub prefixed: bool,
}

/// How an axis places values.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// Equal steps are equal differences.
    Linear,
    /// Equal steps are equal ratios; values must be positive.
    Log,
    /// Value `i` is the `i`-th of these names.
    Categories(Vec<String>),
}

/// Points that belong together.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Series {
    /// What the points are of.
    pub name: String,
    /// Series of one group stand together in the legend under this heading.
    pub group: Option<String>,
    /// What is drawn at and between the points.
    pub style: Style,
    /// Colour and pattern, if they carry meaning; otherwise they follow from the series' position.
    pub look: Option<Look>,
    /// Whether the series is hidden at first; the reader shows it from the legend.
    pub hidden: bool,
    /// Whether the series is emphasised.
    pub emphasised: bool,
    /// The points, by ascending x.
    pub points: Vec<Point>,
}

/// What is drawn at and between the points of a series.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Style {
    /// Markers joined by a line, for estimates along a sweep.
    Line,
    /// A line without markers, half-widths as a band, for a model's curve.
    Curve,
    /// Markers without a line, for measurements.
    Points,
    /// Bars from zero, for one value per category.
    Bars,
}

/// What a series looks like, in two dimensions that can carry two meanings: for example, colour for the
/// policy and pattern for the approach. Each is an index into a palette of the renderer, and wraps around
/// at its end. The renderer chooses palettes that can be told apart without colour vision and in
/// greyscale.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Look {
    /// Index of the colour and of the marker's shape.
    pub colour: usize,
    /// Index of the dash and of the hatching.
    pub pattern: usize,
}

/// One point.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Point {
    /// Position in the unit of the x axis; for categories, the index.
    pub x: f64,
    /// Value in the unit of the y axis. Both coordinates are finite: a missing value has no point.
    pub y: Estimate<f64>,
    /// Whether the half-width is wider than its target.
    pub missed_target: bool,
    /// What else the reader should know about this point.
    pub note: Option<String>,
}

/// A named interval of x.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Region {
    /// Its name, such as `low load`.
    pub label: String,
    /// Where it starts.
    pub from: f64,
    /// Where it ends.
    pub to: f64,
}

/// A named value of one axis.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Mark {
    /// Its name, such as `fully cold`.
    pub label: String,
    /// The axis that the value belongs to.
    pub axis: Direction,
    /// The value.
    pub at: f64,
}

/// One of the two axes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// The horizontal axis.
    X,
    /// The vertical axis.
    Y,
}

impl Unit {
    /// A unit whose symbol follows the unscaled number: `12.3 µs`, `12.3 %`.
    pub fn plain(symbol: impl Into<String>) -> Self {
        Self { symbol: symbol.into(), prefixed: false }
    }

    /// Time in seconds, shown with the metric prefix that suits it.
    #[must_use]
    pub fn seconds() -> Self {
        Self { symbol: "s".into(), prefixed: true }
    }

    /// A rate per second, shown with the metric prefix that suits it.
    #[must_use]
    pub fn per_second() -> Self {
        Self { symbol: "/s".into(), prefixed: true }
    }
}

impl Axis {
    /// A linear axis.
    pub fn linear(label: impl Into<String>, unit: Unit) -> Self {
        Self { label: label.into(), unit, scale: Scale::Linear }
    }

    /// A logarithmic axis.
    pub fn log(label: impl Into<String>, unit: Unit) -> Self {
        Self { label: label.into(), unit, scale: Scale::Log }
    }

    /// An axis of names.
    pub fn categories<N: Into<String>>(label: impl Into<String>, names: impl IntoIterator<Item = N>) -> Self {
        let scale = Scale::Categories(names.into_iter().map(Into::into).collect());
        Self { label: label.into(), unit: Unit::plain(""), scale }
    }
}

impl Series {
    /// A visible series without a group, whose look follows from its position.
    pub fn new(name: impl Into<String>, style: Style, points: Vec<Point>) -> Self {
        Self { name: name.into(), group: None, style, look: None, hidden: false, emphasised: false, points }
    }
}

impl Point {
    /// A point that reached its target.
    #[must_use]
    pub fn new(x: f64, y: Estimate<f64>) -> Self {
        Self { x, y, missed_target: false, note: None }
    }
}

impl Chart {
    /// The view for one option of each choice.
    #[must_use]
    pub fn view(&self, picks: &[usize]) -> Option<&View> {
        self.views.iter().find(|view| view.picks == picks)
    }

    /// For each choice, the option shown first.
    #[must_use]
    pub fn initial_picks(&self) -> Vec<usize> {
        self.choices.iter().map(|choice| choice.initial).collect()
    }

    /// Checks that each combination of options has one view, and that all points fit the axes.
    /// `path` names the chart in the fault.
    ///
    /// # Errors
    /// The first fault found.
    pub(crate) fn validate(&self, path: &str) -> Result<(), Fault> {
        for (i, choice) in self.choices.iter().enumerate() {
            if choice.initial >= choice.options.len() {
                let expected = format!("less than {}, the number of options", choice.options.len());
                return Err(Fault::new(format!("{path}.choices[{i}].initial"), choice.initial, expected));
            }
        }
        self.validate_combinations(path)?;
        for (i, view) in self.views.iter().enumerate() {
            for (j, series) in view.series.iter().enumerate() {
                for (k, point) in series.points.iter().enumerate() {
                    let point_path = || format!("{path}.views[{i}].series[{j}].points[{k}]");
                    self.x.validate(point.x).map_err(|fault| fault.into_fault(point_path(), "x"))?;
                    self.y
                        .validate(point.y.mean)
                        .map_err(|fault| fault.into_fault(point_path(), "y.mean"))?;
                }
            }
        }
        Ok(())
    }

    fn validate_combinations(&self, path: &str) -> Result<(), Fault> {
        let distinct: BTreeSet<_> = self.views.iter().map(|view| &view.picks).collect();
        let combinations: usize = self.choices.iter().map(|choice| choice.options.len()).product();
        let in_range = |view: &View| {
            view.picks.len() == self.choices.len()
                && view.picks.iter().zip(&self.choices).all(|(pick, choice)| *pick < choice.options.len())
        };
        if let Some(i) = self.views.iter().position(|view| !in_range(view)) {
            let found = format!("{:?}", self.views[i].picks);
            return Err(Fault::new(format!("{path}.views[{i}].picks"), found, "one option of each choice"));
        }
        if distinct.len() != combinations || self.views.len() != combinations {
            let found = format!("{} views of {} combinations", self.views.len(), distinct.len());
            let expected = format!("one view for each of the {combinations} combinations of options");
            return Err(Fault::new(format!("{path}.views"), found, expected));
        }
        Ok(())
    }
}

/// A value that does not fit its axis.
struct OffAxis {
    found: f64,
    expected: String,
}

impl OffAxis {
    fn into_fault(self, path: String, field: &str) -> Fault {
        Fault::new(format!("{path}.{field}"), self.found, self.expected)
    }
}

impl Axis {
    /// Checks that the axis can show `value`.
    fn validate(&self, value: f64) -> Result<(), OffAxis> {
        match &self.scale {
            _ if !value.is_finite() => Err(OffAxis { found: value, expected: "a finite number".into() }),
            Scale::Log if value <= 0.0 => {
                Err(OffAxis { found: value, expected: "positive, as the axis is logarithmic".into() })
            }
            #[expect(clippy::cast_precision_loss, reason = "no axis has 2^53 categories")]
            Scale::Categories(names)
                if value.fract() != 0.0 || value < 0.0 || value >= names.len() as f64 =>
            {
                Err(OffAxis { found: value, expected: format!("an index of the {} names", names.len()) })
            }
            _ => Ok(()),
        }
    }
}
