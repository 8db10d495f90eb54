//! The points of a grid, in their order.

use super::axis::Axis;
use super::model::AnyScenario;
use super::{Grid, LOAD, fields, overlap};
use toml::Value;
use warmcore_units::Fault;

/// The most points of a grid.
pub const MAX_POINTS: u64 = 10_000_000;

/// How many points the axes have.
pub(super) fn count(axes: &[Axis]) -> Result<u64, Fault> {
    let mut points: u64 = 1;
    for (place, axis) in axes.iter().enumerate() {
        let length = axis
            .points()
            .map_err(|fault| Fault { field: format!("axes.{place}.{}", fault.field), ..fault })?;
        points = points.saturating_mul(length);
    }
    if points > MAX_POINTS {
        let lengths: Vec<String> =
            axes.iter().filter_map(|axis| Some(axis.points().ok()?.to_string())).collect();
        let found = format!("{} = {points} points", lengths.join(" × "));
        return Err(Fault::new(
            "axes",
            found,
            format!("at most {MAX_POINTS}: give fewer values, or several grids"),
        ));
    }
    Ok(points)
}

/// The points of a grid. They are made one at a time: a grid of a million takes no memory.
#[derive(Clone, Debug)]
pub struct Points {
    grid: Grid,
    /// The rows of each axis: a value for each of its fields.
    rows: Vec<Vec<Vec<Value>>>,
    count: u64,
}

/// A point.
#[derive(Clone, PartialEq, Debug)]
pub struct PointOfGrid {
    /// Its scenario. With a load it has a rate of 1, which the load replaces.
    pub scenario: AnyScenario,
    /// The arrival rate as a fraction of what this scenario keeps up with, if the grid has such an axis.
    pub load: Option<f64>,
}

impl Points {
    /// The points of `grid`.
    ///
    /// # Errors
    /// If its axes are impossible.
    pub fn new(grid: Grid) -> Result<Self, Fault> {
        let count = count(&grid.axes)?;
        let rows = grid.axes.iter().map(Axis::rows).collect::<Result<_, _>>()?;
        Ok(Self { grid, rows, count })
    }

    /// The grid.
    #[must_use]
    pub const fn grid(&self) -> &Grid {
        &self.grid
    }

    /// How many there are.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The fields that are varied, in order.
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        self.grid.axes.iter().flat_map(Axis::fields)
    }

    /// The values of each field over its axis, in the order of [`Self::fields`].
    pub fn values(&self) -> impl Iterator<Item = Vec<&Value>> {
        let axes = self.rows.iter().zip(&self.grid.axes);
        axes.flat_map(|(rows, axis)| {
            (0..axis.fields().count()).map(|place| rows.iter().filter_map(|row| row.get(place)).collect())
        })
    }

    /// The value of each field at the point of this `index`, in the order of [`Self::fields`].
    #[must_use]
    pub fn at(&self, index: u64) -> Vec<&Value> {
        let mut rest = index;
        let mut places = vec![0; self.rows.len()];
        for (place, rows) in places.iter_mut().zip(&self.rows).rev() {
            let length = rows.len() as u64;
            *place = (rest % length) as usize;
            rest /= length;
        }
        self.rows.iter().zip(places).filter_map(|(rows, place)| rows.get(place)).flatten().collect()
    }

    /// The point of this `index`, from 0, unchecked.
    ///
    /// # Errors
    /// If its scenario cannot be read: the field, its value, and what would be right.
    pub fn read(&self, index: u64) -> Result<PointOfGrid, Fault> {
        let mut table = self.grid.scenario.clone();
        table.entry("schema").or_insert_with(|| i64::from(self.grid.model.schema()).into());
        let mut load = None;
        for (field, value) in self.fields().zip(self.at(index)) {
            if field == LOAD {
                load = Some(load_of(value)?);
                table.insert("rate_per_s".to_owned(), Value::Float(1.0));
            } else {
                fields::set(&mut table, field, value.clone())?;
            }
        }
        let read = self.grid.model.read(table.clone());
        let scenario = read.map_err(|error| fields::fault(self.grid.model, &table, &error))?;
        Ok(PointOfGrid { scenario, load })
    }

    /// The point of this `index`, from 0, checked.
    ///
    /// # Errors
    /// As [`Self::read`], and if a value is impossible.
    pub fn get(&self, index: u64) -> Result<PointOfGrid, Fault> {
        let point = self.read(index)?;
        point.scenario.check().map_err(|fault| self.explained(index, fault))?;
        Ok(point)
    }

    /// The `fault` of the point of this `index`, with the values that make that point.
    #[must_use]
    pub fn explained(&self, index: u64, fault: Fault) -> Fault {
        if self.rows.is_empty() {
            return fault;
        }
        Fault { expected: format!("{} (at the point {})", fault.expected, self.in_words(index)), ..fault }
    }

    /// The point of this `index` by what is varied: `traffic.streams = 8, seed = 1`.
    #[must_use]
    pub fn in_words(&self, index: u64) -> String {
        let named = self.fields().zip(self.at(index)).map(|(field, value)| format!("{field} = {value}"));
        named.collect::<Vec<_>>().join(", ")
    }

    /// Where the `field` of a scenario stands in the grid's document: on an axis, or in its scenario.
    #[must_use]
    pub fn located(&self, field: &str) -> String {
        let axis = self.grid.axes.iter().position(|axis| axis.fields().any(|of| overlap(of, field)));
        axis.map_or_else(|| format!("scenario.{field}"), |place| format!("axes.{place}"))
    }
}

fn load_of(value: &Value) -> Result<f64, Fault> {
    let load = value.as_float().or_else(|| value.as_integer().map(|whole| whole as f64));
    let possible = load.filter(|load| (1e-6..=10.0).contains(load));
    possible
        .ok_or_else(|| Fault::new(LOAD, value, "a fraction of the capacity from 0.000001 to 10, such as 0.9"))
}

#[cfg(test)]
mod tests;
