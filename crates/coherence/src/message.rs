//! The active messages of Stache. Each is about one block; who sends it knows its home.

/// What a message says. Requests, answers and writebacks go to a block's home, replies and demands come from it; no two
/// other nodes ever speak to each other.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Message {
    /// To the home: a copy to read, please.
    ReadRequest,
    /// To the home: the only copy, please.
    WriteRequest,
    /// To the home: may my copy become the only one?
    UpgradeRequest,
    /// From the home, with the block: a copy to read.
    ReadReply,
    /// From the home, with the block: the only copy.
    WriteReply,
    /// From the home: your copy is the only one.
    UpgradeReply,
    /// From the home: give up your copy to read. Answered by [`Acknowledge`](Self::Acknowledge), also by a node that
    /// no longer has one.
    Invalidate,
    /// From the home: send back what you wrote, and keep a copy to read.
    Downgrade,
    /// From the home: send back what you wrote, and keep nothing.
    Recall,
    /// To the home: my copy is gone. Answers [`Downgrade`](Self::Downgrade) and [`Recall`](Self::Recall) where a
    /// [`Writeback`](Self::Writeback) has gone before.
    Acknowledge,
    /// To the home, with the block: answers [`Downgrade`](Self::Downgrade) and [`Recall`](Self::Recall).
    Return,
    /// To the home, with the block: the page has left the page cache, and here is what was written. Not answered.
    Writeback,
}

impl Message {
    /// Whether the block's data goes with it.
    #[must_use]
    pub const fn carries_block(self) -> bool {
        matches!(self, Self::ReadReply | Self::WriteReply | Self::Return | Self::Writeback)
    }

    /// Whether it goes to the block's home; otherwise it comes from there.
    #[must_use]
    pub const fn goes_home(self) -> bool {
        matches!(
            self,
            Self::ReadRequest
                | Self::WriteRequest
                | Self::UpgradeRequest
                | Self::Acknowledge
                | Self::Return
                | Self::Writeback
        )
    }
}
