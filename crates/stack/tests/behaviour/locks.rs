//! How often a packet takes a lock, measured with a discipline that counts accesses.

use std::cell::Cell;
use warmcore_stack::discipline::{Discipline, Guarded};
use warmcore_stack::wire::FrameBuilder;
use warmcore_stack::{Config, DropReason, Flow, Pool, Stack};

thread_local! {
    static ACCESSES: Cell<u32> = const { Cell::new(0) };
}

struct Counting;

impl Discipline for Counting {
    type Guarded<T> = Counted<T>;
}

struct Counted<T>(T);

impl<T> Guarded<T> for Counted<T> {
    fn new(value: T) -> Self {
        Self(value)
    }

    fn with<R>(&self, access: impl FnOnce(&T) -> R) -> R {
        ACCESSES.set(ACCESSES.get() + 1);
        access(&self.0)
    }

    fn exclusive(&mut self) -> &mut T {
        &mut self.0
    }
}

/// Number of guarded accesses while a stack with only flow 1 open receives a frame of `flow`.
fn accesses(flow: Flow) -> (u32, Result<(), DropReason>) {
    let mut stack = Stack::<Counting>::new(Config::default());
    stack.open(&Flow::synthetic(1)).expect("the stack is new");
    let mut buffer = [0; 128];
    let frame = FrameBuilder::new(Config::default().link, flow).write(b"payload", &mut buffer);
    let frame = frame.expect("the frame fits");
    ACCESSES.set(0);
    let outcome = stack.receive(&Pool::new(1), frame, |_| ());
    (ACCESSES.get(), outcome)
}

/// Three active maps, and four sessions, each accessed on the way up and during the unwind (Salehi
/// 1994, §2.2).
#[test]
fn a_delivered_packet_takes_each_map_once_and_each_session_twice() {
    assert_eq!(accesses(Flow::synthetic(1)), (3 + 4 * 2, Ok(())));
}

/// Three maps, the three sessions below UDP, and the drop counts.
#[test]
fn a_packet_dropped_at_the_top_unwinds_the_sessions_below_and_is_counted() {
    let other_port = Flow { source_port: 4001, ..Flow::synthetic(1) };
    assert_eq!(accesses(other_port), (3 + 3 * 2 + 1, Err(DropReason::UdpNoSession)));
}
