//! Why a journal cannot be used.

use super::namespaces::ForeignInterfaces;
use crate::tree::Malformed;
use std::io;
use std::path::{Path, PathBuf};

/// Why a journal cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// A file or the directory cannot be used.
    #[error("cannot {step} `{}`: {source}{}", path.display(), advice(source))]
    File {
        /// The operation.
        step: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// A file that tells when the plan is applied holds what no kernel writes.
    #[error("nothing was changed: {0}")]
    Malformed(#[from] Malformed),
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
    /// An earlier plan is still applied, and its journal is damaged.
    #[error(
        "a plan is applied already, and its journal is damaged (`{}:{line}`: {problem}): restore what can be read \
         with `warmcore host undo --journal {}` first", path.display(), directory_of(path)
    )]
    Damaged {
        /// The journal.
        path: PathBuf,
        /// The first line that cannot be read, from 1.
        line: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// Nothing can be read of a journal.
    #[error(
        "`{}:1`: the head of the journal cannot be read ({problem}), so nothing can be restored by it. What the plan \
         changed may be in force until the machine is restarted. To set the journal aside: `warmcore host undo \
         --force --journal {}`", path.display(), directory_of(path)
    )]
    Headless {
        /// The file.
        path: PathBuf,
        /// What is wrong with its first line.
        problem: String,
    },
    /// The folder whose files were changed is gone, so nothing can be restored in it.
    #[error(
        "nothing was restored: `{}`, the folder of the changed files, {problem}: expected the folder that `host apply \
         --root` was given. The journal stays (`{}`): bring the folder back, or remove the journal to give up what it \
         holds", root.display(), path.display()
    )]
    RootGone {
        /// The journal.
        path: PathBuf,
        /// The folder.
        root: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// The network namespace of the changes is gone.
    #[error(
        "the plan was applied in the network namespace {}, which is gone as far as can be seen here, and the settings of \
         its interfaces with it: \
         `warmcore host undo --force --journal {}` restores what else it changed, and closes the journal",
        namespace.escape_debug(), directory_of(path)
    )]
    NamespaceGone {
        /// The journal.
        path: PathBuf,
        /// The namespace.
        namespace: String,
    },
    /// `/sys` belongs to another network namespace than this process.
    #[error("nothing was changed: the journal `{}` has settings of interfaces, and {foreign}", path.display())]
    ForeignInterfaces {
        /// The journal.
        path: PathBuf,
        /// What differs.
        foreign: ForeignInterfaces,
    },
    /// The changes were taken back, but not all of them.
    #[error(
        "it is too late to confirm the changes: they were taken back, at the end of their time or by `warmcore host undo`, \
         and the rest was left as it was.{}\n`warmcore host undo --journal {}` tries again; with --force it also restores \
         what somebody else has changed",
        left.iter().map(|open| format!("\n{open}")).collect::<String>(), directory_of(path)
    )]
    TakenBack {
        /// The journal.
        path: PathBuf,
        /// What was left, and why.
        left: Vec<String>,
    },
    /// The journal belongs to a different namespace or tree.
    #[error("the plan was applied in another {what} ({}; this one is {here}): undo it there", there.escape_debug())]
    Elsewhere {
        /// `network namespace`, for instance.
        what: &'static str,
        /// The one of the journal.
        there: String,
        /// That of this process.
        here: String,
    },
}

/// What helps against `source`, where it is a full disk.
fn advice(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            ": free some space on its disk, or name a folder on another one with --journal"
        }
        io::ErrorKind::FileTooLarge => {
            ": no journal is so long; its first lines are what counts. Shorten it with `truncate -s 64M`, then undo"
        }
        _ => "",
    }
}

/// The directory of the journal at `path`, as a flag takes it.
fn directory_of(path: &Path) -> impl std::fmt::Display {
    path.parent().unwrap_or(path).display()
}
