//! A grid: one scenario of any kind, and the fields that are varied.
//!
//! ```toml
//! schema = 1
//! model = "packet"                    # or "runqueue", "cluster"
//!
//! [[axes]]
//! field = "traffic.streams"
//! values = [8, 64]
//!
//! [[axes]]
//! field = "seed"
//! from = 1
//! to = 10
//!
//! [scenario]
//! rate_per_s = 20000.0
//! ```
//!
//! | module | holds |
//! |---|---|
//! | [`axis`] | an axis: fields and their values, listed or as a range |
//! | [`model`] | the kinds of scenarios, and a scenario of any kind |
//! | [`points`] | the points in their order, each a scenario of its own |
//! | [`identity`] | a checksum that is the same on every machine |
//!
//! Every combination of the axes' values is a point. Points are in the order of an odometer: the last axis changes
//! fastest. A document that [`Grid::resolved`] returns stands for itself: it holds the profiles that it names, so that
//! its points mean the same on any machine.

pub mod axis;
mod fields;
pub mod identity;
pub mod model;
pub mod points;

pub use axis::{Axis, Spacing};
pub use identity::Identity;
pub use model::{AnyScenario, Model};
pub use points::{MAX_POINTS, PointOfGrid, Points};

use crate::document::{self, Checked, DocumentError};
use crate::profile_source::ProfileSource;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use warmcore_costs::Profile;
use warmcore_units::Fault;

/// The name of the axis that gives rates as fractions of what each combination keeps up with.
pub const LOAD: &str = "load";

/// What the axes of a grid have to be.
const APART: &str = "each field on one axis, and none within another";

/// The document.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grid {
    /// Version of the document, [`Checked::SCHEMA`].
    pub schema: u32,
    /// What is simulated.
    #[serde(default)]
    pub model: Model,
    /// What is varied, the slowest first.
    #[serde(default)]
    pub axes: Vec<Axis>,
    /// Everything else: a scenario of the model, without what the axes give.
    #[serde(default)]
    pub scenario: toml::Table,
    /// The profiles that scenarios name, by the name that they use. What is missing here is read from its file.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub profiles: BTreeMap<String, Profile>,
}

impl Grid {
    /// The grid of `scenario` along `axes`.
    #[must_use]
    pub fn new(model: Model, scenario: toml::Table, axes: Vec<Axis>) -> Self {
        Self { schema: Self::SCHEMA, model, axes, scenario, profiles: BTreeMap::new() }
    }

    /// The same grid with every axis as a list of values, and with every profile that a point may name.
    ///
    /// # Errors
    /// If the grid is impossible, or a profile cannot be read.
    pub fn resolved(mut self) -> Result<Self, ResolveError> {
        self.check()?;
        self.axes = self.axes.iter().map(Axis::listed).collect::<Result<_, _>>()?;
        self.scenario.entry("schema").or_insert_with(|| i64::from(self.model.schema()).into());
        for name in self.profile_names() {
            let source = ProfileSource::try_from(name.clone())
                .map_err(|problem| Fault::new("profile", format!("`{name}`"), problem))?;
            if let (ProfileSource::File(path), false) = (source, self.profiles.contains_key(&name)) {
                self.profiles.insert(name, document::read(&path)?);
            }
        }
        Ok(self)
    }

    /// The first field that is on two axes, or within the field of another: the number of its axis, it, and the other.
    fn overlapping(&self) -> Option<(usize, &str, &str)> {
        let mut seen: Vec<&str> = Vec::new();
        for (place, axis) in self.axes.iter().enumerate() {
            for field in axis.fields() {
                if let Some(other) = seen.iter().find(|other| overlap(field, other)) {
                    return Some((place, field, other));
                }
                seen.push(field);
            }
        }
        None
    }

    /// The `fault` of [`Self::check`] for whoever gave axes and no document: it names the fields that an axis varies.
    #[must_use]
    pub fn named(&self, fault: Fault) -> Fault {
        let place = fault.field.strip_prefix("axes.").and_then(|rest| rest.split_once('.'));
        let Some((place, within)) = place else { return fault };
        if let (Some((_, field, other)), "field") = (self.overlapping(), within) {
            return Fault::new(field, format!("varied beside `{other}`"), APART);
        }
        let axis = place.parse().ok().and_then(|place: usize| self.axes.get(place));
        let fields: Vec<&str> = axis.into_iter().flat_map(Axis::fields).collect();
        match fields.iter().all(|field| field.is_empty()) {
            true => Fault { field: "axes".to_owned(), ..fault },
            false => Fault { field: fields.join(", "), ..fault },
        }
    }

    /// The profiles that the base scenario and the axes name.
    fn profile_names(&self) -> BTreeSet<String> {
        let varied = self.axes.iter().flat_map(|axis| axis.values_of("profile"));
        let values = self.scenario.get("profile").into_iter().chain(varied);
        values.filter_map(|value| value.as_str().map(ToOwned::to_owned)).collect()
    }

    /// What tells this grid from every other: the checksum of its document.
    ///
    /// # Errors
    /// If it cannot be written as TOML.
    pub fn identity(&self) -> Result<Identity, toml::ser::Error> {
        Ok(Identity::new(&[toml::to_string(self)?.as_bytes()]))
    }
}

/// Whether setting the field `one` changes what `other` is set to: they are the same, or one is within the other.
fn overlap(one: &str, other: &str) -> bool {
    let [shorter, longer] = if one.len() < other.len() { [one, other] } else { [other, one] };
    longer.strip_prefix(shorter).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// A grid cannot be made to stand for itself.
#[derive(Debug, thiserror::Error)]
pub enum ResolveError {
    /// A field or an axis is impossible.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// A profile cannot be read.
    #[error(transparent)]
    Profile(#[from] DocumentError),
}

impl Checked for Grid {
    const WHAT: &'static str = "grid";
    const SCHEMA: u32 = 1;

    /// Checks axes and their number. Points are checked by [`Points::get`], each on its own.
    fn check(&self) -> Result<(), Fault> {
        Fault::check_schema(self.schema, Self::SCHEMA)?;
        for (place, axis) in self.axes.iter().enumerate() {
            axis.check()
                .map_err(|fault| Fault { field: format!("axes.{place}.{}", fault.field), ..fault })?;
        }
        if let Some((place, field, other)) = self.overlapping() {
            let found = match field == other {
                true => format!("`{field}`, which is varied before it too"),
                false => format!("`{field}`, which overlaps `{other}`, varied before it"),
            };
            return Err(Fault::new(format!("axes.{place}.field"), found, APART));
        }
        let seen: BTreeSet<&str> = self.axes.iter().flat_map(Axis::fields).collect();
        if seen.contains(LOAD) && self.model != Model::Packet {
            return Err(Fault::new("axes", "`load`", "`load` with the model packet alone: it is a rate"));
        }
        if seen.contains(LOAD) && seen.contains("rate_per_s") {
            return Err(Fault::new("axes", "`load` and `rate_per_s`", "one of the two"));
        }
        points::count(&self.axes).map(drop)
    }
}
