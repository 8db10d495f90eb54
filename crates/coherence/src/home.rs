//! A block on its home: the entry of the full-map directory (Stache; Falsafi 1998, §4 and §5.1).
//!
//! The entry takes one request at a time. While one waits for other nodes' answers the entry is *busy*, and
//! further requests queue up in it: at most one of each node, so that two sets hold them all. They are served round
//! robin by node, so that none waits for more than one of each other node.

use crate::action::{Action, Handler};
use crate::cacher::Request;
use crate::message::Message;
use crate::set::{CpuSet, NodeSet};
use crate::tempest::{Access, Event, Tag};
use crate::unexpected::{State, Unexpected};
use warmcore_units::{CpuId, NodeId};

/// Who has a block, and what its home waits for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Sharing {
    /// The home alone.
    #[default]
    Home,
    /// The home and all [holders](DirectoryEntry::holders) to read.
    Shared,
    /// One holder, to write.
    Exclusive,
    /// Busy: the holders still have to acknowledge that their copies are gone. For a writer that, if
    /// `upgrade`, keeps a copy.
    Invalidating {
        /// Whether the writer has a copy.
        upgrade: bool,
    },
    /// Busy: the one holder still has to answer a downgrade (for a reader) or a recall (for a writer).
    Recalling {
        /// What the node that asked wants.
        access: Access,
        /// Whether the block has come as a writeback, which the holder sent before it saw the demand.
        returned: bool,
    },
}

/// What a block's home knows of it. The default is a block that nobody else has.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct DirectoryEntry {
    sharing: Sharing,
    /// Who is being served if busy, and otherwise was last.
    served: NodeId,
    holders: NodeSet,
    readers: NodeSet,
    writers: NodeSet,
    waiting: CpuSet,
}

impl DirectoryEntry {
    /// Who has the block, in what way.
    #[must_use]
    pub const fn sharing(&self) -> Sharing {
        self.sharing
    }

    /// The nodes that have the block, as far as the home knows; while it is busy, those that have yet to answer.
    /// A node that only read it may have dropped it since.
    #[must_use]
    pub const fn holders(&self) -> NodeSet {
        self.holders
    }

    /// The nodes whose requests wait until the entry is no longer busy.
    #[must_use]
    pub const fn queued(&self) -> NodeSet {
        self.readers.union(self.writers)
    }

    /// The node whose request keeps the entry busy.
    #[must_use]
    pub const fn busy_for(&self) -> Option<NodeId> {
        match self.sharing {
            Sharing::Invalidating { .. } | Sharing::Recalling { .. } => Some(self.served),
            Sharing::Home | Sharing::Shared | Sharing::Exclusive => None,
        }
    }

    /// The home's own processors that wait for the block.
    #[must_use]
    pub const fn waiting(&self) -> CpuSet {
        self.waiting
    }

    /// What the home's own processors may do with the block. They go on reading while others' copies are taken away.
    #[must_use]
    pub const fn tag(&self) -> Tag {
        match self.sharing {
            Sharing::Home => Tag::ReadWrite,
            Sharing::Shared | Sharing::Invalidating { .. } => Tag::ReadOnly,
            Sharing::Exclusive | Sharing::Recalling { .. } => Tag::Invalid,
        }
    }

    /// Handles `event`; hands to `sink` what is to be done, in order. `home` is this node.
    ///
    /// # Errors
    /// If the protocol does not allow the event in this state: nothing has changed, and `sink` was not called.
    /// A home's pages are never unmapped.
    pub fn handle(
        &mut self,
        home: NodeId,
        event: Event,
        mut sink: impl FnMut(Action),
    ) -> Result<Handler, Unexpected> {
        let handler = match event {
            Event::Fault { cpu, access } => self.fault(home, cpu, access, &mut sink),
            Event::Message { from, message } => {
                let known = from != home && from.0 < NodeSet::CAPACITY && home.0 < NodeSet::CAPACITY;
                if known { self.receive(home, from, message, &mut sink) } else { None }
            }
            Event::Unmap => None,
        };
        handler.ok_or(Unexpected { event, state: State::Home(*self) })
    }

    fn fault(
        &mut self,
        home: NodeId,
        cpu: CpuId,
        access: Access,
        sink: &mut impl FnMut(Action),
    ) -> Option<Handler> {
        if cpu.0 >= CpuSet::CAPACITY || home.0 >= NodeSet::CAPACITY {
            return None;
        }
        // The block has come since the processor was denied the access.
        if self.tag().permits(access) {
            sink(Action::Resume(CpuSet::just(cpu)));
            return Some(Handler::HomeFault);
        }
        let asked = !self.waiting.is_empty();
        self.waiting = self.waiting.with(cpu);
        if !asked {
            let request = if access == Access::Read { Request::Read } else { Request::Write };
            self.admit(home, home, request, sink);
        }
        Some(Handler::HomeFault)
    }

    fn receive(
        &mut self,
        home: NodeId,
        from: NodeId,
        message: Message,
        sink: &mut impl FnMut(Action),
    ) -> Option<Handler> {
        let request = match message {
            Message::ReadRequest => Request::Read,
            Message::WriteRequest => Request::Write,
            Message::UpgradeRequest => Request::Upgrade,
            _ => return self.answer(home, from, message, sink),
        };
        if !self.may_ask(from, request) {
            return None;
        }
        self.admit(home, from, request, sink);
        Some(Handler::Request)
    }

    /// Whether `node`, which has no other request under way, can lack what it asks for.
    fn may_ask(&self, node: NodeId, request: Request) -> bool {
        let holds = self.holders.contains(node);
        let possible = match self.sharing {
            Sharing::Home => request != Request::Upgrade,
            Sharing::Shared | Sharing::Invalidating { .. } => request != Request::Upgrade || holds,
            Sharing::Exclusive | Sharing::Recalling { returned: false, .. } => {
                request != Request::Upgrade && !holds
            }
            Sharing::Recalling { returned: true, .. } => request != Request::Upgrade,
        };
        possible && self.busy_for() != Some(node) && !self.queued().contains(node)
    }

    /// Queues a request, or begins with it.
    fn admit(&mut self, home: NodeId, node: NodeId, request: Request, sink: &mut impl FnMut(Action)) {
        if self.busy_for().is_none() {
            self.serve(home, node, request, sink);
            return;
        }
        // Whoever asks for an upgrade now is about to lose its copy, and will need the block.
        match request {
            Request::Read => self.readers = self.readers.with(node),
            Request::Write | Request::Upgrade => self.writers = self.writers.with(node),
        }
    }

    /// Grants a request if nobody else has to give way, and otherwise demands that.
    fn serve(&mut self, home: NodeId, node: NodeId, request: Request, sink: &mut impl FnMut(Action)) {
        self.served = node;
        let access = if request == Request::Read { Access::Read } else { Access::Write };
        let demand = match (self.sharing, access) {
            (Sharing::Exclusive, Access::Read) => Message::Downgrade,
            (Sharing::Exclusive, Access::Write) => Message::Recall,
            (Sharing::Shared, Access::Write) => Message::Invalidate,
            _ => return self.grant(home, request, sink),
        };
        let others = self.holders.without(node);
        if others.is_empty() {
            return self.grant(home, request, sink);
        }
        self.holders = others;
        self.sharing = match demand {
            Message::Invalidate => Sharing::Invalidating { upgrade: request == Request::Upgrade },
            _ => Sharing::Recalling { access, returned: false },
        };
        for to in others.iter() {
            sink(Action::Send { to, message: demand });
        }
    }

    /// Gives the node that is being served what it asked for: nobody is in its way.
    fn grant(&mut self, home: NodeId, request: Request, sink: &mut impl FnMut(Action)) {
        let to = self.served;
        let before = self.tag();
        if to == home {
            self.sharing = match request {
                Request::Read if !self.holders.is_empty() => Sharing::Shared,
                _ => Sharing::Home,
            };
            if self.sharing == Sharing::Home {
                self.holders = NodeSet::EMPTY;
            }
            if self.tag() != before {
                sink(Action::SetTag(self.tag()));
            }
            sink(Action::Resume(self.waiting));
            self.waiting = CpuSet::EMPTY;
            return;
        }
        match request {
            Request::Read => {
                self.sharing = Sharing::Shared;
                self.holders = self.holders.with(to);
                sink(Action::SendBlock { to, message: Message::ReadReply, tag: Tag::ReadOnly });
            }
            Request::Write => {
                self.sharing = Sharing::Exclusive;
                self.holders = NodeSet::just(to);
                sink(Action::SendBlock { to, message: Message::WriteReply, tag: Tag::Invalid });
            }
            Request::Upgrade => {
                self.sharing = Sharing::Exclusive;
                self.holders = NodeSet::just(to);
                sink(Action::SetTag(Tag::Invalid));
                sink(Action::Send { to, message: Message::UpgradeReply });
            }
        }
    }

    /// Takes a holder's answer or writeback.
    fn answer(
        &mut self,
        home: NodeId,
        from: NodeId,
        message: Message,
        sink: &mut impl FnMut(Action),
    ) -> Option<Handler> {
        if !self.holders.contains(from) {
            return None;
        }
        match (message, self.sharing) {
            (Message::Writeback, Sharing::Exclusive) => {
                self.sharing = Sharing::Home;
                self.holders = NodeSet::EMPTY;
                sink(Action::PlaceBlock { tag: Tag::ReadWrite });
            }
            (Message::Writeback, Sharing::Recalling { access, returned: false }) => {
                self.sharing = Sharing::Recalling { access, returned: true };
                sink(Action::PlaceBlock { tag: Tag::Invalid });
            }
            (Message::Acknowledge, Sharing::Invalidating { upgrade }) => {
                self.holders = self.holders.without(from);
                if self.holders.is_empty() {
                    self.complete(home, if upgrade { Request::Upgrade } else { Request::Write }, sink);
                }
            }
            (Message::Acknowledge, Sharing::Recalling { access, returned: true }) => {
                self.holders = NodeSet::EMPTY;
                self.complete(home, request_of(access), sink);
            }
            (Message::Return, Sharing::Recalling { access, returned: false }) => {
                // The tag that the block is placed with is the last one, unless the block goes on to a writer.
                self.sharing = match access {
                    Access::Read => Sharing::Shared,
                    Access::Write if self.served == home => Sharing::Home,
                    Access::Write => Sharing::Exclusive,
                };
                if access == Access::Write {
                    self.holders = NodeSet::EMPTY;
                }
                sink(Action::PlaceBlock { tag: self.tag() });
                self.complete(home, request_of(access), sink);
            }
            _ => return None,
        }
        Some(Handler::Answer)
    }

    /// Grants the request that kept the entry busy, then serves queued ones until one keeps it busy again.
    fn complete(&mut self, home: NodeId, request: Request, sink: &mut impl FnMut(Action)) {
        self.grant(home, request, sink);
        while self.busy_for().is_none()
            && let Some(node) = self.queued().next_after(self.served)
        {
            let request = if self.writers.contains(node) { Request::Write } else { Request::Read };
            self.readers = self.readers.without(node);
            self.writers = self.writers.without(node);
            self.serve(home, node, request, sink);
        }
    }
}

const fn request_of(access: Access) -> Request {
    match access {
        Access::Read => Request::Read,
        Access::Write => Request::Write,
    }
}
