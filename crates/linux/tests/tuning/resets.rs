//! What a driver resets when its channels are changed, and what others change after that.

use crate::channels::{plan_with_third_queue, scene, setting};
use crate::scene::Scene;
use std::io;
use std::path::{Path, PathBuf};
use warmcore_linux::ethtool::DriverSetting;
use warmcore_linux::tuning::{Disk, Plan, System, UndoOutcome, UndoReport};
use warmcore_topology::CpuSet;

const RPS: &str = "sys/class/net/eth0/queues/rx-1/rps_cpus";
const XPS: &str = "sys/class/net/eth0/queues/tx-0/xps_cpus";

/// A copied machine whose driver makes its queues anew with its channels.
#[derive(Debug)]
struct Driver(Disk);

impl System for Driver {
    fn root(&self) -> &Path {
        self.0.root()
    }
    fn read(&self, file: &str) -> io::Result<String> {
        self.0.read(file)
    }
    fn entries(&self, directory: &str) -> io::Result<Vec<String>> {
        self.0.entries(directory)
    }
    fn link(&self, file: &str) -> io::Result<PathBuf> {
        self.0.link(file)
    }
    fn write(&self, file: &str, text: &str) -> io::Result<()> {
        self.0.write(file, text)
    }
    fn mask(&self, process: u32, thread: u32) -> io::Result<CpuSet> {
        self.0.mask(process, thread)
    }
    fn set_mask(&self, process: u32, thread: u32, cpus: &CpuSet) -> io::Result<()> {
        self.0.set_mask(process, thread, cpus)
    }
    fn driver_setting(&self, interface: &str, setting: DriverSetting) -> io::Result<String> {
        self.0.driver_setting(interface, setting)
    }
    fn set_driver_setting(&self, interface: &str, setting: DriverSetting, text: &str) -> io::Result<()> {
        self.0.set_driver_setting(interface, setting, text)?;
        if matches!(setting, DriverSetting::Channels(_)) {
            self.0.write(RPS, "00000000\n")?;
            self.0.write(XPS, "0,0000000f\n")?;
        }
        Ok(())
    }
    fn create(&self, path: &Path, text: &str) -> io::Result<()> {
        self.0.create(path, text)
    }
    fn append(&self, path: &Path, text: &str) -> io::Result<()> {
        self.0.append(path, text)
    }
    fn cut(&self, path: &Path, bytes: u64) -> io::Result<()> {
        self.0.cut(path, bytes)
    }
    fn sync(&self, path: &Path) -> io::Result<()> {
        self.0.sync(path)
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.0.rename(from, to)
    }
}

/// The plan with its line for channels only.
fn only_channels() -> Plan {
    let mut plan = plan_with_third_queue();
    plan.lines.truncate(1);
    plan
}

fn undone(scene: &Scene, force: bool) -> UndoReport {
    scene.undo_through(&scene.disk(), force).unwrap().expect("an applied plan")
}

/// The settings that somebody else has changed.
fn foreign(undone: &UndoReport) -> Vec<String> {
    let is_foreign = |outcome: &UndoOutcome| matches!(outcome, UndoOutcome::ChangedByOthers(_));
    undone.outcomes.iter().filter(|(_, outcome)| is_foreign(outcome)).map(|(set, _)| set.clone()).collect()
}

#[test]
fn what_the_driver_resets_with_its_channels_is_restored() {
    for plan in [only_channels(), plan_with_third_queue()] {
        let scene = scene();
        scene.write(RPS, "00000008\n");
        let (before, driver) = (scene.snapshot(), Driver(scene.disk()));
        scene.apply_plan_through(&plan, &driver).unwrap();
        assert_eq!(scene.read(RPS), "00000000\n");
        let undone = scene.undo_through(&driver, false).unwrap().unwrap();
        assert!(undone.is_complete(), "{undone}");
        assert_eq!(scene.snapshot(), before);
    }
}

#[test]
fn what_others_set_after_the_channels_were_changed_is_left_alone() {
    let scene = scene();
    let before = scene.snapshot();
    scene.apply_plan_through(&only_channels(), &scene.disk()).unwrap();
    scene.write(RPS, "00000004\n");
    let first = undone(&scene, false);
    assert_eq!(foreign(&first), ["RPS cpus of eth0 rx-1"]);
    assert!(first.to_string().contains("somebody else has set it to 2 since"), "{first}");
    // The first undo has closed this one, and the channels.
    scene.write(XPS, "0,00000002\n");
    let second = undone(&scene, false);
    assert_eq!(foreign(&second), ["RPS cpus of eth0 rx-1"]);
    assert_eq!((scene.read(RPS).as_str(), scene.read(XPS).as_str()), ("00000004\n", "0,00000002\n"));
    assert!(undone(&scene, true).is_complete());
    scene.write(XPS, "0,00000000\n");
    assert_eq!(scene.snapshot(), before);
}

#[test]
fn what_others_set_is_reported_though_giving_the_channels_back_resets_it() {
    let scene = scene();
    scene.write(RPS, "00000008\n");
    let driver = Driver(scene.disk());
    scene.apply_plan_through(&only_channels(), &driver).unwrap();
    scene.write(RPS, "00000004\n");
    let undone = scene.undo_through(&driver, false).unwrap().unwrap();
    assert_eq!(foreign(&undone), ["RPS cpus of eth0 rx-1"]);
    assert!(undone.to_string().contains("somebody else has set it to 2 since"), "{undone}");
}

/// The journal has to name some value of a table that it is to restore. That one is nobody's.
#[test]
fn a_value_that_only_stands_for_one_in_the_journal_is_never_compared_with() {
    let scene = scene();
    scene.apply_plan_through(&only_channels(), &scene.disk()).unwrap();
    let table = setting("set = { indirection = { interface = 'eth0', queues = 1 } }");
    let document = scene.read("warmcore/ethtool/eth0.toml");
    let changed: Vec<String> = document
        .lines()
        .map(|line| match line.starts_with("indirection") {
            true => "indirection = [0, 0, 0, 0, 0, 0, 0, 0]".to_owned(),
            false => line.to_owned(),
        })
        .collect();
    scene.write("warmcore/ethtool/eth0.toml", &(changed.join("\n") + "\n"));
    assert_eq!(foreign(&undone(&scene, false)), [table.to_string()]);
    assert!(scene.read("warmcore/ethtool/eth0.toml").contains("indirection = [0, 0, 0, 0, 0, 0, 0, 0]"));
}
