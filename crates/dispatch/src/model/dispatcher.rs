//! Whole dispatchers, with workers that live as they do, from the first event to the close.

use super::shared;
use crate::handle::Handle;
use crate::worker::Worker;
use crate::{Overload, Rule, Turn};
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
    handle: Arc<Handle<u32, u32>>,
    workers: Vec<JoinHandle<()>>,
    /// What was handled, in order. Loom need not see it.
    seen: std::sync::Arc<Mutex<Vec<u32>>>,
}

impl Whole {
    fn start(rule: Rule, workers: usize) -> Self {
        let handle = Arc::new(Handle(shared(rule, workers, Overload::Block)));
        let seen = std::sync::Arc::new(Mutex::new(Vec::new()));
        let work = |me| {
            let (handle, seen) = (Arc::clone(&handle), std::sync::Arc::clone(&seen));
            thread::spawn(move || {
                let handler = |_: &Turn<'_, u32, u32>, event| seen.lock().unwrap().push(event);
                Worker::new(me, &*handle, &handler).run();
            })
        };
        let workers = (0..workers).map(work).collect();
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
    rule: Rule,
    workers: usize,
    put: impl Fn(&Handle<u32, u32>) + Sync + Send + 'static,
    expected: &'static [u32],
) {
    check(preemptions, move || {
        let whole = Whole::start(rule, workers);
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
    dispatcher(2, Rule::Sharded, 1, put, &[1, 2, 3]);
}

#[test]
fn a_dispatcher_with_a_window() {
    let put = |handle: &Handle<u32, u32>| {
        handle.dispatch(7, 1).unwrap();
        handle.dispatch_unordered(2).unwrap();
    };
    dispatcher(1, Rule::Window { window: 2 }, 2, put, &[1, 2]);
}

#[test]
fn a_dispatcher_with_an_event_that_runs_alone() {
    let put = |handle: &Handle<u32, u32>| {
        handle.dispatch_unordered(1).unwrap();
        handle.dispatch_sequential(2).unwrap();
        handle.dispatch_unordered(3).unwrap();
    };
    dispatcher(1, Rule::Elastic { queues: 1, window: 2 }, 2, put, &[1, 2, 3]);
}

#[test]
fn a_dispatcher_with_a_batch() {
    let put = |handle: &Handle<u32, u32>| {
        let mut batch = handle.batch(2);
        (1..=3).for_each(|event| batch.dispatch(7, event).unwrap());
        batch.flush().unwrap();
    };
    dispatcher(2, Rule::Sharded, 1, put, &[1, 2, 3]);
}

/// The last one is handled, in any case, and those before it are handled before it or superseded.
#[test]
fn a_dispatcher_of_the_freshest() {
    check(2, || {
        let whole = Whole::start(Rule::Sharded, 1);
        (1..=3).for_each(|event| whole.handle.dispatch_freshest(7, event).unwrap());
        let seen = whole.wait_idle();
        assert!(seen.is_sorted() && seen.last() == Some(&3), "{seen:?}");
        whole.handle.close();
        let handle = Arc::clone(&whole.handle);
        let handled = whole.join().len() as u64;
        assert_eq!(handled + handle.metrics().superseded, 3);
    });
}

/// Workers end when it is closed and empty: not before nothing more can come in.
#[test]
fn what_comes_while_it_is_closed_is_handled_or_comes_back() {
    check(2, || {
        let whole = Whole::start(Rule::Sharded, 1);
        let producer = thread::spawn({
            let handle = Arc::clone(&whole.handle);
            move || handle.dispatch(7, 1).is_ok()
        });
        whole.handle.close();
        let taken = producer.join().unwrap();
        assert_eq!(whole.join(), if taken { vec![1] } else { vec![] });
    });
}
