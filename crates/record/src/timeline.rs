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

#[cfg(test)]
mod tests {
    use super::*;

    /// The rules of the trace event format's description (Chromium, "Trace Event Format", 2016): the object has an
    /// array `traceEvents`; every event has a phase and a process; times are numbers in microseconds; a complete event
    /// has a duration that is not negative and a thread; a counter has numbers as arguments; metadata events have a
    /// known name and its argument.
    #[test]
    fn every_event_obeys_the_rules_of_its_phase() {
        let mut timeline = Timeline::new("a \"host\"", ["one".to_owned(), "two".to_owned()]);
        timeline.slices.push(Slice::new(0, 10.4, 20.6, "stream 1").with("packet", 7).with("situation", "A1"));
        timeline.slices.push(Slice::new(0, 20.6, 30.0, "stream 2"));
        let mut present = Counter::new("present");
        [(1.0, 1.0), (1.2, 2.0), (5.0, 1.0)].into_iter().for_each(|(at, value)| present.push(at, value));
        assert_eq!(present.values, [(1.2, 2.0), (5.0, 1.0)]);
        timeline.counters.push(present);
        let text = timeline.to_trace_json(&json!({"program": "warmcore"})).expect("JSON");
        let object: Value = serde_json::from_str(&text).expect("JSON");
        assert!(matches!(object["displayTimeUnit"].as_str(), Some("ms" | "ns")));
        let events = object["traceEvents"].as_array().expect("events");
        assert_eq!(events.len(), 1 + 2 * 2 + 2 + 2);
        let mut ends = 0.0;
        for event in events {
            assert!(event["pid"].is_u64() && event["name"].is_string(), "{event}");
            match event["ph"].as_str().expect("a phase") {
                "M" => match event["name"].as_str().expect("a name") {
                    "process_name" | "thread_name" => assert!(event["args"]["name"].is_string(), "{event}"),
                    "thread_sort_index" => assert!(event["args"]["sort_index"].is_u64(), "{event}"),
                    other => panic!("{other}"),
                },
                "X" => {
                    let (ts, dur) =
                        (event["ts"].as_f64().expect("a time"), event["dur"].as_f64().expect("a duration"));
                    assert!(event["tid"].is_u64() && dur >= 0.0 && event["args"].is_object(), "{event}");
                    assert!(ts >= ends, "slices of a track overlap: {event}");
                    ends = ts + dur;
                }
                "C" => {
                    assert!(event["ts"].is_f64(), "{event}");
                    assert!(
                        event["args"].as_object().expect("values").values().all(Value::is_number),
                        "{event}"
                    );
                }
                other => panic!("phase {other}"),
            }
        }
    }
}
