//! The commands around packets, simulated and live.

mod compare;
mod live;
mod reproduce;
mod simulate;
mod sweep;

use crate::{text, warmcore};
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
