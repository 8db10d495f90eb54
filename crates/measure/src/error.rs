//! Errors of a calibration.

use crate::served_program::ServedProgramError;
use crate::sockets::SocketError;
use std::io;
use std::time::Duration;
use warmcore_linux::handler_library::ReplyTooLong;
use warmcore_linux::{AffinityError, MappingError, ProgramError};
use warmcore_runtime::server::ServerError;
use warmcore_stack::{DropReason, OfferError, OpenError, wire::BuildError};
use warmcore_units::{CpuId, Fault, Nanos};

/// Why a calibration failed.
#[derive(Debug, thiserror::Error)]
pub enum CalibrateError {
    /// The caller asked to stop.
    #[error("the calibration was interrupted")]
    Interrupted,
    /// There is no processor on which this process may run.
    #[error("no processor to measure on: expected at least one online cpu in this process's cpuset")]
    NoProcessor,
    /// A requested processor cannot be measured on.
    #[error(
        "cannot measure on {cpu}: expected one of {usable:?}, the usable cpus with one for each physical core"
    )]
    UnusableProcessor {
        /// The requested processor.
        cpu: CpuId,
        /// The processors that can be used.
        usable: Vec<CpuId>,
    },
    /// The caches are unknown, so no cold state can be produced.
    #[error("the system does not say what caches {cpu} has: expected at least one data cache")]
    NoCaches {
        /// The processor.
        cpu: CpuId,
    },
    /// The requested payload does not fit a measured frame.
    #[error(
        "cannot measure packets of {bytes} bytes of payload: expected at most {max}, what one frame carries"
    )]
    PayloadTooLong {
        /// Bytes of payload requested.
        bytes: usize,
        /// Bytes that fit.
        max: usize,
    },
    /// The requested payload does not hold what is checked, or does not fit a frame.
    #[error("cannot measure datagrams of {bytes} bytes: expected {least} to {max}, what one frame carries")]
    PayloadOutOfRange {
        /// Bytes of payload requested.
        bytes: usize,
        /// Fewest bytes.
        least: usize,
        /// Bytes that fit.
        max: usize,
    },
    /// The requested state of a flow is too large.
    #[error("cannot measure handlers with {bytes} bytes of state: expected at most {max}")]
    StateTooLarge {
        /// Bytes of state requested.
        bytes: usize,
        /// The most.
        max: usize,
    },
    /// The requested answer does not fit one frame.
    #[error("cannot measure answers of {bytes} bytes: expected at most {max}, what one frame carries")]
    ReplyTooLong {
        /// Bytes of the answer requested.
        bytes: usize,
        /// Bytes that fit.
        max: usize,
    },
    /// Segments without payload were requested, of which nothing is delivered.
    #[error("cannot measure TCP segments without payload: expected at least 1 byte")]
    EmptySegments,
    /// Answers to datagrams were requested.
    #[error(
        "cannot measure answers to UDP datagrams, which are not answered: expected no reply, or TCP or RPC"
    )]
    ReplyToDatagrams,
    /// A thread could not be kept on its processor.
    #[error(transparent)]
    Affinity(#[from] AffinityError),
    /// No memory for a walk or a buffer.
    #[error(transparent)]
    Memory(#[from] MappingError),
    /// A run failed.
    #[error(transparent)]
    Run(RunError),
    /// The intervening program cannot be used.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// The measured values contradict each other.
    #[error(
        "the measured times contradict each other: {0}; the machine was probably too busy, so stop other work and measure again, with a larger budget if it happens again"
    )]
    Contradiction(Fault),
}

impl From<RunError> for CalibrateError {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Interrupted => Self::Interrupted,
            RunError::Affinity(error) => Self::Affinity(error),
            error => Self::Run(error),
        }
    }
}

/// Why a run failed.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The caller asked to stop.
    #[error("the run was interrupted")]
    Interrupted,
    /// Another thread of the run failed; its own error says why.
    #[error("the other thread of the run failed")]
    PartnerFailed,
    /// Another thread of the run did not answer.
    #[error(
        "waited {waited:?} for the other thread's phase {phase}: expected its processor to be free for measuring"
    )]
    PartnerLost {
        /// The phase that did not come.
        phase: u64,
        /// How long the thread waited for it.
        waited: Duration,
    },
    /// A server of an experiment failed.
    #[error("the server of an experiment failed: {0}")]
    Server(#[from] ServerError),
    /// Two threads held the baton at once, which the script rules out.
    #[error("two threads ran in phase {phase}, which the script does not allow")]
    OutOfTurn {
        /// The phase.
        phase: u64,
    },
    /// A thread of the run panicked.
    #[error("a measuring thread panicked")]
    Panicked,
    /// A server program cannot be measured.
    #[error(transparent)]
    ServedProgram(#[from] ServedProgramError),
    /// A user's library did what it must not.
    #[error(transparent)]
    Library(#[from] ReplyTooLong),
    /// A thread could not be kept on its processor.
    #[error(transparent)]
    Affinity(#[from] AffinityError),
    /// No memory for a protocol thread's stack, or no thread.
    #[error("the system gives no thread or no stack for one: {0}")]
    NoThread(#[from] io::Error),
    /// The stack refused a stream of ours.
    #[error("the protocol stack does not open the measured stream: {0}")]
    Stream(#[from] OpenError),
    /// A frame of ours cannot be built.
    #[error("the measured frame cannot be built: {0}")]
    Frame(#[from] BuildError),
    /// The sender of a measured stream cannot send.
    #[error("the sender of a measured stream cannot send its next message: {0}")]
    Offer(#[source] OfferError),
    /// A message took another number of frames than one.
    #[error("the sender of a measured stream sent {frames} frames for one message: expected exactly one")]
    FrameCount {
        /// Frames sent.
        frames: usize,
    },
    /// A conversation could not be opened.
    #[error(
        "the conversation of a measured stream is not open after its first messages: expected no more frames"
    )]
    NotOpened,
    /// The stack took a packet of a conversation and delivered nothing.
    #[error("the protocol stack delivered nothing of a measured packet: expected its payload")]
    NothingDelivered,
    /// The stack dropped a frame of ours.
    #[error("the protocol stack dropped a measured packet: {0}")]
    Dropped(DropReason),
    /// The processors are not at the distance at which runs count. The run was aborted before it began.
    #[error("a hand-over between the processors takes {handover}, which differs from other runs")]
    Displaced {
        /// Time of one hand-over.
        handover: Nanos,
    },
    /// A datagram could not be sent or received.
    #[error(transparent)]
    Socket(#[from] SocketError),
    /// A run without packets.
    #[error("no packet of a run was timed: expected at least one")]
    NothingTimed,
}
