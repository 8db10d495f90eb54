//! What a simulation says: figures by name, with their units and half-widths, and a table.

mod cluster;
mod packet;
mod runqueue;

use crate::failure::Failure;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use warmcore_record::{Column, Columns};
use warmcore_units::{Estimate, Nanos, PerSecond};

/// What a simulation came to.
pub(crate) struct Said {
    /// The figures, in the order in which they are shown.
    pub(crate) figures: Figures,
    /// A table: one row for the point, for each application or for each processor.
    pub(crate) table: Columns,
}

/// Figures by name.
///
/// An estimate is `{"mean", "half_width", "unit"}`; a `half_width` of null is not known, and where there is none the figure was
/// counted. A value that does not exist, such as the delay of a saturated host, is null.
#[derive(Default)]
pub(crate) struct Figures(Vec<(String, Value)>);

impl Serialize for Figures {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl Figures {
    pub(crate) fn estimate(&mut self, name: &str, unit: &str, value: Option<Estimate<f64>>) {
        self.0.push((name.to_owned(), shown(unit, value)));
    }

    fn estimates(&mut self, name: &str, unit: &str, values: impl Iterator<Item = Estimate<f64>>) {
        let list: Vec<Value> = values.map(|value| shown(unit, Some(value))).collect();
        self.0.push((name.to_owned(), list.into()));
    }

    pub(crate) fn quantity(&mut self, name: &str, unit: &str, value: Option<f64>) {
        self.estimate(name, unit, value.map(Estimate::published));
    }

    pub(crate) fn plain(&mut self, name: &str, value: impl Into<Value>) {
        self.0.push((name.to_owned(), value.into()));
    }

    /// How long the simulation took on this machine, which is no property of what was simulated.
    pub(crate) fn set_wall_time(&mut self, seconds: f64) {
        self.quantity("wall_time", "s", Some(seconds));
    }

    pub(crate) fn to_json(&self) -> Result<String, Failure> {
        serde_json::to_string(self).map_err(|error| Failure::Broken(error.to_string()))
    }
}

fn shown(unit: &str, value: Option<Estimate<f64>>) -> Value {
    let value = value.filter(|value| value.mean.is_finite());
    let shown = value.map(|Estimate { mean, half_width }| match half_width {
        None => json!({ "mean": mean, "unit": unit }),
        // No number stands for what is not known.
        Some(half) => {
            json!({ "mean": mean, "half_width": Some(half).filter(|half| half.is_finite()), "unit": unit })
        }
    });
    shown.unwrap_or(Value::Null)
}

pub(crate) fn table(columns: Vec<Column>) -> Result<Columns, Failure> {
    Columns::new(columns).map_err(|error| Failure::Broken(error.to_string()))
}

pub(crate) fn time(of: Estimate<Nanos>) -> Estimate<f64> {
    of.map(|time| time.0)
}

pub(crate) fn rate(of: Estimate<PerSecond>) -> Estimate<f64> {
    of.map(|rate| rate.0)
}

/// The columns of estimates: the means, and their half-widths, null where they are not known.
pub(crate) fn estimates(name: &str, unit: &str, rows: &[Estimate<f64>]) -> [Column; 2] {
    let known = |value: f64| Some(value).filter(|value| value.is_finite());
    [
        Column::floats(name, unit, rows.iter().map(|row| known(row.mean))),
        Column::floats(
            format!("{name}_half_width"),
            unit,
            rows.iter().map(|row| row.half_width.and_then(known)),
        ),
    ]
}

/// A count as a column holds it; null if it is more than fits.
fn count(value: u64) -> Option<i64> {
    i64::try_from(value).ok()
}
