//! Handlers that do not return.

use super::numbered::{Numbered, Packet};
use super::support::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;
use warmcore_runtime::run_handle::OpenStreamError;
use warmcore_runtime::{Call, Context, Memory, OnStuck, Options, RunError, RunHandle, Shutdown, Stuck, run};
use warmcore_stack::Delivery;
use warmcore_units::StreamId;

/// The packet whose handler does not return.
const BLOCKING: Packet = Packet { stream: 1, number: 5 };
/// Streams that are open.
const STREAMS: u32 = 4;

/// A run whose handler blocks on one packet until the run says that it is stuck. Returns the run's error, and what was
/// told while the handler had not returned.
fn blocked(shutdown: Shutdown, watch: impl FnOnce(&RunHandle<'_>)) -> (RunError, Vec<String>) {
    let (entered, released) = (AtomicBool::new(false), Arc::new(AtomicBool::new(false)));
    let reported = Arc::new(Mutex::new(Vec::new()));
    let handler = |delivery: &Delivery<'_>, _: &mut Context<'_>| {
        if Packet::parse(delivery.payload) == Some(BLOCKING) {
            entered.store(true, Ordering::SeqCst);
            while !released.load(Ordering::SeqCst) {
                thread::sleep(Duration::from_millis(1));
            }
        }
    };
    let on_stuck = {
        let (released, reported) = (Arc::clone(&released), Arc::clone(&reported));
        OnStuck::new(move |error| {
            reported.lock().unwrap().push(error.to_string());
            released.store(true, Ordering::SeqCst);
        })
    };
    let options = Options {
        shutdown,
        drain_limit: Duration::from_millis(50),
        on_stuck,
        ..options(Default::default(), STREAMS + 1)
    };
    let ended = run(&options, &mut Numbered::new(STREAMS, 50), &flows(STREAMS), &handler, |run| {
        wait_until(run, || entered.load(Ordering::SeqCst));
        watch(run);
    });
    let reported = reported.lock().unwrap().clone();
    (ended.expect_err("a handler was stuck"), reported)
}

fn assert_names_the_call(error: &RunError) {
    let RunError::Stuck { stuck: Stuck { worker, call: Some(call), .. }, .. } = error else {
        panic!("{error}")
    };
    let Call { stream, since, lasted } = *call;
    assert!(*worker < cpus().len() && stream == StreamId(BLOCKING.stream), "{error}");
    assert!(since.0 > 0.0 && lasted.0 > 0.0, "{error}");
    assert!(error.to_string().contains("for a packet of stream 1, which began"), "{error}");
}

#[test]
fn a_handler_that_does_not_return_is_told_at_the_end_with_worker_and_stream() {
    let _lock = lock_processors();
    for shutdown in [Shutdown::Drain, Shutdown::Discard] {
        let (error, reported) = blocked(shutdown, |_| ());
        assert_names_the_call(&error);
        assert_eq!(reported, [error.to_string()]);
    }
}

/// Opening a stream wants all workers to pause. It does not wait for ever for one that does not.
#[test]
fn a_handler_that_does_not_return_ends_the_run_when_it_is_to_pause() {
    let _lock = lock_processors();
    let (error, reported) = blocked(Shutdown::Drain, |run| {
        assert_eq!(run.open(&Memory::flow(StreamId(STREAMS))), Err(OpenStreamError::Ended));
        assert!(run.has_ended());
        assert!(run.failure().is_some_and(|failure| failure.contains("stream 1")));
    });
    assert_names_the_call(&error);
    assert_eq!(reported.len(), 1);
}
