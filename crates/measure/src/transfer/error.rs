//! What can go wrong with a transfer.

use std::io;
use warmcore_linux::net::lab::LabError;
use warmcore_linux::net::{NamespaceError, SteerError};
use warmcore_linux::probe::Malformed;
use warmcore_units::Fault;

/// Why a transfer came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    /// What was asked for cannot be.
    #[error(transparent)]
    Field(#[from] Fault),
    /// The network cannot be built.
    #[error(transparent)]
    Lab(#[from] LabError),
    /// Its packets cannot be steered.
    #[error(transparent)]
    Steer(#[from] SteerError),
    /// A file of the kernel holds what no kernel writes there.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// An end cannot be started.
    #[error("cannot start {end}: {source}")]
    NotStarted {
        /// Which one.
        end: String,
        /// What the system says.
        source: io::Error,
    },
    /// An end says what is wrong.
    #[error("{end} failed: {said}")]
    Failed {
        /// Which one.
        end: String,
        /// What it says.
        said: String,
    },
    /// An end is not there any more.
    #[error("{end} ended before the transfer did: {how}")]
    Ended {
        /// Which one.
        end: String,
        /// How.
        how: String,
    },
    /// An end says what no end of this program says.
    #[error(
        "{end} answers `{answer}`; expected {expected}: is it a `warmcore transfer serve` of this version?"
    )]
    UnexpectedAnswer {
        /// Which one.
        end: String,
        /// What it said.
        answer: String,
        /// What would have been right.
        expected: &'static str,
    },
    /// The other host cannot be reached.
    #[error("cannot reach {host}: {source}; expected the address of a `warmcore transfer serve`")]
    Unreachable {
        /// Which host, and where.
        host: String,
        /// What the system says.
        source: io::Error,
    },
    /// Models that place packets were asked for between real hosts.
    #[error(
        "`{model}` places packets, which between real hosts is the interrupts' matter: apply a plan with \
         `warmcore host apply`, and compare the models `none` and `process-only` here"
    )]
    CannotSteerHost {
        /// The first of them.
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
