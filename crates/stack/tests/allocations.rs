//! RPC endpoints allocate all their memory when they are made.
//!
//! A binary of its own, since it has an allocator of its own, which counts for each thread.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::num::NonZero;
use std::time::Duration;
use warmcore_stack::rpc::{BootId, Config, Endpoint, Event, ServedCall};

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: every call is passed on to the system's allocator, whose contract is the same. The count is a
// thread-local without destructor, which allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`, and the system's allocator made the memory.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const CALLS: u32 = 3000;
const BYTES: &[u8] = &[5; 16 * 1024];

/// Two endpoints, and a link that loses every seventh frame.
struct Pair {
    client: Endpoint,
    server: Endpoint,
    now: Duration,
    frames: u64,
    ended: u32,
}

fn boot(id: u32) -> BootId {
    BootId(NonZero::new(id).expect("boot ids begin with 1"))
}

impl Pair {
    fn new() -> Self {
        Self {
            client: Endpoint::new(Config::default(), boot(1), &[]),
            server: Endpoint::new(Config::default(), boot(2), &[40]),
            now: Duration::ZERO,
            frames: 0,
            ended: 0,
        }
    }

    fn exchange(&mut self) {
        let Self { client, server, now, frames, .. } = self;
        pass(*now, client, server, frames);
        pass(*now, server, client, frames);
    }

    fn serve(&mut self) {
        while let Some((call, length)) = called(&mut self.server) {
            self.server.reply(call, &BYTES[..length]).expect("the client waits");
        }
    }

    fn run(&mut self) {
        let mut made = 0_u32;
        while self.ended < CALLS {
            let length = made as usize * 7919 % BYTES.len();
            let length = if made.is_multiple_of(3) { 0 } else { length };
            if made < CALLS && self.client.call(self.now, 40, &BYTES[..length]).is_ok() {
                made += 1;
            }
            self.exchange();
            self.serve();
            self.exchange();
            while self.client.event().is_some() {
                self.ended += 1;
            }
            self.now += Duration::from_millis(10);
            self.client.time_passes(self.now);
            self.server.time_passes(self.now);
        }
    }
}

fn pass(now: Duration, from: &mut Endpoint, to: &mut Endpoint, frames: &mut u64) {
    while let Some(frame) = from.transmit(now) {
        *frames += 1;
        if !frames.is_multiple_of(7) {
            // What was dropped is sent again.
            let _ = to.arrives(now, frame);
        }
    }
}

fn called(server: &mut Endpoint) -> Option<(ServedCall, usize)> {
    match server.event()? {
        Event::Called { call, request, .. } => Some((call, request.len())),
        other => panic!("{other:?}"),
    }
}

#[test]
fn calls_over_a_link_that_loses_frames_allocate_nothing() {
    let mut pair = Pair::new();
    let before = ALLOCATIONS.get();
    assert!(before > 0, "the allocator counts nothing");
    pair.run();
    assert_eq!(ALLOCATIONS.get() - before, 0);
    assert!(pair.frames > u64::from(CALLS) * 3);
}
