//! Places real threads, of processes that the test has started.

use crate::scene::Scene;
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader, Write, stdin};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use std::{env, fs, thread};
use warmcore_linux::affinity;
use warmcore_linux::tuning::{
    AdmissionOptions, Disk, Fingerprint, Line, Plan, Setting, System, UndoOutcome, UndoReport, admit, apply,
    changes, steps, undo,
};
use warmcore_topology::CpuSet;

/// A process that sleeps until this is dropped.
pub(crate) struct Sleeper(Child);

impl Sleeper {
    pub(crate) fn start() -> Self {
        Self(Command::new("sleep").arg("1000").stdin(Stdio::null()).spawn().unwrap())
    }

    pub(crate) fn pid(&self) -> u32 {
        self.0.id()
    }

    pub(crate) fn mask(&self) -> CpuSet {
        Disk::default().mask(self.pid(), self.pid()).unwrap()
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

fn started(pid: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    stat.rsplit_once(") ").unwrap().1.split(' ').nth(19).unwrap().parse().unwrap()
}

fn plan(pid: u32, started: u64, cpus: CpuSet) -> Plan {
    let set = Setting::Thread { pid, started, name: "sleep".to_owned(), thread: None, cpus };
    let line = Line { set, reason: String::new(), expected_gain: String::new() };
    let machine = Fingerprint::read(&Disk::default(), []).unwrap();
    Plan { schema: Plan::SCHEMA, machine, promise: None, lines: vec![line] }
}

#[test]
fn a_process_is_placed_and_restored() {
    let (sleeper, disk, scene) = (Sleeper::start(), Disk::default(), Scene::new());
    let before = affinity::mask().unwrap();
    assert_eq!(sleeper.mask(), before);
    let one: CpuSet = before.first().into_iter().collect();
    let plan = plan(sleeper.pid(), started(sleeper.pid()), one.clone());
    let admission = AdmissionOptions { despite: vec!["tuned".to_owned(), "numad".to_owned()] };
    admit(&plan, &disk, &admission).unwrap();
    let steps = changes(steps(&plan, &disk).unwrap());
    if before.len() == 1 {
        return assert!(steps.is_empty(), "on one cpu there is nothing to change");
    }
    apply(scene.journals.begin(&disk, steps, false).unwrap(), &AtomicBool::new(false)).unwrap();
    assert_eq!(sleeper.mask(), one);
    let undone = undo(scene.journals.open(&disk, false).unwrap().unwrap(), false).unwrap();
    assert_eq!((undone.restored(), undone.is_complete()), (1, true), "{undone:?}");
    assert_eq!(sleeper.mask(), before);
}

#[test]
fn a_process_that_has_ended_leaves_nothing_to_restore() {
    let (sleeper, disk, scene) = (Sleeper::start(), Disk::default(), Scene::new());
    let before = affinity::mask().unwrap();
    let one: CpuSet = before.first().into_iter().collect();
    let plan = plan(sleeper.pid(), started(sleeper.pid()), one);
    let steps: Vec<_> = steps(&plan, &disk).unwrap().into_iter().map(|proposal| proposal.step).collect();
    apply(scene.journals.begin(&disk, steps.clone(), false).unwrap(), &AtomicBool::new(false)).unwrap();
    drop(sleeper);
    let undone = undo(scene.journals.open(&disk, false).unwrap().unwrap(), false).unwrap();
    assert!(undone.is_complete() && undone.outcomes[0].1 == UndoOutcome::Gone, "{undone:?}");

    // It can no longer be placed.
    let journal = scene.journals.begin(&disk, steps, false).unwrap();
    let error = apply(journal, &AtomicBool::new(false)).unwrap_err().to_string();
    assert!(error.contains("sleep has ended") && error.contains("as it was before"), "{error}");
}

/// Threads that start after the plan was read are placed and restored too. Threads that start after it was
/// applied are restored if they inherited the placement.
#[test]
fn threads_that_start_later_are_placed_and_restored_with_the_rest() {
    let scene = Scene::new();
    let plan = crate::scene::plan();
    let disk = scene.disk();
    let steps = scene.steps(&plan);
    let start = |thread: u32, cpus: &str| {
        let mut tree = warmcore_linux::fake::Tree::default();
        let status = format!("Name:\tserver\nCpus_allowed_list:\t{cpus}");
        tree.put(format!("proc/4242/task/{thread}/status"), status);
        tree.write_to(&scene.root).unwrap();
    };
    let mask = |thread: u32| disk.mask(4242, thread).unwrap().to_string();
    start(4244, "1-3");
    apply(scene.journals.begin(&disk, steps, false).unwrap(), &AtomicBool::new(false)).unwrap();
    assert_eq!(mask(4244), "2-3");
    start(4245, "2-3");
    start(4246, "1");
    assert!(scene.undo_through(&disk, false).unwrap().unwrap().is_complete());
    assert_eq!([4242, 4243, 4244].map(mask), ["0-3", "0-3", "1-3"].map(str::to_owned));
    assert_eq!(mask(4245), "0-3", "it had inherited the placement");
    assert_eq!(mask(4246), "1", "it had placed itself");
}

/// Environment variable for a process that starts threads and children when it is told to.
const FAMILY: &str = "WARMCORE_TEST_FAMILY";

/// Longer than any test takes, and not for ever.
const A_WHILE: Duration = Duration::from_secs(120);

/// A process that starts others when it is told to. All are ended when this is dropped.
struct Family {
    parent: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    members: Vec<u32>,
}

impl Family {
    fn start(command: &mut Command) -> Self {
        let mut parent = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (parent.stdin.take(), BufReader::new(parent.stdout.take().unwrap()));
        let mut family = Self { parent, input, output, members: Vec::new() };
        family.heard("ready");
        family
    }

    /// Waits for a line that begins with `word`, and returns the numbers after it.
    fn heard(&mut self, word: &str) -> Vec<u32> {
        loop {
            let mut line = String::new();
            assert_ne!(self.output.read_line(&mut line).unwrap(), 0, "it ended before `{word}`");
            if let Some(rest) = line.trim().strip_prefix(word) {
                return rest.split_whitespace().map(|number| number.parse().unwrap()).collect();
            }
        }
    }

    /// Lets it start its threads and children. Returns their numbers.
    fn grow(&mut self) -> Vec<u32> {
        self.input.as_mut().unwrap().write_all(b"go\n").unwrap();
        self.members = self.heard("members");
        self.members.clone()
    }

    /// Places the process and returns its mask before, and the mask now; `None` on a machine with one cpu.
    fn place(&self, scene: &Scene, thread: Option<u32>) -> Option<(CpuSet, CpuSet)> {
        let (disk, pid) = (Disk::default(), self.parent.id());
        let before = disk.mask(pid, pid).unwrap();
        // The last one, because the other tests use the first one.
        let one: CpuSet = before.iter().last().into_iter().collect();
        let mut plan = plan(pid, started(pid), one.clone());
        let Setting::Thread { thread: set, .. } = &mut plan.lines[0].set else { unreachable!() };
        *set = thread;
        let steps = changes(steps(&plan, &disk).unwrap());
        apply(scene.journals.begin(&disk, steps, false).unwrap(), &AtomicBool::new(false)).unwrap();
        (before != one).then_some((before, one))
    }
}

impl Drop for Family {
    fn drop(&mut self) {
        for &member in &self.members {
            // A thread is no process, and cannot be ended by its number.
            let _ = kill_process(Pid::from_raw(member as i32).unwrap(), Signal::KILL);
        }
        let _ = self.parent.kill();
        self.parent.wait().unwrap();
    }
}

fn take_back(scene: &Scene) -> UndoReport {
    let disk = Disk::default();
    undo(scene.journals.open(&disk, false).unwrap().unwrap(), false).unwrap()
}

fn mask(thread: u32) -> CpuSet {
    // The kernel takes the number of any thread.
    Disk::default().mask(thread, thread).unwrap()
}

/// The process of the next test: starts a thread, a child, and a child with a child.
fn grow_when_told() {
    println!("ready");
    stdin().read_line(&mut String::new()).unwrap();
    let (sender, receiver) = std::sync::mpsc::channel();
    thread::spawn(move || {
        sender.send(rustix::thread::gettid().as_raw_nonzero().get()).unwrap();
        thread::sleep(A_WHILE);
    });
    let mut child = Command::new("sleep").arg("120").spawn().unwrap();
    let script = "sleep 120 & echo $!; wait";
    let mut shell = Command::new("sh").args(["-c", script]).stdout(Stdio::piped()).spawn().unwrap();
    let mut grandchild = String::new();
    BufReader::new(shell.stdout.take().unwrap()).read_line(&mut grandchild).unwrap();
    let thread = receiver.recv().unwrap();
    println!("members {thread} {} {} {grandchild}", child.id(), shell.id());
    child.wait().unwrap();
    shell.wait().unwrap();
}

#[test]
fn threads_and_children_of_a_placed_process_are_restored_with_it() {
    if env::var(FAMILY).is_ok() {
        return grow_when_told();
    }
    for is_whole in [true, false] {
        let name = "threads::threads_and_children_of_a_placed_process_are_restored_with_it";
        let mut command = Command::new(env::current_exe().unwrap());
        let mut family = Family::start(command.args(["--exact", name, "--nocapture"]).env(FAMILY, "1"));
        let scene = Scene::new();
        // The test harness runs a test in a thread of its own, which is the one that starts the others.
        let pid = family.parent.id();
        let tasks = fs::read_dir(format!("/proc/{pid}/task")).unwrap();
        let test: u32 =
            tasks.map(|task| task.unwrap().file_name().to_str().unwrap().parse().unwrap()).max().unwrap();
        let Some((before, one)) = family.place(&scene, (!is_whole).then_some(test)) else { return };
        let members = family.grow();
        assert_eq!(members.len(), 4);
        for &member in &members {
            assert_eq!(mask(member), one, "{member} inherits the placement");
        }
        let undone = take_back(&scene);
        assert!(undone.is_complete(), "{undone:?}");
        for &member in &members {
            assert_eq!(mask(member), before, "whole: {is_whole}: {member}: {undone:?}");
        }
        assert!(undone.left.iter().all(|left| !members.contains(&left.pid)), "{undone:?}");
    }
}

/// The placed process and its child end. The grandchildren have another parent then: one is still in the session,
/// and one has left it, so that only its control group can show where it comes from.
#[test]
fn processes_whose_parents_have_ended_are_restored_or_reported() {
    let script = "echo ready; read go
        sh -c 'sleep 120 >&- & one=$!; setsid sleep 120 >&- & two=$!; sleep 0.2; echo members $one $two'";
    let mut family = Family::start(Command::new("setsid").args(["sh", "-c", script]));
    let scene = Scene::new();
    let Some((before, one)) = family.place(&scene, None) else { return };
    let members = family.grow();
    family.parent.wait().unwrap();
    let [of_session, of_its_own] = members[..] else { panic!("{members:?}") };
    assert_eq!([of_session, of_its_own].map(mask), [one.clone(), one.clone()]);
    let undone = take_back(&scene);
    assert!(undone.is_complete(), "{undone:?}");
    assert_eq!(mask(of_session), before, "{undone:?}");
    let left = undone.left.iter().find(|left| left.pid == of_its_own);
    if is_of_whole_machine(of_its_own) {
        let left = left.expect("nothing shows where it comes from");
        assert_eq!((left.name.as_str(), left.cpus.as_str()), ("sleep", one.to_string().as_str()));
        assert_eq!(mask(of_its_own), one);
        assert!(undone.to_string().contains(&format!("process {of_its_own} (sleep)")), "{undone}");
    } else {
        assert_eq!((mask(of_its_own), left), (before, None), "its control group shows where it comes from");
    }
}

/// Whether the control group with the cpus of a process is that of the whole machine or container.
fn is_of_whole_machine(pid: u32) -> bool {
    let text = fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap();
    let groups: Vec<Vec<&str>> = text.lines().map(|line| line.splitn(3, ':').collect()).collect();
    let with_cpus = groups.iter().find(|of| of[1].split(',').any(|controller| controller == "cpuset"));
    let group = with_cpus.or_else(|| groups.iter().find(|of| of[1].is_empty()));
    group.is_none_or(|of| of[2] == "/")
}

/// A process that was there before, and one of another parent with another mask, are nobody's heirs.
#[test]
fn processes_that_have_inherited_nothing_are_left_alone() {
    let earlier = Sleeper::start();
    let (sleeper, disk, scene) = (Sleeper::start(), Disk::default(), Scene::new());
    let before = sleeper.mask();
    let one: CpuSet = before.iter().last().into_iter().collect();
    disk.set_mask(earlier.pid(), earlier.pid(), &one).unwrap();
    thread::sleep(Duration::from_millis(50));
    let steps = changes(steps(&plan(sleeper.pid(), started(sleeper.pid()), one.clone()), &disk).unwrap());
    apply(scene.journals.begin(&disk, steps, false).unwrap(), &AtomicBool::new(false)).unwrap();
    let later = Sleeper::start();
    disk.set_mask(later.pid(), later.pid(), &one).unwrap();
    let undone = take_back(&scene);
    assert_eq!((earlier.mask(), later.mask(), sleeper.mask()), (one.clone(), one.clone(), before.clone()));
    let is_left = |sleeper: &Sleeper| undone.left.iter().any(|left| left.pid == sleeper.pid());
    assert_eq!((is_left(&earlier), is_left(&later)), (false, before != one), "{undone:?}");
}
