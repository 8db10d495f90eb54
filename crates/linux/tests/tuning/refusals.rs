//! Invalid plans are refused, with the wrong field and what was expected.

use crate::scene::{Scene, plan, put_process};
use warmcore_linux::fake::Tree;
use warmcore_linux::tuning::fingerprint::InterfaceKind;
use warmcore_linux::tuning::{AdmissionOptions, Plan, admit, steps};

fn refusal_of(plan: &Plan) -> String {
    let scene = Scene::new();
    let refused = plan.check().map_err(|fault| fault.to_string()).and_then(|()| {
        admit(plan, &scene.disk(), &AdmissionOptions::default()).map_err(|error| error.to_string())?;
        steps(plan, &scene.disk()).map(drop).map_err(|error| error.to_string())
    });
    refused.unwrap_err()
}

/// Returns the error for the plan with its line at `index` replaced by `line`.
fn refusal_with(index: usize, line: &str) -> String {
    let mut plan = plan();
    plan.lines[index].set = toml::from_str::<toml::Table>(line).unwrap()["set"].clone().try_into().unwrap();
    refusal_of(&plan)
}

#[test]
fn absent_offline_or_denied_cpus_are_refused() {
    let scene = Scene::new();
    let mut plan = plan();
    let absent = refusal_with(3, "set = { rps_cpus = { interface = 'eth0', queue = 0, cpus = '2-9' } }");
    let expected = "`lines.3.set.rps_cpus.cpus` is 2-9, expected cpus among 0-3 (4-9 not present)";
    assert_eq!(absent, expected);

    scene.write("sys/devices/system/cpu/online", "0-2\n");
    plan.lines.truncate(2);
    let offline = admit(&plan, &scene.disk(), &AdmissionOptions::default()).unwrap_err().to_string();
    assert!(offline.contains("`lines.1.set.interrupt.cpus` is 2-3"), "{offline}");
    assert!(offline.contains("(3 offline)"), "{offline}");

    let scene = Scene::new();
    scene.write("sys/fs/cgroup/warmcore/cpuset.cpus.effective", "0-2\n");
    let denied = admit(&plan, &scene.disk(), &AdmissionOptions::default()).unwrap_err().to_string();
    assert!(denied.contains("expected cpus among 0-2 (3 outside the cpuset"), "{denied}");
}

#[test]
fn missing_objects_are_refused_and_the_existing_ones_listed() {
    for (index, line, message) in [
        (
            0,
            "set = { interrupt = { device = '0000:00:03.0', queue = 7, cpus = '1' } }",
            "`lines.0.set.interrupt.queue` is 7, expected one of `eth0-TxRx-0`, `eth0-TxRx-1`",
        ),
        (
            0,
            "set = { interrupt = { device = '0000:00:03.0', action = 'rx', cpus = '1' } }",
            "`lines.0.set.interrupt.action` is `rx`, expected one of",
        ),
        (
            0,
            "set = { interrupt = { device = '0000:00:04.0', queue = 0, cpus = '1' } }",
            "`lines.0.set.interrupt.device` is `0000:00:04.0`, expected the PCI address",
        ),
        (
            3,
            "set = { rps_cpus = { interface = 'eth0', queue = 2, cpus = '1' } }",
            "`lines.3.set.rps_cpus.queue` is rx-2, expected one of rx-0, rx-1, tx-0, tx-1 of eth0",
        ),
        (
            3,
            "set = { rps_cpus = { interface = 'eth9', queue = 0, cpus = '1' } }",
            "`lines.3.set.rps_cpus.interface` is `eth9`, expected an interface",
        ),
        (
            8,
            "set = { thread = { pid = 4242, started = 9, name = 'server', cpus = '1' } }",
            "`lines.8.set.thread.started` is 9, expected 8311",
        ),
        (
            8,
            "set = { thread = { pid = 1717, started = 9, name = 'server', cpus = '1' } }",
            "`lines.8.set.thread.pid` is 1717, expected the number of a running process: server has ended",
        ),
        (
            8,
            "set = { thread = { pid = 4242, started = 8311, name = 'server', thread = 5, cpus = '1' } }",
            "`lines.8.set.thread.thread` is 5, expected a thread of process 4242",
        ),
    ] {
        let refusal = refusal_with(index, line);
        assert!(refusal.contains(message), "{refusal}");
    }
}

#[test]
fn invalid_settings_are_refused() {
    for (index, line, message) in [
        (0, "set = { interrupt = { device = 'eth0', queue = 0, cpus = '1' } }", "a PCI address such as"),
        // A bus has two digits, as `lspci -D` prints it.
        (
            0,
            "set = { interrupt = { device = '0000:00003:00.0', queue = 0, cpus = '1' } }",
            "a PCI address such as",
        ),
        (
            0,
            "set = { interrupt = { device = \"a\\nb\", queue = 0, cpus = '1' } }",
            "is `a\\nb`, expected a PCI address",
        ),
        (0, "set = { interrupt = { device = '0000:00:03.0', cpus = '1' } }", "either `action` or `queue`"),
        (0, "set = { interrupt = { device = '0000:00:03.0', queue = 0, cpus = '' } }", "at least one cpu"),
        (
            3,
            "set = { rps_cpus = { interface = '../..', queue = 0, cpus = '1' } }",
            "the name of an interface",
        ),
        (
            3,
            "set = { rps_cpus = { interface = \"a\\nRUN+=x\", queue = 0, cpus = '1' } }",
            "is `a\\nRUN+=x`, expected the name of an interface",
        ),
        (
            3,
            "set = { channels = { interface = \"a\\nb\", combined = 1 } }",
            "is `a\\nb`, expected the name of an interface",
        ),
        (
            8,
            "set = { thread = { pid = 1717, started = 9, name = \"a\\nb\", cpus = '1' } }",
            "a running process: a\\nb has ended",
        ),
        (
            12,
            "set = { cpuset = { group = '/system.slice//server.service', cpus = '1' } }",
            "expected the path of a control group",
        ),
        (4, "set = { rps_flows = { interface = 'eth0', queue = 0, flows = 5000 } }", "such as 8192"),
        (
            7,
            "set = { xps_queues = { interface = 'eth0', queue = 0, receive_queues = [0, 4294967295] } }",
            "`lines.7.set.xps_queues.receive_queues` is 4294967295, expected receive queues of eth0, which are 0 to 1",
        ),
        (
            7,
            "set = { xps_queues = { interface = 'eth0', queue = 4294967295, receive_queues = [0] } }",
            "`lines.7.set.xps_queues.queue` is tx-4294967295, expected one of",
        ),
        (
            4,
            "set = { rps_flows = { interface = 'eth0', queue = 0, flows = 2147483648 } }",
            "a power of two up to 536870912, the most that the kernel takes",
        ),
        (2, "set = { rps_cpus = { interface = 'eth0', queue = 0, cpus = '1' } }", "line 3 has the same one"),
        (
            1,
            "set = { interrupt = { device = '0000:00:03.0', action = 'eth0-TxRx-0', cpus = '1' } }",
            "line 1 sets the same one",
        ),
    ] {
        let refusal = refusal_with(index, line);
        assert!(refusal.contains(message), "{refusal}");
    }
    let mut many = plan();
    many.machine.interfaces[0].receive_queues = u32::MAX;
    assert!(
        refusal_of(&many).contains("`machine.interfaces.0.receive_queues` is 4294967295, expected at most")
    );
    let mut empty = plan();
    empty.lines.clear();
    assert!(refusal_of(&empty).contains("at least one line"));
}

#[test]
fn a_plan_for_another_machine_is_refused_with_every_difference() {
    let mut plan = plan();
    plan.machine.cpus = "0-127".parse().unwrap();
    plan.machine.nodes = vec!["0-63".parse().unwrap(), "64-127".parse().unwrap()];
    plan.machine.interfaces[0].driver = Some("ice".to_owned());
    let refusal = refusal_of(&plan);
    for message in [
        "`machine.cpus` is 0-127, expected 0-3 as on this machine",
        "`machine.nodes` is [\"0-63\", \"64-127\"], expected [\"0-3\"]",
        "`machine.interfaces.0.driver` is ice, expected virtio_net",
    ] {
        assert!(refusal.contains(message), "{refusal}");
    }
    let mut plan = crate::scene::plan();
    plan.machine.interfaces[0].receive_queues = 64;
    assert!(refusal_of(&plan).contains("`machine.interfaces.0.receive_queues` is 64, expected 2"));
    let absent = InterfaceKind { name: "eth1".to_owned(), ..plan.machine.interfaces[0].clone() };
    plan.machine.interfaces.push(absent);
    assert!(refusal_of(&plan).contains("which has none of this name"));
}

#[test]
fn a_rival_needs_the_option_despite_only_if_it_would_undo_the_plan() {
    let scene = Scene::new();
    let mut tree = Tree::default();
    put_process(&mut tree, 77, "irqbalance", &[77]);
    tree.write_to(&scene.root).unwrap();
    let refused = admit(&plan(), &scene.disk(), &AdmissionOptions::default()).unwrap_err().to_string();
    assert!(refused.contains("`irqbalance` runs") && refused.contains("--despite irqbalance"), "{refused}");
    let admission = AdmissionOptions { despite: vec!["irqbalance".to_owned()] };
    admit(&plan(), &scene.disk(), &admission).unwrap();
    let mut steering = plan();
    steering.lines.retain(|line| line.set.interface().is_some());
    admit(&steering, &scene.disk(), &AdmissionOptions::default()).unwrap();
}

/// An interrupt is named by its device and action. Two of one name are both meant, or none.
#[test]
fn interrupts_of_one_name_are_refused_with_advice() {
    let name = "interrupt = { device = '0000:00:03.0', action = 'eth0-TxRx-1', cpus = '1' }";
    let twice = refusal_with(0, &format!("set = {{ {name} }}"));
    let expected = "`lines.1.set` is interrupt eth0-TxRx-1 of 0000:00:03.0, expected one line for each name";
    assert!(twice.starts_with(expected) && twice.contains("leave both lines out"), "{twice}");

    let scene = Scene::new();
    scene.write("sys/kernel/irq/28/actions", "eth0-TxRx-1\n");
    let mut plan = plan();
    plan.lines.remove(0);
    let refused = steps(&plan, &scene.disk()).unwrap_err().to_string();
    let expected = "`lines.0.set.interrupt.action` is `eth0-TxRx-1`, expected a name of one interrupt, but 2 of the device";
    assert!(refused.starts_with(expected) && refused.contains("leave the line out"), "{refused}");
}

#[test]
fn an_uptime_that_is_no_time_is_refused_with_its_file_and_nothing_is_changed() {
    for uptime in ["nan 0", "inf 0", "-5.0 0", "1e300 0"] {
        let scene = Scene::new();
        let mut tree = Tree::default();
        tree.put("proc/uptime", uptime);
        tree.write_to(&scene.root).unwrap();
        let before = scene.snapshot();
        let refused = scene.apply_through(&scene.disk()).unwrap_err();
        assert!(refused.contains(&format!("proc/uptime` holds `{uptime}")), "{refused}");
        assert!(refused.contains("expected a number of seconds"), "{refused}");
        assert_eq!(scene.snapshot(), before);
        assert!(scene.journals.active().unwrap().is_none());
    }
}
