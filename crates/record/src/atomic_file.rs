//! Files that appear whole or not at all.
//!
//! A file is written beside its destination under a name of its own, forced to the disk, and then
//! given its name in one step. So a reader never sees half a file, a full disk leaves an earlier
//! result as it was, and an interrupted run leaves earlier and finished files only. On any error,
//! or when the thread unwinds, the unfinished file is removed. (A process that is killed outright
//! cannot remove it: it is then found beside the destination as `.NAME.*.unfinished`.)

use std::ffi::OsStr;
use std::fs::{self, File, Permissions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use tempfile::{Builder, NamedTempFile};

/// What to do about a file that is already there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Existing {
    /// Leave it and fail.
    Refuse,
    /// Put the new file in its place.
    Replace,
}

/// A file could not be written. What stood at the path before still stands.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// There is a file, and it was not to be replaced.
    #[error("`{}` exists already: give --force to replace it, or another place with --out", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// There is a directory of that name.
    #[error("`{}` is a directory: name a file", path.display())]
    IsDirectory {
        /// The directory.
        path: PathBuf,
    },
    /// The directory to write into is not there.
    #[error("cannot write `{}`: there is no directory `{}`: create it first", path.display(), directory.display())]
    NoDirectory {
        /// The file.
        path: PathBuf,
        /// The missing directory.
        directory: PathBuf,
    },
    /// The directory may not be written to.
    #[error("cannot write `{}`: no permission to write in `{}`: choose another place with --out", path.display(), directory.display())]
    Denied {
        /// The file.
        path: PathBuf,
        /// Its directory.
        directory: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file system takes no writes at all.
    #[error("cannot write `{}`: `{}` is on a read-only file system: choose another place with --out", path.display(), directory.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
        /// Its directory.
        directory: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The disk or the user's share of it is full.
    #[error("cannot write `{}` ({bytes} bytes): {source}: free some space, or choose another place with --out", path.display())]
    Full {
        /// The file.
        path: PathBuf,
        /// How long it would have been.
        bytes: usize,
        /// What the system said.
        source: io::Error,
    },
    /// Anything else.
    #[error("cannot write `{}`: {source} (while {step})", path.display())]
    Other {
        /// The file.
        path: PathBuf,
        /// What was being done.
        step: &'static str,
        /// What the system said.
        source: io::Error,
    },
}

/// Writes `content` to `path`, whole or not at all.
///
/// # Errors
/// If the file cannot be written; the path then holds what it held before.
pub fn write(path: &Path, content: &[u8], existing: Existing) -> Result<(), WriteError> {
    let destination = Destination { path, bytes: content.len() };
    destination.accept(existing)?;
    let mut unfinished = destination.begin()?;
    let step = |step| move |source| destination.error(step, source);
    unfinished.write_all(content).map_err(step("writing its content"))?;
    unfinished.as_file().sync_all().map_err(step("forcing it to the disk"))?;
    match existing {
        Existing::Replace => unfinished.persist(path),
        Existing::Refuse => unfinished.persist_noclobber(path),
    }
    .map_err(|failure| destination.error("giving it its name", failure.error))?;
    destination.sync_directory();
    Ok(())
}

/// Finds out early, before a long run, whether [`write()`] would refuse `path`.
///
/// # Errors
/// As [`write()`], except that nobody knows yet whether the disk will be full.
pub fn check(path: &Path, existing: Existing) -> Result<(), WriteError> {
    let destination = Destination { path, bytes: 0 };
    destination.accept(existing)?;
    destination.begin().map(drop)
}

/// Where a file goes.
#[derive(Clone, Copy)]
struct Destination<'a> {
    path: &'a Path,
    bytes: usize,
}

impl Destination<'_> {
    fn directory(&self) -> &Path {
        match self.path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        }
    }

    /// Refuses what no attempt is needed for.
    fn accept(&self, existing: Existing) -> Result<(), WriteError> {
        let path = || self.path.to_owned();
        match fs::metadata(self.path) {
            Ok(found) if found.is_dir() => Err(WriteError::IsDirectory { path: path() }),
            Ok(_) if existing == Existing::Refuse => Err(WriteError::Exists { path: path() }),
            _ if !self.directory().is_dir() => {
                Err(WriteError::NoDirectory { path: path(), directory: self.directory().to_owned() })
            }
            _ => Ok(()),
        }
    }

    /// An empty unfinished file beside the destination, removed when dropped.
    fn begin(&self) -> Result<NamedTempFile, WriteError> {
        let mut prefix = OsStr::new(".").to_owned();
        prefix.push(self.path.file_name().unwrap_or_default());
        prefix.push(".");
        let mut builder = Builder::new();
        builder.prefix(&prefix).suffix(".unfinished");
        builder.permissions(readable_by_all());
        builder.tempfile_in(self.directory()).map_err(|source| self.error("creating it", source))
    }

    /// Forces the new name to the disk. A file system that cannot do this for a directory says so;
    /// the file itself is safe by then.
    fn sync_directory(&self) {
        if let Ok(directory) = File::open(self.directory()) {
            drop(directory.sync_all());
        }
    }

    /// What `source`, met at `step`, means to a user.
    fn error(&self, step: &'static str, source: io::Error) -> WriteError {
        let (path, directory) = (self.path.to_owned(), self.directory().to_owned());
        match source.kind() {
            ErrorKind::AlreadyExists => WriteError::Exists { path },
            ErrorKind::IsADirectory => WriteError::IsDirectory { path },
            ErrorKind::PermissionDenied => WriteError::Denied { path, directory, source },
            ErrorKind::ReadOnlyFilesystem => WriteError::ReadOnly { path, directory, source },
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
                WriteError::Full { path, bytes: self.bytes, source }
            }
            _ => WriteError::Other { path, step, source },
        }
    }
}

/// The permissions of an ordinary new file, of which the process's umask takes away.
fn readable_by_all() -> Permissions {
    use std::os::unix::fs::PermissionsExt;
    Permissions::from_mode(0o666)
}
