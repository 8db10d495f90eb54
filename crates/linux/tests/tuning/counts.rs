//! How often files are read for plans with many lines: so many times for each line, whatever the number of lines.

use crate::scene::{Scene, plan};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use warmcore_linux::fake::{FaultInjector, InjectedFault, Tree};
use warmcore_linux::tuning::{AdmissionOptions, Plan, Setting, admit, apply, changes, steps, undo};

const DEVICE: &str = "0000:00:05.0";

/// A machine with a device of so many interrupts, and a plan with a line for each.
fn many(count: u32) -> (Scene, Plan) {
    let (scene, mut plan, mut tree) = (Scene::new(), plan(), Tree::default());
    let line = plan.lines[0].clone();
    plan.lines.clear();
    for queue in 0..count {
        let (number, action) = (1000 + queue, format!("nvme0q{queue}"));
        tree.put(format!("sys/bus/pci/devices/{DEVICE}/msi_irqs/{number}"), "msix");
        tree.put(format!("sys/kernel/irq/{number}/actions"), &action);
        tree.put(format!("proc/irq/{number}/smp_affinity_list"), "0-3");
        let (device, cpus) = (DEVICE.to_owned(), "2".parse().unwrap());
        let mut line = line.clone();
        line.set = Setting::Interrupt { device, action: Some(action), queue: None, cpus };
        plan.lines.push(line);
    }
    tree.write_to(&scene.root).unwrap();
    plan.check().unwrap();
    (scene, plan)
}

/// The most reads of any one file below `directory`.
fn most(reads: &BTreeMap<String, usize>, directory: &str) -> usize {
    let below = reads.iter().filter(|(file, _)| file.starts_with(directory));
    below.map(|(_, &count)| count).max().unwrap_or(0)
}

#[test]
fn no_interrupt_is_read_for_the_lines_of_others() {
    let counting = |scene: &Scene| FaultInjector::once(scene.disk(), usize::MAX, InjectedFault::Refuse);
    let (scene, plan) = many(64);
    let before = scene.snapshot();
    let admission = counting(&scene);
    admit(&plan, &admission, &AdmissionOptions::default()).unwrap();
    let reads = admission.reads();
    assert_eq!((reads["proc"], reads["proc/4242/comm"]), (1, 1), "rivals are looked for once");
    assert!(most(&reads, "sys/kernel/irq/") <= 2, "{reads:?}");

    let proposing = counting(&scene);
    let steps = changes(steps(&plan, &proposing).unwrap());
    assert!(most(&proposing.reads(), "sys/kernel/irq/") <= 3, "{:?}", proposing.reads());

    let applying = counting(&scene);
    let journal = scene.journals.begin(&applying, steps, false).unwrap();
    apply(journal, &AtomicBool::new(false)).unwrap();
    assert!(most(&applying.reads(), "sys/kernel/irq/") <= 4, "{:?}", applying.reads());

    let undoing = counting(&scene);
    let undone = undo(scene.journals.open(&undoing, false).unwrap().unwrap(), false).unwrap();
    assert_eq!((undone.restored(), undone.is_complete()), (64, true));
    assert!(most(&undoing.reads(), "sys/kernel/irq/") <= 2, "{:?}", undoing.reads());
    assert_eq!(scene.snapshot(), before);
}
