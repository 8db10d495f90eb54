//! The book's page on the JSON of `host show` has every field, and no other.

use super::{json, written};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use warmcore_linux::ethtool::{
    Channels, Coalescing, DriverSettings, Feature, Features, Indirection, Napi, Rings,
};
use warmcore_linux::fake::{Tree, hosts};

/// The paths that the page has: what stands in the first cells of its tables.
fn documented() -> BTreeSet<String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/commands/host-json.md");
    let text = fs::read_to_string(page).expect("the page");
    let cells = text.lines().filter_map(|line| line.strip_prefix("| `")?.split(" | ").next());
    cells.flat_map(|cell| cell.split("`, `")).map(|path| path.trim_end_matches('`').to_owned()).collect()
}

/// Adds the paths of every leaf of `value`, which is at `path`, as the page writes them.
fn add_paths(value: &Value, path: &str, documented: &BTreeSet<String>, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let any = format!("{path}.*");
                let is_map = documented.iter().any(|other| other.starts_with(&any));
                let below = if is_map { any } else { format!("{path}.{name}") };
                add_paths(value, below.trim_start_matches('.'), documented, found);
            }
        }
        Value::Array(elements) => {
            for element in elements {
                add_paths(element, &format!("{path}[]"), documented, found);
            }
        }
        _ => {
            found.insert(path.to_owned());
        }
    }
}

/// A host whose driver says everything, with a packet socket, and hidden caches.
fn talkative() -> Tree {
    let mut tree = hosts::balanced();
    let feature = Some(Feature { on: true, fixed: false });
    let settings = DriverSettings {
        channels: Some(Channels { combined: Some(8), combined_max: Some(16), ..Channels::default() }),
        rings: Some(Rings { receive: Some(512), ..Rings::default() }),
        coalescing: Some(Coalescing { receive_usecs: Some(50), ..Coalescing::default() }),
        features: Features { ntuple: feature, receive_hash: feature, gro: feature, lro: feature },
        indirection: Some(Indirection((0..8).collect())),
        napi: vec![Napi { id: 8193, interrupt: Some(24), receive: vec![0], ..Napi::default() }],
    };
    tree.put("warmcore/ethtool/eth0.toml", toml::to_string(&settings).expect("plain values").trim_end());
    tree.put("proc/sys/net/core/busy_read", 50);
    tree.put("proc/net/packet", "sk RefCnt Type Proto Iface R Rmem User Inode\n- 3 3 0003 2 1 0 0 777");
    tree.put("proc/loadavg", "0.50 0.25 0.10 1/200 4242");
    tree.hiding("/cache/")
}

#[test]
fn every_field_is_in_the_book_and_no_other() {
    let documented = documented();
    let mut found = BTreeSet::new();
    for tree in hosts::ALL.iter().map(|(_, host)| host()).chain([talkative()]) {
        let (_folder, root) = written(&tree);
        add_paths(&json(&root), "", &documented, &mut found);
    }
    let missing: Vec<&String> = found.difference(&documented).collect();
    assert!(missing.is_empty(), "not in docs/src/commands/host-json.md: {missing:?}");
    let stale = |path: &&String| {
        let has_below = found
            .iter()
            .any(|other| other.strip_prefix(path.as_str()).is_some_and(|rest| rest.starts_with(['.', '['])));
        !found.contains(*path) && !has_below
    };
    let stale: Vec<&String> = documented.iter().filter(stale).collect();
    assert!(stale.is_empty(), "in docs/src/commands/host-json.md and never printed: {stale:?}");
}
