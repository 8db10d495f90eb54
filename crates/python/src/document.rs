//! Scenarios as documents: JSON, which the objects in Python hold, and TOML, which users write.

use crate::failure::{Class, Complaint, Failure};
use pyo3::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_path_to_error::{Path as FieldPath, Segment};
use std::path::{Path, PathBuf};
use warmcore_files::refusal::Refusal;
use warmcore_scenario::cluster::{ClusterDispatch, ClusterMachine};
use warmcore_scenario::document::{self, Checked};
use warmcore_scenario::extensions::{QueueTable, Service};
use warmcore_scenario::runqueue::{
    Application, Blocking, Bursts, CacheLevel, Ends, Footprint, Jobs, Lock, MachineCaches, Part,
    RecordedDelays, RecordedFigures, RecordedThread, References, RunQueueMachine, Scheduler,
};
use warmcore_scenario::{
    ClusterScenario, Effects, Live, PacketScenario, RunLength, RunQueueScenario, Scheduling, Traffic,
};
use warmcore_units::Fault;
use warmcore_workload::{Batch, Size};

/// A scenario of any kind.
pub(crate) enum AnyScenario {
    /// Packets on processors.
    Packet(Box<PacketScenario>),
    /// Processes in run queues.
    RunQueue(Box<RunQueueScenario>),
    /// A cluster.
    Cluster(Box<ClusterScenario>),
}

impl AnyScenario {
    /// The scenario of this `kind` in a JSON `document`, checked.
    pub(crate) fn from_json(kind: &str, document: &str) -> Result<Self, Failure> {
        let value = json(document)?;
        Ok(match kind {
            "packet" => Self::Packet(Box::new(checked(value)?)),
            "run-queue" => Self::RunQueue(Box::new(checked(value)?)),
            "cluster" => Self::Cluster(Box::new(checked(value)?)),
            other => return Err(unknown_kind(other)),
        })
    }

    /// The scenario in the TOML `text` of the file at `path`, checked. Its `kind` is found by its tables if none is given.
    fn from_toml(kind: Option<&str>, text: &str, path: &Path) -> Result<Self, Failure> {
        let folder = path.parent().unwrap_or(Path::new(""));
        Ok(match kind.unwrap_or_else(|| kind_of(text)) {
            "packet" => {
                Self::Packet(Box::new(parsed::<PacketScenario>(text, path)?.with_files_below(folder)))
            }
            "run-queue" => Self::RunQueue(Box::new(parsed(text, path)?)),
            "cluster" => Self::Cluster(Box::new(parsed(text, path)?)),
            other => return Err(unknown_kind(other)),
        })
    }

    const fn kind(&self) -> &'static str {
        match self {
            Self::Packet(_) => "packet",
            Self::RunQueue(_) => "run-queue",
            Self::Cluster(_) => "cluster",
        }
    }

    fn to_json(&self) -> Result<String, Failure> {
        let text = match self {
            Self::Packet(scenario) => serde_json::to_string(scenario),
            Self::RunQueue(scenario) => serde_json::to_string(scenario),
            Self::Cluster(scenario) => serde_json::to_string(scenario),
        };
        text.map_err(|error| Failure::Broken(error.to_string()))
    }

    fn to_toml(&self) -> Result<String, Failure> {
        let text = match self {
            Self::Packet(scenario) => toml::to_string(scenario),
            Self::RunQueue(scenario) => toml::to_string(scenario),
            Self::Cluster(scenario) => toml::to_string(scenario),
        };
        text.map_err(|error| Failure::Broken(error.to_string()))
    }
}

/// The scenario of `kind` with the fields of a JSON `document`, all others at their defaults; as JSON.
#[pyfunction]
pub(crate) fn scenario(kind: &str, document: &str) -> PyResult<String> {
    Ok(AnyScenario::from_json(kind, document)?.to_json()?)
}

/// The kind and the JSON of the scenario in a TOML `text`, or in the file at `path`.
#[pyfunction]
#[pyo3(signature = (kind, text, path))]
pub(crate) fn of_toml(
    kind: Option<&str>,
    text: Option<&str>,
    path: Option<PathBuf>,
) -> PyResult<(&'static str, String)> {
    let read = |path: &Path| {
        let unreadable = |error| Failure::Unusable(Class::Scenario, Complaint::from(error));
        document::text::<PacketScenario>(path).map_err(unreadable)
    };
    let scenario = match (text, path) {
        (Some(text), path) => AnyScenario::from_toml(kind, text, &path.unwrap_or("scenario".into()))?,
        (None, Some(path)) => AnyScenario::from_toml(kind, &read(&path)?, &path)?,
        (None, None) => {
            return Err(Failure::plain(Class::Scenario, "neither a text nor a path is given").into());
        }
    };
    Ok((scenario.kind(), scenario.to_json()?))
}

/// The TOML of a scenario.
#[pyfunction]
pub(crate) fn to_toml(kind: &str, document: &str) -> PyResult<String> {
    Ok(AnyScenario::from_json(kind, document)?.to_toml()?)
}

/// A part of a scenario, such as its traffic, with the fields of a JSON `document`, all others at their defaults; as JSON.
#[pyfunction]
pub(crate) fn part(name: &str, document: &str) -> PyResult<String> {
    let value = json(document)?;
    Ok(match name {
        "Scheduling" => completed::<Scheduling>(name, value),
        "Traffic" => completed::<Traffic>(name, value),
        "Batch" => completed::<Batch>(name, value),
        "Size" => completed::<Size>(name, value),
        "Effects" => completed::<Effects>(name, value),
        "QueueTable" => completed::<QueueTable>(name, value),
        "Service" => completed::<Service>(name, value),
        "RunLength" => completed::<RunLength>(name, value),
        "Live" => completed::<Live>(name, value),
        "RunQueueMachine" => completed::<RunQueueMachine>(name, value),
        "Scheduler" => completed::<Scheduler>(name, value),
        "Application" => completed::<Application>(name, value),
        "Jobs" => completed::<Jobs>(name, value),
        "Footprint" => completed::<Footprint>(name, value),
        "Bursts" => completed::<Bursts>(name, value),
        "Ends" => completed::<Ends>(name, value),
        "Blocking" => completed::<Blocking>(name, value),
        "Lock" => completed::<Lock>(name, value),
        "References" => completed::<References>(name, value),
        "MachineCaches" => completed::<MachineCaches>(name, value),
        "CacheLevel" => completed::<CacheLevel>(name, value),
        "RecordedDelays" => completed::<RecordedDelays>(name, value),
        "RecordedFigures" => completed::<RecordedFigures>(name, value),
        "RecordedThread" => completed::<RecordedThread>(name, value),
        "ClusterMachine" => completed::<ClusterMachine>(name, value),
        "ClusterDispatch" => completed::<ClusterDispatch>(name, value),
        "MemoryPart" => completed::<Part>(name, value),
        other => Err(Failure::Broken(format!("no part of a scenario is named `{other}`"))),
    }?)
}

fn completed<D: Serialize + DeserializeOwned>(name: &str, value: Value) -> Result<String, Failure> {
    serde_json::to_string(&read::<D>(name, value)?).map_err(|error| Failure::Broken(error.to_string()))
}

/// A document that an object holds is of this version, whether or not it says so.
fn checked<D: Checked>(mut value: Value) -> Result<D, Failure> {
    if let Some(fields) = value.as_object_mut() {
        fields.entry("schema").or_insert(D::SCHEMA.into());
    }
    let document: D = read(&what::<D>(), value)?;
    document.check()?;
    Ok(document)
}

fn what<D: Checked>() -> String {
    format!("a {}", D::WHAT)
}

fn json(text: &str) -> Result<Value, Failure> {
    serde_json::from_str(text).map_err(|error| Failure::plain(Class::Scenario, format!("not JSON: {error}")))
}

/// Reads `value`, which is `what`, and says which field is wrong.
fn read<D: Serialize + DeserializeOwned>(what: &str, value: Value) -> Result<D, Failure> {
    let document: D = serde_path_to_error::deserialize(&value).map_err(|error| {
        let (place, found) = place(error.path(), &value);
        let (message, found) = (error.into_inner().to_string(), found.map(ToString::to_string));
        Refusal { message: &message, place: &place, found, what, also: None }.fault()
    })?;
    let read = serde_json::to_value(&document).map_err(|error| Failure::Broken(error.to_string()))?;
    match array_for_table(&value, &read) {
        Some(field) => Err(Fault::new(field, "an array", "a table of named fields").into()),
        None => Ok(document),
    }
}

/// The dotted path of where a reader of `value` was, and what it found there.
fn place<'a>(path: &FieldPath, value: &'a Value) -> (String, Option<&'a Value>) {
    let (mut names, mut found) = (Vec::new(), Some(value));
    for segment in path {
        let name = match segment {
            Segment::Seq { index } => index.to_string(),
            Segment::Map { key: name } | Segment::Enum { variant: name } => name.clone(),
            Segment::Unknown => continue,
        };
        found = found.and_then(|found| match found {
            Value::Array(items) => items.get(name.parse::<usize>().ok()?),
            found => found.get(&name),
        });
        names.push(name);
    }
    (names.join("."), found)
}

/// The first field that is given as an array and `read` as a table: the reader takes fields by their places then.
fn array_for_table(given: &Value, read: &Value) -> Option<String> {
    let within = |name: String, (given, read): (&Value, Option<&Value>)| {
        let read = read?;
        if given.is_array() && read.is_object() {
            return Some(name);
        }
        array_for_table(given, read).map(|inner| format!("{name}.{inner}"))
    };
    match (given, read) {
        (Value::Object(given), Value::Object(read)) => {
            given.iter().find_map(|(name, value)| within(name.clone(), (value, read.get(name))))
        }
        (Value::Array(given), Value::Array(read)) => given
            .iter()
            .enumerate()
            .find_map(|(index, value)| within(index.to_string(), (value, read.get(index)))),
        _ => None,
    }
}

fn parsed<D: Checked>(text: &str, path: &Path) -> Result<D, Failure> {
    document::parse(text, path).map_err(|error| {
        let complaint = Complaint::from(error);
        // The reader of TOML knows the line, and the other reader the field.
        let of_value =
            || read::<D>(&what::<D>(), serde_json::to_value(text.parse::<toml::Table>().ok()?).ok()?).err();
        match of_value() {
            Some(Failure::Unusable(_, Complaint { field, found, expected, message }))
                if complaint.field.is_none() =>
            {
                let nearest = message.find("; did you mean").map_or("", |place| &message[place..]);
                let message = format!("{}{nearest}", complaint.message);
                Failure::Unusable(Class::Scenario, Complaint { field, found, expected, message })
            }
            _ => Failure::Unusable(Class::Scenario, complaint),
        }
    })
}

/// The kind of scenario in `text`, by the tables that no other kind has.
fn kind_of(text: &str) -> &'static str {
    let table: toml::Table = text.parse().unwrap_or_default();
    let has = |name| table.contains_key(name);
    if has("applications") {
        "run-queue"
    } else if has("program") || has("microbenchmark") {
        "cluster"
    } else {
        "packet"
    }
}

fn unknown_kind(kind: &str) -> Failure {
    Failure::Broken(format!("no scenario is of the kind `{kind}`: packet, run-queue or cluster"))
}
