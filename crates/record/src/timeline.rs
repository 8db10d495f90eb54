//! A timeline for trace viewers: tracks with slices, and counters.
//!
//! It is written in the JSON object format of Chrome's trace events, which Perfetto and `chrome://tracing` open:
//! `M` events name the process and its tracks, an `X` event is a slice, a `C` event a counter's new value. Times are
//! in microseconds there; they are rounded to whole nanoseconds, ends like starts, so that slices that follow each
//! other on a track do not overlap.

use serde_json::{Map, Value, json};

/// The only process.
const PROCESS: u32 = 1;

/// Slices on tracks, and counters.
#[derive(Clone, PartialEq, Debug)]
pub struct Timeline {
    /// What the whole is of.
    pub name: String,
    /// The names of the tracks, from track 0 on.
    pub tracks: Vec<String>,
    /// The slices, in any order. Those of one track do not overlap.
    pub slices: Vec<Slice>,
    /// Values that change.
    pub counters: Vec<Counter>,
}

/// Something that takes time on a track.
#[derive(Clone, PartialEq, Debug)]
pub struct Slice {
    /// The index of its track.
    pub track: u32,
    /// When it begins, in nanoseconds.
    pub from_ns: f64,
    /// When it ends.
    pub to_ns: f64,
    /// What is written on it.
    pub name: String,
    /// What a viewer shows of a chosen slice.
    pub arguments: Map<String, Value>,
}

/// A value that changes.
#[derive(Clone, PartialEq, Debug)]
pub struct Counter {
    /// Its name.
    pub name: String,
    /// When it changes, in nanoseconds, and to what; by ascending time.
    pub values: Vec<(f64, f64)>,
}

impl Timeline {
    /// An empty timeline with these tracks.
    pub fn new(name: impl Into<String>, tracks: impl IntoIterator<Item = String>) -> Self {
        let tracks = tracks.into_iter().collect();
        Self { name: name.into(), tracks, slices: Vec::new(), counters: Vec::new() }
    }

    /// The content of the file, in which each event has a line. `about` says where it comes from.
    ///
    /// # Errors
    /// Never, as long as every number is finite.
    pub fn to_trace_json(&self, about: &impl serde::Serialize) -> Result<String, serde_json::Error> {
        let mut text = String::from("{\"displayTimeUnit\":\"ns\",\"otherData\":");
        text += &serde_json::to_string(about)?;
        text += ",\"traceEvents\":[\n";
        text += &json!({"ph": "M", "name": "process_name", "pid": PROCESS, "args": {"name": self.name}})
            .to_string();
        for (track, name) in self.tracks.iter().enumerate() {
            for (what, arguments) in
                [("thread_name", json!({"name": name})), ("thread_sort_index", json!({"sort_index": track}))]
            {
                let event = json!({"ph": "M", "name": what, "pid": PROCESS, "tid": track, "args": arguments});
                text += &format!(",\n{event}");
            }
        }
        for slice in &self.slices {
            let (from, to) = (slice.from_ns.round(), slice.to_ns.round());
            let event = json!({
                "ph": "X", "name": slice.name, "cat": "slice", "pid": PROCESS, "tid": slice.track,
                "ts": from / 1e3, "dur": (to - from) / 1e3, "args": slice.arguments,
            });
            text += &format!(",\n{event}");
        }
        for counter in &self.counters {
            for (at, value) in &counter.values {
                let event = json!({
                    "ph": "C", "name": counter.name, "pid": PROCESS, "ts": at.round() / 1e3, "args": {"value": value},
                });
                text += &format!(",\n{event}");
            }
        }
        text += "\n]}\n";
        Ok(text)
    }
}

impl Slice {
    /// A slice of `track`, with a name and no arguments.
    pub fn new(track: u32, from_ns: f64, to_ns: f64, name: impl Into<String>) -> Self {
        Self { track, from_ns, to_ns, name: name.into(), arguments: Map::new() }
    }

    /// The same slice with one argument more.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.arguments.insert(name.to_owned(), value.into());
        self
    }
}

impl Counter {
    /// A counter without values.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), values: Vec::new() }
    }

    /// It changes to `value` at a time that is no earlier than the last change. Of changes at the same nanosecond only
    /// the last is kept: a viewer shows no other.
    pub fn push(&mut self, at_ns: f64, value: f64) {
        match self.values.last_mut() {
            Some(last) if last.0.round() == at_ns.round() => *last = (at_ns, value),
            _ => self.values.push((at_ns, value)),
        }
    }
}
