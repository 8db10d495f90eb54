//! The house rules that a compiler does not check: which room imports which, as the table of rooms in
//! ARCHITECTURE.md says, and what must not be in a room at all.

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Package};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Rooms whose code decides or transforms, and must be able to run anywhere.
const PURE: &[&str] =
    &["units", "topology", "policy", "stack", "workload", "costs", "cachesim", "coherence", "stats", "sim"];

/// Packages that are no rooms, and no default members of the workspace: benchmarks build their peers, the laboratory's programs
/// are for another machine, and the scheduler in the kernel wants clang and libelf.
const NO_ROOMS: [&str; 3] = ["warmcore-bench", "warmcore-lab", "warmcore-scx"];

/// What a pure room may not name: clocks, files, threads, sockets, the environment.
const IMPURE: &[&str] =
    &["std::time", "std::fs", "std::net", "std::thread", "std::env", "std::process", "SystemTime", "Instant"];

/// Crates whose whole purpose is to make system calls.
const SYSTEM_CALLS: &[&str] = &["rustix", "libc", "nix", "perf-event"];

/// Where `unsafe` may stand.
const UNSAFE: &[&str] =
    &["linux/src/", "measure/src/", "dispatch/src/sync/lock", "dispatch/src/sync/biased", "lab/src/bin/"];

fn workspace() -> Metadata {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.toml");
    MetadataCommand::new().manifest_path(root).no_deps().exec().expect("cargo describes this workspace")
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

/// The table of rooms in ARCHITECTURE.md: what each imports.
fn rooms() -> BTreeMap<String, BTreeSet<String>> {
    let text = include_str!("../../../../ARCHITECTURE.md");
    let section =
        text.split("\n## ").find(|section| section.starts_with("Rooms\n")).expect("a section of rooms");
    let row = |line: &str| {
        let cells: Vec<&str> = line.strip_prefix("| `")?.strip_suffix(" |")?.split(" | ").collect();
        let [name, .., imports] = cells[..] else { return None };
        let imports = imports.split(", ").filter(|&name| name != "–").map(str::to_owned);
        Some((name.trim_end_matches('`').to_owned(), imports.collect()))
    };
    let mut rooms = BTreeMap::new();
    for (name, imports) in section.lines().filter_map(row) {
        assert!(rooms.insert(name.clone(), imports).is_none(), "`{name}` has two rows in the table");
    }
    rooms
}

#[test]
fn every_room_imports_what_the_table_says() {
    let rooms = rooms();
    let metadata = workspace();
    let packages = metadata.workspace_default_packages();
    assert_eq!(packages.len(), rooms.len(), "every room stands in the table");
    let no_rooms = metadata.workspace_packages().len() - packages.len();
    assert_eq!(no_rooms, NO_ROOMS.len(), "nothing but {NO_ROOMS:?} is no room");
    for package in packages {
        let name = room(&package.name).expect("packages are named warmcore-ROOM");
        let said = rooms.get(name).unwrap_or_else(|| panic!("`{name}` is not in the table"));
        let imported: BTreeSet<String> = imports(package).filter_map(room).map(str::to_owned).collect();
        assert_eq!(&imported, said, "imports of `{name}` (left) and its row in the table (right)");
    }
}

#[test]
fn only_linux_makes_system_calls_and_one_file_of_dispatch() {
    for package in workspace().workspace_packages() {
        if package.name.as_str() == "warmcore-dispatch" {
            sources(package, &mut |path, code| {
                let calls = SYSTEM_CALLS.iter().any(|call| code.contains(&format!("{call}::")));
                assert!(!calls || path.ends_with("sync/asymmetric.rs"), "{}", path.display());
            });
        } else if package.name.as_str() != "warmcore-linux" {
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
