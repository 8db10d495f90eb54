//! Whole dispatchers, with workers that live as they do, from the first event to the close.

use super::{shared, shared_with_a_limit};
use crate::handle::Handle;
use crate::shared::Shared;
use crate::worker::Worker;
use crate::{Binding, Handler, Turn};
use core::time::Duration;
use loom::sync::Arc;
use loom::thread::{self, JoinHandle};
use std::sync::Mutex;

/// Time for one model: as many interleavings are tried as there is time for.
const LONGEST: Duration = Duration::from_secs(12);

fn check(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    (builder.preemption_bound, builder.max_branches) = (Some(preemptions), 20_000);
    (builder.max_duration, builder.checkpoint_interval) = (Some(LONGEST), 500);
    builder.check(model);
}

/// A dispatcher and its workers.
struct Whole {
    handle: Handle<u32, u32>,
    workers: Vec<JoinHandle<()>>,
    seen: Seen,
}

/// What was handled, in order. Loom need not see it.
type Seen = std::sync::Arc<Mutex<Vec<u32>>>;

fn one_by_one(seen: Seen) -> impl Handler<u32, u32> {
    move |_: &Turn<'_, u32, u32>, event| seen.lock().unwrap().push(event)
}

impl Whole {
    fn start<H: Handler<u32, u32> + 'static>(shared: Shared<u32, u32>, handler: fn(Seen) -> H) -> Self {
        let handle = Handle(Arc::new(shared));
        let seen = Seen::default();
        let work = |me| {
            let (handle, seen) = (handle.clone(), seen.clone());
            thread::spawn(move || {
                handle.0.work_here(me);
                Worker::new(me, &handle, &handler(seen)).run();
            })
        };
        let workers = (0..handle.0.attended.len()).map(work).collect();
        Self { handle, workers, seen }
    }

    /// Waits until all is quiet; what was handled so far.
    fn wait_idle(&self) -> Vec<u32> {
        let shared = &self.handle.0;
        shared.quiet.wait(|| shared.is_quiet());
        self.seen.lock().unwrap().clone()
    }

    /// Waits for the workers of a dispatcher that is closed; what was handled.
    fn join(self) -> Vec<u32> {
        self.workers.into_iter().for_each(|worker| worker.join().unwrap());
        self.seen.lock().unwrap().clone()
    }
}

/// Dispatches what `put` does, waits until all is quiet, and closes; `expected` is handled, in any order.
fn dispatcher(
    preemptions: usize,
    binding: Binding,
    workers: usize,
    put: impl Fn(&Handle<u32, u32>) + Sync + Send + 'static,
    expected: &'static [u32],
) {
    check(preemptions, move || {
        let whole = Whole::start(shared(binding, workers), one_by_one);
        put(&whole.handle);
        let mut seen = whole.wait_idle();
        seen.sort_unstable();
        assert_eq!(seen, expected, "it is quiet, and all have run");
        whole.handle.close();
        assert_eq!(whole.join().len(), expected.len());
    });
}

#[test]
fn a_dispatcher_with_one_worker_and_little_room() {
    let put = |handle: &Handle<u32, u32>| (1..=3).for_each(|event| handle.dispatch(7, event).unwrap());
    dispatcher(2, Binding::Static, 1, put, &[1, 2, 3]);
}

#[test]
fn a_dispatcher_with_two_workers() {
    let put = |handle: &Handle<u32, u32>| {
        handle.dispatch(7, 1).unwrap();
        handle.dispatch_unordered(2).unwrap();
    };
    dispatcher(1, Binding::Dynamic, 2, put, &[1, 2]);
}

/// Keys of one strand or of two, as they hash.
#[test]
fn a_dispatcher_with_an_event_of_several_keys() {
    let put = |handle: &Handle<u32, u32>| {
        handle.dispatch(1, 1).unwrap();
        handle.dispatch_keys([1, 2, 3], 2).unwrap();
        handle.dispatch(2, 3).unwrap();
    };
    dispatcher(1, Binding::Dynamic, 2, put, &[1, 2, 3]);
}

#[test]
fn a_dispatcher_with_an_event_that_runs_alone() {
    let put = |handle: &Handle<u32, u32>| {
        handle.dispatch_unordered(1).unwrap();
        handle.dispatch_sequential(2).unwrap();
        handle.dispatch_unordered(3).unwrap();
    };
    dispatcher(1, Binding::Dynamic, 2, put, &[1, 2, 3]);
}

#[test]
fn a_dispatcher_with_a_batch() {
    let put = |handle: &Handle<u32, u32>| {
        let mut batch = handle.batch(2);
        (1..=3).for_each(|event| batch.dispatch(7, event).unwrap());
        batch.flush().unwrap();
    };
    dispatcher(2, Binding::Static, 1, put, &[1, 2, 3]);
}

/// The last one is handled, in any case, and those before it are handled before it or superseded.
#[test]
fn a_dispatcher_of_the_freshest() {
    check(2, || {
        let whole = Whole::start(shared(Binding::Static, 1), one_by_one);
        (1..=3).for_each(|event| whole.handle.dispatch_freshest(7, event).unwrap());
        let seen = whole.wait_idle();
        assert!(seen.is_sorted() && seen.last() == Some(&3), "{seen:?}");
        whole.handle.close();
        let handle = whole.handle.clone();
        let handled = whole.join().len() as u64;
        assert_eq!(handled + handle.stats().superseded, 3);
    });
}

/// Workers end when it is closed and empty: not before nothing more can come in.
#[test]
fn what_comes_while_it_is_closed_is_handled_or_comes_back() {
    check(2, || {
        let whole = Whole::start(shared(Binding::Static, 1), one_by_one);
        let producer = thread::spawn({
            let handle = whole.handle.clone();
            move || handle.dispatch(7, 1).is_ok()
        });
        whole.handle.close();
        let taken = producer.join().unwrap();
        assert_eq!(whole.join(), if taken { vec![1] } else { vec![] });
    });
}

/// A limit of one event, and room for two: who waits does so for the key.
#[test]
fn who_waits_for_a_key_to_have_fewer_events_is_told() {
    check(2, || {
        let whole = Whole::start(shared_with_a_limit(), one_by_one);
        (1..=3).for_each(|event| whole.handle.dispatch(7, event).unwrap());
        whole.handle.close();
        assert_eq!(whole.join(), [1, 2, 3]);
    });
}

#[test]
fn an_event_that_runs_alone_is_after_all_before_it_and_before_all_after_it() {
    check(1, || {
        let whole = Whole::start(shared(Binding::Dynamic, 2), one_by_one);
        whole.handle.dispatch(1, 1).unwrap();
        whole.handle.dispatch_sequential(2).unwrap();
        whole.handle.dispatch(2, 3).unwrap();
        whole.handle.close();
        assert_eq!(whole.join(), [1, 2, 3]);
    });
}

/// A handler dispatches what there is no room for, and it is seen by whoever waits until all is quiet.
#[test]
fn what_follows_is_handled_before_all_is_quiet() {
    fn twice(seen: Seen) -> impl Handler<u32, u32> {
        move |turn: &Turn<'_, u32, u32>, event| {
            if event < 3 {
                turn.dispatch(9, event + 2).unwrap();
            }
            seen.lock().unwrap().push(event);
        }
    }
    check(2, || {
        let whole = Whole::start(shared(Binding::Dynamic, 1), twice);
        (1..=2).for_each(|event| whole.handle.dispatch(7, event).unwrap());
        let mut seen = whole.wait_idle();
        seen.sort_unstable();
        assert_eq!(seen, [1, 2, 3, 4]);
        whole.handle.close();
        whole.join();
    });
}
