//! Why a journal cannot be used.

use std::io;
use std::path::PathBuf;

/// Why a journal cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// A file or the directory cannot be used.
    #[error("cannot {step} `{}`: {source}", path.display())]
    File {
        /// The operation.
        step: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// Another process is applying or undoing a plan.
    #[error("`{}` is locked: another process is applying or undoing a plan; wait until it has ended", path.display())]
    InUse {
        /// The directory.
        path: PathBuf,
    },
    /// An earlier plan is still applied.
    #[error("a plan is applied already (`{}`): undo it with `warmcore host undo` first", path.display())]
    Active {
        /// The journal.
        path: PathBuf,
    },
    /// A complete line is malformed.
    #[error("{}:{line}: not a line of a journal: {problem}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// The journal belongs to a different namespace or tree.
    #[error("the plan was applied in another {what} ({there}; this one is {here}): undo it there")]
    Elsewhere {
        /// `network namespace`, for instance.
        what: &'static str,
        /// The one of the journal.
        there: String,
        /// That of this process.
        here: String,
    },
}
