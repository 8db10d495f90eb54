//! This crate, under each rule: bounded, metrics on, an event at a time but where it says otherwise.

use crate::case::{Case, Event};
use crate::{BATCH, WORKERS};
use std::sync::Arc;
use warmcore_dispatch::{Dispatcher, LookAhead, Rule, Turn, prefetch};

pub(crate) fn elastic(case: &Arc<Case>) {
    run(case, Rule::default());
}

pub(crate) fn sharded(case: &Arc<Case>) {
    run(case, Rule::Sharded);
}

pub(crate) fn bound(case: &Arc<Case>) {
    run(case, Rule::Bound { queues: 4 });
}

pub(crate) fn window(case: &Arc<Case>) {
    run(case, Rule::Window { window: 256 });
}

fn run(case: &Case, rule: Rule) {
    let handle = |_: &Turn<'_, u32, Event>, event: Event| case.handle(event);
    let builder = Dispatcher::<u32, Event>::builder().workers(WORKERS).rule(rule);
    let done = builder.scope(handle, |dispatcher| {
        for &event in case.events() {
            dispatcher.dispatch(event.key, event).expect("it is open");
        }
    });
    done.expect("workers can be started");
}

/// The first with handlers that are shown what comes.
pub(crate) fn looking_ahead(case: &Arc<Case>) {
    let ask = |_: Option<&u32>, event: &Event| prefetch(case.handled(*event));
    let handle = |_: &Turn<'_, u32, Event>, event: Event| case.handle(event);
    let builder = Dispatcher::<u32, Event>::builder().workers(WORKERS);
    let done = builder.scope(LookAhead(ask, handle), |dispatcher| {
        for &event in case.events() {
            dispatcher.dispatch(event.key, event).expect("it is open");
        }
    });
    done.expect("workers can be started");
}

/// The first with events put in many at once.
pub(crate) fn in_batches(case: &Arc<Case>) {
    let handle = |_: &Turn<'_, u32, Event>, event: Event| case.handle(event);
    let done = Dispatcher::<u32, Event>::builder().workers(WORKERS).scope(handle, |dispatcher| {
        let mut batch = dispatcher.batch(BATCH);
        for &event in case.events() {
            batch.dispatch(event.key, event).expect("it is open");
        }
        batch.flush().expect("it is open");
    });
    done.expect("workers can be started");
}

/// The first with one event in `every` sequential.
pub(crate) fn with_sequential(case: &Arc<Case>, every: usize) {
    let handle = |_: &Turn<'_, u32, Event>, event: Event| case.handle(event);
    let done = Dispatcher::<u32, Event>::builder().workers(WORKERS).scope(handle, |dispatcher| {
        for (index, &event) in case.events().iter().enumerate() {
            if index.is_multiple_of(every) {
                dispatcher.dispatch_sequential(event).expect("it is open");
            } else {
                dispatcher.dispatch(event.key, event).expect("it is open");
            }
        }
    });
    done.expect("workers can be started");
}
