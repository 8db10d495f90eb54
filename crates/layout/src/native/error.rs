//! Why a native program was not traced.

use crate::program::{MarkerError, ProgramError};
use crate::x86::Undecodable;
use warmcore_linux::stepping::SteppingError;

/// Why a native program was not traced.
#[derive(Debug, thiserror::Error)]
pub enum NativeError {
    /// It could not be started or stepped.
    #[error(transparent)]
    Stepping(#[from] SteppingError),
    /// Its file, or that of one of its libraries, is no such program.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// One of the markers is not in it.
    #[error(transparent)]
    Marker(#[from] MarkerError),
    /// It executed what is no instruction.
    #[error(transparent)]
    Undecodable(#[from] Undecodable),
    /// An instruction touches more data than a trace takes.
    #[error(
        "the instruction at {address:#x} is repeated {iterations} times, and a trace takes {}: give a path that does not clear or copy as much",
        super::MOST_ITERATIONS
    )]
    TooMuchData {
        /// Where.
        address: u64,
        /// How often.
        iterations: u64,
    },
}
