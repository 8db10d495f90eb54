//! What is told of events that were not taken in.

use crate::builder;
use std::error::Error;
use warmcore_dispatch::{DispatchError, Dispatcher, Overload, Turn};

/// An event that is nothing but itself: not even `Debug`.
struct Bare;

/// Dispatches as programs do.
fn dispatch(dispatcher: &Dispatcher<u64, Bare>) -> Result<(), Box<dyn Error + Send + Sync>> {
    dispatcher.dispatch(1, Bare)?;
    Ok(())
}

#[test]
fn an_event_need_not_be_debug() {
    let handle = |_: &Turn<'_, u64, Bare>, _: Bare| {};
    let dispatcher = builder().workers(1).overload(Overload::Reject).build(handle).unwrap();
    dispatcher.dispatch(1, Bare).unwrap();
    dispatch(&dispatcher).unwrap();
    dispatcher.close();
    assert_eq!(dispatch(&dispatcher).unwrap_err().to_string(), "the dispatcher is closed");
    assert_eq!(format!("{:?}", dispatcher.dispatch(1, Bare)), "Err(Closed(..))");
    let others = [DispatchError::Full(Bare), DispatchError::KeyFull(Bare)];
    assert_eq!(format!("{others:?}"), "[Full(..), KeyFull(..)]");
}

#[test]
fn a_name_is_one_that_threads_can_have() {
    let built = builder().name("a\0b").build(|_: &Turn<'_, u64, u64>, _: u64| {});
    let error = built.unwrap_err();
    assert_eq!(error.to_string(), "the name \"a\\0b\" holds a NUL character; expected none");
}
