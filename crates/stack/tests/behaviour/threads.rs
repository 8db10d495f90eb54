//! With many threads at once, no packet is lost, counted twice, or left inside.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use warmcore_stack::wire::FrameBuilder;
use warmcore_stack::{
    Config, DropReason, Flow, IndependentStacks, LockingStack, Pool, References, SerialStack,
};
use warmcore_units::{StackId, StreamId};

const THREADS: u64 = 4;
const ROUNDS: u64 = 2_000;
const STREAMS: u16 = 3;

fn frame(flow: &Flow) -> Vec<u8> {
    let mut buffer = [0; 128];
    let frame = FrameBuilder::new(Config::default().link, *flow).write(b"payload", &mut buffer);
    frame.expect("the frame fits").to_vec()
}

/// One frame of each stream.
fn frames() -> Vec<Vec<u8>> {
    (0..STREAMS).map(|host| frame(&Flow::synthetic(host))).collect()
}

#[test]
fn the_forms_may_be_used_from_threads_as_documented() {
    fn sync<T: Sync>() {}
    fn send<T: Send>() {}
    send::<SerialStack>();
    sync::<LockingStack>();
    sync::<IndependentStacks>();
    sync::<Pool>();
}

#[test]
fn the_locking_form_counts_every_packet_of_all_threads_once() {
    let mut stack = LockingStack::new(Config::default());
    let streams: Vec<StreamId> =
        (0..STREAMS).map(|host| stack.open(&Flow::synthetic(host)).expect("the flows differ")).collect();
    let pool = Pool::new(THREADS as usize);
    let frames = frames();
    let unknown = frame(&Flow::synthetic(99));
    let delivered = AtomicU64::new(0);
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for _ in 0..ROUNDS {
                    for (frame, stream) in frames.iter().zip(&streams) {
                        let to = stack.receive(&pool, frame, |delivery| {
                            delivered.fetch_add(1, Ordering::Relaxed);
                            delivery.stream
                        });
                        assert_eq!(to, Ok(*stream));
                    }
                    assert_eq!(stack.receive(&pool, &unknown, |_| ()), Err(DropReason::LinkNoSession));
                }
            });
        }
    });
    let each = THREADS * ROUNDS;
    assert_eq!(delivered.into_inner(), each * u64::from(STREAMS));
    for stream in streams {
        assert_eq!(stack.stream_state(stream).map(|state| state.delivered), Some(each));
    }
    assert_eq!(stack.counters().delivered, each * u64::from(STREAMS));
    assert_eq!(stack.counters().dropped(DropReason::LinkNoSession), each);
    assert_eq!(stack.references(), References::default());
    assert_eq!(pool.available(), pool.capacity());
}

#[test]
fn an_independent_stack_has_one_packet_inside_at_a_time() {
    let mut stacks = IndependentStacks::new(2, Config::default());
    for host in 0..STREAMS {
        stacks.open(StackId(u32::from(host) % 2), &Flow::synthetic(host)).expect("the flows differ");
    }
    let pool = Pool::new(THREADS as usize);
    let frames = frames();
    let inside = [AtomicBool::new(false), AtomicBool::new(false)];
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for turn in 0..ROUNDS as usize {
                    let host = turn % frames.len();
                    let stack = StackId::from(host % 2);
                    let alone = stacks.receive(stack, &pool, &frames[host], |_| {
                        let alone = !inside[stack.index()].swap(true, Ordering::Relaxed);
                        inside[stack.index()].store(false, Ordering::Relaxed);
                        alone
                    });
                    assert_eq!(alone, Ok(true), "two packets were inside {stack}");
                }
            });
        }
    });
    let delivered = [StackId(0), StackId(1)].map(|stack| stacks.counters(stack).map_or(0, |c| c.delivered));
    assert_eq!(delivered.iter().sum::<u64>(), THREADS * ROUNDS);
    assert_eq!(pool.available(), pool.capacity());
}
