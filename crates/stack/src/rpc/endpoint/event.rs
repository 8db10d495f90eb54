//! What an endpoint tells its user, and refuses.

use crate::rpc::{CallId, MselectFailure, ServedCall};

/// Something that happened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event<'a> {
    /// The peer calls a procedure. It waits for [`Endpoint::reply`](super::Endpoint::reply).
    Called {
        /// What to reply to.
        call: ServedCall,
        /// Which of the procedures that the endpoint was made with.
        handler: usize,
        /// The arguments.
        request: &'a [u8],
    },
    /// A call has its results.
    Replied {
        /// The call.
        call: CallId,
        /// The results.
        results: &'a [u8],
    },
    /// A call has no results.
    Failed {
        /// The call.
        call: CallId,
        /// Why.
        failure: Failure,
    },
    /// The peer has rebooted. Calls that it had not replied to have failed, and nobody waits for replies
    /// to its own.
    PeerRebooted,
}

/// Why a call has no results.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, thiserror::Error)]
pub enum Failure {
    /// The peer did not answer. It may have served the call.
    #[error("the peer did not answer")]
    TimedOut,
    /// The peer has rebooted. It may have served the call before that.
    #[error("the peer has rebooted")]
    PeerRebooted,
    /// The peer did not serve the call, or its results cannot be read.
    #[error(transparent)]
    Refused(#[from] MselectFailure),
}

/// Why a call was not made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CallError {
    /// All channels have calls whose end was not taken from
    /// [`Endpoint::event`](super::Endpoint::event) yet.
    #[error("no channel is free")]
    NoneFree,
    /// The arguments are too long.
    #[error("the arguments have {length} bytes; {max} is the limit")]
    TooLong {
        /// Bytes of the arguments.
        length: usize,
        /// Most bytes of arguments.
        max: usize,
    },
}

/// Why a reply was not sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ReplyError {
    /// Nobody waits for it: it was given already, or the peer has given the call up or rebooted.
    #[error("nobody waits for the reply")]
    Gone,
    /// The results are too long. Shorter ones may be given.
    #[error("the results have {length} bytes; {max} is the limit")]
    TooLong {
        /// Bytes of the results.
        length: usize,
        /// Most bytes of results.
        max: usize,
    },
}
