//! Outcomes of applying and undoing other than complete success.

use crate::scene::{Scene, plan};
use std::cell::Cell;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use warmcore_linux::ethtool::DriverSetting;
use warmcore_linux::tuning::JournalError;
use warmcore_linux::tuning::apply::{ApplyError, Problem};
use warmcore_linux::tuning::watch::watch;
use warmcore_linux::tuning::{Disk, Plan, Refusal, Step, StepOutcome, System, UndoOutcome, apply, steps};
use warmcore_topology::CpuSet;

/// A fake kernel that deviates from plain success in one way.
#[derive(Debug)]
struct Kernel {
    disk: Disk,
    deviation: Deviation,
    readings: Cell<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Deviation {
    /// Refuses to write files whose path contains this text, with this error.
    Refuses(&'static str, rustix::io::Errno),
    /// Accepts a write to files whose path contains the first text, but stores the second text.
    Replaces(&'static str, &'static str),
    /// Has no space for new journals, or for entries of an existing one.
    Full { is_new: bool },
    /// Moves interrupts immediately.
    Moves,
    /// Counts an interrupt at each reading, without moving it.
    Interrupts,
}

impl System for Kernel {
    fn root(&self) -> &Path {
        self.disk.root()
    }

    fn read(&self, file: &str) -> io::Result<String> {
        if self.deviation == Deviation::Interrupts && file.ends_with("per_cpu_count") {
            return Ok(format!("{},0", self.readings.replace(self.readings.get() + 1)));
        }
        self.disk.read(file)
    }

    fn entries(&self, directory: &str) -> io::Result<Vec<String>> {
        self.disk.entries(directory)
    }

    fn link(&self, file: &str) -> io::Result<PathBuf> {
        self.disk.link(file)
    }

    fn write(&self, file: &str, text: &str) -> io::Result<()> {
        match self.deviation {
            Deviation::Refuses(part, number) if file.contains(part) => return Err(number.into()),
            Deviation::Replaces(part, other) if file.contains(part) && text.trim() != "0-3" => {
                return self.disk.write(file, other);
            }
            Deviation::Moves if file.ends_with("smp_affinity_list") => {
                self.disk.write(&file.replace("smp_affinity", "effective_affinity"), text)?;
            }
            _ => {}
        }
        self.disk.write(file, text)
    }

    fn mask(&self, process: u32, thread: u32) -> io::Result<CpuSet> {
        self.disk.mask(process, thread)
    }

    fn set_mask(&self, process: u32, thread: u32, cpus: &CpuSet) -> io::Result<()> {
        self.disk.set_mask(process, thread, cpus)
    }

    fn driver_setting(&self, interface: &str, setting: DriverSetting) -> io::Result<String> {
        self.disk.driver_setting(interface, setting)
    }

    fn set_driver_setting(&self, interface: &str, setting: DriverSetting, text: &str) -> io::Result<()> {
        self.disk.set_driver_setting(interface, setting, text)
    }

    fn create(&self, path: &Path, text: &str) -> io::Result<()> {
        if self.deviation == (Deviation::Full { is_new: true }) {
            return Err(rustix::io::Errno::NOSPC.into());
        }
        self.disk.create(path, text)
    }

    fn append(&self, path: &Path, text: &str) -> io::Result<()> {
        if self.deviation == (Deviation::Full { is_new: false }) {
            return Err(rustix::io::Errno::NOSPC.into());
        }
        self.disk.append(path, text)
    }

    fn cut(&self, path: &Path, bytes: u64) -> io::Result<()> {
        self.disk.cut(path, bytes)
    }

    fn sync(&self, path: &Path) -> io::Result<()> {
        self.disk.sync(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.disk.rename(from, to)
    }
}

fn apply_with(scene: &Scene, deviation: Deviation) -> Result<Vec<(Step, StepOutcome)>, Box<ApplyError>> {
    let kernel = Kernel { disk: scene.disk(), deviation, readings: Cell::new(0) };
    let journal = scene.journals.begin(&kernel, scene.steps(&plan()), false).unwrap();
    apply(journal, &AtomicBool::new(false))
}

fn pending(outcomes: &[(Step, StepOutcome)]) -> usize {
    outcomes.iter().filter(|(_, outcome)| matches!(outcome, StepOutcome::Pending(_))).count()
}

#[test]
fn every_value_is_written_in_the_kernels_notation() {
    let scene = Scene::new();
    let outcomes = apply_with(&scene, Deviation::Moves).unwrap();
    assert_eq!((outcomes.len(), pending(&outcomes)), (14, 0));
    let queues = "sys/class/net/eth0/queues";
    for (file, value) in [
        ("proc/irq/28/smp_affinity_list".to_owned(), "2"),
        ("proc/irq/29/smp_affinity_list".to_owned(), "2-3"),
        ("proc/irq/default_smp_affinity".to_owned(), "3"),
        (format!("{queues}/rx-0/rps_cpus"), "c"),
        (format!("{queues}/rx-0/rps_flow_cnt"), "4096"),
        ("proc/sys/net/core/rps_sock_flow_entries".to_owned(), "32768"),
        (format!("{queues}/tx-1/xps_cpus"), "a"),
        (format!("{queues}/tx-0/xps_rxqs"), "3"),
    ] {
        assert_eq!(scene.read(&file), value, "{file}");
    }
    for thread in [4242, 4243] {
        let status = scene.read(&format!("proc/4242/task/{thread}/status"));
        assert_eq!(status, "Name:\tserver\nCpus_allowed_list:\t2-3\nMems_allowed_list:\t0\n");
    }
}

#[test]
fn an_interrupt_that_has_not_moved_is_pending_unless_it_has_occurred_since() {
    let scene = Scene::new();
    let outcomes = apply_with(&scene, Deviation::Replaces("nothing", "")).unwrap();
    assert_eq!(pending(&outcomes), 2, "both are still handled on cpu 0");

    let scene = Scene::new();
    let before = scene.snapshot();
    let error = apply_with(&scene, Deviation::Interrupts).unwrap_err();
    assert!(matches!(error.problem, Problem::Unmoved { .. }), "{error}");
    assert_eq!(scene.snapshot(), before);
}

#[test]
fn a_refused_line_rolls_back_the_whole_plan_and_gives_the_reason() {
    use rustix::io::Errno;
    for (number, refusal) in [
        (Errno::IO, Refusal::Unchangeable),
        (Errno::ACCESS, Refusal::Privilege(Errno::ACCESS)),
        (Errno::ROFS, Refusal::ReadOnly),
        (Errno::NOSPC, Refusal::NoVectors),
        (Errno::INVAL, Refusal::Invalid(Errno::INVAL)),
        (Errno::NOENT, Refusal::Vanished(Errno::NOENT)),
    ] {
        let scene = Scene::new();
        let before = scene.snapshot();
        let error = apply_with(&scene, Deviation::Refuses("irq/29/", number)).unwrap_err();
        assert!(matches!(&error.problem, Problem::Refused(found) if *found == refusal), "{error}");
        let message = error.to_string();
        assert!(message.starts_with("line 2 (interrupt eth0-TxRx-1 of 0000:00:03.0): "), "{message}");
        assert!(message.ends_with("nothing of the plan is in force"), "{message}");
        assert_eq!(scene.snapshot(), before);
        assert!(scene.journals.active().unwrap().is_none());
    }
}

#[test]
fn a_value_that_is_still_there_does_not_count_as_gone() {
    let scene = Scene::new();
    let before = scene.snapshot();
    scene.apply_through(&scene.disk()).unwrap();
    let deviation = Deviation::Refuses("rps_flow_cnt", rustix::io::Errno::NOENT);
    let kernel = Kernel { disk: scene.disk(), deviation, readings: Cell::new(0) };
    let undone = scene.undo_through(&kernel, false).unwrap().unwrap();
    assert!(!undone.is_complete(), "{undone:?}");
    let said = "RFS flows of eth0 rx-0: cannot be restored: it is there, but writing it failed (No such file";
    assert!(undone.to_string().contains(said), "{undone}");
    scene.assert_restorable(&before, "undone again");
}

#[test]
fn a_full_disk_of_the_journal_is_reported_as_one() {
    for is_new in [true, false] {
        let scene = Scene::new();
        let before = scene.snapshot();
        let kernel =
            Kernel { disk: scene.disk(), deviation: Deviation::Full { is_new }, readings: Cell::new(0) };
        let refused = scene.apply_through(&kernel).unwrap_err();
        assert!(refused.contains("No space left") && refused.contains("--journal"), "{refused}");
        assert!(refused.contains(&scene.journals.path().display().to_string()), "{refused}");
        assert!(!refused.contains("vector"), "{refused}");
        scene.assert_restorable(&before, "the disk of the journal is full");
    }
}

#[test]
fn channels_that_a_driver_cannot_have_are_refused_as_such() {
    let scene = Scene::new();
    let mut plan = plan();
    let set = "set = { channels = { interface = 'eth0', combined = 5 } }";
    plan.lines[0].set = toml::from_str::<toml::Table>(set).unwrap()["set"].clone().try_into().unwrap();
    let refused = scene.apply_plan_through(&plan, &scene.disk()).unwrap_err();
    assert!(refused.contains("the driver cannot have these channels"), "{refused}");
    assert!(refused.contains("`ethtool -l`") && !refused.contains("cpus that are"), "{refused}");
}

#[test]
fn a_value_that_the_kernel_changes_is_an_error_and_rolled_back() {
    let scene = Scene::new();
    let before = scene.snapshot();
    let error = apply_with(&scene, Deviation::Replaces("irq/29/", "2\n")).unwrap_err();
    assert!(matches!(&error.problem, Problem::Wrong { found, .. } if found == "2"), "{error}");
    assert_eq!(scene.snapshot(), before);
}

#[test]
fn values_that_somebody_else_has_changed_are_kept_unless_forced() {
    let scene = Scene::new();
    let before = scene.snapshot();
    scene.apply_through(&scene.disk()).unwrap();
    scene.write("proc/irq/default_smp_affinity", "8\n");
    for _ in 0..2 {
        let undone = scene.undo_through(&scene.disk(), false).unwrap().unwrap();
        assert!(!undone.is_complete());
        let theirs = ("interrupts requested later".to_owned(), UndoOutcome::ChangedByOthers("3".to_owned()));
        assert!(undone.outcomes.contains(&theirs), "{undone:?}");
        assert_eq!(scene.read("proc/irq/default_smp_affinity"), "8\n");
    }
    assert_eq!(scene.read("proc/irq/28/smp_affinity_list"), "0-3\n", "the rest is restored");
    let undone = scene.undo_through(&scene.disk(), true).unwrap().unwrap();
    assert!(undone.is_complete() && undone.restored() == 1, "{undone:?}");
    assert_eq!(scene.snapshot(), before);
    assert_eq!(scene.undo_through(&scene.disk(), false), Ok(None));
}

#[test]
fn a_value_that_changes_between_the_journal_and_the_write_is_not_overwritten() {
    let scene = Scene::new();
    let disk = scene.disk();
    let journal = scene.journals.begin(&disk, scene.steps(&plan()), false).unwrap();
    scene.write("proc/irq/default_smp_affinity", "8\n");
    let theirs = scene.snapshot();
    let error = apply(journal, &AtomicBool::new(false)).unwrap_err();
    assert!(matches!(&error.problem, Problem::Changed(now) if now == "3"), "{error}");
    scene.assert_restorable(&theirs, "the rest was rolled back");
}

#[test]
fn one_plan_is_applied_at_a_time() {
    let scene = Scene::new();
    let steps = scene.steps(&plan());
    let disk = scene.disk();
    let first = scene.journals.begin(&disk, steps.clone(), false).unwrap();
    let second = scene.journals.begin(&disk, steps.clone(), false).unwrap_err();
    assert!(matches!(second, JournalError::InUse { .. }), "{second}");
    drop(first);
    let second = scene.journals.begin(&disk, steps, false).unwrap_err();
    assert!(matches!(second, JournalError::Active { .. }), "{second}");
}

#[test]
fn changes_do_not_survive_a_reboot() {
    let scene = Scene::new();
    scene.apply_through(&scene.disk()).unwrap();
    scene.write("proc/sys/kernel/random/boot_id", "5c2e\n");
    scene.write("proc/irq/default_smp_affinity", "f\n");
    let restarted = scene.snapshot();
    let undone = scene.undo_through(&scene.disk(), false).unwrap().unwrap();
    assert!(undone.restarted && undone.is_complete());
    assert_eq!(scene.snapshot(), restarted, "nothing was touched");

    // A plan from before the reboot does not prevent applying another one.
    scene.apply_through(&scene.disk()).unwrap();
    scene.write("proc/sys/kernel/random/boot_id", "6d3f\n");
    scene.write("proc/irq/default_smp_affinity", "f\n");
    assert_eq!(scene.apply_through(&scene.disk()), Ok(()));
}

#[test]
fn a_thread_that_ends_before_it_is_read_does_not_refuse_the_plan() {
    let scene = Scene::new();
    let before = scene.snapshot();
    // Listed, and nothing else is left of it.
    fs::create_dir(scene.root.join("proc/4242/task/4300")).unwrap();
    scene.apply_through(&scene.disk()).unwrap();
    scene.assert_restorable(&before, "a thread has ended");
}

#[test]
fn a_plan_can_only_be_undone_in_its_own_tree_and_network_namespace() {
    let scene = Scene::new();
    scene.apply_through(&scene.disk()).unwrap();
    let other = Scene::new();
    let refused = scene.journals.open(&other.disk(), false).unwrap_err();
    assert!(matches!(refused, JournalError::Elsewhere { what: "tree", .. }), "{refused}");
    let namespaces = scene.root.join("proc/thread-self/ns");
    std::fs::create_dir_all(&namespaces).unwrap();
    std::os::unix::fs::symlink("net:[1]", namespaces.join("net")).unwrap();
    let refused = scene.journals.open(&scene.disk(), false).unwrap_err();
    assert!(matches!(refused, JournalError::Elsewhere { what: "network namespace", .. }), "{refused}");
}

#[test]
fn a_stop_rolls_everything_back() {
    let scene = Scene::new();
    let before = scene.snapshot();
    let disk = scene.disk();
    let journal = scene.journals.begin(&disk, scene.steps(&plan()), false).unwrap();
    let error = apply(journal, &AtomicBool::new(true)).unwrap_err();
    assert!(matches!(error.problem, Problem::Interrupted), "{error}");
    scene.assert_restorable(&before, "stopped");
}

/// Applies the plan so that it awaits confirmation. Returns the journal's token.
fn apply_awaiting(scene: &Scene, plan: &Plan) -> String {
    let disk = scene.disk();
    let journal = scene.journals.begin(&disk, scene.steps(plan), true).unwrap();
    let token = journal.content().head.token.clone();
    apply(journal, &AtomicBool::new(false)).unwrap();
    token
}

#[test]
fn the_watcher_undoes_only_its_own_plan_and_only_if_not_confirmed() {
    let (scene, limit) = (Scene::new(), Duration::from_millis(1));
    let before = scene.snapshot();
    let token = apply_awaiting(&scene, &plan());
    assert_eq!(watch(&scene.journals, "another", limit).unwrap(), None);
    assert_ne!(scene.snapshot(), before, "it does not undo another plan");
    let undone = watch(&scene.journals, &token, limit).unwrap().unwrap();
    assert!(undone.is_complete());
    assert_eq!(scene.snapshot(), before);

    let token = apply_awaiting(&scene, &plan());
    let disk = scene.disk();
    scene.journals.open(&disk, false).unwrap().unwrap().confirm().unwrap();
    let applied = scene.snapshot();
    assert_eq!(watch(&scene.journals, &token, limit).unwrap(), None);
    assert_eq!(scene.snapshot(), applied);
    scene.assert_restorable(&before, "confirmed, and undone later");
    assert_eq!(watch(&scene.journals, &token, Duration::from_secs(3600)).unwrap(), None, "it does not wait");
}

#[test]
fn a_value_of_a_million_characters_is_shown_by_its_beginning() {
    let file = "sys/class/net/eth0/queues/rx-0/rps_cpus";
    let huge = "\0".repeat(1_000_000);
    let scene = Scene::new();
    scene.apply_through(&scene.disk()).unwrap();
    scene.write(file, &huge);
    let undone = scene.undo_through(&scene.disk(), false).unwrap().unwrap().to_string();
    assert!(undone.len() < 1000 && undone.contains("(1000000 bytes)"), "{} characters", undone.len());

    let scene = Scene::new();
    scene.write(file, &huge);
    let refused = steps(&plan(), &scene.disk()).unwrap_err().to_string();
    assert!(refused.len() < 1000 && refused.contains("(1000000 bytes)"), "{} characters", refused.len());
}
