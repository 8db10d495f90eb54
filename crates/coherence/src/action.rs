//! What a handler does, and which steps of Table 5.1 that takes.

use crate::message::Message;
use crate::set::CpuSet;
use crate::tempest::Tag;
use warmcore_units::NodeId;

/// What the driver has to do, in this order, before the next handler of the block runs.
///
/// Moving a block and changing its tag is one action: to the processors of the node both happen at once, as the block
/// buffer has it (Falsafi 1998, §4.1).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Action {
    /// Send a message without data.
    Send {
        /// To whom.
        to: NodeId,
        /// What.
        message: Message,
    },
    /// Set the tag, fetch the block from this node's memory (and caches), and send it along.
    SendBlock {
        /// To whom.
        to: NodeId,
        /// What the block goes with.
        message: Message,
        /// The tag from now on.
        tag: Tag,
    },
    /// Put the block that came with the event's message into this node's memory, and set the tag.
    PlaceBlock {
        /// The tag from now on.
        tag: Tag,
    },
    /// Set the tag. One that permits less takes the block out of the processors' caches as well.
    SetTag(Tag),
    /// Let processors try their accesses again.
    Resume(CpuSet),
}

/// A part of a handler that takes time. The first nine are rows of Table 5.1 (Falsafi 1998, §5.3.2).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Step {
    /// Request: detect the block access fault, translate in reverse, dispatch the handler.
    DetectFault,
    /// Request: get the fault's state, send the message.
    SendRequest,
    /// Reply: dispatch the message's handler on the home.
    DispatchAtHome,
    /// Reply: translate in reverse, look up the directory.
    LookUpDirectory,
    /// Reply: fetch data, change the tag, send the message.
    FetchAndSend,
    /// Response: dispatch the message's handler on a node that caches the block.
    DispatchAtCacher,
    /// Response: translate in reverse.
    ReverseTranslate,
    /// Response: place data, change the tag.
    Place,
    /// Response: resume a processor, reissue its bus transaction. Once for each processor.
    Resume,
    /// Send a message without data that is no request. Not in the table.
    SendControl,
    /// Change the tag and move nothing. Not in the table.
    ChangeTag,
}

impl Step {
    /// Whether it takes a block from or into memory, and so takes longer the larger blocks are.
    #[must_use]
    pub const fn moves_block(self) -> bool {
        matches!(self, Self::FetchAndSend | Self::Place)
    }
}

impl Action {
    /// The step that it is; [`Step::Resume`] for each processor of [`Action::Resume`].
    #[must_use]
    pub const fn step(self) -> Step {
        match self {
            Self::Send {
                message: Message::ReadRequest | Message::WriteRequest | Message::UpgradeRequest,
                ..
            } => Step::SendRequest,
            Self::Send { .. } => Step::SendControl,
            Self::SendBlock { .. } => Step::FetchAndSend,
            Self::PlaceBlock { .. } => Step::Place,
            Self::SetTag(_) => Step::ChangeTag,
            Self::Resume(_) => Step::Resume,
        }
    }
}

/// Which handler ran. Its [steps](Handler::steps) come before those of its actions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Handler {
    /// Of a block access fault on a node that caches the block: sends a request, or waits with an earlier one.
    Fault,
    /// Of a block access fault on the home.
    HomeFault,
    /// Of a request on the home.
    Request,
    /// Of an acknowledgement, a returned or a written-back block on the home.
    Answer,
    /// Of a reply on the node that asked.
    Response,
    /// Of an invalidation, downgrade or recall on a node that caches the block.
    Demand,
    /// Of a page that leaves the page cache, for one block of it.
    Unmap,
}

impl Handler {
    /// What it begins with, before its first action. A page operation's overhead is its driver's to choose: the
    /// source gives none.
    #[must_use]
    pub const fn steps(self) -> &'static [Step] {
        match self {
            Self::Fault => &[Step::DetectFault],
            Self::HomeFault => &[Step::DetectFault, Step::LookUpDirectory],
            Self::Request | Self::Answer => &[Step::DispatchAtHome, Step::LookUpDirectory],
            Self::Response | Self::Demand => &[Step::DispatchAtCacher, Step::ReverseTranslate],
            Self::Unmap => &[],
        }
    }
}
