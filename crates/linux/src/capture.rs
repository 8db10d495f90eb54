//! Copies of what was read, so that another can look at this machine.
//!
//! A recorded probe keeps every file it reads, every name it finds in a directory, and whatever it
//! finds to be there. The copy is complete by construction: whatever a probe asks of it, it answers
//! as the machine did at that moment.
//!
//! ```
//! use warmcore_linux::{Probe, fake};
//! use warmcore_topology::synthetic;
//!
//! let (probe, recording) = Probe::fake(fake::Tree::from_machine(&synthetic::virtual_machine(2))).recorded();
//! let seen = probe.machine();
//! assert_eq!(Probe::fake(recording.tree()).machine(), seen);
//! ```

use crate::{Probe, fake};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Everything that a probe has read so far.
#[derive(Clone, Debug, Default)]
pub struct Recording(Arc<Mutex<Recorded>>);

#[derive(Debug, Default)]
struct Recorded {
    files: BTreeMap<String, String>,
    names: BTreeSet<String>,
}

impl Recording {
    /// The files that were read, as they were, and an empty one for each name that was only found.
    #[must_use]
    pub fn tree(&self) -> fake::Tree {
        let recorded = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut tree = fake::Tree { files: recorded.files.clone() };
        // Backwards, so that what is in a directory comes before the directory.
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

    pub(crate) fn record_name(&self, file: &Path) {
        let mut recorded = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        recorded.names.insert(file.to_string_lossy().into_owned());
    }
}

/// Some ARM kernels write the machine's serial number into `/proc/cpuinfo`.
fn without_serial_number(file: &str, text: &str) -> String {
    if file != "proc/cpuinfo" {
        return text.to_owned();
    }
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("Serial")).collect();
    lines.join("\n")
}

/// An interface that has no better name is called by its hardware address (`enx` or `wlx` and twelve
/// digits, of systemd.net-naming-scheme(7)). Each gets a number in its place, wherever it is written.
fn without_hardware_addresses(tree: fake::Tree) -> fake::Tree {
    let names: BTreeSet<&str> =
        tree.files.iter().flat_map(|(file, text)| [file, text]).flat_map(|text| addressed(text)).collect();
    let renamed: Vec<(String, String)> =
        (0..).zip(&names).map(|(n, name)| ((*name).to_owned(), format!("{}{n:012}", &name[..3]))).collect();
    if renamed.is_empty() {
        return tree;
    }
    let replace = |text: String| renamed.iter().fold(text, |text, (from, to)| text.replace(from, to));
    fake::Tree { files: tree.files.into_iter().map(|(file, text)| (replace(file), replace(text))).collect() }
}

/// The names in `text` that hold a hardware address.
fn addressed(text: &str) -> impl Iterator<Item = &str> {
    let starts = ["enx", "wlx"].into_iter().flat_map(|start| text.match_indices(start));
    let name = |(at, _): (usize, &str)| {
        let name = text.get(at..at + 15)?;
        name[3..].bytes().all(|byte| byte.is_ascii_hexdigit()).then_some(name)
    };
    starts.filter_map(name)
}

impl Probe {
    /// The same probe, and a recording of what it reads from now on.
    #[must_use]
    pub fn recorded(self) -> (Self, Recording) {
        let recording = Recording::default();
        (self.recording_into(recording.clone()), recording)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warmcore_topology::synthetic;

    #[test]
    fn a_recording_answers_as_the_machine_did() {
        let laptop = fake::Tree::from_machine(&synthetic::hybrid_laptop()).hiding("cpu3/cache");
        let (probe, recording) = Probe::fake(laptop.clone()).recorded();
        let (machine, host) = (probe.machine(), probe.host());
        let copy = Probe::fake(recording.tree());
        assert_eq!((copy.machine(), copy.host()), (machine, host));
        let unasked = recording.tree().files.into_keys().find(|file| !laptop.files.contains_key(file));
        assert_eq!(unasked, None, "nothing but what was there");
    }

    #[test]
    fn a_name_that_is_a_hardware_address_becomes_a_number() {
        let mut tree = fake::Tree::from_machine(&synthetic::virtual_machine(1));
        tree.put("sys/class/net/enx02005e005301/ifindex", 3);
        tree.put("sys/class/net/enx02005e005301/queues/rx-0/rps_cpus", "1");
        tree.put("proc/interrupts", "CPU0\n24: 5 PCI-MSI 1-edge enx02005e005301-rx-0");
        let (probe, recording) = Probe::fake(tree).recorded();
        let seen = probe.inventory().expect("a sound tree");
        assert_eq!(seen.interfaces[0].name, "enx02005e005301");
        let copy = Probe::fake(recording.tree()).inventory().expect("a sound copy");
        assert_eq!(copy.interfaces[0].name, "enx000000000000");
        assert_eq!(copy.interrupts[0].id.actions, ["enx000000000000-rx-0"]);
        assert_eq!(copy.interfaces[0].receive, seen.interfaces[0].receive);
    }

    #[test]
    fn a_serial_number_is_not_kept() {
        let mut tree = fake::Tree::from_machine(&synthetic::virtual_machine(1));
        tree.put("proc/cpuinfo", "model name\t: ARMv7\nSerial\t\t: 00000000abcdef01\nRevision\t: 1");
        let (probe, recording) = Probe::fake(tree).recorded();
        let name = probe.machine().expect("a sound tree").machine.name;
        assert_eq!(name, "ARMv7");
        assert_eq!(recording.tree().files["proc/cpuinfo"], "model name\t: ARMv7\nRevision\t: 1\n");
    }
}
