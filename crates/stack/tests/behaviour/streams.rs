//! Opening and closing streams, and what their sessions record.

use crate::forms::{Forms, flows};
use proptest::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use warmcore_stack::wire::FrameBuilder;
use warmcore_stack::wire::vlan::Tags;
use warmcore_stack::{
    CloseError, Config, DropReason, Flow, HeaderOffsets, Home, IndependentStacks, LinkAddress, OpenError,
    Pool, References, SerialStack,
};
use warmcore_units::{StackId, StreamId};

fn frame(flow: Flow, identification: u16) -> Vec<u8> {
    let builder = FrameBuilder { identification, ..FrameBuilder::new(Config::default().link, flow) };
    let mut frame = vec![0; builder.frame_length(32)];
    builder.write(&[5; 32], &mut frame).expect("the buffer has the frame's length");
    frame
}

proptest! {
    /// The model: a flow's frames are delivered to the stream that was last opened for it, while that
    /// is open, and are dropped otherwise.
    #[test]
    fn frames_are_delivered_just_while_their_stream_is_open(
        steps in prop::collection::vec((0..4_usize, any::<bool>()), 1..60),
    ) {
        let flows = flows();
        let mut forms = Forms::new(Config::default(), &[]);
        let mut open: Vec<Option<StreamId>> = vec![None; flows.len()];
        for (which, toggle) in steps {
            if toggle {
                match open[which].take() {
                    Some(stream) => forms.close(stream),
                    None => open[which] = Some(forms.open(&flows[which])),
                }
            }
            for (flow, stream) in flows.iter().zip(&open) {
                let delivered = forms.receive(&frame(*flow, 0)).ok().map(|(stream, _)| stream);
                prop_assert_eq!(delivered, *stream);
            }
        }
    }
}

#[test]
fn closing_a_stream_keeps_its_counts() {
    let mut stack = SerialStack::new(Config::default());
    let pool = Pool::new(1);
    let flow = Flow::synthetic(1);
    let stream = stack.open(&flow).expect("the stack is new");
    assert!(stack.receive(&pool, &frame(flow, 0), |_| ()).is_ok());
    assert_eq!(stack.close(stream), Ok(()));
    assert_eq!(stack.receive(&pool, &frame(flow, 0), |_| ()), Err(DropReason::LinkNoSession));
    assert_eq!(stack.counters().delivered, 1);
    assert_eq!(stack.stream_state(stream), None);
    assert_eq!(stack.close(stream), Err(CloseError { stream }));
}

#[test]
fn every_packet_writes_the_ip_state_of_its_stream() {
    let mut stack = SerialStack::new(Config::default());
    let pool = Pool::new(1);
    let streams = [1, 2].map(|host| stack.open(&Flow::synthetic(host)).expect("the flows differ"));
    for (host, identification) in [(1, 10), (2, 20), (1, 11)] {
        assert!(stack.receive(&pool, &frame(Flow::synthetic(host), identification), |_| ()).is_ok());
    }
    let last = streams.map(|stream| stack.stream_state(stream).map(|state| state.last_identification));
    assert_eq!(last, [Some(Some(11)), Some(Some(20))]);
}

#[test]
fn a_packet_is_counted_in_at_every_layer_while_it_is_delivered() {
    let mut stack = SerialStack::new(Config::default());
    let pool = Pool::new(2);
    let flow = Flow::synthetic(1);
    stack.open(&flow).expect("the stack is new");
    let frame = frame(flow, 0);
    let each =
        |count| References { link: count, vnet: count, ip: count, udp: count, ..References::default() };
    let seen = stack.receive(&pool, &frame, |_| {
        let outer = (stack.references(), pool.available());
        let inner = stack.receive(&pool, &frame, |_| (stack.references(), pool.available()));
        (outer, inner)
    });
    assert_eq!(seen, Ok(((each(1), 1), Ok((each(2), 0)))));
    assert_eq!((stack.references(), pool.available()), (each(0), 2));
}

#[test]
fn an_application_that_panics_leaves_nothing_behind() {
    let config = Config::default();
    let mut stacks = IndependentStacks::new(1, config);
    let pool = Pool::new(1);
    let flow = Flow::synthetic(1);
    stacks.open(StackId(0), &flow).expect("the stack is new");
    let frame = frame(flow, 0);
    let fails = || stacks.receive(StackId(0), &pool, &frame, |_| -> () { panic!("the application fails") });
    assert!(catch_unwind(AssertUnwindSafe(fails)).is_err());
    assert_eq!(stacks.references(StackId(0)), Some(References::default()));
    assert_eq!(stacks.receive(StackId(0), &pool, &frame, |_| ()), Ok(()));
}

#[test]
fn a_delivery_says_where_the_headers_begin() {
    let mut stack = SerialStack::new(Config::default());
    let flow = Flow::synthetic(1);
    stack.open(&flow).expect("the stack is new");
    let frame = frame(flow, 0);
    let seen = stack.receive(&Pool::new(1), &frame, |delivery| {
        assert_eq!(delivery.frame, frame);
        assert_eq!(delivery.payload, &frame[usize::from(delivery.headers.payload)..]);
        *delivery.headers
    });
    assert_eq!(seen, Ok(HeaderOffsets { ip: 14, udp: 34, payload: 42 }));
}

#[test]
fn flows_that_cannot_be_opened_are_refused_with_what_is_wrong() {
    let mut stacks = IndependentStacks::new(2, Config::default());
    let flow = Flow::synthetic(1);
    let stream = stacks.open(StackId(0), &flow).expect("the stacks are new");
    let moved = Flow { source_link: LinkAddress([2; 6]), ..flow };
    let address = [224, 0, 0, 1].into();
    let group = LinkAddress([1; 6]);
    let refused = [
        (StackId(0), flow, OpenError::AlreadyOpen { stream }),
        (StackId(1), moved, OpenError::AlreadyOpen { stream }),
        (StackId(2), Flow::synthetic(2), OpenError::NoSuchStack { stack: StackId(2), stacks: 2 }),
        (StackId(1), Flow { source: address, ..flow }, OpenError::SourceNotUnicast { address }),
        (StackId(1), Flow { source_link: group, ..flow }, OpenError::SourceLinkNotUnicast { address: group }),
        (StackId(1), Flow { destination_port: 0, ..flow }, OpenError::PortZero),
    ];
    for (stack, flow, error) in refused {
        assert_eq!(stacks.open(stack, &flow), Err(error));
    }
    assert_eq!(stacks.find(&flow.key()), Some((Home::Stack(StackId(0)), stream)));
}

#[test]
fn a_sender_not_seen_before_gets_a_stream_and_an_answer() {
    let link = Config::default().link;
    let (flow, tags) = (Flow::synthetic(7), Tags { service: None, customer: Some(12) });
    let mut buffer = [0; 128];
    let asking = FrameBuilder { tags, ..FrameBuilder::new(link, flow) };
    let question = asking.write(b"question", &mut buffer).expect("the frame fits");

    let (mut server, mut client, pool) =
        (SerialStack::new(Config::default()), SerialStack::new(Config::default()), Pool::new(1));
    let seen = Flow::parse(link, question).expect("the frame is valid");
    let stream = server.open(&seen).expect("the stack is new");
    assert_eq!(server.receive(&pool, question, |delivery| delivery.stream), Ok(stream));

    let mut buffer = [0; 128];
    let answering = FrameBuilder { tags: link.tags(question), ..FrameBuilder::new(link, seen.reversed()) };
    let answer = answering.write(b"answer", &mut buffer).expect("the frame fits");
    assert_eq!(link.tags(answer), tags);
    client.open(&flow.reversed()).expect("the stack is new");
    assert_eq!(client.receive(&pool, answer, |delivery| delivery.payload.to_vec()), Ok(b"answer".to_vec()));
    assert_eq!(seen.reversed().reversed(), flow);
}

#[test]
fn a_stack_that_does_not_exist_receives_nothing() {
    let stacks = IndependentStacks::new(1, Config::default());
    let outcome = stacks.receive(StackId(1), &Pool::new(1), &frame(Flow::synthetic(1), 0), |_| ());
    assert_eq!(outcome, Err(DropReason::LinkNoSession));
    assert_eq!(stacks.counters(StackId(1)), None);
}

/// Opens streams of even or odd identifiers below 6, as `odd` asks in turn, from made-up hosts from `host` on.
fn open_preferred(stack: &mut SerialStack, host: u16, odd: &[bool]) -> Vec<u32> {
    let open = |(host, odd): (u16, &bool)| {
        stack.prefer(6, |stream| (stream.0 % 2 == 1) == *odd);
        let next = stack.next_stream();
        assert_eq!(stack.open(&Flow::synthetic(host)), Ok(next));
        next.0
    };
    (host..).zip(odd).map(open).collect()
}

#[test]
fn a_stream_gets_a_preferred_identifier_while_there_is_one() {
    let mut stack = SerialStack::new(Config::default());
    assert_eq!(open_preferred(&mut stack, 0, &[true, true, false, true, false]), [1, 3, 2, 5, 4]);
    assert_eq!(open_preferred(&mut stack, 5, &[true]), [0], "no odd one is left");
    assert_eq!(stack.next_stream(), StreamId(6));
}

#[test]
fn a_closed_identifier_that_is_preferred_is_given_again() {
    let mut stack = SerialStack::new(Config::default());
    assert_eq!(open_preferred(&mut stack, 0, &[false, true, false, true]), [0, 1, 2, 3]);
    [3, 0].into_iter().for_each(|stream| stack.close(StreamId(stream)).unwrap());
    assert_eq!(open_preferred(&mut stack, 4, &[true, false, false]), [3, 0, 4]);
}
