//! Defects put around the protocol, each of which the rules must find.

use crate::network::Envelope;
use warmcore_coherence::{Action, CachedBlock, DirectoryEntry, Event, Message, Tag};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Defect {
    /// The network loses invalidations.
    LoseInvalidation,
    /// The home counts a copy as gone without having asked for that.
    ForgetInvalidation,
    /// The network loses acknowledgements.
    LoseAcknowledgement,
    /// A node acknowledges an invalidation and keeps its copy.
    KeepInvalidated,
    /// A writer sends the block back for a reader, and goes on writing.
    ForgetDowngrade,
    /// A writer gives the block back for another, and goes on writing.
    ForgetRecall,
    /// The home answers a request at once though it waits for others' answers.
    ServeBusy,
    /// The home sends a request back that meets a busy block, and the node sends it again.
    BounceRequest,
    /// The home gives the only copy away and goes on with its own.
    KeepHomeTag,
    /// The network loses the blocks of replaced pages.
    LoseWriteback,
    /// A node sends a block to its home as it was before the last store.
    SendStaleBlock,
}

impl Defect {
    pub(crate) const ALL: [Self; 11] = [
        Self::LoseInvalidation,
        Self::ForgetInvalidation,
        Self::LoseAcknowledgement,
        Self::KeepInvalidated,
        Self::ForgetDowngrade,
        Self::ForgetRecall,
        Self::ServeBusy,
        Self::BounceRequest,
        Self::KeepHomeTag,
        Self::LoseWriteback,
        Self::SendStaleBlock,
    ];

    /// Handles an event in place of the protocol, if it would.
    pub(crate) fn answers(
        self,
        entry: &DirectoryEntry,
        home: bool,
        event: Event,
        actions: &mut Vec<Action>,
    ) -> bool {
        let Event::Message { from: to, message } = event else { return false };
        let reply = match message {
            Message::ReadRequest => Message::ReadReply,
            Message::WriteRequest => Message::WriteReply,
            _ => return false,
        };
        let serves = self == Self::ServeBusy && home && entry.busy_for().is_some();
        if serves {
            actions.push(Action::SendBlock { to, message: reply, tag: entry.tag() });
        }
        serves
    }

    /// Whether a message that has come to a block's home is to come again.
    pub(crate) fn bounces(self, entry: &DirectoryEntry, message: Message) -> bool {
        let request =
            matches!(message, Message::ReadRequest | Message::WriteRequest | Message::UpgradeRequest);
        self == Self::BounceRequest && request && entry.busy_for().is_some()
    }

    /// Changes what a handler of a node has done to its copy, and asks for.
    pub(crate) fn spoil(self, actions: &mut [Action], copy: &mut CachedBlock, before: CachedBlock) {
        let keeps = |action: &mut Action, kept: Tag| match action {
            Action::SendBlock { tag, .. } | Action::SetTag(tag) => *tag = kept,
            _ => {}
        };
        let sends = |wanted: Message| {
            move |action: &Action| match action {
                Action::Send { message, .. } | Action::SendBlock { message, .. } => *message == wanted,
                _ => false,
            }
        };
        match self {
            Self::KeepInvalidated
                if before.tag() == Tag::ReadOnly && actions.iter().any(sends(Message::Acknowledge)) =>
            {
                *copy = before;
                actions.iter_mut().for_each(|action| keeps(action, Tag::ReadOnly));
            }
            Self::ForgetDowngrade | Self::ForgetRecall if actions.iter().any(sends(Message::Return)) => {
                let recalled = copy.tag() == Tag::Invalid;
                if recalled == (self == Self::ForgetRecall) {
                    *copy = before;
                    actions.iter_mut().for_each(|action| keeps(action, Tag::ReadWrite));
                }
            }
            Self::KeepHomeTag if actions.iter().any(sends(Message::WriteReply)) => {
                actions.iter_mut().for_each(|action| keeps(action, Tag::ReadWrite));
            }
            _ => {}
        }
    }

    /// What becomes of a message.
    pub(crate) fn transmit(self, envelope: Envelope) -> Option<Envelope> {
        let Envelope { from, to, message, value, .. } = envelope;
        match (self, message) {
            (Self::LoseInvalidation, Message::Invalidate)
            | (Self::LoseAcknowledgement, Message::Acknowledge)
            | (Self::LoseWriteback, Message::Writeback) => None,
            // The home takes it that the demand has been met.
            (Self::ForgetInvalidation, Message::Invalidate) => {
                Some(Envelope { from: to, to: from, message: Message::Acknowledge, ..envelope })
            }
            (Self::SendStaleBlock, _) if message.goes_home() => {
                Some(Envelope { value: value.map(|value| value.saturating_sub(1)), ..envelope })
            }
            _ => Some(envelope),
        }
    }
}
