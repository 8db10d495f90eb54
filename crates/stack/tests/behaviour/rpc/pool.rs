//! VCHAN and MSELECT: which channel, and which procedure.

use super::drivers::packet;
use proptest::prelude::*;
use std::collections::HashSet;
use warmcore_stack::rpc::{Mselect, MselectCalled, MselectFailure, Vchan};

#[test]
fn the_channel_that_was_freed_last_is_picked_first() {
    let mut vchan = Vchan::new(3);
    assert_eq!([vchan.acquire(), vchan.acquire(), vchan.acquire()], [Some(0), Some(1), Some(2)]);
    assert_eq!(vchan.acquire(), None);
    vchan.release(2);
    vchan.release(1);
    vchan.release(1);
    vchan.release(99);
    assert_eq!(vchan.available(), 2);
    assert_eq!([vchan.acquire(), vchan.acquire(), vchan.acquire()], [Some(1), Some(2), None]);
}

proptest! {
    #[test]
    fn no_channel_has_two_calls(steps in prop::collection::vec(prop::option::of(0..9_u16), 0..200)) {
        let mut vchan = Vchan::new(6);
        let mut busy = HashSet::new();
        for step in steps {
            if let Some(channel) = step {
                vchan.release(channel);
                busy.remove(&channel);
            } else if let Some(channel) = vchan.acquire() {
                prop_assert!(channel < 6 && busy.insert(channel));
            } else {
                prop_assert_eq!(busy.len(), 6);
            }
            prop_assert_eq!(vchan.available(), 6 - busy.len());
        }
    }
}

#[test]
fn a_procedure_reaches_the_handler_at_its_place() {
    let server = Mselect::new(&[40, 7, 40, 0]);
    for (procedure, handler) in [(40, 0), (7, 1), (0, 3)] {
        let mut call = packet(b"arguments");
        server.call(procedure, &mut call).expect("the packet has headroom");
        assert_eq!(server.receive_call(&mut call), Ok(MselectCalled::Deliver { handler, procedure }));
        assert_eq!(call.payload(), b"arguments");
    }
}

#[test]
fn results_arrive_without_the_header() {
    let mselect = Mselect::new(&[]);
    let mut reply = packet(b"results");
    mselect.reply(7, &mut reply).expect("the packet has headroom");
    assert_eq!(mselect.receive_reply(&mut reply), Ok(()));
    assert_eq!(reply.payload(), b"results");
}

#[test]
fn an_unknown_procedure_and_a_malformed_call_have_error_replies() {
    let mselect = Mselect::new(&[1, 3]);
    let mut call = packet(b"arguments");
    mselect.call(2, &mut call).expect("the packet has headroom");
    assert_eq!(mselect.receive_call(&mut call), Ok(MselectCalled::Answer));
    assert_eq!(mselect.receive_reply(&mut call), Err(MselectFailure::UnknownProcedure));

    for malformed in [&[0, 1, 0][..], &[0, 1, 0, 9]] {
        let mut call = packet(malformed);
        assert_eq!(mselect.receive_call(&mut call), Ok(MselectCalled::Answer));
        assert_eq!(mselect.receive_reply(&mut call), Err(MselectFailure::Malformed));
    }
    assert_eq!(mselect.receive_reply(&mut packet(&[0; 3])), Err(MselectFailure::Malformed));
}
