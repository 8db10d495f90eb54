//! Which messages each state allows: all others are refused, change nothing and bring nothing about.

use Message::{
    Acknowledge, Downgrade, Invalidate, ReadReply, ReadRequest, Recall, Return, UpgradeReply, UpgradeRequest,
    WriteReply, WriteRequest, Writeback,
};
use warmcore_coherence::{Access, CachedBlock, DirectoryEntry, Event, Message, Sharing, State, Tag};
use warmcore_units::{CpuId, NodeId};

const HOME: NodeId = NodeId(0);
const MESSAGES: [Message; 12] = [
    ReadRequest,
    WriteRequest,
    UpgradeRequest,
    ReadReply,
    WriteReply,
    UpgradeReply,
    Invalidate,
    Downgrade,
    Recall,
    Acknowledge,
    Return,
    Writeback,
];

/// A fault of the home or node itself, or a message from another node.
type Happened = (u32, Result<Message, Access>);

fn event((from, what): Happened) -> Event {
    match what {
        Ok(message) => Event::Message { from: NodeId(from), message },
        Err(access) => Event::Fault { cpu: CpuId(0), access },
    }
}

/// The home after some events; nodes 1 to 3 are others.
fn home(happened: &[Happened]) -> DirectoryEntry {
    let mut entry = DirectoryEntry::default();
    for &happened in happened {
        entry.handle(HOME, event(happened), |_| {}).expect("an event of the protocol");
    }
    entry
}

/// A node that caches the block after some events.
fn cacher(happened: &[Result<Message, Access>]) -> CachedBlock {
    let mut block = CachedBlock::default();
    for &what in happened {
        block.handle(HOME, event((HOME.0, what)), |_| {}).expect("an event of the protocol");
    }
    block
}

/// All messages that `entry` takes from any of nodes 0 to 3, node 64 included.
fn taken_at_home(entry: DirectoryEntry) -> Vec<(u32, Message)> {
    let mut taken = Vec::new();
    for (from, message) in
        [0, 1, 2, 3, 64].into_iter().flat_map(|from| MESSAGES.map(|message| (from, message)))
    {
        let (mut after, mut actions) = (entry, 0);
        let event = event((from, Ok(message)));
        match after.handle(HOME, event, |_| actions += 1) {
            Ok(_) => taken.push((from, message)),
            Err(refused) => {
                assert_eq!((refused.event, refused.state), (event, State::Home(entry)));
                assert_eq!((after, actions), (entry, 0));
            }
        }
    }
    taken
}

fn taken_at_cacher(block: CachedBlock) -> Vec<Message> {
    let takes = |from: u32, message: &Message| {
        let (mut after, mut actions) = (block, 0);
        let event = event((from, Ok(*message)));
        let result = after.handle(HOME, event, |_| actions += 1);
        if let Err(refused) = result {
            assert_eq!((refused.event, refused.state), (event, State::Cacher(block)));
            assert_eq!((after, actions), (block, 0));
        }
        result.is_ok()
    };
    assert!(MESSAGES.iter().all(|message| !takes(1, message)), "only the home speaks to {block:?}");
    MESSAGES.into_iter().filter(|message| takes(HOME.0, message)).collect()
}

/// Requests to read and to write, of one node.
fn requests(node: u32) -> [(u32, Message); 2] {
    [(node, ReadRequest), (node, WriteRequest)]
}

#[test]
fn a_home_takes_what_others_can_lack_or_owe() {
    let all = || [1, 2, 3].into_iter().flat_map(requests).collect::<Vec<_>>();
    assert_eq!(taken_at_home(home(&[])), all());

    let shared: &[Happened] = &[(1, Ok(ReadRequest)), (2, Ok(ReadRequest))];
    let mut expected = [requests(1).as_slice(), &[(1, UpgradeRequest)]].concat();
    expected.extend([requests(2).as_slice(), &[(2, UpgradeRequest)], &requests(3)].concat());
    assert_eq!(taken_at_home(home(shared)), expected, "a reader may have dropped its copy");

    let exclusive: &[Happened] = &[(2, Ok(WriteRequest))];
    let expected = [requests(1).as_slice(), &[(2, Writeback)], &requests(3)].concat();
    assert_eq!(taken_at_home(home(exclusive)), expected);
}

#[test]
fn a_busy_home_takes_one_request_of_each_node_and_what_it_waits_for() {
    let shared: &[Happened] = &[(1, Ok(ReadRequest)), (2, Ok(ReadRequest))];
    let invalidating = [shared, &[(2, Ok(UpgradeRequest))]].concat();
    let expected = [requests(1).as_slice(), &[(1, UpgradeRequest), (1, Acknowledge)], &requests(3)].concat();
    assert_eq!(taken_at_home(home(&invalidating)), expected);
    let queued = [&invalidating[..], &[(1, Ok(UpgradeRequest)), (3, Ok(ReadRequest))]].concat();
    assert_eq!(taken_at_home(home(&queued)), [(1, Acknowledge)]);

    let recalling: &[Happened] = &[(2, Ok(WriteRequest)), (1, Ok(ReadRequest))];
    let expected = [&[(2, Return), (2, Writeback)], requests(3).as_slice()].concat();
    assert_eq!(taken_at_home(home(recalling)), expected);
    let returned = [recalling, &[(2, Ok(Writeback))]].concat();
    let expected = [requests(2).as_slice(), &[(2, Acknowledge)], &requests(3)].concat();
    assert_eq!(taken_at_home(home(&returned)), expected, "who wrote back may want the block again");
}

#[test]
fn a_node_takes_what_it_asked_for_and_what_it_can_be_asked_for() {
    let read = Err(Access::Read);
    let write = Err(Access::Write);
    // A page that was dropped or written back may still be asked for.
    let absent = [Invalidate, Downgrade, Recall];
    let with = |reply: Message| [&[reply], &absent[..]].concat();
    assert_eq!(taken_at_cacher(cacher(&[])), absent);
    assert_eq!(taken_at_cacher(cacher(&[read])), with(ReadReply));
    assert_eq!(taken_at_cacher(cacher(&[write])), with(WriteReply));
    let reader = [read, Ok(ReadReply)];
    assert_eq!(taken_at_cacher(cacher(&reader)), [Invalidate]);
    let upgrading = [&reader[..], &[write]].concat();
    assert_eq!(taken_at_cacher(cacher(&upgrading)), [UpgradeReply, Invalidate]);
    let too_late = [&upgrading[..], &[Ok(Invalidate)]].concat();
    assert_eq!(taken_at_cacher(cacher(&too_late)), with(WriteReply));
    assert_eq!(taken_at_cacher(cacher(&[write, Ok(WriteReply)])), [Downgrade, Recall]);
}

/// A processor was denied an access, and its fault is handled when the block has come. It tries again at once,
/// even if the home waits for others.
#[test]
fn a_fault_that_is_out_of_date_waits_for_nothing() {
    let resumes = |mut entry: DirectoryEntry| {
        let before = entry;
        let fault = Event::Fault { cpu: CpuId(9), access: Access::Read };
        let mut actions = Vec::new();
        entry.handle(HOME, fault, |action| actions.push(action)).expect("a fault");
        assert_eq!(entry, before);
        assert_eq!(actions.len(), 1, "{actions:?}");
    };
    let shared: &[Happened] = &[(1, Ok(ReadRequest)), (2, Ok(ReadRequest))];
    let invalidating = home(&[shared, &[(2, Ok(UpgradeRequest))]].concat());
    assert_eq!(
        (invalidating.sharing(), invalidating.tag()),
        (Sharing::Invalidating { upgrade: true }, Tag::ReadOnly)
    );
    [home(&[]), home(shared), invalidating].into_iter().for_each(resumes);
}
