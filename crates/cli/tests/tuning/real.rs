//! The queues of a veth in a namespace of its own, steered by the real kernel.

use crate::{on_one_line, text, warmcore};
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;
use warmcore_linux::net::lab::{Lab, LinkOptions};
use warmcore_linux::tuning::{Disk, Fingerprint};

/// Runs a program in the near namespace, with a `/sys` that shows it. That is mounted in a mount
/// namespace of the program's own, and gone with it.
pub(super) fn inside(lab: &Lab, program: &[&str], folder: &Path) -> Output {
    start_inside(lab, program, folder).wait_with_output().expect("a child's output")
}

/// Starts it likewise; the child is the program itself.
pub(super) fn start_inside(lab: &Lab, program: &[&str], folder: &Path) -> Child {
    start_where_sys_shows(lab, lab, program, folder)
}

/// Starts it in the near namespace of `lab`, with a `/sys` that shows the one of `shown`.
fn start_where_sys_shows(lab: &Lab, shown: &Lab, program: &[&str], folder: &Path) -> Child {
    let mut command = Command::new("unshare");
    command.args(["--mount", "--propagation", "private", "sh", "-c"]);
    command.args(["nsenter --net=\"$0\" mount -t sysfs sysfs /sys && exec \"$@\"", &shown.near.path()]);
    command.args(program);
    command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    lab.near.spawn(&mut command).expect("a namespace can be entered").expect("unshare is there")
}

/// What stands in every steering file of the interface.
pub(super) fn queues(lab: &Lab, folder: &Path) -> String {
    let script = "cd /sys/class/net/wire0/queues && grep . rx-*/rps_* tx-*/xps_*";
    text(&inside(lab, &["sh", "-c", script], folder).stdout)
}

pub(super) fn plan() -> String {
    let Fingerprint { cpus, nodes, .. } = Fingerprint::read(&Disk::default(), []).expect("this machine");
    let nodes: Vec<String> = nodes.iter().map(|node| format!("\"{node}\"")).collect();
    let line = |set: &str| format!("[[lines]]\nset = {{ {set} }}\n");
    let lines = [
        "rps_cpus = { interface = \"wire0\", queue = 0, cpus = \"0\" }",
        "rps_cpus = { interface = \"wire0\", queue = 1, cpus = \"\" }",
        "rps_flows = { interface = \"wire0\", queue = 3, flows = 4096 }",
        "xps_cpus = { interface = \"wire0\", queue = 2, cpus = \"0\" }",
        "xps_queues = { interface = \"wire0\", queue = 1, receive_queues = [0, 2] }",
    ];
    format!(
        "schema = 1\n[machine]\ncpus = \"{cpus}\"\nnodes = [{}]\ninterfaces = [{{ name = \"wire0\", \
         receive_queues = 4, transmit_queues = 4 }}]\n{}",
        nodes.join(", "),
        lines.map(line).concat()
    )
}

#[test]
fn a_veth_is_steered_and_is_as_before_after() {
    if let Some(missing) = warmcore_linux::net::privilege_missing() {
        return println!("skipped: needs {missing}");
    }
    let lab = Lab::new(&LinkOptions { queues: 4, ..LinkOptions::default() }).expect("a lab");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    fs::write(folder.join("plan.toml"), plan()).expect("a plan can be written");
    // So that one value is not the default before.
    inside(&lab, &["sh", "-c", "echo 1 > /sys/class/net/wire0/queues/rx-1/rps_cpus"], folder);
    let before = queues(&lab, folder);
    assert_eq!(before.lines().filter(|line| line.starts_with("rx-")).count(), 8, "{before}");

    let program = env!("CARGO_BIN_EXE_warmcore");
    let apply = [program, "host", "apply", "plan.toml", "--journal", "journals"];
    let shown = inside(&lab, &apply, folder);
    assert!(shown.status.success(), "{}", text(&shown.stderr));
    assert_eq!(queues(&lab, folder), before);

    let applied = inside(&lab, &[&apply[..], &["--yes"]].concat(), folder);
    assert!(applied.status.success(), "{}", text(&applied.stderr));
    assert!(text(&applied.stdout).contains("5 values changed"), "{}", text(&applied.stdout));
    let steered = queues(&lab, folder);
    let value = |file: &str| {
        let line = steered.lines().find_map(|line| line.strip_prefix(file)?.strip_prefix(':'));
        let digits = line.unwrap_or_else(|| panic!("{file}: {steered}")).replace(',', "");
        digits.trim_start_matches('0').to_owned()
    };
    let files = ["rx-0/rps_cpus", "rx-1/rps_cpus", "rx-3/rps_flow_cnt", "tx-2/xps_cpus", "tx-1/xps_rxqs"];
    assert_eq!(files.map(value), ["1", "", "4096", "1", "5"]);

    let undo = ["host", "undo", "--journal", "journals"];
    let outside = warmcore(&undo, folder);
    let refused = text(&outside.stderr);
    assert!(!outside.status.success() && refused.contains("network namespace"), "{refused}");
    let undone = inside(&lab, &[&[program][..], &undo].concat(), folder);
    assert!(text(&undone.stdout).contains("5 values restored"), "{}", text(&undone.stderr));
    assert_eq!(queues(&lab, folder), before);
}

/// `/sys` shows the interfaces of the machine there: they would be changed in place of those that the plan is for.
#[test]
fn a_plan_is_refused_where_sys_shows_another_network_namespace() {
    let lab = Lab::new(&LinkOptions { queues: 4, ..LinkOptions::default() }).expect("a lab");
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("plan.toml"), plan()).expect("a plan can be written");
    let mut command = Command::new(env!("CARGO_BIN_EXE_warmcore"));
    command.args(["host", "apply", "plan.toml", "--yes", "--journal", "journals"]);
    command.current_dir(folder.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = lab.near.spawn(&mut command).expect("a namespace can be entered").expect("the program");
    let refused = child.wait_with_output().expect("a child's output");
    let error = on_one_line(&refused.stderr);
    assert!(!refused.status.success(), "{error}");
    assert!(error.contains("/sys belongs to another network namespace than this process"), "{error}");
    assert!(error.contains("this process has lo, wire0") && error.contains("ip netns exec NAME"), "{error}");
    assert!(!folder.path().join("journals").exists(), "nothing was begun");
}

/// The interfaces of two containers often have the same names.
#[test]
fn nothing_is_changed_where_sys_shows_interfaces_of_the_same_names_of_another_namespace() {
    if let Some(missing) = warmcore_linux::net::privilege_missing() {
        return println!("skipped: needs {missing}");
    }
    let lab = || Lab::new(&LinkOptions { queues: 4, ..LinkOptions::default() }).expect("a lab");
    let (own, other) = (lab(), lab());
    // All labs have the same names, numbers and addresses.
    other.near.ip(&["link", "set", "wire0", "address", "02:77:00:00:00:77"]).expect("an interface");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    fs::write(folder.join("plan.toml"), plan()).expect("a plan can be written");
    let host = |shown: &Lab, arguments: &[&str]| {
        let program = [env!("CARGO_BIN_EXE_warmcore"), "host"];
        let all = [&program, arguments, &["--journal", "journals"]].concat();
        start_where_sys_shows(&own, shown, &all, folder).wait_with_output().expect("a child's output")
    };
    let apply = ["apply", "plan.toml", "--yes"];
    let is_refused = |arguments: &[&str]| {
        let refused = host(&other, arguments);
        let error = on_one_line(&refused.stderr);
        assert_eq!(refused.status.code(), Some(1), "{arguments:?}: {error}");
        assert!(error.contains("/sys belongs to another network namespace"), "{arguments:?}: {error}");
        assert!(error.contains("/sys shows wire0 with number"), "{arguments:?}: {error}");
    };
    is_refused(&apply);
    assert!(!folder.join("journals").exists(), "nothing was begun");

    let applied = host(&own, &apply);
    assert!(applied.status.success(), "{}", text(&applied.stderr));
    let before = [&own, &other].map(|lab| queues(lab, folder));
    let commands: [&[&str]; 3] = [&["undo"], &["undo", "--force"], &["confirm"]];
    commands.iter().for_each(|arguments| is_refused(arguments));
    assert_eq!([&own, &other].map(|lab| queues(lab, folder)), before);
    let undone = host(&own, &["undo"]);
    assert!(undone.status.success(), "{}", text(&undone.stderr));
}

#[test]
fn a_journal_whose_network_namespace_is_gone_is_closed_by_force_only() {
    let lab = Lab::new(&LinkOptions { queues: 4, ..LinkOptions::default() }).expect("a lab");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    fs::write(folder.join("plan.toml"), plan()).expect("a plan can be written");
    let program = env!("CARGO_BIN_EXE_warmcore");
    let apply = [program, "host", "apply", "plan.toml", "--yes", "--journal", "journals"];
    assert!(inside(&lab, &apply, folder).status.success());
    let undo = ["host", "undo", "--journal", "journals"];
    let forced = [&undo[..], &["--force"]].concat();
    let error = on_one_line(&warmcore(&forced, folder).stderr);
    assert!(error.contains("another network namespace") && error.contains("undo it there"), "{error}");

    drop(lab);
    // A child that another test starts holds it for a moment.
    let mut error = String::new();
    for _ in 0..100 {
        let refused = warmcore(&undo, folder);
        error = on_one_line(&refused.stderr);
        assert!(!refused.status.success(), "{error}");
        if error.contains("which is gone") {
            break;
        }
        sleep(Duration::from_millis(50));
    }
    assert!(error.contains("which is gone") && error.contains("host undo --force --journal"), "{error}");
    let closed = warmcore(&forced, folder);
    let said = text(&closed.stdout);
    assert!(closed.status.success(), "{said}{}", text(&closed.stderr));
    assert!(said.contains("is gone, and the settings of its interfaces with it"), "{said}");
    assert!(text(&warmcore(&undo, folder).stdout).contains("Nothing to undo"));
}
