//! A plan on a real veth, applied and undone, also by a process that is killed at any change. All runs in
//! namespaces of network and mounts of its own, where `/sys` shows the test's interfaces only: the test
//! program starts itself there again.

use crate::program::ethtool;
use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::atomic::AtomicBool;
use std::{env, fs};
use warmcore_linux::ethtool::{Threaded, driver_settings};
use warmcore_linux::fake::{FaultInjector, InjectedFault};
use warmcore_linux::net::Namespace;
use warmcore_linux::tuning::{
    Disk, Fingerprint, JournalDirectory, Line, Plan, Setting, System, apply, changes, steps, undo,
};

/// Set in the process that runs in the namespaces.
const INSIDE: &str = "WARMCORE_TEST_INSIDE";
/// Environment variables of a process to be killed: the directory of its journal, and at which change.
const JOURNAL: &str = "WARMCORE_TEST_JOURNAL";
const KILL_AT: &str = "WARMCORE_TEST_KILL_AT";

/// Starts the test `name` in new namespaces; prints a note without the privilege.
fn run_inside(name: &str) {
    if let Some(missing) = warmcore_linux::net::privilege_missing() {
        return println!("skipped: needs {missing}");
    }
    let script = "mount -t sysfs sysfs /sys && exec \"$0\" --exact --nocapture \"$1\"";
    let output = Command::new("unshare")
        .args(["--net", "--mount", "sh", "-c", script])
        .arg(env::current_exe().unwrap())
        .arg(name)
        .env(INSIDE, "1")
        .output();
    let Ok(output) = output else { return println!("skipped: needs `unshare` of util-linux") };
    assert!(output.status.success(), "{}", shown(&output));
    println!("{}", String::from_utf8_lossy(&output.stdout));
}

fn shown(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text).into_owned()).join("\n")
}

fn is_inside() -> bool {
    env::var_os(INSIDE).is_some()
}

fn set(text: &str) -> Setting {
    toml::from_str::<toml::Table>(&format!("set = {{ {text} }}")).unwrap()["set"].clone().try_into().unwrap()
}

/// Halves the channels of `v0`, steers the queues that are left, and polls in threads.
fn plan() -> Plan {
    let lines = [
        "channels = { interface = 'v0', receive = 2, transmit = 2 }",
        "rps_cpus = { interface = 'v0', queue = 1, cpus = '0' }",
        "xps_cpus = { interface = 'v0', queue = 1, cpus = '1' }",
        "threaded_napi = { interface = 'v0', on = true }",
    ];
    let line = |text: &str| Line { set: set(text), reason: String::new(), expected_gain: String::new() };
    let machine = Fingerprint::read(&Disk::default(), ["v0"]).unwrap();
    let plan = Plan { schema: Plan::SCHEMA, machine, promise: None, lines: lines.map(line).to_vec() };
    plan.check().unwrap();
    plan
}

/// Four channels, with steering of its own on queues that the plan removes.
fn set_up() {
    let here = Namespace::current().unwrap();
    crate::add_veth(&here, 4, 4).unwrap();
    let disk = Disk::default();
    let four = set("channels = { interface = 'v0', receive = 4, transmit = 4 }");
    let wanted = Plan { lines: vec![Line { set: four, ..plan().lines[0].clone() }], ..plan() };
    let steps = changes(steps(&wanted, &disk).unwrap());
    // Some kernels give a veth all its channels at once.
    if !steps.is_empty() {
        let directory = tempfile::tempdir().unwrap();
        let journals = JournalDirectory::at(directory.path().join("journals"));
        apply(journals.begin(&disk, steps, false).unwrap(), &AtomicBool::new(false)).unwrap();
    }
    ethtool(&here, &["-K", "v0", "gro", "on"]);
    for (file, mask) in [("rx-1/rps_cpus", "2"), ("rx-3/rps_cpus", "1"), ("tx-3/xps_cpus", "2")] {
        disk.write(&format!("sys/class/net/v0/queues/{file}"), mask).unwrap();
    }
}

/// The steering of every queue of `v0`, its channels, and where it polls.
fn state() -> BTreeMap<String, String> {
    let disk = Disk::default();
    let mut state = BTreeMap::new();
    for queue in disk.entries("sys/class/net/v0/queues").unwrap() {
        for name in ["rps_cpus", "rps_flow_cnt", "xps_cpus", "xps_rxqs"] {
            let file = format!("sys/class/net/v0/queues/{queue}/{name}");
            if let Ok(text) = disk.read(&file) {
                state.insert(file, text);
            }
        }
    }
    state.insert("threaded".to_owned(), disk.read("sys/class/net/v0/threaded").unwrap());
    state.insert("channels".to_owned(), format!("{:?}", driver_settings("v0").unwrap().channels));
    state
}

fn apply_through(system: &dyn System, journals: &JournalDirectory) {
    let steps = changes(steps(&plan(), system).unwrap());
    let journal = journals.begin(system, steps, false).unwrap();
    apply(journal, &AtomicBool::new(false)).unwrap_or_else(|error| panic!("{error}"));
}

fn undo_all(journals: &JournalDirectory, context: &str) {
    let disk = Disk::default();
    if let Some(journal) = journals.open(&disk, false).unwrap() {
        let undone = undo(journal, false).unwrap();
        assert!(undone.is_complete(), "{context}: {undone}");
    }
}

#[test]
fn channels_and_threaded_napi_of_a_veth_are_set_and_restored() {
    if !is_inside() {
        return run_inside("tuning::channels_and_threaded_napi_of_a_veth_are_set_and_restored");
    }
    set_up();
    let before = state();
    let directory = tempfile::tempdir().unwrap();
    let journals = JournalDirectory::at(directory.path().join("journals"));
    apply_through(&Disk::default(), &journals);

    let disk = Disk::default();
    let settings = driver_settings("v0").unwrap();
    let channels = settings.channels.unwrap();
    assert_eq!((channels.receive, channels.transmit), (Some(2), Some(2)));
    assert_eq!(disk.entries("sys/class/net/v0/queues").unwrap(), ["rx-0", "rx-1", "tx-0", "tx-1"]);
    assert_eq!(disk.read("sys/class/net/v0/queues/rx-1/rps_cpus").unwrap().trim(), "1");
    assert_eq!(disk.read("sys/class/net/v0/threaded").unwrap(), "1\n");
    for napi in &settings.napi {
        assert!(matches!(napi.threaded, None | Some(Threaded::On)), "{napi:?}");
        let name = napi.thread.map(|thread| fs::read_to_string(format!("/proc/{thread}/comm")).unwrap());
        println!("NAPI instance {} polls in {name:?}", napi.id);
        assert!(name.is_none_or(|name| name.starts_with("napi/v0")), "{napi:?}");
    }
    if let Some(text) = ethtool(&Namespace::current().unwrap(), &["-l", "v0"]) {
        let now = crate::program::numbers(&text, "Current hardware settings:");
        assert_eq!((now.get("RX"), now.get("TX")), (Some(&2), Some(&2)), "{text}");
    }
    assert_ne!(state(), before);
    undo_all(&journals, "applied");
    assert_eq!(state(), before);
}

#[test]
fn a_plan_killed_at_any_change_of_a_real_driver_is_undone() {
    const NAME: &str = "tuning::a_plan_killed_at_any_change_of_a_real_driver_is_undone";
    if let (Ok(directory), Ok(at)) = (env::var(JOURNAL), env::var(KILL_AT)) {
        let injector = FaultInjector::once(Disk::default(), at.parse().unwrap(), InjectedFault::Kill);
        return apply_through(&injector, &JournalDirectory::at(directory.into()));
    }
    if !is_inside() {
        return run_inside(NAME);
    }
    set_up();
    let before = state();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journals");
    let journals = JournalDirectory::at(path.clone());
    let counting = FaultInjector::once(Disk::default(), usize::MAX, InjectedFault::Kill);
    apply_through(&counting, &journals);
    undo_all(&journals, "not killed");
    for at in 0..counting.changes() {
        let output = kill(NAME, &path, at);
        assert_eq!(output.status.signal(), Some(9), "{at}: {}", shown(&output));
        undo_all(&journals, &format!("killed at change {at}"));
        assert_eq!(state(), before, "killed at change {at}");
    }
    println!("killed at each of {} changes", counting.changes());
}

fn kill(name: &str, journals: &Path, at: usize) -> Output {
    let mut program = Command::new(env::current_exe().unwrap());
    program.args(["--exact", name]).env(JOURNAL, journals).env(KILL_AT, at.to_string());
    program.output().unwrap()
}
