//! `warmcore host persist`: what keeps a plan over restarts is printed, or written into a new folder.

use super::{PLAN, Place};
use crate::{names, refusal, text, warmcore};
use std::fs;
use std::path::Path;
use std::process::Command;

const PERSIST: [&str; 5] = ["host", "persist", "plan.toml", "--root", "root"];

/// Files that a plan for the server of [`Place`] installs.
const INSTALLED: [&str; 3] = [
    "etc/warmcore/host-plan.toml",
    "etc/systemd/system/warmcore-host.service",
    r"etc/systemd/system/my\x2dserver.service.d/90-warmcore.conf",
];

fn place_with_service() -> Place {
    let place = Place::new();
    let group = "0::/system.slice/my\\x2dserver.service\n";
    fs::write(place.path.join("root/proc/4242/cgroup"), group).expect("a control group");
    place
}

/// A machine with a card that has one queue.
fn place_with_card() -> Place {
    let place = Place::new();
    for (file, text) in [
        ("sys/class/net/eth0/queues/rx-0/rps_cpus", "0\n"),
        ("sys/class/net/eth0/queues/tx-0/xps_cpus", "0\n"),
        ("sys/bus/pci/devices/0000:00:03.0/msi_irqs/40", "msix\n"),
        ("sys/kernel/irq/40/actions", "eth0-TxRx-0\n"),
        ("proc/irq/40/smp_affinity_list", "0-3\n"),
    ] {
        let path = place.path.join("root").join(file);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }
    place
}

/// Its service would fail, and try again every few seconds.
#[test]
fn a_plan_that_could_not_be_applied_is_not_kept() {
    let place = place_with_card();
    let plan = |set: &str| {
        let card = "interfaces = [{ name = \"eth0\", receive_queues = 1, transmit_queues = 1 }]";
        format!(
            "schema = 1\n[machine]\ncpus = \"0-3\"\nnodes = [\"0-3\"]\n{card}\n[[lines]]\nset = {{ {set} }}\n"
        )
    };
    for (plan, problem) in [
        (PLAN.replace("0-3", "0-1"), "made on a different machine"),
        (plan("rps_cpus = { interface = \"eth0\", queue = 4294967295, cpus = \"2\" }"), "4294967295"),
        (plan("interrupt = { device = \"0000:00:03.0\", action = \"\", cpus = \"2\" }"), "eth0-TxRx-0"),
    ] {
        place.plan(&plan);
        let refused = refusal(&PERSIST, &place.path);
        assert!(refused.contains("plan.toml:") && refused.contains(problem), "{refused}");
    }
}

#[test]
fn a_plan_that_outlasts_a_restart_is_printed_for_systemd_and_udev() {
    let place = place_with_card();
    place.plan(
        "schema = 1\n[machine]\ncpus = \"0-3\"\nnodes = [\"0-3\"]\n\
         interfaces = [{ name = \"eth0\", receive_queues = 1, transmit_queues = 1 }]\n\
         [[lines]]\nset = { interrupt = { device = \"0000:00:03.0\", queue = 0, cpus = \"2\" } }\n\
         [[lines]]\nset = { rps_cpus = { interface = \"eth0\", queue = 0, cpus = \"2\" } }\n",
    );
    let printed = place.run(&["host", "persist", "plan.toml", "--root", "root", "--despite", "tuned"]);
    for expected in [
        "# /etc/warmcore/host-plan.toml\nschema = 1\n",
        "Type=oneshot",
        "warmcore\" host apply --yes --despite \"tuned\" --journal /var/lib/warmcore/unit /etc/warmcore/host-plan.toml\n",
        "warmcore\" host undo --force --journal /var/lib/warmcore/unit\n",
        "Conflicts=irqbalance.service\n",
        "ACTION==\"bind\", SUBSYSTEM==\"pci\", KERNEL==\"0000:00:03.0\", RUN+=",
        "ACTION==\"add|move\", SUBSYSTEM==\"net\", KERNEL==\"eth0\", RUN+=",
        "# systemctl enable --now warmcore-host.service\n",
    ] {
        assert!(printed.contains(expected), "{printed}");
    }
    assert!(Path::new(&place.path).join("root").exists() && !place.path.join("journals").exists());
}

#[test]
fn the_files_are_written_into_a_new_folder_only() {
    let place = place_with_service();
    let persist = [&PERSIST[..], &["--out", "new folder"]].concat();
    let said = place.run(&persist);
    for file in INSTALLED {
        let path = place.path.join("new folder").join(file);
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{file}: {error}"));
        assert!(text.starts_with(&format!("# /{file}\n")), "{text}");
        assert!(said.contains(&format!("  /{file}\n")), "{said}");
    }
    for command in [
        "  cp -r 'new folder/etc' /\n  systemctl daemon-reload\n  udevadm control --reload\n",
        "  systemctl enable --now warmcore-host.service\n",
        r"  systemctl restart 'my\x2dserver.service'  #",
    ] {
        assert!(said.contains(command), "{said}");
    }
    let text = fs::read_to_string(place.path.join("new folder").join(INSTALLED[2])).expect("a drop-in");
    assert!(text.ends_with("\n[Service]\n# Without this line the cpus of other files would be added.\nCPUAffinity=\nCPUAffinity=2-3\n"), "{text}");

    // The plan of the unit fits the machine.
    place.plan(&fs::read_to_string(place.path.join("new folder").join(INSTALLED[0])).expect("a plan"));
    assert!(place.run(&Place::apply(&["--yes"])).contains("1 value changed"));

    let before = names(&place.path);
    assert!(refusal(&persist, &place.path).contains("`new folder` exists already"));
    let nowhere = refusal(&[&PERSIST[..], &["--out", "a/b"]].concat(), &place.path);
    assert!(nowhere.contains("cannot create the folder a/b: No such file"), "{nowhere}");
    assert_eq!(names(&place.path), before);
}

#[test]
fn a_process_without_a_service_is_said_and_alone_refused() {
    let place = Place::new();
    let group = "0::/docker/1f\n";
    fs::write(place.path.join("root/proc/4242/cgroup"), group).expect("a control group");
    let output = warmcore(&PERSIST, &place.path);
    let note = crate::on_one_line(&output.stderr);
    assert!(output.status.success() && !text(&output.stdout).contains("CPUAffinity"), "{note}");
    assert!(note.contains("note: process 4242 (server) loses its cpus 2-3 when it ends"), "{note}");
    assert!(note.contains("`/docker/1f`"), "{note}");

    let (head, lines) = PLAN.split_once("\n[[lines]]").expect("lines");
    let thread = lines.split_once("[[lines]]").expect("two lines").1;
    place.plan(&format!("{head}\n[[lines]]{thread}"));
    let error = refusal(&[&PERSIST[..], &["--out", "new"]].concat(), &place.path);
    assert!(error.contains("no line of the plan outlives a reboot: process 4242 (server)"), "{error}");
    assert!(!place.path.join("new").exists());
}

/// systemd refuses such paths, and a line break would begin a line of the sender's choice.
#[test]
fn a_program_that_systemd_cannot_start_is_refused() {
    let place = place_with_service();
    let folder = place.path.join("it's\nExecStartPre=");
    fs::create_dir(&folder).expect("a folder");
    let program = folder.join("warmcore");
    fs::hard_link(env!("CARGO_BIN_EXE_warmcore"), &program)
        .or_else(|_| fs::copy(env!("CARGO_BIN_EXE_warmcore"), &program).map(drop))
        .expect("a program");
    let output = Command::new(program).args(PERSIST).current_dir(&place.path).output().expect("it runs");
    let error = crate::on_one_line(&output.stderr);
    assert!(output.status.code() == Some(2) && output.stdout.is_empty(), "{error}");
    assert!(error.contains("which systemd refuses: install it elsewhere"), "{error}");
}
