//! Interfaces that are renamed or taken away while a plan is applied.

use crate::scene::{Scene, Snapshot};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use warmcore_linux::tuning::{RenamedInterface, UndoOutcome};

const NUMBER: &str = "sys/class/net/eth0/ifindex";

/// The settings of the plan that are of the interface.
const SETTINGS: usize = 7;

/// A machine with an applied plan, and its files before.
fn applied() -> (Scene, Snapshot) {
    let scene = Scene::new();
    fs::write(scene.root.join(NUMBER), "2\n").unwrap();
    let before = scene.snapshot();
    scene.apply_through(&scene.disk()).unwrap();
    (scene, before)
}

/// Renames the interface in every folder that has it.
fn rename(root: &Path, from: &str, to: &str) {
    for place in ["sys/class/net", "sys/bus/pci/devices/0000:00:03.0/virtio0/net"] {
        fs::rename(root.join(place).join(from), root.join(place).join(to)).unwrap();
    }
    let driver = root.join("warmcore/ethtool");
    fs::rename(driver.join(format!("{from}.toml")), driver.join(format!("{to}.toml"))).unwrap();
}

#[test]
fn the_values_of_a_renamed_interface_are_restored_under_its_new_name() {
    let (scene, before) = applied();
    rename(&scene.root, "eth0", "net1");
    // Another interface takes the name.
    fs::create_dir_all(scene.root.join("sys/class/net/eth0/queues")).unwrap();
    fs::write(scene.root.join(NUMBER), "7\n").unwrap();
    let undone = scene.undo_through(&scene.disk(), false).unwrap().unwrap();
    assert!(undone.is_complete() && scene.journals.active().unwrap().is_none(), "{undone:?}");
    assert_eq!(
        undone.renamed.get("eth0"),
        Some(&RenamedInterface { name: "net1".to_owned(), restored: SETTINGS })
    );
    assert!(undone.outcomes.iter().all(|(_, outcome)| *outcome == UndoOutcome::Restored), "{undone:?}");
    fs::remove_dir_all(scene.root.join("sys/class/net/eth0")).unwrap();
    rename(&scene.root, "net1", "eth0");
    assert_eq!(scene.snapshot(), before);
}

#[test]
fn what_others_changed_does_not_count_as_restored_under_the_new_name() {
    let (scene, _) = applied();
    rename(&scene.root, "eth0", "net1");
    scene.write("sys/class/net/net1/queues/rx-0/rps_flow_cnt", "77\n");
    let undone = scene.undo_through(&scene.disk(), false).unwrap().unwrap();
    assert_eq!(undone.renamed["eth0"].restored, SETTINGS - 1, "{undone:?}");
    let again = scene.undo_through(&scene.disk(), false).unwrap().unwrap();
    assert_eq!(again.renamed["eth0"].restored, 0, "{again:?}");
}

#[test]
fn an_interface_that_is_away_keeps_the_journal_open_until_it_is_back_or_forced() {
    for is_back in [true, false] {
        let (scene, before) = applied();
        let (net, elsewhere) = (scene.root.join("sys/class/net/eth0"), scene.directory().join("eth0"));
        fs::rename(&net, &elsewhere).unwrap();
        for _ in 0..2 {
            let undone = scene.undo_through(&scene.disk(), false).unwrap().unwrap();
            let away = undone.outcomes.iter().filter(|(_, outcome)| *outcome == UndoOutcome::Away);
            assert_eq!((away.count(), undone.is_complete()), (SETTINGS, false), "{undone:?}");
            let said = "its interface is no longer there: removed, or moved to another network namespace";
            assert!(undone.to_string().contains(said), "{undone}");
        }
        if is_back {
            fs::rename(&elsewhere, &net).unwrap();
            scene.assert_restorable(&before, "the interface is back");
        } else {
            let forced = scene.undo_through(&scene.disk(), true).unwrap().unwrap();
            assert!(forced.is_complete() && scene.journals.active().unwrap().is_none(), "{forced:?}");
        }
    }
}

#[test]
fn a_new_interface_of_the_same_name_is_left_alone() {
    let (scene, _) = applied();
    fs::write(scene.root.join(NUMBER), "5\n").unwrap();
    scene.write("sys/class/net/eth0/queues/rx-0/rps_flow_cnt", "77\n");
    let of_interface = || {
        let mut files = scene.snapshot();
        files.retain(|path, _| path.to_string_lossy().contains("/eth0"));
        files
    };
    let theirs = of_interface();
    let undone = scene.undo_through(&scene.disk(), false).unwrap().unwrap();
    let away = undone.outcomes.iter().filter(|(_, outcome)| outcome.is_away());
    assert_eq!((away.count(), undone.is_complete()), (SETTINGS, false), "{undone:?}");
    let said =
        "eth0 (number 2) is no longer there, and this eth0 (number 5) is another: that one was left alone";
    assert!(undone.to_string().contains(said), "{undone}");
    let forced = scene.undo_through(&scene.disk(), true).unwrap().unwrap();
    assert!(forced.is_complete() && scene.journals.active().unwrap().is_none(), "{forced:?}");
    assert_eq!(of_interface(), theirs, "also where it has the values of the plan");
}

#[test]
fn a_driver_that_was_loaded_anew_gives_its_interface_another_number() {
    for (device_now, is_same) in [("0000:00:03.0", true), ("0000:00:04.0", false)] {
        let scene = Scene::new();
        fs::write(scene.root.join(NUMBER), "2\n").unwrap();
        let net = |device: &str| scene.root.join(format!("sys/devices/pci0000:00/{device}/net/eth0"));
        for device in ["0000:00:03.0", "0000:00:04.0"] {
            fs::create_dir_all(net(device).parent().unwrap()).unwrap();
        }
        let link = scene.root.join("sys/class/net/eth0");
        let plug = |device: &str| {
            symlink(format!("../../devices/pci0000:00/{device}/net/eth0"), &link).unwrap();
        };
        fs::rename(&link, net("0000:00:03.0")).unwrap();
        plug("0000:00:03.0");
        scene.apply_through(&scene.disk()).unwrap();

        fs::remove_file(&link).unwrap();
        fs::write(net("0000:00:03.0").join("ifindex"), "5\n").unwrap();
        if !is_same {
            fs::rename(net("0000:00:03.0"), net(device_now)).unwrap();
        }
        plug(device_now);
        let undone = scene.undo_through(&scene.disk(), false).unwrap().unwrap();
        assert_eq!(undone.is_complete(), is_same, "{device_now}: {undone:?}");
    }
}

#[test]
fn a_journal_of_a_version_without_numbers_is_undone() {
    let (scene, before) = applied();
    let path = scene.journals.path().join("active.journal");
    let text = fs::read_to_string(&path).unwrap();
    let earlier = text.replace("interface = { ifindex = 2 }, ", "");
    assert_ne!(earlier, text);
    fs::write(&path, earlier).unwrap();
    scene.assert_restorable(&before, "a journal without numbers");
}
