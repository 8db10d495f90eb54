//! What a driver does wrong is a panic that says so.

use warmcore_policy::pdq::{Design, Label, Pdq};
use warmcore_units::ThreadId;

fn two_threads() -> Pdq<()> {
    Pdq::new(2, Design::StaticBinding)
}

#[test]
#[should_panic = "thread1 runs no event to finish"]
fn an_idle_thread_has_nothing_to_finish() {
    two_threads().finish(ThreadId(1));
}

#[test]
#[should_panic = "thread0 still runs an event"]
fn a_busy_thread_does_not_poll() {
    let mut pdq = two_threads();
    pdq.arrive(Label::Partition(0), ());
    assert!(pdq.dispatch(ThreadId(0)).is_some());
    pdq.dispatch(ThreadId(0));
}

#[test]
#[should_panic = "there is no thread2 among 2"]
fn an_unknown_thread_is_refused() {
    two_threads().dispatch(ThreadId(2));
}

#[test]
#[should_panic = "needs a thread"]
fn no_threads_are_refused() {
    let _ = Pdq::<()>::new(0, Design::StaticBinding);
}

#[test]
#[should_panic = "needs a queue"]
fn no_queues_are_refused() {
    let _ = Pdq::<()>::new(1, Design::DynamicBinding { queues: 0 });
}

#[test]
#[should_panic = "a window must have room for an entry"]
fn an_empty_window_is_refused() {
    let _ = Pdq::<()>::new(1, Design::DynamicDemultiplexing { window: Some(0), id_bits: None });
}
