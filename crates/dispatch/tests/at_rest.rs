//! What a dispatcher takes before its first event, and when it is empty again.

use peak_alloc::PeakAlloc;
use warmcore_dispatch::{Dispatcher, Overload, Turn};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

const MIB: usize = 1 << 20;

/// Events of 1 KiB: none has a place before it comes.
type Event = [u8; 1_024];

#[test]
fn a_dispatcher_takes_little_until_events_wait() {
    let before = MEMORY.current_usage();
    let taken = || MEMORY.current_usage().saturating_sub(before);
    let nothing = |_: &Turn<'_, u64, Event>, _: Event| {};
    let builder = Dispatcher::<u64, Event>::builder().workers(8).capacity(16_384);
    let dispatcher = builder.overload(Overload::Reject).build(nothing).unwrap();
    let at_rest = taken();
    assert!(at_rest < MIB / 2, "{at_rest} bytes");

    MEMORY.reset_peak_usage();
    for key in 0..100_000 {
        while dispatcher.dispatch(key % 1_000, [0; 1_024]).is_err() {
            std::thread::yield_now();
        }
    }
    dispatcher.wait_idle().unwrap();
    let (most, left) = (MEMORY.peak_usage().saturating_sub(before), taken());
    println!("{at_rest} bytes at rest, {most} at most, {left} when it was empty again");
    assert!(most < 16_384 * 1_100 * 4, "{most} bytes");
    // 4 KiB at each end of a strand, and what a table of strands takes.
    assert!(left < 6 * MIB, "{left} bytes");
}
