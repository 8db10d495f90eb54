//! Handlers that wait for results.

use super::check;
use crate::WaitError;
use crate::slot;
use crate::sync::Arc;
use crate::waits::{Holds, Place, Waits};
use loom::thread;

/// Both workers of a dispatcher wait one after the other, never both at once: neither is told of a circle, nor misses its
/// result.
#[test]
fn a_wait_that_is_over_is_no_part_of_a_circle() {
    check(3, || {
        let waits = Arc::new(Waits::new(2));
        let place =
            |hash| Some(Place { waits: waits.clone(), needs: Holds::Key(hash), workers: Box::default() });
        let ((first, first_slot), (second, second_slot)) = (slot::new::<u32>(), slot::new::<u32>());
        first.note(place(11));
        second.note(place(12));
        let other = thread::spawn({
            let waits = waits.clone();
            move || {
                Waits::work_here(&waits, 0);
                waits.doing(0).handles(1, &crate::sync::Clock::new());
                assert_eq!(first_slot.wait(None), Some(Ok(1)));
                second.send(2);
            }
        });
        Waits::work_here(&waits, 1);
        waits.doing(1).handles(2, &crate::sync::Clock::new());
        first.send(1);
        assert_eq!(second_slot.wait(None), Some(Ok(2)));
        other.join().unwrap();
    });
}

/// Both wait at once for what nobody can handle: one of them is told, and drops what the other waits for.
#[test]
fn the_last_of_two_that_wait_is_told() {
    check(3, || {
        let waits = Arc::new(Waits::new(2));
        let place =
            |hash| Some(Place { waits: waits.clone(), needs: Holds::Key(hash), workers: Box::default() });
        let ((first, first_slot), (second, second_slot)) = (slot::new::<u32>(), slot::new::<u32>());
        first.note(place(11));
        second.note(place(12));
        let other = thread::spawn({
            let waits = waits.clone();
            move || {
                Waits::work_here(&waits, 0);
                let told = first_slot.wait(None);
                drop(second);
                told
            }
        });
        Waits::work_here(&waits, 1);
        let told = second_slot.wait(None);
        drop(first);
        let told = [told, other.join().unwrap()];
        let circles = told.iter().filter(|told| **told == Some(Err(WaitError::WaitsForItself))).count();
        let ends = told.iter().filter(|told| **told == Some(Err(WaitError::NotHandled))).count();
        assert!(circles >= 1 && circles + ends == 2, "{told:?}");
    });
}
