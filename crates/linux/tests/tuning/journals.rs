//! Undoing with a journal of which a part is lost or damaged, or whose boot is unknown.

use crate::scene::{Scene, Snapshot};
use std::fs;
use std::path::PathBuf;
use warmcore_linux::tuning::{JournalError, UndoOutcome};

/// The settings that the plan of the scene changes.
const SETTINGS: usize = 14;

const BOOT: &str = "proc/sys/kernel/random/boot_id";

fn journal(scene: &Scene) -> PathBuf {
    scene.journals.path().join("active.journal")
}

/// A machine with an applied plan, and its files before.
fn applied() -> (Scene, Snapshot) {
    let scene = Scene::new();
    let before = scene.snapshot();
    scene.apply_through(&scene.disk()).unwrap();
    (scene, before)
}

/// Changes the lines of the journal.
fn edit(scene: &Scene, change: impl FnOnce(&mut Vec<Vec<u8>>)) {
    let bytes = fs::read(journal(scene)).unwrap();
    let mut lines: Vec<Vec<u8>> = bytes.split_inclusive(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
    change(&mut lines);
    fs::write(journal(scene), lines.concat()).unwrap();
}

#[test]
fn values_are_restored_though_the_journal_has_lost_all_progress() {
    for torn in [&b""[..], b"entry = { beg"] {
        let (scene, before) = applied();
        edit(&scene, |lines| {
            lines.retain(|line| line.starts_with(b"entry = { head") || line.starts_with(b"entry = { step"));
            lines.push(torn.to_vec());
        });
        let undone = scene.undo_through(&scene.disk(), false).unwrap().unwrap();
        assert_eq!((undone.restored(), undone.is_complete()), (SETTINGS, true), "{undone:?}");
        assert_eq!(scene.snapshot(), before);
        assert!(scene.journals.active().unwrap().is_none());
    }
}

#[test]
fn a_journal_without_some_of_its_settings_is_not_complete() {
    let (scene, _) = applied();
    edit(&scene, |lines| lines.truncate(6));
    let undone = scene.undo_through(&scene.disk(), false).unwrap().unwrap();
    assert_eq!((undone.restored(), undone.is_complete()), (5, false), "{undone:?}");
    assert_eq!(undone.damage[0].line, 7);
    assert!(undone.to_string().contains(&format!("5 of {SETTINGS} settings are there")), "{undone}");
    assert!(journal(&scene).exists());
}

#[test]
fn a_value_that_somebody_else_has_changed_is_left_alone_though_progress_is_lost() {
    let (scene, _) = applied();
    edit(&scene, |lines| lines[3] = b"nonsense\n".to_vec());
    scene.write("proc/irq/default_smp_affinity", "8\n");
    scene.write("proc/sys/net/core/rps_sock_flow_entries", "64\n");
    let undone = scene.undo_through(&scene.disk(), false).unwrap().unwrap();
    let theirs = ("RFS flows of the machine".to_owned(), UndoOutcome::ChangedByOthers("64".to_owned()));
    assert!(undone.outcomes.contains(&theirs), "{undone:?}");
    assert_eq!(scene.read("proc/irq/default_smp_affinity"), "8\n", "its line is the damaged one");
}

#[test]
fn of_a_damaged_journal_every_readable_setting_is_restored_and_it_stays_until_forced() {
    for damage in [&b"\xff\xfe\n"[..], b"entry = { step = \n", b"entry = { begun = 99 }\n"] {
        let (scene, before) = applied();
        edit(&scene, |lines| lines[3] = damage.to_vec());
        let undone = scene.undo_through(&scene.disk(), false).unwrap().unwrap();
        assert_eq!((undone.restored(), undone.is_complete()), (SETTINGS - 1, false), "{undone:?}");
        assert_eq!(undone.damage[0].line, 4);
        assert_eq!(scene.read("proc/irq/default_smp_affinity"), "3", "nothing is known of its former value");

        let refused = scene.apply_through(&scene.disk()).unwrap_err();
        let advice = format!("`warmcore host undo --journal {}`", scene.journals.path().display());
        assert!(refused.contains("active.journal:4`") && refused.contains(&advice), "{refused}");

        let forced = scene.undo_through(&scene.disk(), true).unwrap().unwrap();
        assert!(!forced.is_complete(), "the value of line 4 may be in force");
        let moved = forced.set_aside.unwrap();
        assert!(moved.exists() && !journal(&scene).exists());
        scene.write("proc/irq/default_smp_affinity", "f\n");
        assert_eq!(scene.snapshot(), before);
        assert_eq!(scene.apply_through(&scene.disk()), Ok(()));
    }
}

/// What a plan may not set, a journal may not either: its names become parts of paths, and its numbers sizes.
#[test]
fn a_setting_that_no_plan_has_is_damage_and_nothing_is_written_for_it() {
    for (set, problem) in [
        ("rps_cpus = { interface = '../../../theirs', queue = 0, cpus = '' }", "the name of an interface"),
        ("indirection = { interface = 'eth0', queues = 4294967295 }", "the number of queues, 1 to 4096"),
        ("cpuset = { group = '/../theirs', cpus = '0' }", "the path of a control group"),
        ("interrupt = { device = '../theirs', action = 'x', cpus = '0' }", "a PCI address"),
    ] {
        let (scene, before) = applied();
        let step = format!("entry = {{ step = {{ line = 0, set = {{ {set} }}, original = ['ours'] }} }}\n");
        edit(&scene, |lines| lines.push(step.into_bytes()));
        let undone = scene.undo_through(&scene.disk(), false).unwrap().unwrap();
        assert_eq!((undone.restored(), undone.damage.len()), (SETTINGS, 1), "{set}: {undone:?}");
        assert!(undone.damage[0].problem.contains(problem), "{set}: {undone}");
        assert_eq!(scene.snapshot(), before, "{set}");
    }
}

/// What a plan may not write, a journal may not either: somebody has edited it.
#[test]
fn an_original_value_that_the_setting_cannot_have_had_is_not_written() {
    for (setting, original, problem) in [
        ("interrupt = ", "64-65", "expected cpus among 0-3 (64-65 not on this machine)"),
        ("interrupt = ", "0', '', '", "expected one line"),
        ("interrupt = ", "nobody", "expected a list of cpus"),
        ("interrupt = ", "", "expected at least one cpu"),
        ("default_interrupt", "0", "expected at least one cpu"),
        ("rps_cpus", "999", "expected cpus among 0-3 (4,7-8,11 not on this machine)"),
        ("rps_cpus", "x", "expected a bitmap"),
        ("rps_flows", "5000", "expected zero or a power of two"),
        ("global_flows", "99999999999", "expected zero or a power of two"),
        ("xps_queues", "ff", "expected receive queues of eth0, which are 0 to 1"),
        ("thread = ", "9", "expected cpus among 0-3 (9 not on this machine)"),
        ("cpuset", "0-9", "expected cpus among 0-3 (4-9 not on this machine)"),
        ("indirection", "0 9 0 9 0 9 0 9", "expected receive queues of eth0, which are 0 to 1"),
        ("indirection", "0 1", "expected 8 queues"),
        ("ntuple", "7", "expected 0 or 1"),
        ("threaded_napi", "7", "expected 0, 1 or 2"),
    ] {
        let (scene, _) = applied();
        let mut step = 0;
        edit(&scene, |lines| {
            let found = lines
                .iter()
                .position(|line| str::from_utf8(line).unwrap().contains(&format!("set = {{ {setting}")));
            step = found.unwrap() - 1;
            let line = String::from_utf8(lines[step + 1].clone()).unwrap();
            let at = line.find("original = [").unwrap();
            let rest = &line[at..][line[at..].find(']').unwrap() + 1..];
            lines[step + 1] = format!("{}original = ['{original}']{rest}", &line[..at]).into_bytes();
        });
        for force in [false, true] {
            let undone = scene.undo_through(&scene.disk(), force).unwrap().unwrap();
            let said = undone.to_string();
            assert!(!undone.is_complete() && said.contains(problem), "{setting}{original}: {undone:?}");
            let shown = original.trim_end_matches("', '");
            let place = format!("active.journal`: step {step}, from 0: `original` is `{shown}`");
            assert!(said.contains(&place), "{said}");
            assert!(journal(&scene).exists());
        }
    }
}

#[test]
fn a_journal_of_elsewhere_begins_no_line_of_the_error() {
    let (scene, _) = applied();
    let text = fs::read_to_string(journal(&scene)).unwrap();
    fs::write(journal(&scene), text.replacen("network = \"\"", "network = \"a\\nb\"", 1)).unwrap();
    let refused = scene.undo_through(&scene.disk(), false).unwrap_err();
    assert!(refused.contains("another network namespace (a\\nb; this one is"), "{refused}");
}

#[test]
fn a_journal_without_a_head_gives_advice_to_undo_and_to_apply() {
    for contents in [&b""[..], b"entry = { head", b"nonsense\n", b"entry = { begun = 0 }\n", b"\0\0\0\n"] {
        let (scene, _) = applied();
        let applied = scene.snapshot();
        fs::write(journal(&scene), contents).unwrap();
        let undone = scene.undo_through(&scene.disk(), true).unwrap_err();
        let advice = format!("`warmcore host undo --force --journal {}`", scene.journals.path().display());
        assert!(undone.contains("active.journal:1`") && undone.contains(&advice), "{undone}");

        let disk = scene.disk();
        let refused = scene.journals.begin(&disk, Vec::new(), false).unwrap_err();
        assert!(matches!(refused, JournalError::Headless { .. }), "{refused}");
        assert_eq!(scene.snapshot(), applied);
        let moved = scene.journals.set_aside(&disk).unwrap().unwrap();
        assert_eq!(fs::read(moved).unwrap(), contents);
        assert_eq!(scene.journals.set_aside(&disk).unwrap(), None);
    }
}

#[test]
fn a_boot_id_that_cannot_be_read_is_unknown_and_values_are_compared() {
    let (scene, before) = applied();
    fs::rename(scene.root.join(BOOT), scene.directory().join("boot_id")).unwrap();
    assert!(matches!(scene.journals.require_none_applied(&scene.disk()), Err(JournalError::Active { .. })));
    let undone = scene.undo_through(&scene.disk(), false).unwrap().unwrap();
    assert!(undone.boot_unknown && !undone.restarted && undone.is_complete(), "{undone:?}");
    assert_eq!(undone.restored(), SETTINGS);
    fs::rename(scene.directory().join("boot_id"), scene.root.join(BOOT)).unwrap();
    assert_eq!(scene.snapshot(), before);

    // It was unreadable when the plan was applied.
    fs::remove_file(scene.root.join(BOOT)).unwrap();
    scene.apply_through(&scene.disk()).unwrap();
    fs::write(scene.root.join(BOOT), "4b1d\n").unwrap();
    let undone = scene.undo_through(&scene.disk(), false).unwrap().unwrap();
    assert!(undone.boot_unknown && undone.is_complete(), "{undone:?}");
    assert_eq!(scene.snapshot(), before);
}

#[test]
fn a_journal_of_an_earlier_boot_is_retired_unread() {
    for is_undone in [true, false] {
        let (scene, _) = applied();
        edit(&scene, |lines| lines[3] = b"\xff\xff nonsense\n".to_vec());
        scene.write(BOOT, "5c2e\n");
        let restarted = scene.snapshot();
        if is_undone {
            let undone = scene.undo_through(&scene.disk(), false).unwrap().unwrap();
            assert!(undone.restarted && undone.is_complete());
        } else {
            let disk = scene.disk();
            scene.journals.begin(&disk, Vec::new(), false).unwrap();
        }
        assert_eq!(scene.snapshot(), restarted);
        let last = fs::read(scene.journals.path().join("last.journal")).unwrap();
        assert!(last.windows(8).any(|bytes| bytes == b"nonsense"));
    }
}

/// A folder that is gone or empty is not one in which every setting has vanished.
#[test]
fn a_journal_whose_root_is_gone_is_kept_until_the_root_is_back() {
    let (scene, before) = applied();
    let elsewhere = scene.directory().join("elsewhere");
    fs::rename(&scene.root, &elsewhere).unwrap();
    for is_empty in [false, true] {
        if is_empty {
            fs::create_dir(&scene.root).unwrap();
        }
        for force in [false, true] {
            let refused = scene.undo_through(&scene.disk(), force).unwrap_err();
            let said = [&scene.root.display().to_string(), "active.journal", "nothing was restored"];
            assert!(said.iter().all(|part| refused.contains(part)), "{refused}");
            assert!(journal(&scene).exists(), "{refused}");
        }
    }
    fs::remove_dir(&scene.root).unwrap();
    fs::rename(&elsewhere, &scene.root).unwrap();
    scene.assert_restorable(&before, "the root is back");
}

/// What is under a mount point is another folder, and so is one that has lost every setting.
#[test]
fn a_journal_whose_root_has_none_of_its_settings_is_kept() {
    for (folder, problem) in
        [("lost+found", "has neither `proc` nor `sys`"), ("proc/1", "has none of the settings of the plan")]
    {
        let (scene, before) = applied();
        let elsewhere = scene.directory().join("elsewhere");
        fs::rename(&scene.root, &elsewhere).unwrap();
        fs::create_dir_all(scene.root.join(folder)).unwrap();
        for force in [false, true] {
            let refused = scene.undo_through(&scene.disk(), force).unwrap_err();
            assert!(refused.contains("nothing was restored") && refused.contains(problem), "{refused}");
            assert!(journal(&scene).exists(), "{refused}");
        }
        fs::remove_dir_all(&scene.root).unwrap();
        fs::rename(&elsewhere, &scene.root).unwrap();
        scene.assert_restorable(&before, "the root is back");
    }
}

#[test]
fn a_second_original_value_and_progress_of_a_deferred_setting_are_damage() {
    let deferred = "entry = { step = { line = 0, set = { global_flows = { flows = 1 } }, original = [''], \
                    kind = 'deferred' } }\n";
    for (line, problem) in [
        ("entry = { begun = 14 }\n", "which other settings took the place of"),
        ("entry = { done = { step = 14, reading = ['8'] } }\n", "which other settings took the place of"),
        (
            "entry = { step = { line = 0, set = { default_interrupt = { cpus = '0-1' } }, original = ['2'] } }\n",
            "a second original value of interrupts requested later",
        ),
    ] {
        let (scene, before) = applied();
        edit(&scene, |lines| lines.extend([deferred, line].map(|line| line.as_bytes().to_vec())));
        let undone = scene.undo_through(&scene.disk(), false).unwrap().unwrap();
        assert_eq!((undone.restored(), undone.damage.len()), (SETTINGS, 1), "{line}: {undone:?}");
        assert!(undone.damage[0].problem.contains(problem), "{line}: {undone}");
        assert_eq!(scene.snapshot(), before, "{line}");
    }
}
