//! Undoes plans by any bytes as their journal.

use super::{Machine, assert_printable};
use std::fs;
use std::path::Path;
use warmcore_linux::tuning::{JournalError, UndoOutcome, UndoReport};

/// Stands for the machine's folder in a journal.
const ROOT: &[u8] = b"ROOT";

/// The files with settings, by their names; other files are nobody's to change.
const SETTINGS: [&str; 11] = [
    "cpuset.cpus",
    "default_smp_affinity",
    "eth0.toml",
    "rps_cpus",
    "rps_flow_cnt",
    "rps_sock_flow_entries",
    "smp_affinity_list",
    "status",
    "threaded",
    "xps_cpus",
    "xps_rxqs",
];

/// A machine on which the plan of the tests is in force.
///
/// # Panics
/// If it cannot be applied.
#[must_use]
pub fn applied() -> Machine {
    let machine = Machine::new();
    machine.scene.apply_through(&machine.scene.disk()).expect("a sound plan");
    Machine { before: machine.scene.snapshot(), ..machine }
}

/// Undoes what `bytes` say as the journal, first without and then with force, and puts the plan in force again.
///
/// # Panics
/// If anything but settings was changed, an error or report does not say where and what, or a journal is left that
/// should not be.
pub fn undo_by(machine: &Machine, bytes: &[u8]) {
    let journal = with_root(bytes, &machine.scene.root);
    let path = machine.scene.journals.path().join("active.journal");
    fs::write(&path, &journal).expect("a file can be written");
    // An undo that leaves something writes that down.
    let lines = || fs::read(&path).unwrap_or_default().iter().filter(|&&byte| byte == b'\n').count();

    let refused = machine.scene.journals.require_none_applied(&machine.scene.disk());
    refused.err().iter().for_each(assert_says_where);
    let written = lines();
    if let Some(report) = undo(machine, false) {
        check_report(&report, written);
        assert_eq!(path.exists(), !report.is_complete(), "{report:?}");
        let written = lines();
        if let Some(forced) = path.exists().then(|| undo(machine, true)).flatten() {
            check_report(&forced, written);
            let has_failed = |(_, outcome): &(_, UndoOutcome)| matches!(outcome, UndoOutcome::Failed(_));
            assert_eq!(path.exists(), forced.outcomes.iter().any(has_failed), "{forced:?}");
        }
    }
    clear(machine.scene.journals.path());
    machine.assert_outside_untouched();
    machine.put_in_force();
}

fn with_root(bytes: &[u8], root: &Path) -> Vec<u8> {
    let Some(at) = bytes.windows(ROOT.len()).position(|part| part == ROOT) else { return bytes.to_vec() };
    [&bytes[..at], root.as_os_str().as_encoded_bytes(), &bytes[at + ROOT.len()..]].concat()
}

/// Undoes the journal, and checks that nothing changes unless the report says so.
fn undo(machine: &Machine, force: bool) -> Option<UndoReport> {
    let disk = machine.scene.disk();
    let journal = match machine.scene.journals.open(&disk, false) {
        Ok(journal) => journal.expect("it was just written"),
        Err(error) => {
            assert_says_where(&error);
            assert_eq!(machine.scene.snapshot(), machine.before, "{error}");
            return None;
        }
    };
    let before = machine.scene.snapshot();
    let report = match warmcore_linux::tuning::undo(journal, force) {
        Ok(report) => report,
        // A journal none of whose settings are there may be of another folder.
        Err(error @ JournalError::RootGone { .. }) => {
            assert_printable(&error.to_string());
            assert_eq!(machine.scene.snapshot(), before, "{error}");
            return None;
        }
        Err(error) => panic!("the journal cannot be closed: {error}"),
    };
    let writes =
        |(_, outcome): &(_, UndoOutcome)| matches!(outcome, UndoOutcome::Restored | UndoOutcome::Failed(_));
    if !report.outcomes.iter().any(writes) {
        assert_eq!(machine.scene.snapshot(), before, "{report:?}");
    }
    Some(report)
}

fn check_report(report: &UndoReport, lines: usize) {
    for (setting, _) in &report.outcomes {
        assert_printable(setting);
    }
    let text = report.to_string();
    for damage in &report.damage {
        assert!((2..=lines + 1).contains(&damage.line), "{damage:?}");
        assert_printable(&damage.problem);
        assert!(text.contains(&format!("line {} of the journal", damage.line)), "{text}");
    }
    assert!(!text.contains(char::is_control), "{text:?}");
    assert!(report.damage.is_empty() || !report.is_complete());
    assert_eq!(report.journal_error, None);
}

fn assert_says_where(error: &JournalError) {
    let text = error.to_string();
    assert_printable(&text);
    let says = match error {
        JournalError::Headless { .. } => "active.journal:1`",
        JournalError::Damaged { .. } => "active.journal:",
        JournalError::Active { .. } => "active.journal`",
        JournalError::Elsewhere { .. } => "undo it there",
        JournalError::NamespaceGone { .. } => "host undo --force --journal",
        JournalError::ForeignInterfaces { .. } => "active.journal` has settings of interfaces",
        _ => panic!("{text}"),
    };
    assert!(text.contains(says), "{text}");
}

fn clear(journals: &Path) {
    for entry in fs::read_dir(journals).expect("a folder") {
        fs::remove_file(entry.expect("an entry").path()).expect("a file");
    }
}

impl Machine {
    /// Gives back the values of the plan. Panics if anything else is not as it was.
    fn put_in_force(&self) {
        let now = self.scene.snapshot();
        assert!(now.keys().eq(self.before.keys()), "files came or went");
        for ((path, found), before) in now.iter().zip(self.before.values()) {
            if found != before {
                let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
                let is_setting = SETTINGS.contains(&name);
                assert!(is_setting && !path.is_symlink(), "{}", path.display());
                fs::write(path, before).expect("a file can be written");
            }
        }
    }
}
