//! BID: incarnations.

use super::drivers::{boot, packet};
use warmcore_stack::Packet;
use warmcore_stack::rpc::{Bid, BidDecision, BidReceived, PeerChange, RpcDropReason};

fn sent(bid: &mut Bid, bytes: &[u8]) -> Packet {
    let mut message = packet(bytes);
    bid.send(&mut message).expect("the packet has headroom");
    message
}

/// Passes a message, and the answer if there is one.
fn pass(from: &mut Bid, to: &mut Bid) -> (BidReceived, Option<BidReceived>) {
    let mut message = sent(from, b"x");
    let received = to.receive(&mut message);
    let is_answer = received.decision == BidDecision::Answer;
    (received, is_answer.then(|| from.receive(&mut message)))
}

fn received(peer: PeerChange, decision: BidDecision) -> BidReceived {
    BidReceived { peer, decision }
}

#[test]
fn strangers_refuse_each_others_first_message_and_then_know_each_other() {
    let (mut client, mut server) = (Bid::new(boot(1)), Bid::new(boot(9)));
    let (first, answer) = pass(&mut client, &mut server);
    assert_eq!(first, received(PeerChange::Learned, BidDecision::Answer));
    assert_eq!(answer, Some(received(PeerChange::Learned, BidDecision::Done)));
    assert_eq!(pass(&mut client, &mut server).0, received(PeerChange::Same, BidDecision::Deliver));
    assert_eq!(pass(&mut server, &mut client).0, received(PeerChange::Same, BidDecision::Deliver));
    assert_eq!((client.peer(), server.peer()), (Some(boot(9)), Some(boot(1))));
}

#[test]
fn a_message_for_an_earlier_incarnation_is_refused_and_its_sender_told() {
    let (mut client, mut server) = (Bid::new(boot(1)), Bid::new(boot(9)));
    pass(&mut client, &mut server);
    let mut server = Bid::new(boot(10));
    let (first, answer) = pass(&mut client, &mut server);
    assert_eq!(first.decision, BidDecision::Answer);
    assert_eq!(answer, Some(received(PeerChange::Rebooted, BidDecision::Done)));
    assert_eq!(pass(&mut client, &mut server).0.decision, BidDecision::Deliver);
}

#[test]
fn a_message_from_before_a_reboot_is_dropped() {
    let (mut client, mut server) = (Bid::new(boot(1)), Bid::new(boot(9)));
    pass(&mut client, &mut server);
    let mut late = sent(&mut client, b"x");
    let mut client = Bid::new(boot(2));
    let (first, _) = pass(&mut client, &mut server);
    assert_eq!(first, received(PeerChange::Rebooted, BidDecision::Answer));
    let decision = BidDecision::Drop(RpcDropReason::BidStale);
    assert_eq!(server.receive(&mut late), received(PeerChange::Same, decision));
    assert_eq!(server.peer(), Some(boot(2)));
}

#[test]
fn the_message_is_delivered_without_its_header() {
    let (mut client, mut server) = (Bid::new(boot(1)), Bid::new(boot(9)));
    pass(&mut client, &mut server);
    let mut message = sent(&mut client, b"hello");
    server.receive(&mut message);
    assert_eq!(message.payload(), b"hello");
}

#[test]
fn what_no_peer_would_send_is_dropped() {
    let mut bid = Bid::new(boot(1));
    let mut drop = |kind: u32, source: u32, length: usize| {
        let header = [kind, source, 1].map(u32::to_be_bytes).concat();
        match bid.receive(&mut packet(&header[..length])).decision {
            BidDecision::Drop(reason) => reason,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(drop(1, 5, 11), RpcDropReason::BidTruncated);
    assert_eq!(drop(3, 5, 12), RpcDropReason::BidKind);
    assert_eq!(drop(1, 0, 12), RpcDropReason::BidBootId);
}
