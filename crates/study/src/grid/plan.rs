//! A grid whose points can all be simulated.

use super::figures::{self, ClusterRun};
use rayon::prelude::*;
use std::collections::HashMap;
use std::hash::Hash;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use toml::Value;
use warmcore_costs::Profile;
use warmcore_record::Columns;
use warmcore_record::columns::ColumnsError;
use warmcore_record::dataset::description::SCHEMA;
use warmcore_record::dataset::row::columns;
use warmcore_record::dataset::{Cell, Contents, Description, Head, Kind, Layout, Row};
use warmcore_scenario::grid::{AnyScenario, Grid, Identity, PointOfGrid, Points, ResolveError};
use warmcore_scenario::{OpenTraffic, PacketScenario, ProfileSource, TrafficError};
use warmcore_sim::cluster::{Error as ClusterError, Options, simulate as simulate_cluster};
use warmcore_sim::packet::{Point, PointError, PointResult, highest_rate};
use warmcore_sim::runqueue::{check_memory, simulate_until};
use warmcore_units::{Fault, PerSecond};

/// The program that a data set names.
const PROGRAM: &str = "warmcore";
/// The version of it that a data set names. All crates of the workspace have one.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
/// A rate that every check passes, for a point whose rate is a load.
const ANY_RATE: PerSecond = PerSecond(1e9);
/// Traffic and capacities that are remembered, at most.
const REMEMBERED: usize = 4_096;

/// A grid whose points can all be simulated.
pub struct Plan {
    points: Arc<Points>,
    text: String,
    identity: Identity,
    /// The built-in profile. It is read from a text, which would be most of a point's check.
    sgi_challenge_xl: Profile,
    /// Captures, by the traffic that replays them.
    captures: Memo<String, Arc<OpenTraffic>>,
    /// What combinations keep up with, whose points are loads.
    capacities: Memo<String, PerSecond>,
    /// A packet's time on a warm processor, in seconds, by what it depends on.
    pub(super) warm: Memo<String, Option<f64>>,
}

/// A grid cannot be simulated.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// An axis or a field of a point is impossible.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// A profile cannot be read.
    #[error("{0}")]
    Resolve(ResolveError),
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// The document cannot be written as TOML.
    #[error("the grid cannot be written as TOML: {0}")]
    Text(#[from] toml::ser::Error),
    /// What is divided by is no axis.
    #[error("`{field}` cannot divide the data set: expected one of the fields that are varied: {known}")]
    Partition {
        /// What was asked for.
        field: String,
        /// The fields that are varied.
        known: String,
    },
}

/// A point cannot be simulated.
#[derive(Debug, thiserror::Error)]
pub enum PointFailed {
    /// A field cannot be used.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// Its packets cannot be simulated.
    #[error("the point {point}: {error}")]
    Packet {
        /// The point.
        point: String,
        /// What is wrong.
        error: PointError,
    },
    /// Its cluster cannot be simulated.
    #[error("the point {point}: {error}")]
    Cluster {
        /// The point.
        point: String,
        /// What is wrong.
        error: String,
    },
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl From<ResolveError> for PlanError {
    fn from(error: ResolveError) -> Self {
        match error {
            ResolveError::Fault(fault) => Self::Fault(fault),
            other => Self::Resolve(other),
        }
    }
}

impl Plan {
    /// The plan of `grid`, each of whose points is checked.
    ///
    /// # Errors
    /// The first point that cannot be simulated, or a profile that cannot be read.
    pub fn new(grid: Grid) -> Result<Self, PlanError> {
        Self::new_until(grid, &AtomicBool::new(false))
    }

    /// The same, but no point is checked any more once `stop` is set.
    ///
    /// # Errors
    /// As [`Self::new`], and if `stop` is set.
    pub fn new_until(grid: Grid, stop: &AtomicBool) -> Result<Self, PlanError> {
        let plan = Self::unchecked(grid)?;
        (0..plan.points.count()).into_par_iter().try_for_each(|index| {
            match stop.load(Ordering::Relaxed) {
                true => Err(PlanError::Interrupted),
                false => plan.check(index).map_err(PlanError::Fault),
            }
        })?;
        Ok(plan)
    }

    /// The same without the check of each point, for a grid of which somebody has made a plan before.
    ///
    /// # Errors
    /// If an axis is impossible, or a profile cannot be read.
    pub fn unchecked(grid: Grid) -> Result<Self, PlanError> {
        let grid = grid.resolved()?;
        let text = toml::to_string(&grid)?;
        let identity = grid.identity()?;
        let points = Arc::new(Points::new(grid)?);
        let (captures, capacities, warm) = (Memo::default(), Memo::default(), Memo::default());
        let sgi_challenge_xl = Profile::sgi_challenge_xl();
        Ok(Self { points, text, identity, sgi_challenge_xl, captures, capacities, warm })
    }

    /// Its points.
    #[must_use]
    pub fn points(&self) -> &Points {
        &self.points
    }

    /// Its document, which holds all that it needs but the captures that its traffic may name.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The checksum of the document.
    #[must_use]
    pub const fn identity(&self) -> Identity {
        self.identity
    }

    /// The profile that `source` names.
    pub(super) fn profile(&self, source: &ProfileSource) -> Result<&Profile, Fault> {
        let profiles = &self.points.grid().profiles;
        match source {
            ProfileSource::SgiChallengeXl => Ok(&self.sgi_challenge_xl),
            other => {
                let name = String::from(other.clone());
                let missing = || Fault::new("profile", format!("`{name}`"), "one of the grid's `profiles`");
                profiles.get(&name).ok_or_else(missing)
            }
        }
    }

    fn check(&self, index: u64) -> Result<(), Fault> {
        let PointOfGrid { scenario, load } = self.points.get(index)?;
        let checked = match scenario {
            AnyScenario::Packet(scenario) => self.check_packet(*scenario, load),
            AnyScenario::RunQueue(scenario) => check_memory(&scenario),
            AnyScenario::Cluster(scenario) => warmcore_sim::cluster::scenario::check(&scenario),
        };
        checked.map_err(|fault| self.points.explained(index, fault))
    }

    fn check_packet(&self, mut scenario: PacketScenario, load: Option<f64>) -> Result<(), Fault> {
        let profile = self.profile(&scenario.profile)?;
        if load.is_some() {
            scenario.rate_per_s = Some(ANY_RATE);
        }
        let traffic = self.traffic(&scenario).map_err(|error| fault_of(PointError::from(error)))?;
        Point::new(&scenario, &traffic, profile).map(drop).map_err(fault_of)
    }

    fn traffic(&self, scenario: &PacketScenario) -> Result<Arc<OpenTraffic>, TrafficError> {
        let traffic = &scenario.traffic;
        match traffic.process {
            warmcore_scenario::Process::Trace(_) => {
                let key = format!("{traffic:?}");
                self.captures.get(key, || traffic.open().map(Arc::new))
            }
            _ => traffic.generated().map(Arc::new),
        }
    }

    /// Simulates the point of this `index`: its figures, in the order of [`Self::figures`]. Once `stop` is set, it
    /// ends as soon as it can.
    ///
    /// # Errors
    /// If it cannot be simulated, or `stop` is set.
    pub fn row(&self, index: u64, stop: &Arc<AtomicBool>) -> Result<Row, PointFailed> {
        if stop.load(Ordering::Relaxed) {
            return Err(PointFailed::Interrupted);
        }
        let PointOfGrid { scenario, load } = self.points.get(index)?;
        let point = || self.points.in_words(index);
        let columns = match scenario {
            AnyScenario::Packet(scenario) => {
                let (scenario, traffic, profile) = self.ready(index, *scenario, load, Some(stop))?;
                let result = Point::new(&scenario, &traffic, profile).and_then(Point::simulate);
                if stop.load(Ordering::Relaxed) {
                    // What was cut short is no result.
                    return Err(PointFailed::Interrupted);
                }
                figures::packet(&result.map_err(|error| PointFailed::Packet { point: point(), error })?)
            }
            AnyScenario::RunQueue(scenario) => {
                let outcome = simulate_until(&scenario, stop)?.ok_or(PointFailed::Interrupted)?;
                figures::runqueue(&outcome.figures())
            }
            AnyScenario::Cluster(scenario) => {
                let watch = |_| match stop.load(Ordering::Relaxed) {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(()),
                };
                let options = Options { watch: &watch, ..Options::from(&*scenario) };
                match simulate_cluster(&scenario, &options) {
                    Ok(simulated) => figures::cluster(&ClusterRun::new(&simulated)),
                    Err(ClusterError::Stopped { .. }) => return Err(PointFailed::Interrupted),
                    Err(error) => {
                        return Err(PointFailed::Cluster { point: point(), error: error.to_string() });
                    }
                }
            }
        };
        Ok(Row::first(&columns))
    }

    /// The packets of the point of this `index`, with the rate that a load comes to; their traffic, and their costs.
    ///
    /// # Errors
    /// If they are not packets, or cannot be simulated.
    pub fn point(&self, index: u64) -> Result<(PacketScenario, OpenTraffic, &Profile), PointFailed> {
        let PointOfGrid { scenario, load } = self.points.get(index)?;
        let AnyScenario::Packet(scenario) = scenario else {
            return Err(Fault::new("model", self.points.grid().model, "packet").into());
        };
        self.ready(index, *scenario, load, None)
    }

    /// The row of a point of packets that somebody else has simulated.
    #[must_use]
    pub fn row_of(result: &PointResult) -> Row {
        Row::first(&figures::packet(result))
    }

    /// The table of `rows`, each with the index of its point: the fields that are varied, and the figures.
    ///
    /// # Errors
    /// If a row is that of another model.
    pub fn table(&self, rows: Vec<(u64, Row)>) -> Result<Columns, ColumnsError> {
        let leading = self.leading();
        let kinds: Vec<Kind> = leading.iter().map(|head| head.kind).collect();
        let heads: Vec<Head> = leading.into_iter().chain(self.figures()).collect();
        let rows = rows.into_iter().map(|(index, row)| varied(&self.points, &kinds, index).followed_by(row));
        columns(&heads, rows)
    }

    /// The scenario of the point of this `index` with the rate that its `load` comes to; its traffic, which ends once `stop` is set,
    /// and its costs.
    fn ready(
        &self,
        index: u64,
        mut scenario: PacketScenario,
        load: Option<f64>,
        stop: Option<&Arc<AtomicBool>>,
    ) -> Result<(PacketScenario, OpenTraffic, &Profile), PointFailed> {
        let failed = |error| PointFailed::Packet { point: self.points.in_words(index), error };
        let profile = self.profile(&scenario.profile)?;
        let traffic = self.traffic(&scenario).map_err(|error| failed(error.into()))?;
        let traffic = OpenTraffic::clone(&traffic);
        let traffic = match stop {
            Some(stop) => traffic.stopped_by(Arc::clone(stop)),
            None => traffic,
        };
        if let Some(load) = load {
            // The key is the combination: everything but the load.
            let key = format!("{scenario:?}");
            let capacity = self.capacities.get(key, || {
                let found = highest_rate(&scenario, &traffic, profile).map_err(failed)?;
                match stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
                    true => Err(PointFailed::Interrupted),
                    false => Ok(found.rate.mean),
                }
            });
            scenario.rate_per_s = Some(capacity? * load);
        }
        Ok((scenario, traffic, profile))
    }

    /// The headings of a row's figures.
    #[must_use]
    pub fn figures(&self) -> Vec<Head> {
        figures::heads(self.points.grid().model)
    }

    /// The headings of the fields that are varied, which stand before the figures.
    #[must_use]
    pub fn leading(&self) -> Vec<Head> {
        let heads = self.points.fields().zip(self.points.values());
        let head = |(field, values): (&str, Vec<&Value>)| Head {
            name: field.to_owned(),
            unit: figures::unit_of(field).to_owned(),
            kind: kind(&values),
        };
        heads.map(head).collect()
    }

    /// The contents of a data set of this plan, with a folder for each value of the field `partition_by`.
    ///
    /// # Errors
    /// If that is no field that is varied.
    pub fn contents(&self, partition_by: Option<&str>) -> Result<Contents<'_>, PlanError> {
        let (leading, figures) = (self.leading(), self.figures());
        let rows = u32::try_from(self.points.count()).unwrap_or(u32::MAX);
        let layout = match partition_by {
            None => Layout::new(rows),
            Some(field) => {
                let Some(place) = self.points.fields().position(|of| of == field) else {
                    let known = self.points.fields().collect::<Vec<_>>().join(", ");
                    return Err(PlanError::Partition { field: field.to_owned(), known });
                };
                Layout::partitioned(rows, field, |row| text(self.points.at(row.into())[place]))
            }
        };
        let description = Description {
            schema: SCHEMA,
            program: PROGRAM.to_owned(),
            version: VERSION.to_owned(),
            model: self.points.grid().model.to_string(),
            grid: self.identity.to_string(),
            rows: rows.into(),
            partition_by: partition_by.map(ToOwned::to_owned),
            leading: leading.len(),
            columns: leading.iter().cloned().chain(figures).collect(),
            complete: false,
            parts: Vec::new(),
        };
        let points = Arc::clone(&self.points);
        let kinds: Vec<Kind> = leading.iter().map(|head| head.kind).collect();
        let leading = move |index: u64| varied(&points, &kinds, index);
        Ok(Contents { description, layout, grid: &self.text, leading: Box::new(leading) })
    }
}

/// What all of these values can be written as.
fn kind(values: &[&Value]) -> Kind {
    let all = |is: fn(&Value) -> bool| values.iter().all(|value| is(value));
    match () {
        () if all(Value::is_integer) => Kind::Integer,
        () if all(|value| value.is_integer() || value.is_float()) => Kind::Float,
        () if all(Value::is_bool) => Kind::Flag,
        () => Kind::Text,
    }
}

/// The values of the fields that are varied, at the point of this `index`.
fn varied(points: &Points, kinds: &[Kind], index: u64) -> Row {
    Row(points.at(index).into_iter().zip(kinds).map(|(value, &kind)| cell(value, kind)).collect())
}

fn cell(value: &Value, kind: Kind) -> Cell {
    match (value, kind) {
        (_, Kind::Text) => Cell::Text(text(value)),
        (&Value::Integer(value), _) => Cell::Integer(value),
        (&Value::Float(value), _) => Cell::Float(value),
        (&Value::Boolean(value), _) => Cell::Flag(value),
        _ => Cell::MISSING,
    }
}

/// A value as text: a name without its quotes, a table as in a document.
fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned)
}

/// What is wrong with a point, as the fault of a field.
fn fault_of(error: PointError) -> Fault {
    match error {
        PointError::Scenario(fault) => fault,
        PointError::Profile(error) => Fault::new("profile", "incomplete", error),
        PointError::Traffic(TrafficError::Field(fault)) => fault,
        PointError::Traffic(error) => Fault::new("traffic", "impossible", error),
    }
}

/// Results that are remembered. They are the same whoever finds them, so that two threads may find one.
pub(super) struct Memo<K, V>(Mutex<HashMap<K, V>>);

impl<K, V> Default for Memo<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Eq + Hash, V: Clone> Memo<K, V> {
    pub(super) fn get<E>(&self, key: K, find: impl FnOnce() -> Result<V, E>) -> Result<V, E> {
        let locked = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = locked().get(&key) {
            return Ok(known.clone());
        }
        let found = find()?;
        let mut known = locked();
        if known.len() >= REMEMBERED {
            known.clear();
        }
        known.insert(key, found.clone());
        Ok(found)
    }
}

#[cfg(test)]
mod tests;
