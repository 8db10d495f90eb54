//! The house rules that a compiler does not check: which room may import which, and what must not
//! be in a room at all.
//!
//! The table is the twin of the one in ARCHITECTURE.md. A room that needs a new door gets it
//! here and there, in one commit that says why.

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Package};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Each room and what it may import. `cli` may import all.
const ROOMS: &[(&str, &[&str])] = &[
    ("units", &[]),
    ("topology", &["units"]),
    ("policy", &["units", "topology"]),
    ("dispatch", &["policy"]),
    ("stack", &["units"]),
    ("workload", &["units"]),
    ("costs", &["units", "topology"]),
    ("stats", &[]),
    ("files", &[]),
    ("scenario", &["units", "topology", "policy", "stack", "workload", "costs", "stats", "files"]),
    ("record", &["units", "stats", "files"]),
    ("linux", &["units", "topology", "files"]),
    ("sim", &["units", "topology", "policy", "workload", "costs", "stats", "scenario", "record"]),
    (
        "runtime",
        &[
            "units", "topology", "policy", "stack", "workload", "costs", "stats", "scenario", "linux",
            "record",
        ],
    ),
    ("measure", &["units", "topology", "costs", "stack", "stats", "linux", "runtime", "record"]),
    (
        "study",
        &[
            "units", "topology", "costs", "workload", "stats", "scenario", "record", "linux", "sim",
            "runtime", "measure",
        ],
    ),
    (
        "published",
        &["units", "topology", "policy", "workload", "costs", "stats", "scenario", "record", "sim"],
    ),
    ("report", &["units", "record"]),
    // Of what benchmarks share, no room is built: it stands in nobody's list.
    ("bench", &["units", "stats", "linux"]),
];

/// Rooms whose code decides or transforms, and must be able to run anywhere.
const PURE: &[&str] = &["units", "topology", "policy", "stack", "workload", "costs", "stats", "sim"];

/// What a pure room may not name: clocks, files, threads, sockets, the environment.
const IMPURE: &[&str] =
    &["std::time", "std::fs", "std::net", "std::thread", "std::env", "std::process", "SystemTime", "Instant"];

/// Crates whose whole purpose is to make system calls.
const SYSTEM_CALLS: &[&str] = &["rustix", "libc", "nix", "perf-event"];

/// Where `unsafe` may stand.
const UNSAFE: &[&str] = &["linux/src/", "measure/src/", "dispatch/src/ring", "dispatch/src/queue"];

fn workspace() -> Metadata {
    MetadataCommand::new().no_deps().exec().expect("cargo describes this workspace")
}

fn room(package: &str) -> Option<&str> {
    package.strip_prefix("warmcore-")
}

/// What `package` imports outside its tests.
fn imports(package: &Package) -> impl Iterator<Item = &str> {
    let normal = package.dependencies.iter().filter(|import| import.kind == DependencyKind::Normal);
    normal.map(|import| import.name.as_str())
}

/// Calls `check` with every source file of `package`, and its code without its unit tests.
fn sources(package: &Package, check: &mut dyn FnMut(&Path, &str)) {
    let manifest = package.manifest_path.as_std_path();
    visit(&manifest.with_file_name("src"), &mut |path, text| {
        check(path, text.split("#[cfg(test)]").next().unwrap_or(text));
    });
}

fn visit(folder: &Path, check: &mut dyn FnMut(&Path, &str)) {
    for entry in fs::read_dir(folder).expect("a room has sources") {
        let path = entry.expect("a folder can be listed").path();
        if path.is_dir() {
            visit(&path, check);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            check(&path, &fs::read_to_string(&path).expect("a source can be read"));
        }
    }
}

#[test]
fn no_room_imports_upward() {
    let allowed: BTreeMap<&str, &[&str]> = ROOMS.iter().copied().collect();
    let metadata = workspace();
    let packages = metadata.workspace_packages();
    assert_eq!(packages.len(), ROOMS.len() + 1, "every room stands in the table, and cli is beside it");
    for package in packages {
        let name = room(&package.name).expect("packages are named warmcore-ROOM");
        if name == "cli" {
            continue;
        }
        let allowed = allowed.get(name).unwrap_or_else(|| panic!("`{name}` is not in the table"));
        for import in imports(package).filter_map(room) {
            assert!(allowed.contains(&import), "`{name}` may not import `{import}`");
        }
    }
}

#[test]
fn only_linux_makes_system_calls() {
    for package in workspace().workspace_packages() {
        if package.name.as_str() != "warmcore-linux" {
            let call = imports(package).find(|import| SYSTEM_CALLS.contains(import));
            assert_eq!(call, None, "{} makes system calls", package.name);
        }
    }
}

#[test]
fn pure_rooms_read_no_clock_and_no_file() {
    for package in workspace().workspace_packages() {
        if room(&package.name).is_some_and(|name| PURE.contains(&name)) {
            sources(package, &mut |path, code| {
                let word = IMPURE.iter().find(|word| code.contains(*word));
                assert_eq!(word, None, "in {}", path.display());
            });
        }
    }
}

#[test]
fn unsafe_code_lives_in_named_rooms_and_states_its_reason() {
    for package in workspace().workspace_packages() {
        sources(package, &mut |path, code| {
            if code.contains("unsafe {") || code.contains("unsafe fn") || code.contains("unsafe impl") {
                let place = path.display().to_string();
                assert!(UNSAFE.iter().any(|named| place.contains(named)), "unsafe code in {place}");
                assert!(code.contains("SAFETY:"), "unsafe code without its reason in {place}");
            }
        });
    }
}
