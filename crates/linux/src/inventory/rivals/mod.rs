//! Rivals: other programs that place interrupts, queues or threads, and may undo manual changes.
//!
//! A rival is found by its process name, its pid file, its systemd unit, or the line that switches it on. A
//! program that has none of these is not found.
//!
//! | module | holds |
//! |---|---|
//! | `known` | the programs that are looked for |
//! | `irqbalance` | the arguments of irqbalance, and the line that keeps it off some interrupts |
//! | `link_files` | systemd's files about the queues of interfaces |

mod irqbalance;
mod known;
pub(crate) mod link_files;

pub use irqbalance::IrqbalanceArguments;
pub use link_files::LinkFile;

use crate::tree::Tree;
use core::fmt;
use known::{KNOWN, KnownRival};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

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
    /// The arguments that irqbalance is started with; `None` of every other program.
    pub arguments: Option<IrqbalanceArguments>,
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
    /// Whether it is known to run. A pid file alone is no proof: it may be left over. Neither is a unit that is
    /// enabled: it may have ended.
    #[must_use]
    pub fn runs(&self) -> bool {
        self.evidence.iter().any(|evidence| matches!(evidence, Evidence::Process(_) | Evidence::Unit(_)))
    }

    /// What keeps it off the interrupts with these numbers, in a sentence; `None` for a program without such an
    /// option, or without interrupts.
    #[must_use]
    pub fn ban(&self, interrupts: &BTreeSet<u32>) -> Option<String> {
        let arguments = self.arguments.as_ref().filter(|_| !interrupts.is_empty())?;
        Some(format!(
            "To keep it off these interrupts until the machine is restarted, put `{}` into {} and restart {}.",
            arguments.ban_line(interrupts),
            arguments.file,
            self.name
        ))
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
    /// A systemd unit that is started at boot.
    Enabled(String),
    /// A line of a configuration file, after the name of the file.
    Line(String),
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Process(pid) => write!(f, "process {pid}"),
            Self::Unit(unit) => write!(f, "unit {unit}"),
            Self::PidFile(file) => write!(f, "file /{file}"),
            Self::Enabled(unit) => write!(f, "unit {unit}, which is enabled"),
            Self::Line(line) => write!(f, "/{line}"),
        }
    }
}

/// The known rivals that run all the time, by name, which is also that of their systemd unit, and what they undo.
pub(crate) fn known_daemons() -> impl Iterator<Item = (&'static str, OverwrittenSettings)> {
    let is_daemon = |known: &&KnownRival| !known.processes.is_empty() && known.units.contains(&known.name);
    KNOWN.iter().filter(is_daemon).map(|known| (known.name, known.undoes))
}

/// Finds the known rivals on this machine. `processes` are the names of all processes.
pub(crate) fn read(tree: &Tree, processes: &BTreeMap<u32, String>) -> Vec<Rival> {
    let [running, enabled] = [RUNNING, ENABLED].map(|directory| {
        tree.entries(directory, &|name| {
            let unit = name.strip_suffix(".service")?;
            KNOWN.iter().any(|known| known.units.contains(&unit)).then(|| unit.to_owned())
        })
    });
    let rival = |known: &KnownRival| {
        let with_name = processes.iter().filter(|(_, name)| known.processes.contains(&name.as_str()));
        let mut evidence: Vec<Evidence> = with_name.map(|(&pid, _)| Evidence::Process(pid)).collect();
        for unit in known.units {
            let name = format!("{unit}.service");
            if running.contains(*unit) {
                evidence.push(Evidence::Unit(name));
            } else if enabled.contains(*unit) {
                evidence.push(Evidence::Enabled(name));
            }
        }
        let files = known.pid_files.iter().filter(|file| tree.has(file));
        evidence.extend(files.map(|file| Evidence::PidFile((*file).to_owned())));
        evidence.extend(known.switch.and_then(|switch| switched_on(tree, switch)));
        if evidence.is_empty() {
            return None;
        }
        Some(Rival {
            name: known.name,
            changes: known.changes,
            undoes: known.undoes,
            evidence,
            setting: known.setting.and_then(|file| tree.text(file)),
            arguments: (known.name == irqbalance::NAME).then(|| IrqbalanceArguments::read(tree)),
        })
    };
    KNOWN.iter().filter_map(rival).collect()
}

/// The evidence that `line` stands in `file`.
fn switched_on(tree: &Tree, (file, line): (&str, &str)) -> Option<Evidence> {
    let same =
        |text: &str| text.lines().map(str::trim).find(|other| *other == line).unwrap_or_default().to_owned();
    tree.filtered(file, same).map(|line| Evidence::Line(format!("{file}: {line}")))
}

/// Where systemd keeps the control groups of running system units.
const RUNNING: &str = "sys/fs/cgroup/system.slice";
/// Where the units are that systemd starts at boot.
const ENABLED: &str = "etc/systemd/system/multi-user.target.wants";

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
    fn units_that_are_enabled_and_lines_that_switch_on_are_no_proof_that_it_runs() {
        let mut tree = fake::Tree::default();
        tree.put("etc/systemd/system/multi-user.target.wants/redpanda-tuner.service", "");
        tree.put("etc/systemd/system/multi-user.target.wants/sshd.service", "");
        tree.put("etc/infiniband/openib.conf", "NODE_DESC=secret\nRUN_AFFINITY_TUNER=yes");
        let processes = BTreeMap::from([(1, "google_guest_ag".to_owned())]);
        let (probe, recording) = crate::Probe::fake(tree).recorded();
        let rivals = read(probe.tree(), &processes);
        let found: Vec<(&str, bool)> = rivals.iter().map(|rival| (rival.name, rival.runs())).collect();
        assert_eq!(
            found,
            [("google-guest-agent", true), ("redpanda-tuner", false), ("mlnx_affinity", false)]
        );
        assert_eq!(rivals[1].evidence[0].to_string(), "unit redpanda-tuner.service, which is enabled");
        let line = "/etc/infiniband/openib.conf: RUN_AFFINITY_TUNER=yes";
        assert_eq!(rivals[2].evidence[0].to_string(), line);
        let recorded = format!("{:?}", recording.tree());
        assert!(!recorded.contains("secret") && !recorded.contains("sshd"), "{recorded}");
    }
}
