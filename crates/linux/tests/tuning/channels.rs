//! Plans that change channels and other settings of drivers, on a copied machine.

use crate::scene::{Scene, plan};
use std::fs;
use warmcore_linux::Probe;
use warmcore_linux::fake::{FaultInjector, InjectedFault};
use warmcore_linux::tuning::rivals::{Interference, in_inventory, on_system};
use warmcore_linux::tuning::step::StepError;
use warmcore_linux::tuning::{AdmissionOptions, Disk, Plan, Setting, admit, steps};

pub(crate) fn setting(text: &str) -> Setting {
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
pub(crate) fn scene() -> Scene {
    let scene = Scene::new();
    let queue = scene.root.join("sys/class/net/eth0/queues/rx-2");
    fs::create_dir(&queue).unwrap();
    fs::write(queue.join("rps_cpus"), "00000000\n").unwrap();
    scene
}

/// The plan for that machine, which has three receive queues.
pub(crate) fn plan_with_third_queue() -> Plan {
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
fn channels_that_could_not_be_given_back_are_not_changed() {
    let scene = Scene::new();
    let driver = "warmcore/ethtool/eth0.toml";
    scene.write(driver, &scene.read(driver).replace("combined = 2", "combined = 9"));
    let refused = steps(&channels_plan(), &scene.disk()).unwrap_err();
    assert!(matches!(refused, StepError::Unrestorable { .. }), "{refused}");
    let said = "line 1: channels of eth0: its value now could not be restored: ";
    assert!(refused.to_string().starts_with(said), "{refused}");
    let said = refused.to_string();
    assert!(
        said.contains("`combined 9`") && said.contains("at most `combined 4`, as the driver says"),
        "{said}"
    );
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
fn a_queue_that_the_new_channels_do_not_bring_fails_the_whole_plan() {
    let scene = Scene::new();
    let before = scene.snapshot();
    let refused = scene.apply_plan_through(&channels_plan(), &scene.disk()).unwrap_err();
    assert!(refused.contains("expected one of rx-0, rx-1, tx-0, tx-1 of eth0"), "{refused}");
    assert!(refused.contains("everything is as it was before"), "{refused}");
    assert_eq!(scene.snapshot(), before);
}

#[test]
fn two_lines_that_turn_out_to_be_for_one_interrupt_fail_the_whole_plan() {
    let scene = scene();
    let before = scene.snapshot();
    let mut plan = plan_with_third_queue();
    let mut line = plan.lines[1].clone();
    line.set =
        setting("set = { interrupt = { device = '0000:00:03.0', action = 'eth0-TxRx-0', cpus = '3' } }");
    plan.lines.push(line);
    plan.check().unwrap();
    let refused = scene.apply_plan_through(&plan, &scene.disk()).unwrap_err();
    let last = plan.lines.len();
    assert!(refused.contains(&format!("lines.{}.set", last - 1)), "{refused}");
    assert!(refused.contains("but line 2 sets the same one"), "{refused}");
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

#[test]
fn interrupts_of_a_card_with_new_channels_have_no_numbers_to_keep_off() {
    let scene = Scene::new();
    let stat = |pid: u32, name: &str| {
        format!("{pid} ({name}) S 1 1 1 0 -1 0 1 2 3 4 5 6 7 8 20 0 1 0 8311{}\n", " 0".repeat(30))
    };
    scene.write("proc/4242/stat", &stat(4242, "server"));
    for (file, text) in [
        ("sys/class/net/eth0/ifindex", "2\n"),
        ("proc/801/comm", "irqbalance\n"),
        ("proc/801/stat", &stat(801, "irqbalance")),
        ("sys/bus/pci/devices/0000:00:04.0/msi_irqs/30", "msix\n"),
        ("sys/kernel/irq/30/actions", "nvme0q0\n"),
        ("proc/irq/30/smp_affinity_list", "0-3\n"),
        (
            "proc/interrupts",
            "CPU0\n28: 5 PCI-MSI 1-edge eth0-TxRx-0\n29: 5 PCI-MSI 2-edge eth0-TxRx-1\n30: 5 PCI-MSI 3-edge nvme0q0\n",
        ),
    ] {
        let path = scene.root.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let inventory = Probe::new().root(&scene.root).inventory().unwrap();
    let numbers = |plan: &Plan| {
        let found = [on_system(plan, &scene.disk()).unwrap(), in_inventory(plan, &inventory)];
        let [system, inventory] = found.map(|found| {
            found.into_iter().find_map(|interference| match interference {
                Interference::Undoes(_, numbers) => Some(Vec::from_iter(numbers)),
                _ => None,
            })
        });
        assert_eq!(system, inventory);
        system.unwrap()
    };
    let with_disk = |mut plan: Plan| {
        let mut line = plan.lines[0].clone();
        line.set =
            setting("set = { interrupt = { device = '0000:00:04.0', action = 'nvme0q0', cpus = '1' } }");
        plan.lines.push(line);
        plan
    };
    assert_eq!(numbers(&with_disk(plan())), [28, 29, 30]);
    assert_eq!(numbers(&with_disk(channels_plan())), [30], "also of those that are named by action");
}

/// A card that has receive and transmit channels of their own tells so by none of its queues.
#[test]
fn a_plan_that_names_one_kind_of_channels_fits_its_machine_afterwards() {
    let scene = Scene::new();
    fs::remove_dir_all(scene.root.join("sys/class/net/eth0/queues/rx-1")).unwrap();
    for (receive, fits) in [(1, true), (4, false)] {
        let mut plan = plan();
        plan.lines.truncate(1);
        plan.lines[0].set =
            setting(&format!("set = {{ channels = {{ interface = 'eth0', receive = {receive} }} }}"));
        plan.check().unwrap();
        let admitted = admit(&plan, &scene.disk(), &AdmissionOptions::default());
        assert_eq!(admitted.is_ok(), fits, "{receive}");
    }
}
