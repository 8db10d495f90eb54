//! This crate, under each binding: bounded, counts on, one event at a time but where it says otherwise.

use crate::case::{Case, Event};
use crate::{BATCH, WORKERS};
use std::sync::Arc;
use warmcore_dispatch::{Binding, Dispatcher, Turn};

pub(crate) fn dynamic(case: &Arc<Case>) {
    run(case, Binding::Dynamic);
}

pub(crate) fn fixed(case: &Arc<Case>) {
    run(case, Binding::Static);
}

fn run(case: &Case, binding: Binding) {
    let handle = |_: &Turn<'_, u32, Event>, event: Event| case.handle(event);
    let builder = Dispatcher::<u32, Event>::builder().workers(WORKERS).binding(binding);
    let done = builder.scope(handle, |dispatcher| {
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
