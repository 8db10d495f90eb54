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

/// Layers that know each other.
fn acquainted(client: u32, server: u32) -> (Bid, Bid) {
    let (mut client, mut server) = (Bid::new(boot(client)), Bid::new(boot(server)));
    for _ in 0..2 {
        pass(&mut client, &mut server);
    }
    assert!(client.peer().is_some() && server.peer().is_some());
    (client, server)
}

/// A message as anybody could write it.
fn forged(kind: u32, source: u32, destination: u32) -> Packet {
    packet(&[kind, source, destination].map(u32::to_be_bytes).concat())
}

fn received(peer: PeerChange, decision: BidDecision) -> BidReceived {
    BidReceived { peer, decision }
}

#[test]
fn strangers_refuse_each_others_first_message_and_then_know_each_other() {
    let (mut client, mut server) = (Bid::new(boot(1)), Bid::new(boot(9)));
    let (first, answer) = pass(&mut client, &mut server);
    assert_eq!(first, received(PeerChange::Same, BidDecision::Answer));
    assert_eq!(answer, Some(received(PeerChange::Learned, BidDecision::Done)));
    assert_eq!(pass(&mut client, &mut server).0, received(PeerChange::Learned, BidDecision::Deliver));
    assert_eq!(pass(&mut server, &mut client).0, received(PeerChange::Same, BidDecision::Deliver));
    assert_eq!((client.peer(), server.peer()), (Some(boot(9)), Some(boot(1))));
}

#[test]
fn a_message_for_an_earlier_incarnation_is_refused_and_its_sender_told() {
    let (mut client, _) = acquainted(1, 9);
    let mut server = Bid::new(boot(10));
    let (first, answer) = pass(&mut client, &mut server);
    assert_eq!(first.decision, BidDecision::Answer);
    assert_eq!(answer, Some(received(PeerChange::Rebooted, BidDecision::Done)));
    assert_eq!(pass(&mut client, &mut server).0.decision, BidDecision::Deliver);
}

#[test]
fn a_message_from_before_a_reboot_is_dropped() {
    let (mut client, mut server) = acquainted(1, 9);
    let mut late = sent(&mut client, b"x");
    let mut client = Bid::new(boot(2));
    assert_eq!(pass(&mut client, &mut server).0, received(PeerChange::Same, BidDecision::Answer));
    assert_eq!(server.peer(), Some(boot(1)), "the new boot id is not confirmed");
    assert_eq!(pass(&mut client, &mut server).0, received(PeerChange::Rebooted, BidDecision::Deliver));
    let decision = BidDecision::Drop(RpcDropReason::BidStale);
    assert_eq!(server.receive(&mut late), received(PeerChange::Same, decision));
    assert_eq!(server.peer(), Some(boot(2)));
}

#[test]
fn the_message_is_delivered_without_its_header() {
    let (mut client, mut server) = acquainted(1, 9);
    let mut message = sent(&mut client, b"hello");
    server.receive(&mut message);
    assert_eq!(message.payload(), b"hello");
}

#[test]
fn a_boot_id_from_a_message_that_does_not_name_ours_is_not_believed() {
    for knows_peer in [false, true] {
        for destination in [0, 8, 10, u32::MAX] {
            let (mut client, known) = acquainted(1, 9);
            let mut server = if knows_peer { known } else { Bid::new(boot(9)) };
            let before = server.peer();
            let message = server.receive(&mut forged(1, u32::MAX, destination));
            assert_eq!(message, received(PeerChange::Same, BidDecision::Answer));
            let notice = server.receive(&mut forged(2, u32::MAX, destination));
            let dropped = BidDecision::Drop(RpcDropReason::BidOtherIncarnation);
            assert_eq!(notice, received(PeerChange::Same, dropped), "it is not answered");
            assert_eq!(server.peer(), before);
            assert_eq!(pass(&mut client, &mut server).0.decision, BidDecision::Deliver);
        }
    }
}

#[test]
fn a_notice_is_for_the_sender_of_what_was_refused() {
    let (_, mut server) = acquainted(1, 9);
    let mut message = forged(1, 2, 0);
    assert_eq!(server.receive(&mut message).decision, BidDecision::Answer);
    assert_eq!(message.payload(), forged(2, 9, 2).payload());
}

#[test]
fn a_message_of_ours_that_comes_back_changes_nothing() {
    // Both orders of the boot ids.
    for (own, other) in [(9, 1), (1, 9)] {
        let (mut us, mut peer) = acquainted(own, other);
        let mut message = sent(&mut us, b"x");
        let dropped = BidDecision::Drop(RpcDropReason::BidReflected);
        assert_eq!(us.receive(&mut message), received(PeerChange::Same, dropped));
        // The first, when we knew nobody: the notice that answers it is for nobody.
        let mut first = forged(1, own, 0);
        if us.receive(&mut first).decision == BidDecision::Answer {
            assert!(matches!(peer.receive(&mut first).decision, BidDecision::Drop(_)));
        }
        assert_eq!((us.peer(), peer.peer()), (Some(boot(other)), Some(boot(own))));
        assert_eq!(pass(&mut peer, &mut us).0.decision, BidDecision::Deliver);
    }
}

#[test]
fn hosts_with_equal_boot_ids_talk() {
    let (mut client, mut server) = acquainted(5, 5);
    assert_eq!(pass(&mut client, &mut server).0.decision, BidDecision::Deliver);
    assert_eq!(pass(&mut server, &mut client).0.decision, BidDecision::Deliver);
}

#[test]
fn what_no_peer_would_send_is_dropped() {
    let mut bid = Bid::new(boot(1));
    let mut drop = |kind: u32, source: u32, length: usize| match bid
        .receive(&mut packet(&forged(kind, source, 1).payload()[..length]))
        .decision
    {
        BidDecision::Drop(reason) => reason,
        other => panic!("{other:?}"),
    };
    assert_eq!(drop(1, 5, 11), RpcDropReason::BidTruncated);
    assert_eq!(drop(3, 5, 12), RpcDropReason::BidKind);
    assert_eq!(drop(1, 0, 12), RpcDropReason::BidBootId);
}
