//! The protocol as a table: what each event in each state makes a node do.

use warmcore_coherence::{
    Access, Action, CachedBlock, CpuSet, DirectoryEntry, Event, Handler, Message, NodeSet, Request, Sharing,
    State, Step, Tag,
};
use warmcore_units::{CpuId, NodeId};

const HOME: NodeId = NodeId(0);
const READER: NodeId = NodeId(1);
const WRITER: NodeId = NodeId(2);

const READ: Event = fault(0, Access::Read);
const WRITE: Event = fault(0, Access::Write);

const fn fault(cpu: u32, access: Access) -> Event {
    Event::Fault { cpu: CpuId(cpu), access }
}

const fn message(from: NodeId, message: Message) -> Event {
    Event::Message { from, message }
}

const fn send(to: NodeId, message: Message) -> Action {
    Action::Send { to, message }
}

const fn send_block(to: NodeId, message: Message, tag: Tag) -> Action {
    Action::SendBlock { to, message, tag }
}

const fn place(tag: Tag) -> Action {
    Action::PlaceBlock { tag }
}

fn resume(cpus: &[u32]) -> Action {
    Action::Resume(cpus.iter().map(|&cpu| CpuId(cpu)).collect())
}

fn nodes(nodes: &[NodeId]) -> NodeSet {
    nodes.iter().copied().collect()
}

/// Rows of a node's table: an event, the handler that runs and what it does.
type Rows<'a> = &'a [(Event, Handler, &'a [Action])];

fn at_cacher(rows: Rows) -> CachedBlock {
    let mut block = CachedBlock::default();
    for &(event, handler, expected) in rows {
        let mut actions = Vec::new();
        assert_eq!(block.handle(HOME, event, |action| actions.push(action)), Ok(handler), "{event:?}");
        assert_eq!(actions, expected, "{event:?}");
    }
    block
}

fn at_home(rows: Rows) -> DirectoryEntry {
    let mut entry = DirectoryEntry::default();
    for &(event, handler, expected) in rows {
        let mut actions = Vec::new();
        assert_eq!(entry.handle(HOME, event, |action| actions.push(action)), Ok(handler), "{event:?}");
        assert_eq!(actions, expected, "{event:?}");
    }
    entry
}

#[test]
fn a_read_miss_fetches_a_copy() {
    let block = at_cacher(&[
        (READ, Handler::Fault, &[send(HOME, Message::ReadRequest)]),
        (message(HOME, Message::ReadReply), Handler::Response, &[place(Tag::ReadOnly), resume(&[0])]),
    ]);
    assert_eq!(block.tag(), Tag::ReadOnly);
    let entry = at_home(&[(
        message(READER, Message::ReadRequest),
        Handler::Request,
        &[send_block(READER, Message::ReadReply, Tag::ReadOnly)],
    )]);
    assert_eq!((entry.sharing(), entry.holders()), (Sharing::Shared, nodes(&[READER])));
}

#[test]
fn a_write_miss_fetches_the_only_copy() {
    let block = at_cacher(&[
        (WRITE, Handler::Fault, &[send(HOME, Message::WriteRequest)]),
        (message(HOME, Message::WriteReply), Handler::Response, &[place(Tag::ReadWrite), resume(&[0])]),
    ]);
    assert_eq!(block.tag(), Tag::ReadWrite);
    let entry = at_home(&[(
        message(WRITER, Message::WriteRequest),
        Handler::Request,
        &[send_block(WRITER, Message::WriteReply, Tag::Invalid)],
    )]);
    assert_eq!((entry.sharing(), entry.holders()), (Sharing::Exclusive, nodes(&[WRITER])));
}

#[test]
fn a_store_to_a_copy_upgrades_it_without_data() {
    let block = at_cacher(&[
        (READ, Handler::Fault, &[send(HOME, Message::ReadRequest)]),
        (message(HOME, Message::ReadReply), Handler::Response, &[place(Tag::ReadOnly), resume(&[0])]),
        (WRITE, Handler::Fault, &[send(HOME, Message::UpgradeRequest)]),
        (
            message(HOME, Message::UpgradeReply),
            Handler::Response,
            &[Action::SetTag(Tag::ReadWrite), resume(&[0])],
        ),
    ]);
    assert_eq!(block.tag(), Tag::ReadWrite);
    at_home(&[
        (
            message(WRITER, Message::ReadRequest),
            Handler::Request,
            &[send_block(WRITER, Message::ReadReply, Tag::ReadOnly)],
        ),
        (
            message(WRITER, Message::UpgradeRequest),
            Handler::Request,
            &[Action::SetTag(Tag::Invalid), send(WRITER, Message::UpgradeReply)],
        ),
    ]);
}

/// The home of a block that both nodes read.
fn shared(rows: Rows) -> DirectoryEntry {
    let reply = [READER, WRITER].map(|node| [send_block(node, Message::ReadReply, Tag::ReadOnly)]);
    let read = |node| message(node, Message::ReadRequest);
    let before: Rows =
        &[(read(READER), Handler::Request, &reply[0]), (read(WRITER), Handler::Request, &reply[1])];
    at_home(&[before, rows].concat())
}

/// The home of a block that `WRITER` writes.
fn exclusive(rows: Rows) -> DirectoryEntry {
    let reply = [send_block(WRITER, Message::WriteReply, Tag::Invalid)];
    let before: Rows = &[(message(WRITER, Message::WriteRequest), Handler::Request, &reply)];
    at_home(&[before, rows].concat())
}

#[test]
fn readers_give_way_to_a_writer() {
    let invalidate = [send(READER, Message::Invalidate)];
    let entry = shared(&[
        (message(WRITER, Message::UpgradeRequest), Handler::Request, &invalidate),
        (
            message(READER, Message::Acknowledge),
            Handler::Answer,
            &[Action::SetTag(Tag::Invalid), send(WRITER, Message::UpgradeReply)],
        ),
    ]);
    assert_eq!((entry.sharing(), entry.holders()), (Sharing::Exclusive, nodes(&[WRITER])));
    at_cacher(&[
        (READ, Handler::Fault, &[send(HOME, Message::ReadRequest)]),
        (message(HOME, Message::ReadReply), Handler::Response, &[place(Tag::ReadOnly), resume(&[0])]),
        (
            message(HOME, Message::Invalidate),
            Handler::Demand,
            &[Action::SetTag(Tag::Invalid), send(HOME, Message::Acknowledge)],
        ),
    ]);
}

#[test]
fn the_home_stores_when_all_copies_are_gone() {
    let invalidate = [READER, WRITER].map(|node| send(node, Message::Invalidate));
    let entry = shared(&[
        (WRITE, Handler::HomeFault, &invalidate),
        (message(WRITER, Message::Acknowledge), Handler::Answer, &[]),
        (
            message(READER, Message::Acknowledge),
            Handler::Answer,
            &[Action::SetTag(Tag::ReadWrite), resume(&[0])],
        ),
    ]);
    assert_eq!((entry.sharing(), entry.tag()), (Sharing::Home, Tag::ReadWrite));
}

#[test]
fn a_writer_gives_way_to_a_reader_and_keeps_a_copy() {
    let returned = message(WRITER, Message::Return);
    let entry = exclusive(&[
        (message(READER, Message::ReadRequest), Handler::Request, &[send(WRITER, Message::Downgrade)]),
        (
            returned,
            Handler::Answer,
            &[place(Tag::ReadOnly), send_block(READER, Message::ReadReply, Tag::ReadOnly)],
        ),
    ]);
    assert_eq!((entry.sharing(), entry.holders()), (Sharing::Shared, nodes(&[READER, WRITER])));
    exclusive(&[
        (READ, Handler::HomeFault, &[send(WRITER, Message::Downgrade)]),
        (returned, Handler::Answer, &[place(Tag::ReadOnly), resume(&[0])]),
    ]);
    let block = at_cacher(&[
        (WRITE, Handler::Fault, &[send(HOME, Message::WriteRequest)]),
        (message(HOME, Message::WriteReply), Handler::Response, &[place(Tag::ReadWrite), resume(&[0])]),
        (
            message(HOME, Message::Downgrade),
            Handler::Demand,
            &[send_block(HOME, Message::Return, Tag::ReadOnly)],
        ),
    ]);
    assert_eq!(block.tag(), Tag::ReadOnly);
}

#[test]
fn a_writer_gives_way_to_another_and_keeps_nothing() {
    let returned = message(WRITER, Message::Return);
    let recall = [send(WRITER, Message::Recall)];
    let entry = exclusive(&[
        (message(READER, Message::WriteRequest), Handler::Request, &recall),
        (
            returned,
            Handler::Answer,
            &[place(Tag::Invalid), send_block(READER, Message::WriteReply, Tag::Invalid)],
        ),
    ]);
    assert_eq!((entry.sharing(), entry.holders()), (Sharing::Exclusive, nodes(&[READER])));
    let entry = exclusive(&[
        (WRITE, Handler::HomeFault, &recall),
        (returned, Handler::Answer, &[place(Tag::ReadWrite), resume(&[0])]),
    ]);
    assert_eq!((entry.sharing(), entry.holders()), (Sharing::Home, NodeSet::EMPTY));
}

#[test]
fn a_replaced_page_returns_what_was_written() {
    let block = at_cacher(&[
        (WRITE, Handler::Fault, &[send(HOME, Message::WriteRequest)]),
        (message(HOME, Message::WriteReply), Handler::Response, &[place(Tag::ReadWrite), resume(&[0])]),
        (Event::Unmap, Handler::Unmap, &[send_block(HOME, Message::Writeback, Tag::Invalid)]),
    ]);
    assert_eq!(block, CachedBlock::default());
    let entry =
        exclusive(&[(message(WRITER, Message::Writeback), Handler::Answer, &[place(Tag::ReadWrite)])]);
    assert_eq!((entry.sharing(), entry.holders()), (Sharing::Home, NodeSet::EMPTY));
}

#[test]
fn a_replaced_page_drops_what_was_read() {
    at_cacher(&[
        (READ, Handler::Fault, &[send(HOME, Message::ReadRequest)]),
        (message(HOME, Message::ReadReply), Handler::Response, &[place(Tag::ReadOnly), resume(&[0])]),
        (Event::Unmap, Handler::Unmap, &[Action::SetTag(Tag::Invalid)]),
        (Event::Unmap, Handler::Unmap, &[]),
        (message(HOME, Message::Invalidate), Handler::Demand, &[send(HOME, Message::Acknowledge)]),
    ]);
}

#[test]
fn a_writeback_that_crosses_a_recall_answers_it() {
    let crossing = |demand| {
        at_cacher(&[
            (WRITE, Handler::Fault, &[send(HOME, Message::WriteRequest)]),
            (message(HOME, Message::WriteReply), Handler::Response, &[place(Tag::ReadWrite), resume(&[0])]),
            (Event::Unmap, Handler::Unmap, &[send_block(HOME, Message::Writeback, Tag::Invalid)]),
            (message(HOME, demand), Handler::Demand, &[send(HOME, Message::Acknowledge)]),
        ])
    };
    crossing(Message::Recall);
    crossing(Message::Downgrade);
    let entry = exclusive(&[
        (message(READER, Message::ReadRequest), Handler::Request, &[send(WRITER, Message::Downgrade)]),
        (message(WRITER, Message::Writeback), Handler::Answer, &[place(Tag::Invalid)]),
        // It wants the block again already: later.
        (message(WRITER, Message::ReadRequest), Handler::Request, &[]),
        (
            message(WRITER, Message::Acknowledge),
            Handler::Answer,
            &[
                send_block(READER, Message::ReadReply, Tag::ReadOnly),
                send_block(WRITER, Message::ReadReply, Tag::ReadOnly),
            ],
        ),
    ]);
    assert_eq!(entry.holders(), nodes(&[READER, WRITER]));
}

#[test]
fn an_upgrade_that_comes_too_late_fetches_the_block() {
    at_cacher(&[
        (READ, Handler::Fault, &[send(HOME, Message::ReadRequest)]),
        (message(HOME, Message::ReadReply), Handler::Response, &[place(Tag::ReadOnly), resume(&[0])]),
        (WRITE, Handler::Fault, &[send(HOME, Message::UpgradeRequest)]),
        (
            message(HOME, Message::Invalidate),
            Handler::Demand,
            &[Action::SetTag(Tag::Invalid), send(HOME, Message::Acknowledge)],
        ),
        (message(HOME, Message::WriteReply), Handler::Response, &[place(Tag::ReadWrite), resume(&[0])]),
    ]);
    shared(&[
        (message(WRITER, Message::UpgradeRequest), Handler::Request, &[send(READER, Message::Invalidate)]),
        (message(READER, Message::UpgradeRequest), Handler::Request, &[]),
        (
            message(READER, Message::Acknowledge),
            Handler::Answer,
            &[
                Action::SetTag(Tag::Invalid),
                send(WRITER, Message::UpgradeReply),
                send(WRITER, Message::Recall),
            ],
        ),
        (
            message(WRITER, Message::Return),
            Handler::Answer,
            &[place(Tag::Invalid), send_block(READER, Message::WriteReply, Tag::Invalid)],
        ),
    ]);
}

#[test]
fn requests_that_meet_a_busy_block_are_served_in_turn() {
    let [third, fourth] = [NodeId(3), NodeId(4)];
    let entry = exclusive(&[
        (message(third, Message::WriteRequest), Handler::Request, &[send(WRITER, Message::Recall)]),
        // In whatever order they ask: after the third node the fourth is next, then the home, then the first.
        (message(READER, Message::ReadRequest), Handler::Request, &[]),
        (READ, Handler::HomeFault, &[]),
        (fault(1, Access::Write), Handler::HomeFault, &[]),
        (message(fourth, Message::WriteRequest), Handler::Request, &[]),
        (
            message(WRITER, Message::Return),
            Handler::Answer,
            &[
                place(Tag::Invalid),
                send_block(third, Message::WriteReply, Tag::Invalid),
                send(third, Message::Recall),
            ],
        ),
        (
            message(third, Message::Return),
            Handler::Answer,
            &[
                place(Tag::Invalid),
                send_block(fourth, Message::WriteReply, Tag::Invalid),
                send(fourth, Message::Downgrade),
            ],
        ),
        (
            message(fourth, Message::Return),
            Handler::Answer,
            &[place(Tag::ReadOnly), resume(&[0, 1]), send_block(READER, Message::ReadReply, Tag::ReadOnly)],
        ),
    ]);
    assert_eq!(entry.queued(), NodeSet::EMPTY);
    assert_eq!(entry.holders(), nodes(&[READER, fourth]));
}

#[test]
fn processors_of_a_node_wait_for_one_request() {
    at_cacher(&[
        (fault(0, Access::Read), Handler::Fault, &[send(HOME, Message::ReadRequest)]),
        (fault(5, Access::Write), Handler::Fault, &[]),
        (fault(3, Access::Read), Handler::Fault, &[]),
        (message(HOME, Message::ReadReply), Handler::Response, &[place(Tag::ReadOnly), resume(&[0, 3, 5])]),
        // The one that wants to store faults again.
        (fault(5, Access::Write), Handler::Fault, &[send(HOME, Message::UpgradeRequest)]),
        // A fault that was detected before the block came.
        (fault(7, Access::Read), Handler::Fault, &[resume(&[7])]),
    ]);
    at_home(&[(fault(1, Access::Write), Handler::HomeFault, &[resume(&[1])])]);
}

#[test]
fn an_unexpected_event_changes_nothing_and_says_who_and_what() {
    let mut block = CachedBlock::default();
    let mut sink = |action| panic!("{action:?}");
    let refused =
        block.handle(HOME, message(READER, Message::ReadReply), &mut sink).expect_err("from no home");
    assert_eq!(refused.state, State::Cacher(CachedBlock::default()));
    let refused =
        block.handle(HOME, message(HOME, Message::ReadReply), &mut sink).expect_err("not asked for");
    let said = refused.to_string();
    assert!(
        said.starts_with("ReadReply from node0 was not expected by a node with the block in state"),
        "{said}"
    );
    assert!(block.handle(HOME, fault(64, Access::Read), &mut sink).is_err(), "no such processor");
    let mut entry = DirectoryEntry::default();
    for event in [
        message(HOME, Message::ReadRequest),
        message(NodeId(64), Message::ReadRequest),
        message(READER, Message::UpgradeRequest),
        message(READER, Message::Acknowledge),
        message(READER, Message::Writeback),
        message(READER, Message::ReadReply),
        fault(64, Access::Write),
        Event::Unmap,
    ] {
        let refused = entry.handle(HOME, event, &mut sink).expect_err("unexpected");
        assert_eq!((refused.event, refused.state), (event, State::Home(DirectoryEntry::default())));
    }
    assert_eq!((block, entry), (CachedBlock::default(), DirectoryEntry::default()));
}

#[test]
fn a_page_stays_while_a_block_of_it_is_under_way() {
    let mut block = at_cacher(&[(READ, Handler::Fault, &[send(HOME, Message::ReadRequest)])]);
    assert_eq!(block.outstanding(), Some(Request::Read));
    assert_eq!(block.waiting(), CpuSet::just(CpuId(0)));
    assert!(block.handle(HOME, Event::Unmap, |action| panic!("{action:?}")).is_err());
}

/// Table 5.1 (Falsafi 1998): cycles of the rows in their order, for S-COMA, Hurricane and Hurricane-1.
const TABLE_5_1: [(Step, [u32; 3]); 9] = [
    (Step::DetectFault, [12, 16, 87]),
    (Step::SendRequest, [0, 36, 141]),
    (Step::DispatchAtHome, [1, 3, 51]),
    (Step::LookUpDirectory, [8, 61, 121]),
    (Step::FetchAndSend, [136, 140, 205]),
    (Step::DispatchAtCacher, [1, 4, 50]),
    (Step::ReverseTranslate, [8, 16, 34]),
    (Step::Place, [0, 34, 29]),
    (Step::Resume, [6, 6, 178]),
];

#[test]
fn a_remote_read_takes_the_steps_of_table_5_1() {
    let (mut block, mut entry) = (CachedBlock::default(), DirectoryEntry::default());
    let (mut steps, mut from_actions) = (Vec::new(), Vec::new());
    let mut run = |handled: Handler, actions: &mut Vec<Step>| {
        steps.extend_from_slice(handled.steps());
        steps.append(actions);
    };
    let mut sink = |action: Action| from_actions.push(action.step());
    let request = block.handle(HOME, READ, &mut sink).expect("a fault");
    run(request, &mut from_actions);
    let mut sink = |action: Action| from_actions.push(action.step());
    let reply = entry.handle(HOME, message(READER, Message::ReadRequest), &mut sink).expect("a request");
    run(reply, &mut from_actions);
    let mut sink = |action: Action| from_actions.push(action.step());
    let response = block.handle(HOME, message(HOME, Message::ReadReply), &mut sink).expect("a reply");
    run(response, &mut from_actions);
    assert_eq!(steps, TABLE_5_1.map(|(step, _)| step));
    // The miss itself, two ways through the network, and the load that is tried again.
    let total =
        |device: usize| 5 + 2 * 100 + 63 + TABLE_5_1.iter().map(|(_, cycles)| cycles[device]).sum::<u32>();
    assert_eq!([0, 1, 2].map(total), [440, 584, 1164]);
}

#[test]
fn states_are_a_few_words() {
    assert!(size_of::<CachedBlock>() <= 2 * size_of::<u64>());
    assert!(size_of::<DirectoryEntry>() <= 5 * size_of::<u64>());
}
