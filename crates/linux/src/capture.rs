//! Records the files that a probe reads, so that the machine can be examined elsewhere.
//!
//! A recorded probe keeps every file it reads, every directory entry it finds, and every path it
//! finds to exist. The copy is complete by construction: a probe of the copy gets the same answers
//! as the machine gave.
//!
//! ```
//! use warmcore_linux::{Probe, fake};
//! use warmcore_topology::synthetic;
//!
//! let (probe, recording) = Probe::fake(fake::Tree::from_machine(&synthetic::virtual_machine(2))).recorded();
//! let seen = probe.machine();
//! assert_eq!(Probe::fake(recording.tree()).machine(), seen);
//! ```

mod folder;

pub use folder::{require_creatable, write};

use crate::fake;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// The file that is in a capture until it is whole.
pub(crate) const UNFINISHED: &str = "warmcore/unfinished";

/// The files and names that a probe has read so far.
#[derive(Clone, Debug, Default)]
pub struct Recording(Arc<Mutex<Recorded>>);

#[derive(Debug, Default)]
struct Recorded {
    files: BTreeMap<String, String>,
    names: BTreeSet<String>,
    read_only: BTreeSet<String>,
}

impl Recording {
    /// Returns the recorded files, and an empty file for each name that was found but not read.
    #[must_use]
    pub fn tree(&self) -> fake::Tree {
        let recorded = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut tree = fake::Tree { files: recorded.files.clone(), read_only: recorded.read_only.clone() };
        // In reverse order, so that the contents of a directory come before the directory.
        for name in recorded.names.iter().rev() {
            if !tree.has(name) {
                tree.files.insert(name.clone(), String::new());
            }
        }
        without_hardware_addresses(tree)
    }

    pub(crate) fn record_file(&self, file: &Path, text: &str) {
        let mut recorded = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let file = file.to_string_lossy().into_owned();
        let text = without_serial_number(&file, text) + "\n";
        recorded.files.insert(file, text);
    }

    /// Records that `file` exists, and whether it may be written.
    pub(crate) fn record_mode(&self, file: &Path, is_writable: bool) {
        self.record_name(file);
        if !is_writable {
            let mut recorded = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            recorded.read_only.insert(file.to_string_lossy().into_owned());
        }
    }

    pub(crate) fn record_name(&self, file: &Path) {
        let mut recorded = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        recorded.names.insert(file.to_string_lossy().into_owned());
    }
}

/// Removes the machine's serial number, which some ARM kernels write into `/proc/cpuinfo`.
fn without_serial_number(file: &str, text: &str) -> String {
    if file != "proc/cpuinfo" {
        return text.to_owned();
    }
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("Serial")).collect();
    lines.join("\n")
}

/// Replaces hardware addresses in interface names by numbers, wherever they are written. systemd
/// names an interface by its address (`enx` or `wlx` and twelve digits) if it knows no better name
/// (systemd.net-naming-scheme(7)).
fn without_hardware_addresses(tree: fake::Tree) -> fake::Tree {
    let names: BTreeSet<&str> =
        tree.files.iter().flat_map(|(file, text)| [file, text]).flat_map(|text| addressed(text)).collect();
    let renamed: Vec<(String, String)> =
        (0..).zip(&names).map(|(n, name)| ((*name).to_owned(), format!("{}{n:012}", &name[..3]))).collect();
    if renamed.is_empty() {
        return tree;
    }
    let replace = |text: String| renamed.iter().fold(text, |text, (from, to)| text.replace(from, to));
    fake::Tree {
        files: tree.files.into_iter().map(|(file, text)| (replace(file), replace(text))).collect(),
        read_only: tree.read_only.into_iter().map(replace).collect(),
    }
}

/// Returns the interface names in `text` that contain a hardware address.
fn addressed(text: &str) -> impl Iterator<Item = &str> {
    let starts = ["enx", "wlx"].into_iter().flat_map(|start| text.match_indices(start));
    let name = |(at, _): (usize, &str)| {
        let name = text.get(at..at + 15)?;
        name[3..].bytes().all(|byte| byte.is_ascii_hexdigit()).then_some(name)
    };
    starts.filter_map(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Probe;
    use warmcore_topology::synthetic;

    #[test]
    fn a_recording_gives_the_same_answers_as_the_machine() {
        let laptop = fake::Tree::from_machine(&synthetic::hybrid_laptop()).hiding("cpu3/cache");
        let (probe, recording) = Probe::fake(laptop.clone()).recorded();
        let (machine, host) = (probe.machine(), probe.host());
        let copy = Probe::fake(recording.tree());
        assert_eq!((copy.machine(), copy.host()), (machine, host));
        let unasked = recording.tree().files.into_keys().find(|file| !laptop.files.contains_key(file));
        assert_eq!(unasked, None, "the recording holds only files of the machine");
    }

    #[test]
    fn a_name_that_is_a_hardware_address_becomes_a_number() {
        let mut tree = fake::Tree::from_machine(&synthetic::virtual_machine(1));
        tree.put("sys/class/net/enx02005e005301/ifindex", 3);
        tree.put("sys/class/net/enx02005e005301/queues/rx-0/rps_cpus", "1");
        tree.put("proc/interrupts", "CPU0\n24: 5 PCI-MSI 1-edge enx02005e005301-rx-0");
        let (probe, recording) = Probe::fake(tree).recorded();
        let seen = probe.inventory().expect("a valid tree");
        assert_eq!(seen.interfaces[0].name, "enx02005e005301");
        let copy = Probe::fake(recording.tree()).inventory().expect("a valid copy");
        assert_eq!(copy.interfaces[0].name, "enx000000000000");
        assert_eq!(copy.interrupts[0].id.actions, ["enx000000000000-rx-0"]);
        assert_eq!(copy.interfaces[0].receive, seen.interfaces[0].receive);
    }

    #[test]
    fn serial_numbers_are_not_recorded() {
        let mut tree = fake::Tree::from_machine(&synthetic::virtual_machine(1));
        tree.put("proc/cpuinfo", "model name\t: ARMv7\nSerial\t\t: 00000000abcdef01\nRevision\t: 1");
        let (probe, recording) = Probe::fake(tree).recorded();
        let name = probe.machine().expect("a valid tree").machine.name;
        assert_eq!(name, "ARMv7");
        assert_eq!(recording.tree().files["proc/cpuinfo"], "model name\t: ARMv7\nRevision\t: 1\n");
    }
}
