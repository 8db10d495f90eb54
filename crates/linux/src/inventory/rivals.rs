//! Rivals: other programs that place interrupts, queues or threads, and may undo manual changes.
//!
//! A rival is found by its process name, its pid file, or its systemd unit. A program that has none
//! of these is not found.

use crate::tree::Tree;
use core::fmt;
use serde::Serialize;
use std::collections::BTreeMap;

/// A program that changes affinity or steering on its own.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Rival {
    /// Its name.
    pub name: &'static str,
    /// What it changes.
    pub changes: &'static str,
    /// Which settings of a plan it would undo.
    pub undoes: OverwrittenSettings,
    /// How it was found.
    pub evidence: Vec<Evidence>,
    /// Its configuration, where that is one word: the profile of TuneD.
    pub setting: Option<String>,
}

/// The settings of others that a program overwrites.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct OverwrittenSettings {
    /// The cpus of interrupts.
    pub interrupts: bool,
    /// The cpus of threads that it did not start.
    pub threads: bool,
}

impl Rival {
    /// Whether it is known to run. A pid file alone is no proof: it may be left over.
    #[must_use]
    pub fn runs(&self) -> bool {
        self.evidence.iter().any(|evidence| !matches!(evidence, Evidence::PidFile(_)))
    }
}

/// How a rival was found.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Evidence {
    /// A process with its name.
    Process(u32),
    /// A systemd unit with processes.
    Unit(String),
    /// Its pid file.
    PidFile(String),
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Process(pid) => write!(f, "process {pid}"),
            Self::Unit(unit) => write!(f, "unit {unit}"),
            Self::PidFile(file) => write!(f, "file /{file}"),
        }
    }
}

/// A program to look for.
struct KnownRival {
    name: &'static str,
    changes: &'static str,
    undoes: OverwrittenSettings,
    /// Names of its processes, truncated to 15 characters as in the kernel.
    processes: &'static [&'static str],
    pid_files: &'static [&'static str],
    setting: Option<&'static str>,
}

const NOTHING: OverwrittenSettings = OverwrittenSettings { interrupts: false, threads: false };

const KNOWN: [KnownRival; 8] = [
    KnownRival {
        name: "irqbalance",
        changes: "moves interrupts between cpus every ten seconds",
        undoes: OverwrittenSettings { interrupts: true, threads: false },
        processes: &["irqbalance"],
        pid_files: &["run/irqbalance.pid", "run/irqbalance/irqbalance.pid"],
        setting: None,
    },
    KnownRival {
        name: "tuned",
        changes: "sets interrupt and thread affinity, and the queues of interfaces, as its profile says",
        undoes: OverwrittenSettings { interrupts: true, threads: true },
        processes: &["tuned"],
        pid_files: &["run/tuned/tuned.pid"],
        setting: Some("etc/tuned/active_profile"),
    },
    KnownRival {
        name: "numad",
        changes: "moves processes between NUMA nodes",
        undoes: OverwrittenSettings { interrupts: false, threads: true },
        processes: &["numad"],
        pid_files: &["run/numad.pid"],
        setting: None,
    },
    KnownRival {
        name: "ananicy",
        changes: "changes priorities of processes by their names",
        undoes: NOTHING,
        processes: &["ananicy", "ananicy-cpp"],
        pid_files: &[],
        setting: None,
    },
    KnownRival {
        name: "kubelet",
        changes: "gives containers cpusets, and takes cpus away from others",
        undoes: NOTHING,
        processes: &["kubelet"],
        pid_files: &[],
        setting: None,
    },
    KnownRival {
        name: "dockerd",
        changes: "gives containers cpusets",
        undoes: NOTHING,
        processes: &["dockerd"],
        pid_files: &["run/docker.pid"],
        setting: None,
    },
    KnownRival {
        name: "containerd",
        changes: "gives containers cpusets",
        undoes: NOTHING,
        processes: &["containerd"],
        pid_files: &[],
        setting: None,
    },
    KnownRival {
        name: "libvirtd",
        changes: "pins the threads of virtual machines",
        undoes: NOTHING,
        processes: &["libvirtd", "virtqemud"],
        pid_files: &["run/libvirtd.pid"],
        setting: None,
    },
];

/// The known rivals by name, which is also that of their systemd unit, and what they undo.
pub(crate) fn known() -> impl Iterator<Item = (&'static str, OverwrittenSettings)> {
    KNOWN.iter().map(|known| (known.name, known.undoes))
}

/// Finds the known rivals on this machine. `processes` are the names of all processes.
pub(crate) fn read(tree: &Tree, processes: &BTreeMap<u32, String>) -> Vec<Rival> {
    let units = tree.entries(UNITS, &|name| Some(name.strip_suffix(".service")?.to_owned()));
    let rival = |known: &KnownRival| {
        let with_name = processes.iter().filter(|(_, name)| known.processes.contains(&name.as_str()));
        let mut evidence: Vec<Evidence> = with_name.map(|(&pid, _)| Evidence::Process(pid)).collect();
        let unit = units.contains(known.name).then(|| format!("{}.service", known.name));
        evidence.extend(unit.map(Evidence::Unit));
        let files = known.pid_files.iter().filter(|file| tree.has(file));
        evidence.extend(files.map(|file| Evidence::PidFile((*file).to_owned())));
        let setting = known.setting.filter(|_| !evidence.is_empty()).and_then(|file| tree.text(file));
        let found =
            Rival { name: known.name, changes: known.changes, undoes: known.undoes, evidence, setting };
        (!found.evidence.is_empty()).then_some(found)
    };
    KNOWN.iter().filter_map(rival).collect()
}

/// Where systemd keeps the control groups of running system units.
const UNITS: &str = "sys/fs/cgroup/system.slice";

/// A file by which systemd-udevd sets up new interfaces (`systemd.link(5)`), with its settings of
/// queues.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct LinkFile {
    /// The path of the file.
    pub file: String,
    /// The lines that set the number of queues or their steering.
    pub settings: Vec<String>,
}

/// Reads the `.link` files that set up queues, in order of precedence. A file hides files of the same
/// name in later directories.
pub(crate) fn link_files(tree: &Tree) -> Vec<LinkFile> {
    const DIRECTORIES: [&str; 4] = [
        "etc/systemd/network",
        "run/systemd/network",
        "usr/local/lib/systemd/network",
        "usr/lib/systemd/network",
    ];
    let mut files: BTreeMap<String, String> = BTreeMap::new();
    for directory in DIRECTORIES {
        for name in tree.entries(directory, &|name| name.ends_with(".link").then(|| name.to_owned())) {
            files.entry(name).or_insert_with_key(|name| format!("{directory}/{name}"));
        }
    }
    let link_file = |file: String| {
        let settings = tree.filtered(&file, about_queues)?.lines().map(str::to_owned).collect();
        Some(LinkFile { file: format!("/{file}"), settings })
    };
    files.into_values().filter_map(link_file).collect()
}

/// Keeps the lines that set up queues. Other lines may identify the machine.
fn about_queues(text: &str) -> String {
    const KEYS: [&str; 7] = [
        "RxChannels",
        "TxChannels",
        "OtherChannels",
        "CombinedChannels",
        "ReceiveQueues",
        "TransmitQueues",
        "ReceivePacketSteeringCPUMask",
    ];
    let key = |line: &str| line.split_once('=').map_or("", |(key, _)| key).trim().to_owned();
    let lines = text.lines().map(str::trim).filter(|line| KEYS.contains(&key(line).as_str()));
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake;

    #[test]
    fn a_rival_is_found_by_its_process_its_unit_or_its_file() {
        let mut tree = fake::Tree::default();
        tree.put("run/irqbalance.pid", 801);
        tree.put("sys/fs/cgroup/system.slice/tuned.service/cgroup.procs", 900);
        tree.put("etc/tuned/active_profile", "network-latency");
        let processes = BTreeMap::from([(850, "numad".to_owned()), (1, "systemd".to_owned())]);
        let rivals = read(&Tree::Fake(tree), &processes);
        let found: Vec<(&str, bool)> = rivals.iter().map(|rival| (rival.name, rival.runs())).collect();
        assert_eq!(found, [("irqbalance", false), ("tuned", true), ("numad", true)]);
        assert_eq!(rivals[1].setting.as_deref(), Some("network-latency"));
        assert_eq!(rivals[2].evidence, [Evidence::Process(850)]);
    }

    #[test]
    fn only_the_queue_settings_of_a_link_file_are_read() {
        let mut tree = fake::Tree::default();
        let text = "[Match]\nMACAddress=00:11:22:33:44:55\n[Link]\nCombinedChannels = 4\nName=wan";
        tree.put("etc/systemd/network/10-wan.link", text);
        tree.put("usr/lib/systemd/network/10-wan.link", "[Link]\nRxChannels=8");
        tree.put("usr/lib/systemd/network/99-default.link", "[Link]\nNamePolicy=keep");
        let (probe, recording) = crate::Probe::fake(tree).recorded();
        let files = link_files(probe.tree());
        assert_eq!(files.len(), 1, "{files:?}");
        assert_eq!(files[0].settings, ["CombinedChannels = 4"]);
        let kept: String = recording.tree().files.into_values().collect();
        assert!(!kept.contains("00:11") && kept.contains("CombinedChannels"), "{kept}");
    }
}
