//! Streams that are open in every stack. [`Forms`](crate::forms::Forms) asserts after every frame that
//! they are received like all others.

use std::thread;
use warmcore_stack::wire::FrameBuilder;
use warmcore_stack::{
    CloseError, Config, DropReason, Flow, Home, IndependentStacks, OpenError, Pool, StreamState,
};
use warmcore_units::StackId;

const STACKS: u32 = 3;

fn frame(flow: Flow) -> Vec<u8> {
    let mut buffer = [0; 128];
    let frame = FrameBuilder::new(Config::default().link, flow).write(b"payload", &mut buffer);
    frame.expect("the frame fits").to_vec()
}

fn stacks() -> impl Iterator<Item = StackId> {
    (0..STACKS).map(StackId)
}

#[test]
fn one_stream_is_received_in_every_stack_at_once() {
    const ROUNDS: u64 = 2_000;
    let mut independent = IndependentStacks::new(STACKS as usize, Config::default());
    let flow = Flow::synthetic(1);
    let stream = independent.open_everywhere(&flow).expect("the stacks are new");
    let (pool, frame) = (Pool::new(STACKS as usize), frame(flow));
    let (independent, pool, frame) = (&independent, &pool, &frame);
    thread::scope(|scope| {
        for stack in stacks() {
            scope.spawn(move || {
                for _ in 0..ROUNDS {
                    assert_eq!(independent.receive(stack, pool, frame, |d| d.stream), Ok(stream));
                }
            });
        }
    });
    let total = u64::from(STACKS) * ROUNDS;
    let state = StreamState { delivered: total, last_identification: None };
    assert_eq!(independent.stream_state(stream), Some(state));
    for stack in stacks() {
        assert_eq!(independent.counters(stack).map(|counters| counters.delivered), Some(ROUNDS));
    }
}

#[test]
fn a_stream_closes_in_all_stacks_and_leaves_streams_that_share_its_sessions() {
    let mut independent = IndependentStacks::new(STACKS as usize, Config::default());
    let pool = Pool::new(1);
    let everywhere = Flow::synthetic(1);
    let of_one_stack = Flow { source_port: 4001, ..everywhere };
    let closing = independent.open_everywhere(&everywhere).expect("the stacks are new");
    let staying = independent.open(StackId(1), &of_one_stack).expect("the ports differ");
    assert_eq!(independent.close(closing), Ok(()));
    assert_eq!(independent.close(closing), Err(CloseError { stream: closing }));
    assert_eq!((independent.stack_of(closing), independent.stream_state(closing)), (None, None));
    for stack in stacks() {
        let shares = independent.stack_of(staying).is_some_and(|home| home.includes(stack));
        assert_eq!(shares, stack == StackId(1));
        let closed = if shares { DropReason::UdpNoSession } else { DropReason::LinkNoSession };
        assert_eq!(independent.receive(stack, &pool, &frame(everywhere), |_| ()), Err(closed));
        let outcome = independent.receive(stack, &pool, &frame(of_one_stack), |d| d.stream);
        assert_eq!(outcome, if shares { Ok(staying) } else { Err(DropReason::LinkNoSession) });
    }
}

#[test]
fn a_flow_is_open_in_one_stack_or_in_all() {
    let mut independent = IndependentStacks::new(STACKS as usize, Config::default());
    let [one, all] = [1, 2].map(Flow::synthetic);
    let in_one = independent.open(StackId(2), &one).expect("the stacks are new");
    let in_all = independent.open_everywhere(&all).expect("the flows differ");
    assert_eq!(independent.open_everywhere(&one), Err(OpenError::AlreadyOpen { stream: in_one }));
    assert_eq!(independent.open(StackId(0), &all), Err(OpenError::AlreadyOpen { stream: in_all }));
    assert_eq!(independent.stack_of(in_one), Some(Home::Stack(StackId(2))));
    assert_eq!(independent.stack_of(in_all), Some(Home::EveryStack));
}
