//! A block on a node that is not its home: a part of a page in the page cache (Stache; Falsafi 1998, §4 and §5.1).

use crate::action::{Action, Handler};
use crate::message::Message;
use crate::set::CpuSet;
use crate::tempest::{Access, Event, Tag};
use crate::unexpected::{State, Unexpected};
use warmcore_units::{CpuId, NodeId};

/// What has been asked of the home and not been answered.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Request {
    /// A copy to read.
    Read,
    /// The only copy.
    Write,
    /// That the copy here become the only one.
    Upgrade,
}

impl Request {
    const fn message(self) -> Message {
        match self {
            Self::Read => Message::ReadRequest,
            Self::Write => Message::WriteRequest,
            Self::Upgrade => Message::UpgradeRequest,
        }
    }
}

/// What a node knows of a block whose home is another node. The default is a block that it does not have.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct CachedBlock {
    tag: Tag,
    outstanding: Option<Request>,
    waiting: CpuSet,
}

impl CachedBlock {
    /// What the node's processors may do with the block.
    #[must_use]
    pub const fn tag(&self) -> Tag {
        self.tag
    }

    /// What has been asked of the home; at most one request at a time.
    #[must_use]
    pub const fn outstanding(&self) -> Option<Request> {
        self.outstanding
    }

    /// The processors that wait for the answer to that request.
    #[must_use]
    pub const fn waiting(&self) -> CpuSet {
        self.waiting
    }

    /// Handles `event`; hands to `sink` what is to be done, in order. `home` is the block's home.
    ///
    /// # Errors
    /// If the protocol does not allow the event in this state: nothing has changed, and `sink` was not called.
    pub fn handle(
        &mut self,
        home: NodeId,
        event: Event,
        sink: impl FnMut(Action),
    ) -> Result<Handler, Unexpected> {
        let handler = match event {
            Event::Fault { cpu, access } => self.fault(home, cpu, access, sink),
            Event::Message { from, message } if from == home => self.receive(home, message, sink),
            Event::Message { .. } => None,
            Event::Unmap => self.unmap(home, sink),
        };
        handler.ok_or(Unexpected { event, state: State::Cacher(*self) })
    }

    fn fault(
        &mut self,
        home: NodeId,
        cpu: CpuId,
        access: Access,
        mut sink: impl FnMut(Action),
    ) -> Option<Handler> {
        if cpu.0 >= CpuSet::CAPACITY {
            return None;
        }
        // The block has come since the processor was denied the access.
        if self.tag.permits(access) {
            sink(Action::Resume(CpuSet::just(cpu)));
            return Some(Handler::Fault);
        }
        self.waiting = self.waiting.with(cpu);
        if self.outstanding.is_none() {
            let request = match (access, self.tag) {
                (Access::Read, _) => Request::Read,
                (Access::Write, Tag::ReadOnly) => Request::Upgrade,
                (Access::Write, _) => Request::Write,
            };
            self.outstanding = Some(request);
            sink(Action::Send { to: home, message: request.message() });
        }
        Some(Handler::Fault)
    }

    fn receive(&mut self, home: NodeId, message: Message, mut sink: impl FnMut(Action)) -> Option<Handler> {
        let acknowledge = Action::Send { to: home, message: Message::Acknowledge };
        match (message, self.tag, self.outstanding) {
            (Message::ReadReply, Tag::Invalid, Some(Request::Read)) => {
                sink(Action::PlaceBlock { tag: Tag::ReadOnly });
                self.resume(Tag::ReadOnly, sink);
                return Some(Handler::Response);
            }
            (Message::WriteReply, Tag::Invalid, Some(Request::Write)) => {
                sink(Action::PlaceBlock { tag: Tag::ReadWrite });
                self.resume(Tag::ReadWrite, sink);
                return Some(Handler::Response);
            }
            (Message::UpgradeReply, Tag::ReadOnly, Some(Request::Upgrade)) => {
                sink(Action::SetTag(Tag::ReadWrite));
                self.resume(Tag::ReadWrite, sink);
                return Some(Handler::Response);
            }
            // Pages leave silently with their blocks that were only read, and the home asks for those later.
            (Message::Invalidate, Tag::Invalid, _) => sink(acknowledge),
            (Message::Invalidate, Tag::ReadOnly, outstanding) => {
                self.tag = Tag::Invalid;
                // The home sees the request before the acknowledgement, and sends the block.
                self.outstanding = outstanding.map(|_| Request::Write);
                sink(Action::SetTag(Tag::Invalid));
                sink(acknowledge);
            }
            // A writeback has gone before, and the home will have had it when it sees this.
            (Message::Downgrade | Message::Recall, Tag::Invalid, _) => sink(acknowledge),
            (Message::Downgrade, Tag::ReadWrite, None) => {
                self.tag = Tag::ReadOnly;
                sink(Action::SendBlock { to: home, message: Message::Return, tag: self.tag });
            }
            (Message::Recall, Tag::ReadWrite, None) => {
                self.tag = Tag::Invalid;
                sink(Action::SendBlock { to: home, message: Message::Return, tag: self.tag });
            }
            _ => return None,
        }
        Some(Handler::Demand)
    }

    fn resume(&mut self, tag: Tag, mut sink: impl FnMut(Action)) {
        sink(Action::Resume(self.waiting));
        *self = Self { tag, outstanding: None, waiting: CpuSet::EMPTY };
    }

    fn unmap(&mut self, home: NodeId, mut sink: impl FnMut(Action)) -> Option<Handler> {
        if self.outstanding.is_some() {
            return None;
        }
        match self.tag {
            Tag::Invalid => {}
            Tag::ReadOnly => sink(Action::SetTag(Tag::Invalid)),
            Tag::ReadWrite => {
                sink(Action::SendBlock { to: home, message: Message::Writeback, tag: Tag::Invalid });
            }
        }
        self.tag = Tag::Invalid;
        Some(Handler::Unmap)
    }
}
