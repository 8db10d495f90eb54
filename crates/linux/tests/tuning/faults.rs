//! Injects a failure into every single change: each write of a value, and each write, truncation, sync
//! and rename of the journal.

use crate::scene::Scene;
use warmcore_linux::fake::{FaultInjector, InjectedFault};

const NEVER: usize = usize::MAX;

/// Returns how many changes it takes to apply the plan, and to undo it.
pub(crate) fn changes() -> (usize, usize) {
    let scene = Scene::new();
    let applying = FaultInjector::once(scene.disk(), NEVER, InjectedFault::Refuse);
    scene.apply_through(&applying).unwrap();
    let undoing = FaultInjector::once(scene.disk(), NEVER, InjectedFault::Refuse);
    scene.undo_through(&undoing, false).unwrap().unwrap();
    (applying.changes(), undoing.changes())
}

#[test]
fn a_plan_with_one_failed_change_leaves_everything_as_it_was() {
    let (count, _) = changes();
    // The journal takes four changes; each of thirteen steps takes two entries and its value.
    assert!(count >= 4 + 3 * 13, "{count}");
    for fault in [InjectedFault::Refuse, InjectedFault::Tear] {
        for at in 0..count {
            let context = format!("change {at} of {count}: {fault:?}");
            let scene = Scene::new();
            let before = scene.snapshot();
            let refused = scene.apply_through(&FaultInjector::once(scene.disk(), at, fault));
            assert!(refused.is_err(), "{context}");
            assert_eq!(scene.snapshot(), before, "{context}: {refused:?}");
            scene.assert_restorable(&before, &context);
            assert_eq!(scene.apply_through(&scene.disk()), Ok(()), "{context}: it can be tried again");
        }
    }
}

#[test]
fn changes_that_cannot_be_rolled_back_are_undone_later() {
    let (count, _) = changes();
    for fault in [InjectedFault::Refuse, InjectedFault::Tear] {
        for at in 0..count {
            let context = format!("change {at} of {count} and all later ones: {fault:?}");
            let scene = Scene::new();
            let before = scene.snapshot();
            let refused =
                scene.apply_through(&FaultInjector::from_then_on(scene.disk(), at, fault)).unwrap_err();
            if scene.snapshot() != before {
                assert!(refused.contains("not everything is as it was"), "{context}: {refused}");
            }
            scene.assert_restorable(&before, &context);
        }
    }
}

#[test]
fn an_undo_with_a_failed_change_is_completed_the_next_time() {
    let (_, count) = changes();
    for inject in [FaultInjector::once, FaultInjector::from_then_on] {
        for fault in [InjectedFault::Refuse, InjectedFault::Tear] {
            for at in 0..count {
                let context = format!("change {at} of {count} of the undo: {fault:?}");
                let scene = Scene::new();
                let before = scene.snapshot();
                scene.apply_through(&scene.disk()).unwrap();
                assert_ne!(scene.snapshot(), before);
                // Whether the undo reports an error depends on the change; nothing may be lost in any case.
                let _ = scene.undo_through(&inject(scene.disk(), at, fault), false);
                scene.assert_restorable(&before, &context);
            }
        }
    }
}
