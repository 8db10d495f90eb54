//! What must hold of every state of a cluster that runs the protocol.

use crate::cluster::{Block, Cluster, Shape};
use warmcore_coherence::{Access, DirectoryEntry, Message, Request, Sharing, Tag};
use warmcore_units::NodeId;

/// What is said of a state, and whether it holds.
pub(crate) type Rule = (&'static str, fn(&Shape, &Cluster) -> bool);

pub(crate) const ONE_WRITER: &str = "one node writes or any number read";
pub(crate) const LAST_WRITE: &str = "whoever may read sees the last write";
pub(crate) const EXPECTED: &str = "no event is unexpected";
/// That every delivery lowers [`left_to_do`].
pub(crate) const ENDS: &str = "every delivery leaves less to do";

/// What holds in every state.
pub(crate) const ALWAYS: [Rule; 6] = [
    (ONE_WRITER, one_writer),
    (LAST_WRITE, last_write),
    (EXPECTED, |_, cluster| cluster.unexpected.is_none()),
    ("tags are what actions made them", tags_follow_actions),
    ("nobody waits when nothing is under way", nobody_waits),
    ("the directory agrees with the tags when nothing is under way", directory_agrees),
];

/// What happens in some state of a cluster of three or more nodes: the rules are tried where it is hard to keep them.
pub(crate) const REACHED: [Rule; 5] = [
    ("two requests wait for a third", |_, cluster| any_entry(cluster, |entry| entry.queued().len() == 2)),
    ("a writeback and a recall cross", |_, cluster| {
        any_entry(cluster, |entry| matches!(entry.sharing(), Sharing::Recalling { returned: true, .. }))
    }),
    ("a node asks to keep a copy that it is about to lose", |_, cluster| {
        let sent = |message| cluster.in_flight.iter().any(|envelope| envelope.message == message);
        sent(Message::UpgradeRequest) && sent(Message::Invalidate)
    }),
    ("a node asks for what it has dropped before the home knows", |shape, cluster| {
        cluster.blocks.iter().zip(shape.homes).any(|(block, &home)| {
            let asks = |node: &u32| block.copies[*node as usize].state.outstanding() == Some(Request::Read);
            let shared = block.entry.sharing() == Sharing::Shared;
            shared
                && (0..shape.nodes).filter(|&node| node != home).filter(asks).any(|node| {
                    block.entry.holders().contains(NodeId(node))
                        && cluster.in_flight.iter().any(|envelope| {
                            u32::from(envelope.from) == node && envelope.message == Message::ReadRequest
                        })
                })
        })
    }),
    ("the home waits with its own store for readers", |shape, cluster| {
        cluster.blocks.iter().zip(shape.homes).any(|(block, &home)| {
            let entry = &block.entry;
            matches!(entry.sharing(), Sharing::Invalidating { .. }) && entry.busy_for() == Some(NodeId(home))
        })
    }),
];

fn any_entry(cluster: &Cluster, holds: impl Fn(&DirectoryEntry) -> bool) -> bool {
    cluster.blocks.iter().any(|block| holds(&block.entry))
}

fn one_writer(_: &Shape, cluster: &Cluster) -> bool {
    cluster.blocks.iter().all(|block| {
        let count = |wanted| block.copies.iter().filter(|copy| copy.tag == wanted).count();
        let writers = count(Tag::ReadWrite);
        writers == 0 || (writers == 1 && count(Tag::ReadOnly) == 0)
    })
}

fn last_write(_: &Shape, cluster: &Cluster) -> bool {
    cluster.blocks.iter().all(|block| {
        block.copies.iter().all(|copy| !copy.tag.permits(Access::Read) || copy.value == block.latest)
    })
}

fn tags_follow_actions(shape: &Shape, cluster: &Cluster) -> bool {
    cluster.blocks.iter().zip(shape.homes).all(|(block, &home)| {
        (0..).zip(&block.copies).all(|(node, copy)| {
            let said = if node == home { block.entry.tag() } else { copy.state.tag() };
            copy.tag == said
        })
    })
}

/// Whether nothing is under way, and no message was taken out of the network unread.
fn rests(cluster: &Cluster) -> bool {
    cluster.in_flight.is_empty() && cluster.unexpected.is_none()
}

fn nobody_waits(_: &Shape, cluster: &Cluster) -> bool {
    let at_rest = |block: &Block| {
        let entry = &block.entry;
        entry.busy_for().is_none()
            && entry.queued().is_empty()
            && entry.waiting().is_empty()
            && block
                .copies
                .iter()
                .all(|copy| copy.state.outstanding().is_none() && copy.state.waiting().is_empty())
    };
    !rests(cluster) || cluster.blocks.iter().all(at_rest)
}

fn directory_agrees(shape: &Shape, cluster: &Cluster) -> bool {
    let agrees = |(block, &home): (&Block, &u32)| {
        let entry = &block.entry;
        let others = (0..).zip(&block.copies).filter(|&(node, _)| node != home);
        let mut known = others.map(|(node, copy)| (copy.tag, entry.holders().contains(NodeId(node))));
        match entry.sharing() {
            Sharing::Home => known.all(|known| known == (Tag::Invalid, false)),
            // A holder may have dropped its copy with the page.
            Sharing::Shared => known.all(|(tag, held)| tag == Tag::Invalid || (tag == Tag::ReadOnly && held)),
            Sharing::Exclusive => {
                known.all(|(tag, held)| (tag == Tag::ReadWrite) == held && tag != Tag::ReadOnly)
            }
            Sharing::Invalidating { .. } | Sharing::Recalling { .. } => false,
        }
    };
    !rests(cluster) || cluster.blocks.iter().zip(shape.homes).all(agrees)
}

/// A measure of what is left to do. Every delivery lowers it, so that deliveries end, and then nobody waits.
///
/// A demand brings about an answer. What a request brings about is at most a demand to each node and a reply, and
/// the state of being busy until it is sent; being taken out of the queue lowers the measure as well.
pub(crate) fn left_to_do(shape: &Shape, cluster: &Cluster) -> u32 {
    let busy = 2;
    let queued = busy + 2 * shape.nodes + 1;
    let message = |message: Message| match message {
        Message::ReadRequest | Message::WriteRequest | Message::UpgradeRequest => queued + 1,
        Message::Invalidate | Message::Downgrade | Message::Recall => 2,
        Message::ReadReply | Message::WriteReply | Message::UpgradeReply => 1,
        Message::Acknowledge | Message::Return | Message::Writeback => 1,
    };
    let under_way: u32 = cluster.in_flight.iter().map(|envelope| message(envelope.message)).sum();
    let entries = cluster.blocks.iter().map(|block| {
        let waiting = queued * block.entry.queued().len();
        waiting + if block.entry.busy_for().is_some() { busy } else { 0 }
    });
    under_way + entries.sum::<u32>()
}
