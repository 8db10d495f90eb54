//! Plans that change channels and other settings of drivers, on a copied machine.

use crate::scene::{Scene, plan};
use std::fs;
use warmcore_linux::fake::{FaultInjector, InjectedFault};
use warmcore_linux::tuning::{AdmissionOptions, Disk, Plan, Setting, admit, steps};

fn setting(text: &str) -> Setting {
    toml::from_str::<toml::Table>(text).unwrap()["set"].clone().try_into().unwrap()
}

/// The plan of all kinds of lines, behind one that gives the card four channels, and one for its third.
fn channels_plan() -> Plan {
    let mut plan = plan();
    let mut line = plan.lines[0].clone();
    line.set = setting("set = { channels = { interface = 'eth0', combined = 4 } }");
    plan.lines.insert(0, line.clone());
    line.set = setting("set = { rps_cpus = { interface = 'eth0', queue = 2, cpus = '1' } }");
    plan.lines.push(line);
    plan.check().unwrap();
    plan
}

/// The machine with a third receive queue, which a copy has from the start.
fn scene() -> Scene {
    let scene = Scene::new();
    let queue = scene.root.join("sys/class/net/eth0/queues/rx-2");
    fs::create_dir(&queue).unwrap();
    fs::write(queue.join("rps_cpus"), "00000000\n").unwrap();
    scene
}

/// The plan for that machine, which has three receive queues.
fn plan_with_third_queue() -> Plan {
    let mut plan = channels_plan();
    plan.machine.interfaces[0].receive_queues = 3;
    plan
}

#[test]
fn driver_settings_of_a_copy_are_changed_and_restored() {
    let scene = Scene::new();
    let before = scene.snapshot();
    scene.apply_through(&scene.disk()).unwrap();
    let text = scene.read("warmcore/ethtool/eth0.toml");
    assert!(text.contains("indirection = [1, 1, 1, 1, 1, 1, 1, 1]"), "{text}");
    assert!(text.contains("[features.ntuple]\non = true"), "{text}");
    assert_eq!(scene.read("sys/class/net/eth0/threaded"), "1");
    scene.assert_restorable(&before, "all driver settings");
}

#[test]
fn values_are_shown_in_words() {
    let scene = Scene::new();
    let proposals = steps(&channels_plan(), &scene.disk()).unwrap();
    let shown = |line: usize| {
        let proposal = proposals.iter().find(|proposal| proposal.step.line == line).unwrap();
        (proposal.step.set.to_string(), proposal.now.clone(), proposal.wanted.clone())
    };
    let words = |set: &str, now: &str, wanted: &str| (set.to_owned(), now.to_owned(), wanted.to_owned());
    assert_eq!(shown(0), words("channels of eth0", "combined 2", "combined 4"));
    let later = "known once the channels are changed";
    assert_eq!(shown(4), words("RPS cpus of eth0 rx-0", later, "2-3"));
    assert_eq!(shown(10), words("RSS table of eth0", later, "evenly over 1"));
    let without = steps(&plan(), &scene.disk()).unwrap();
    let table = without.iter().find(|proposal| matches!(proposal.step.set, Setting::Indirection { .. }));
    assert_eq!(table.unwrap().now, "unevenly over 0-1");
}

#[test]
fn a_plan_with_channels_and_one_failed_change_leaves_everything_as_it_was() {
    let first = scene();
    let counting = FaultInjector::once(first.disk(), usize::MAX, InjectedFault::Refuse);
    first.apply_plan_through(&plan_with_third_queue(), &counting).unwrap();
    assert_eq!(first.read("sys/class/net/eth0/queues/rx-2/rps_cpus"), "2");
    // Fourteen steps with two entries and a value each, and an entry for each deferred one.
    assert!(counting.changes() > 4 + 3 * 14 + 10, "{}", counting.changes());
    for at in 0..counting.changes() {
        let scene = scene();
        let before = scene.snapshot();
        let injector = FaultInjector::once(scene.disk(), at, InjectedFault::Refuse);
        assert!(scene.apply_plan_through(&plan_with_third_queue(), &injector).is_err(), "{at}");
        scene.assert_restorable(&before, &format!("change {at}"));
    }
}

#[test]
fn what_the_driver_resets_with_its_channels_is_restored() {
    let scene = scene();
    scene.write("sys/class/net/eth0/queues/rx-1/rps_cpus", "00000008\n");
    let before = scene.snapshot();
    scene.apply_plan_through(&plan_with_third_queue(), &scene.disk()).unwrap();
    // As drivers do when queues are made again: no plan names these two.
    scene.write("sys/class/net/eth0/queues/rx-1/rps_cpus", "00000000\n");
    scene.write("sys/class/net/eth0/queues/tx-0/xps_cpus", "0,0000000f\n");
    let driver = scene.read("warmcore/ethtool/eth0.toml");
    assert!(driver.contains("indirection = [1, 1,"), "{driver}");
    scene.assert_restorable(&before, "reset by the driver");
}

#[test]
fn a_queue_that_the_new_channels_do_not_bring_fails_the_whole_plan() {
    let scene = Scene::new();
    let before = scene.snapshot();
    let refused = scene.apply_plan_through(&channels_plan(), &scene.disk()).unwrap_err();
    assert!(refused.contains("expected one of rx-0, rx-1, tx-0, tx-1 of eth0"), "{refused}");
    assert!(refused.contains("everything is as it was before"), "{refused}");
    assert_eq!(scene.snapshot(), before);
}

#[test]
fn a_plan_that_changes_channels_fits_its_machine_before_and_after() {
    let scene = Scene::new();
    let admitted = |plan: &Plan, disk: &Disk| {
        admit(plan, disk, &AdmissionOptions::default()).map(drop).map_err(|error| error.to_string())
    };
    let plan = channels_plan();
    assert_eq!(admitted(&plan, &scene.disk()), Ok(()));
    for queue in ["rx-2", "rx-3", "tx-2", "tx-3"] {
        fs::create_dir(scene.root.join("sys/class/net/eth0/queues").join(queue)).unwrap();
    }
    assert_eq!(admitted(&plan, &scene.disk()), Ok(()), "as the plan leaves it");
    fs::remove_dir(scene.root.join("sys/class/net/eth0/queues/rx-3")).unwrap();
    let refused = admitted(&plan, &scene.disk()).unwrap_err();
    assert!(refused.contains("receive_queues"), "{refused}");
}

#[test]
fn unsound_lines_are_refused() {
    let refusal = |set: &str, at: usize| {
        let mut plan = plan();
        let mut line = plan.lines[0].clone();
        line.set = setting(set);
        plan.lines.insert(at, line);
        let checked = plan.check().map_err(|fault| fault.to_string());
        checked.and_then(|()| steps(&plan, &Scene::new().disk()).map(drop).map_err(|error| error.to_string()))
    };
    for (set, at, message) in [
        ("channels = { interface = 'eth0', combined = 4 }", 1, "a place before all other lines"),
        ("channels = { interface = 'eth0' }", 0, "`combined`, or `receive` and `transmit`"),
        ("channels = { interface = 'eth0', combined = 0 }", 0, "at least one channel that receives"),
        ("channels = { interface = 'eth0', receive = 1 }", 0, "an interface whose driver has this setting"),
        ("channels = { interface = '../x', combined = 1 }", 0, "the name of an interface"),
        (
            "channels = { interface = 'eth1', combined = 1 }",
            0,
            "an interface that `machine.interfaces` describes",
        ),
    ] {
        let refused = refusal(&format!("set = {{ {set} }}"), at).unwrap_err();
        assert!(refused.contains(message), "{set}: {refused}");
    }
    for (index, set, message) in [
        (9, "indirection = { interface = 'eth0', queues = 9 }", "at most 8 queues"),
        (9, "indirection = { interface = 'eth0', queues = 4294967295 }", "the number of queues, 1 to 4096"),
    ] {
        let mut plan = plan();
        // Enough queues for the table that is too short.
        plan.machine.interfaces[0].receive_queues = 16;
        plan.lines[index].set = setting(&format!("set = {{ {set} }}"));
        let checked = plan.check().map_err(|fault| fault.to_string());
        let refused = checked
            .and_then(|()| steps(&plan, &Scene::new().disk()).map(drop).map_err(|error| error.to_string()));
        assert!(refused.as_ref().is_err_and(|refused| refused.contains(message)), "{set}: {refused:?}");
    }
}

/// The plan alone shows which queues it leaves.
#[test]
fn queues_that_the_plan_does_not_leave_are_refused_by_its_check() {
    let refusal = |set: &str| {
        let mut plan = channels_plan();
        plan.machine.interfaces[0].receive_queues = 8;
        plan.machine.interfaces[0].transmit_queues = 8;
        let mut line = plan.lines[1].clone();
        line.set = setting(&format!("set = {{ {set} }}"));
        plan.lines.retain(|line| !matches!(line.set, Setting::Indirection { .. }));
        plan.lines.push(line);
        plan.check().map_err(|fault| fault.to_string())
    };
    let last = channels_plan().lines.len() - 1;
    for (set, field, queue) in [
        ("rps_cpus = { interface = 'eth0', queue = 7, cpus = '1' }", "rps_cpus.queue", 7),
        ("rps_flows = { interface = 'eth0', queue = 4, flows = 64 }", "rps_flows.queue", 4),
        ("xps_cpus = { interface = 'eth0', queue = 7, cpus = '1' }", "xps_cpus.queue", 7),
        ("xps_queues = { interface = 'eth0', queue = 7, receive_queues = [1] }", "xps_queues.queue", 7),
        (
            "xps_queues = { interface = 'eth0', queue = 3, receive_queues = [5] }",
            "xps_queues.receive_queues",
            5,
        ),
        ("indirection = { interface = 'eth0', queues = 5 }", "indirection.queues", 4),
        ("indirection = { interface = 'eth0', queues = [0, 7] }", "indirection.queues", 7),
    ] {
        let refused = refusal(set).unwrap_err();
        assert!(
            refused.starts_with(&format!("`lines.{last}.set.{field}` is {queue}, expected")),
            "{refused}"
        );
        assert!(refused.contains("queues of eth0, which are 0 to 3 under this plan"), "{refused}");
    }
    for sound in [
        "rps_cpus = { interface = 'eth0', queue = 3, cpus = '1' }",
        "xps_queues = { interface = 'eth0', queue = 3, receive_queues = [2, 3] }",
        "indirection = { interface = 'eth0', queues = 4 }",
    ] {
        assert_eq!(refusal(sound), Ok(()), "{sound}");
    }
    // Without a line for channels the plan's machine has the queues that hashes may choose.
    let mut plan = plan();
    plan.lines[9].set = setting("set = { indirection = { interface = 'eth0', queues = 5 } }");
    let refused = plan.check().unwrap_err().to_string();
    assert!(
        refused.contains("`lines.9.set.indirection.queues` is 2, expected receive queues of eth0"),
        "{refused}"
    );
}
