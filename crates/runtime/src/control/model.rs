//! Loom tries every interleaving of a worker and a thread that pauses it twice.

use super::{Control, Order};
use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, Ordering};
use loom::thread;

#[test]
fn a_worker_counted_as_paused_does_not_work() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(|| {
        let control = Arc::new(Control::new());
        let relied_on = Arc::new(AtomicBool::new(false));
        let worker = thread::spawn({
            let (control, relied_on) = (Arc::clone(&control), Arc::clone(&relied_on));
            move || {
                while control.order() != Order::Leave {
                    control.pause(thread::yield_now);
                    assert!(!relied_on.load(Ordering::SeqCst), "it was counted as paused");
                    thread::yield_now();
                }
            }
        });
        for order in [Order::Run, Order::Leave] {
            control.give(Order::Pause);
            while control.paused() == 0 {
                thread::yield_now();
            }
            relied_on.store(true, Ordering::SeqCst);
            relied_on.store(false, Ordering::SeqCst);
            control.give(order);
        }
        worker.join().unwrap();
    });
}
