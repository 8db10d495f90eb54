//! Errors of a transfer.

use std::io;
use warmcore_linux::net::lab::LabError;
use warmcore_linux::net::{NamespaceError, SteerError};
use warmcore_linux::probe::Malformed;
use warmcore_units::Fault;

/// Why a transfer failed.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    /// An option cannot be used.
    #[error(transparent)]
    Field(#[from] Fault),
    /// The network cannot be built.
    #[error(transparent)]
    Lab(#[from] LabError),
    /// Its packets cannot be steered.
    #[error(transparent)]
    Steer(#[from] SteerError),
    /// A file of the kernel has unexpected contents.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// An end cannot be started.
    #[error("cannot start {end}: {source}")]
    NotStarted {
        /// Name of the end.
        end: String,
        /// What the system says.
        source: io::Error,
    },
    /// An end reported a failure.
    #[error("{end} failed: {said}")]
    Failed {
        /// Name of the end.
        end: String,
        /// Its message.
        said: String,
    },
    /// An end has ended early.
    #[error("{end} ended before the transfer did: {how}")]
    Ended {
        /// Name of the end.
        end: String,
        /// How it ended.
        how: String,
    },
    /// An end gave an answer that is not part of the protocol.
    #[error(
        "{end} answered `{answer}`; expected {expected}: is it a `warmcore transfer serve` of this version?"
    )]
    UnexpectedAnswer {
        /// Name of the end.
        end: String,
        /// The answer.
        answer: String,
        /// The expected answer.
        expected: &'static str,
    },
    /// The other host cannot be reached.
    #[error("cannot reach {host}: {source}; expected the address of a `warmcore transfer serve`")]
    Unreachable {
        /// Address of the host.
        host: String,
        /// What the system says.
        source: io::Error,
    },
    /// A model that places packets was requested between real hosts.
    #[error(
        "`{model}` places packets, which between real hosts depends on interrupts: apply a plan with \
         `warmcore host apply`, and compare the models `none` and `process-only` here"
    )]
    CannotSteerHost {
        /// The model.
        model: &'static str,
    },
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl From<NamespaceError> for TransferError {
    fn from(error: NamespaceError) -> Self {
        Self::Lab(error.into())
    }
}
