//! Why a datagram could not be measured.

use std::io;

/// A socket of an experiment failed, or a datagram did not arrive as it was sent.
#[derive(Debug, thiserror::Error)]
pub enum SocketError {
    /// A system call failed.
    #[error("{doing} a socket of the experiment failed: {source}{}", advice(.source))]
    Failed {
        /// The operation.
        doing: &'static str,
        /// The error of the kernel.
        source: io::Error,
    },
    /// A datagram did not arrive.
    #[error(
        "datagram {number} of a run did not arrive within a second: expected that the test network loses none"
    )]
    Lost {
        /// Its number in the run.
        number: u64,
    },
    /// Another datagram arrived, or other bytes.
    #[error(
        "instead of datagram {number} of a run came {bytes} bytes with number {found:?}: expected that nobody else sends to our ports"
    )]
    Wrong {
        /// The number expected.
        number: u64,
        /// Bytes received.
        bytes: usize,
        /// The number in them, if they hold one.
        found: Option<u64>,
    },
    /// The kernel does not say when it received a datagram.
    #[error("the kernel does not say when it received a datagram: expected a kernel with SO_TIMESTAMPNS")]
    NoTime,
}

/// What to do about some errors.
fn advice(source: &io::Error) -> &'static str {
    const EMFILE: i32 = 24;
    match source.raw_os_error() {
        Some(EMFILE) => "; allow this process more (`ulimit -n 1024`)",
        _ => "",
    }
}

impl SocketError {
    /// Explains an error while `doing` something with a socket.
    pub(crate) const fn doing(doing: &'static str) -> impl Fn(io::Error) -> Self {
        move |source| Self::Failed { doing, source }
    }
}
