//! Every single change is refused once: each write of a value, and each write, cut, sync and rename
//! of the journal.

use crate::scene::Scene;
use warmcore_linux::fake::{FaultInjector, InjectedFault};

const NEVER: usize = usize::MAX;

/// How many changes it takes to apply the plan, and to undo it.
pub(crate) fn changes() -> (usize, usize) {
    let scene = Scene::new();
    let whole = FaultInjector::once(scene.disk(), NEVER, InjectedFault::Refuse);
    scene.apply_through(&whole).unwrap();
    let back = FaultInjector::once(scene.disk(), NEVER, InjectedFault::Refuse);
    scene.undo_through(&back, false).unwrap().unwrap();
    (whole.changes(), back.changes())
}

#[test]
fn a_plan_that_meets_one_refusal_leaves_everything_as_it_was() {
    let (count, _) = changes();
    // The journal takes four; a step at least its notes and its value.
    assert!(count >= 4 + 3 * 10, "{count}");
    for fault in [InjectedFault::Refuse, InjectedFault::Tear] {
        for at in 0..count {
            let told = format!("change {at} of {count}: {fault:?}");
            let scene = Scene::new();
            let before = scene.snapshot();
            let refused = scene.apply_through(&FaultInjector::once(scene.disk(), at, fault));
            assert!(refused.is_err(), "{told}");
            assert_eq!(scene.snapshot(), before, "{told}: {refused:?}");
            scene.assert_restorable(&before, &told);
            assert_eq!(scene.apply_through(&scene.disk()), Ok(()), "{told}: it can be tried again");
        }
    }
}

#[test]
fn what_cannot_even_be_rolled_back_is_undone_later() {
    let (count, _) = changes();
    for fault in [InjectedFault::Refuse, InjectedFault::Tear] {
        for at in 0..count {
            let told = format!("change {at} of {count} and all later ones: {fault:?}");
            let scene = Scene::new();
            let before = scene.snapshot();
            let refused =
                scene.apply_through(&FaultInjector::from_then_on(scene.disk(), at, fault)).unwrap_err();
            if scene.snapshot() != before {
                assert!(refused.contains("not everything is as it was"), "{told}: {refused}");
            }
            scene.assert_restorable(&before, &told);
        }
    }
}

#[test]
fn an_undo_that_meets_a_refusal_goes_on_the_next_time() {
    let (_, count) = changes();
    for jam in [FaultInjector::once, FaultInjector::from_then_on] {
        for fault in [InjectedFault::Refuse, InjectedFault::Tear] {
            for at in 0..count {
                let told = format!("change {at} of {count} of the undo: {fault:?}");
                let scene = Scene::new();
                let before = scene.snapshot();
                scene.apply_through(&scene.disk()).unwrap();
                assert_ne!(scene.snapshot(), before);
                // Whether it is told depends on the change; that nothing is lost does not.
                let _ = scene.undo_through(&jam(scene.disk(), at, fault), false);
                scene.assert_restorable(&before, &told);
            }
        }
    }
}
