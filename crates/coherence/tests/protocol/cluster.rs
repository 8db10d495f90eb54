//! A cluster that runs the protocol: a driver that does what the handlers ask for, with every message in sight.
//!
//! It keeps tags of its own, as the actions set them, and a value for each node's copy of each block. It checks
//! nothing: [`rules`](crate::rules) does.

use crate::defect::Defect;
use crate::network::{Envelope, Order};
use warmcore_coherence::{Access, Action, CachedBlock, DirectoryEntry, Event, Handler, Tag, Unexpected};
use warmcore_units::{CpuId, NodeId};

/// How large the cluster is, and how it is connected.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub nodes: u32,
    /// How many processors each node has.
    pub cpus: u32,
    /// The home of each block.
    pub homes: &'static [u32],
    pub order: Order,
    pub defect: Option<Defect>,
}

/// One node's part of one block.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Copy {
    pub tag: Tag,
    pub value: u32,
    pub state: CachedBlock,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Block {
    pub entry: DirectoryEntry,
    /// The last value that any processor wrote.
    pub latest: u32,
    /// Of each node. The home uses no `state`.
    pub copies: Vec<Copy>,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Cluster {
    pub blocks: Vec<Block>,
    pub in_flight: Vec<Envelope>,
    pub unexpected: Option<Unexpected>,
}

impl Cluster {
    pub(crate) fn new(shape: &Shape) -> Self {
        let block = |&home: &u32| {
            let tag = |node| if node == home { Tag::ReadWrite } else { Tag::Invalid };
            let copy = |node| Copy { tag: tag(node), value: 0, state: CachedBlock::default() };
            Block {
                entry: DirectoryEntry::default(),
                latest: 0,
                copies: (0..shape.nodes).map(copy).collect(),
            }
        };
        Self { blocks: shape.homes.iter().map(block).collect(), in_flight: Vec::new(), unexpected: None }
    }

    /// Whether `cpu` of `node` waits for `block`.
    pub(crate) fn waits(&self, shape: &Shape, node: u32, block: usize, cpu: u32) -> bool {
        let waiting = if node == shape.homes[block] {
            self.blocks[block].entry.waiting()
        } else {
            self.blocks[block].copies[node as usize].state.waiting()
        };
        waiting.contains(CpuId(cpu))
    }

    /// Lets the handler of a block access fault run.
    pub(crate) fn fault(
        &mut self,
        shape: &Shape,
        node: u32,
        block: usize,
        cpu: u32,
        access: Access,
        thread: u8,
    ) {
        self.handle(shape, node, block, Event::Fault { cpu: CpuId(cpu), access }, None, thread);
    }

    /// Lets a processor store into a block that its node may write.
    pub(crate) fn write(&mut self, node: u32, block: usize) {
        let block = &mut self.blocks[block];
        block.latest += 1;
        block.copies[node as usize].value = block.latest;
    }

    /// Unmaps the page at `node` of which `blocks` are, if it may be unmapped.
    pub(crate) fn unmap(&mut self, shape: &Shape, node: u32, blocks: &[usize], thread: u8) {
        for &block in blocks {
            self.handle(shape, node, block, Event::Unmap, None, thread);
        }
    }

    /// Delivers a message, which thread `thread` of the receiver handles.
    pub(crate) fn deliver(&mut self, shape: &Shape, index: usize, thread: u8) {
        let envelope = self.in_flight.remove(index);
        let Envelope { from, to, block, message, value, .. } = envelope;
        let entry = &self.blocks[usize::from(block)].entry;
        if shape.defect.is_some_and(|defect| defect.bounces(entry, message)) {
            shape.order.send(&mut self.in_flight, envelope);
            return;
        }
        let event = Event::Message { from: NodeId(from.into()), message };
        self.handle(shape, to.into(), block.into(), event, value, thread);
    }

    fn handle(
        &mut self,
        shape: &Shape,
        node: u32,
        index: usize,
        event: Event,
        arrived: Option<u32>,
        thread: u8,
    ) -> Option<Handler> {
        let home = shape.homes[index];
        let block = &mut self.blocks[index];
        let before = block.copies[node as usize].state;
        let mut actions = Vec::new();
        let result = match shape.defect {
            Some(defect) if defect.answers(&block.entry, node == home, event, &mut actions) => {
                Ok(Handler::Request)
            }
            _ if node == home => block.entry.handle(NodeId(home), event, |action| actions.push(action)),
            _ => block.copies[node as usize].state.handle(NodeId(home), event, |action| actions.push(action)),
        };
        if let Some(defect) = shape.defect {
            defect.spoil(&mut actions, &mut block.copies[node as usize].state, before);
        }
        for action in actions {
            self.apply(shape, node, index, action, arrived, thread);
        }
        result.map_err(|unexpected| self.unexpected = Some(unexpected)).ok()
    }

    fn apply(
        &mut self,
        shape: &Shape,
        node: u32,
        index: usize,
        action: Action,
        arrived: Option<u32>,
        thread: u8,
    ) {
        let copy = &mut self.blocks[index].copies[node as usize];
        let (to, message, value) = match action {
            Action::Send { to, message } => (to, message, None),
            Action::SendBlock { to, message, tag } => {
                copy.tag = tag;
                (to, message, Some(copy.value))
            }
            Action::PlaceBlock { tag } => {
                copy.tag = tag;
                copy.value = arrived.expect("only a block that has come is placed");
                return;
            }
            Action::SetTag(tag) => {
                copy.tag = tag;
                return;
            }
            Action::Resume(_) => return,
        };
        self.send(
            shape,
            Envelope {
                from: node.try_into().expect("few nodes"),
                to: to.0.try_into().expect("few nodes"),
                block: index.try_into().expect("few blocks"),
                thread,
                message,
                value,
            },
        );
    }

    fn send(&mut self, shape: &Shape, envelope: Envelope) {
        let sent = shape.defect.map_or(Some(envelope), |defect| defect.transmit(envelope));
        if let Some(envelope) = sent {
            shape.order.send(&mut self.in_flight, envelope);
        }
    }
}
