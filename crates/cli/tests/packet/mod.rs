//! The commands around packets, simulated and live.

mod capacity;
mod compare;
mod disturbed;
mod extensions;
mod grid;
mod live;
mod observed;
mod options;
mod reproduce;
mod simulate;
mod sweep;
mod trace;
mod vanished;

use crate::{on_one_line, text, warmcore};
use serde_json::Value;
use std::path::Path;

/// What `arguments` print as JSON, without how long it took.
fn json(arguments: &[&str], folder: &Path) -> Value {
    let output = warmcore(&[arguments, &["--json"]].concat(), folder);
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    let mut object: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    if let Some(object) = object.as_object_mut() {
        object.remove("wall_seconds");
    }
    object
}

/// What a command says that asks for something without effect, on one line.
fn useless(arguments: &[&str], folder: &Path) -> String {
    let output = warmcore(arguments, folder);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", text(&output.stdout));
    on_one_line(&output.stderr)
}

fn number(of: &Value, key: &str) -> f64 {
    of[key].as_f64().unwrap_or_else(|| panic!("`{key}` is {}", of[key]))
}
