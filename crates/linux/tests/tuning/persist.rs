//! What keeps a plan over reboots: every line that outlives one is in a file, and the unit's commands do what
//! they are for after a driver was loaded again.

use crate::scene::{Scene, plan};
use std::fs;
use std::path::Path;
use warmcore_linux::tuning::persist::{PLAN, PersistError, Persistence, RULES, ServiceError, persist};
use warmcore_linux::tuning::{Line, Plan, Setting};

const UNIT: &str = "/etc/systemd/system/warmcore-host.service";
const DROP_IN: &str = "/etc/systemd/system/server.service.d/90-warmcore.conf";

/// Writes a file that may be new.
fn put(scene: &Scene, file: &str, text: &str) {
    let path = scene.root.join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn scene_with_group(group: &str) -> Scene {
    let scene = Scene::new();
    put(&scene, "proc/4242/cgroup", &format!("0::{group}\n"));
    scene
}

fn persisted(plan: &Plan, scene: &Scene) -> Result<Persistence, PersistError> {
    persist(plan, Path::new("/usr/bin/warmcore"), &[], &scene.disk())
}

fn file<'a>(persistence: &'a Persistence, path: &str) -> &'a str {
    let file = persistence.files.iter().find(|file| file.path == path);
    &file.unwrap_or_else(|| panic!("{path} among {:?}", persistence.files)).text
}

/// A plan with these settings only.
fn with_lines(sets: &[&str]) -> Plan {
    let line = |set: &&str| {
        let line: Line = toml::from_str(&format!("set = {{ {set} }}")).unwrap();
        line
    };
    let plan = Plan { lines: sets.iter().map(line).collect(), ..plan() };
    plan.check().unwrap();
    plan
}

/// The plan that the unit applies.
fn persistent(persistence: &Persistence) -> Plan {
    let plan: Plan = toml::from_str(file(persistence, PLAN)).unwrap();
    plan.check().unwrap();
    plan
}

#[test]
fn every_line_that_outlives_a_reboot_is_in_the_plan_of_the_unit() {
    let scene = scene_with_group("/system.slice/server.service");
    let persistence = persisted(&plan(), &scene).unwrap();
    let paths: Vec<&str> = persistence.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, [PLAN, UNIT, RULES, DROP_IN]);
    for file in &persistence.files {
        assert!(file.text.starts_with(&format!("# {}\n", file.path)), "{}", file.text);
    }
    let persistent = persistent(&persistence);
    assert_eq!(
        (persistent.lines.len(), persistent.machine.clone()),
        (plan().lines.len() - 2, plan().machine)
    );
    let places = |set: &Setting| matches!(set, Setting::Thread { .. } | Setting::Cpuset { .. });
    assert!(!persistent.lines.iter().any(|line| places(&line.set)));
    scene.apply_plan_through(&persistent, &scene.disk()).unwrap();
    let drop_in = file(&persistence, DROP_IN);
    assert!(drop_in.contains("\nCPUAffinity=\nCPUAffinity=2-3\n"), "{drop_in}");
    assert!(drop_in.ends_with("\nAllowedCPUs=\nAllowedCPUs=2-3\n"), "{drop_in}");
    assert_eq!(
        (&persistence.services[..], &persistence.unserved[..]),
        (&["server.service".to_owned()][..], &[][..])
    );
}

#[test]
fn a_service_gets_the_cpus_of_all_its_lines() {
    let scene = scene_with_group("/system.slice/server.service/workers");
    let thread = |number: u32, cpus: &str| {
        format!(
            "thread = {{ pid = 4242, started = 8311, name = \"server\", thread = {number}, cpus = \"{cpus}\" }}"
        )
    };
    let threads = with_lines(&[&thread(4242, "0"), &thread(4243, "2-3")]);
    let persistence = persisted(&threads, &scene).unwrap();
    assert!(!persistence.has_unit && persistence.files.len() == 1, "{persistence:?}");
    let text = file(&persistence, DROP_IN);
    assert!(text.contains("\nCPUAffinity=0,2-3\n") && text.contains("cannot pin single"), "{text}");
}

#[test]
fn what_has_no_service_is_said_and_the_rest_is_kept() {
    for (group, reason) in [
        ("/system.slice/docker-1f.scope", ServiceError::Scope("docker-1f.scope".to_owned())),
        ("/", ServiceError::NoUnit("/".to_owned())),
        ("/system.slice/run-u7.service", ServiceError::Transient("run-u7.service".to_owned())),
    ] {
        let scene = scene_with_group(group);
        put(&scene, "run/systemd/transient/run-u7.service", "");
        let mut plan = plan();
        plan.lines.retain(|line| !matches!(line.set, Setting::Cpuset { .. }));
        let persistence = persisted(&plan, &scene).unwrap();
        assert!(persistence.has_unit && persistence.services.is_empty(), "{group}");
        assert_eq!(persistence.unserved.iter().map(|process| &process.reason).collect::<Vec<_>>(), [&reason]);
    }
    let scene = scene_with_group("/system.slice/server.service");
    let later = "thread = { pid = 4242, started = 8312, name = \"server\", cpus = \"2\" }";
    let error = persisted(&with_lines(&[later]), &scene).unwrap_err().to_string();
    assert!(error.contains("no line of the plan outlives a reboot: process 4242 (server)"), "{error}");
    assert!(error.contains("make the plan again"), "{error}");
}

#[test]
fn a_rule_matches_a_card_by_its_address_and_other_interfaces_by_name() {
    let scene = Scene::new();
    put(&scene, "sys/bus/pci/devices/0000:00:04.0/msi_irqs/50", "msix");
    let mut mixed = with_lines(&[
        "rps_cpus = { interface = \"eth0\", queue = 0, cpus = \"2\" }",
        "interrupt = { device = \"0000:00:03.0\", queue = 0, cpus = \"2\" }",
        "interrupt = { device = \"0000:00:04.0\", queue = 0, cpus = \"2\" }",
    ]);
    let mut veth = mixed.machine.interfaces[0].clone();
    veth.name = "a\"*".to_owned();
    let name = veth.name.clone();
    mixed.machine.interfaces.push(veth);
    let set = Setting::RpsFlows { interface: name, queue: 0, flows: 0 };
    mixed.lines.push(Line { set, ..mixed.lines[0].clone() });
    mixed.check().unwrap();
    let persistence = persisted(&mixed, &scene).unwrap();
    let rules: Vec<&str> = file(&persistence, RULES).lines().filter(|line| !line.starts_with('#')).collect();
    let run = "RUN+=\"/usr/bin/systemctl --no-block restart warmcore-host.service\"";
    assert_eq!(
        rules,
        [
            format!("ACTION==\"add|move\", SUBSYSTEM==\"net\", KERNEL==\"a??\", {run}"),
            format!("ACTION==\"add|move\", SUBSYSTEM==\"net\", KERNELS==\"0000:00:03.0\", {run}"),
            format!("ACTION==\"bind\", SUBSYSTEM==\"pci\", KERNEL==\"0000:00:04.0\", {run}"),
        ]
    );
    let flows = persisted(&with_lines(&["global_flows = { flows = 4096 }"]), &scene).unwrap();
    assert!(flows.files.iter().all(|file| file.path != RULES), "{flows:?}");
}

/// As `ExecStopPost=` and `ExecStart=` of the unit do.
#[test]
fn a_plan_returns_after_a_driver_was_loaded_again() {
    let scene = scene_with_group("/system.slice/server.service");
    let persistent = persistent(&persisted(&plan(), &scene).unwrap());
    scene.apply_plan_through(&persistent, &scene.disk()).unwrap();
    // The interrupts have other numbers and the default cpus of the plan, and RPS is off.
    for queue in 0..2 {
        let (before, after) = (28 + queue, 40 + queue);
        for (directory, file) in [
            ("sys/kernel/irq", "actions"),
            ("sys/kernel/irq", "per_cpu_count"),
            ("proc/irq", "effective_affinity_list"),
        ] {
            put(
                &scene,
                &format!("{directory}/{after}/{file}"),
                &scene.read(&format!("{directory}/{before}/{file}")),
            );
        }
        put(&scene, &format!("proc/irq/{after}/smp_affinity_list"), "0-1\n");
        put(&scene, &format!("sys/bus/pci/devices/0000:00:03.0/msi_irqs/{after}"), "msix\n");
        fs::remove_file(scene.root.join(format!("sys/bus/pci/devices/0000:00:03.0/msi_irqs/{before}")))
            .unwrap();
    }
    scene.write("sys/class/net/eth0/queues/rx-0/rps_cpus", "00000000\n");

    let unforced = scene.undo_through(&scene.disk(), false).unwrap().unwrap();
    assert!(!unforced.is_complete(), "the reset cpus pass for somebody else's: {unforced:?}");
    let forced = scene.undo_through(&scene.disk(), true).unwrap().unwrap();
    assert!(forced.is_complete() && scene.journals.active().unwrap().is_none(), "{forced:?}");
    scene.apply_plan_through(&persistent, &scene.disk()).unwrap();
    assert_eq!(scene.read("proc/irq/40/smp_affinity_list"), "2");
    assert_eq!(scene.read("sys/class/net/eth0/queues/rx-0/rps_cpus").trim(), "c");
}

/// While a driver is loaded again, a start fails and is repeated. The end of each finds nothing to undo.
#[test]
fn a_card_that_is_gone_leaves_nothing_to_undo() {
    let scene = Scene::new();
    let persistent = persistent(&persisted(&plan(), &scene).unwrap());
    scene.apply_plan_through(&persistent, &scene.disk()).unwrap();
    for gone in ["sys/class/net/eth0", "sys/bus/pci/devices/0000:00:03.0"] {
        fs::remove_dir_all(scene.root.join(gone)).unwrap();
    }
    let undone = scene.undo_through(&scene.disk(), true).unwrap().unwrap();
    assert!(undone.is_complete() && scene.journals.active().unwrap().is_none(), "{undone:?}");
    assert!(scene.undo_through(&scene.disk(), true).unwrap().is_none());
}

#[test]
fn a_control_group_keeps_its_cpus_if_it_is_that_of_a_service() {
    let group = |path: &str| with_lines(&[&format!("cpuset = {{ group = \"{path}\", cpus = \"2-3\" }}")]);
    let scene = Scene::new();
    let persistence = persisted(&group("/system.slice/server.service"), &scene).unwrap();
    assert!(!persistence.has_unit);
    assert!(file(&persistence, DROP_IN).ends_with("[Service]\nAllowedCPUs=\nAllowedCPUs=2-3\n"));
    for (path, expected) in [
        ("/system.slice/server.service/workers", "another manager below `server.service`"),
        ("/docker/1f", "control group /docker/1f loses its cpus 2-3"),
    ] {
        let error = persisted(&group(path), &scene).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}
