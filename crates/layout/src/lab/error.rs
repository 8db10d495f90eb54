//! Why a round trip was not traced.

use crate::cloning::CloneError;
use crate::relocate::RelocateError;
use crate::riscv::{ImageError, MachineError};
use thiserror::Error;
use warmcore_units::Fault;

/// Why a round trip was not traced.
#[derive(Debug, Error)]
pub enum LabError {
    /// The image cannot be read, or is not that of the laboratory's program.
    #[error("the program's image: {0}")]
    Image(#[from] ImageError),
    /// The program did something that it must not.
    #[error("the program: {0}")]
    Machine(#[from] MachineError),
    /// A function cannot be cloned.
    #[error("cloning: {0}")]
    Clone(#[from] CloneError),
    /// Functions cannot be placed.
    #[error("placing functions: {0}")]
    Place(#[from] Fault),
    /// A trace cannot be moved.
    #[error("moving functions: {0}")]
    Relocate(#[from] RelocateError),
    /// A layer lost a message of a network that loses none.
    #[error("{function} lost a message (status {status})")]
    Lost {
        /// The program's function.
        function: String,
        /// What it returned.
        status: u64,
    },
    /// The adaptor had no space for a frame.
    #[error("the adaptor has no space for a frame of {length} bytes")]
    NoSpace {
        /// Bytes of the frame.
        length: u64,
    },
    /// A round trip did not end.
    #[error("the client has received {received} messages after {round_trips} round trips")]
    Unanswered {
        /// Messages that arrived.
        received: u64,
        /// Round trips begun.
        round_trips: u64,
    },
    /// A message had other bytes than were sent.
    #[error("{0} messages were not what was sent")]
    Unexpected(u64),
}
