//! Writing a file atomically: it appears completely or not at all.
//!
//! The content is written to a temporary file beside the destination, forced to the disk, and then
//! renamed. So a reader never sees half a file, a full disk leaves an earlier result as it was, and an
//! interrupted run leaves only earlier and finished files. On any error, or when the thread unwinds, the
//! temporary file is removed. (A process that is killed cannot remove it: it stays beside the destination
//! as `.NAME.*.unfinished`.)

use std::ffi::OsStr;
use std::fs::{self, File, FileType, Permissions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use tempfile::{Builder, NamedTempFile};

/// How the name of a temporary file ends.
const UNFINISHED: &str = ".unfinished";
/// How many random letters and digits stand before that.
const RANDOM: usize = 6;

/// What to do if the file already exists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Existing {
    /// Leave it, and fail.
    Refuse,
    /// Replace it with the new file.
    Replace,
}

/// A file could not be written. The path still holds what it held before.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The file exists and must not be replaced.
    #[error("`{}` exists already: give --force to replace it, or name another file", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The path names a directory.
    #[error("`{}` is a directory: name a file", path.display())]
    IsDirectory {
        /// The directory.
        path: PathBuf,
    },
    /// The path names a device, a FIFO or a socket, directly or through a symbolic link.
    #[error("`{}` is {kind}, which a file cannot replace: name a regular file", path.display())]
    NotRegular {
        /// What is there.
        path: PathBuf,
        /// Its kind.
        kind: &'static str,
    },
    /// The directory to write into does not exist.
    #[error("cannot write `{}`: there is no directory `{}`: create it first", path.display(), directory.display())]
    NoDirectory {
        /// The file.
        path: PathBuf,
        /// The missing directory.
        directory: PathBuf,
    },
    /// The directory may not be written to.
    #[error("cannot write `{}`: no permission to write in `{}`: choose another place", path.display(), directory.display())]
    Denied {
        /// The file.
        path: PathBuf,
        /// Its directory.
        directory: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file system is read-only.
    #[error("cannot write `{}`: `{}` is on a read-only file system: choose another place", path.display(), directory.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
        /// Its directory.
        directory: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The disk or the user's share of it is full.
    #[error("cannot write `{}` ({bytes} bytes): {source}: free some space, or choose another place", path.display())]
    Full {
        /// The file.
        path: PathBuf,
        /// The size it would have had.
        bytes: usize,
        /// What the system said.
        source: io::Error,
    },
    /// Anything else.
    #[error("cannot write `{}`: {source} (while {step})", path.display())]
    Other {
        /// The file.
        path: PathBuf,
        /// What was being done when it failed.
        step: &'static str,
        /// What the system said.
        source: io::Error,
    },
}

/// Writes `content` to `path` completely, or not at all.
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

/// Checks before a long run whether [`write()`] would refuse `path`.
///
/// # Errors
/// As [`write()`], except for a disk that fills up later.
pub fn check(path: &Path, existing: Existing) -> Result<(), WriteError> {
    let destination = Destination { path, bytes: 0 };
    destination.accept(existing)?;
    destination.begin().map(drop)
}

/// Removes from `folder` what killed processes have left of files whose names are `ours`. Nobody may be writing them. What
/// cannot be removed stays.
pub fn remove_unfinished(folder: &Path, ours: impl Fn(&OsStr) -> bool) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if destination_of(&entry.file_name()).is_some_and(|name| ours(OsStr::new(name))) {
            drop(fs::remove_file(entry.path()));
        }
    }
}

/// The name of the file that the temporary file `name` was to become.
fn destination_of(name: &OsStr) -> Option<&str> {
    let (name, random) = name.to_str()?.strip_prefix('.')?.strip_suffix(UNFINISHED)?.rsplit_once('.')?;
    (random.len() == RANDOM && random.bytes().all(|byte| byte.is_ascii_alphanumeric())).then_some(name)
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

    /// Refuses destinations that need no attempt at writing.
    fn accept(&self, existing: Existing) -> Result<(), WriteError> {
        let path = || self.path.to_owned();
        match fs::metadata(self.path) {
            Ok(found) if found.is_dir() => Err(WriteError::IsDirectory { path: path() }),
            Ok(found) if !found.is_file() => {
                Err(WriteError::NotRegular { path: path(), kind: kind(found.file_type()) })
            }
            Ok(_) if existing == Existing::Refuse => Err(WriteError::Exists { path: path() }),
            _ if !self.directory().is_dir() => {
                Err(WriteError::NoDirectory { path: path(), directory: self.directory().to_owned() })
            }
            _ => Ok(()),
        }
    }

    /// Creates an empty temporary file beside the destination; it is removed when dropped.
    fn begin(&self) -> Result<NamedTempFile, WriteError> {
        let mut prefix = OsStr::new(".").to_owned();
        prefix.push(self.path.file_name().unwrap_or_default());
        prefix.push(".");
        let mut builder = Builder::new();
        builder.prefix(&prefix).rand_bytes(RANDOM).suffix(UNFINISHED);
        builder.permissions(readable_by_all());
        builder.tempfile_in(self.directory()).map_err(|source| self.error("creating it", source))
    }

    /// Forces the new name to the disk. Errors are ignored: some file systems cannot do this for a
    /// directory, and the file's content is safe by then.
    fn sync_directory(&self) {
        if let Ok(directory) = File::open(self.directory()) {
            drop(directory.sync_all());
        }
    }

    /// The error to report for `source`, which occurred at `step`.
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

/// What `special` is, which is neither a regular file nor a directory.
fn kind(special: FileType) -> &'static str {
    use std::os::unix::fs::FileTypeExt;
    match special {
        special if special.is_fifo() => "a FIFO",
        special if special.is_socket() => "a socket",
        _ => "a device",
    }
}

/// The permissions of an ordinary new file, before the process's umask applies.
fn readable_by_all() -> Permissions {
    use std::os::unix::fs::PermissionsExt;
    Permissions::from_mode(0o666)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_to_become_our_file_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let ours = ".part-0.parquet.6HIeCN.unfinished";
        let others = [
            ".part-1.parquet.6HIeCN.unfinished",
            ".part-0.parquet.6HIeCN.unfinished.kept",
            ".part-0.parquet.notes.unfinished.unfinished",
            ".part-0.parquet.unfinished",
            "part-0.parquet.6HIeCN.unfinished",
            "part-0.parquet",
        ];
        for name in others.into_iter().chain([ours]) {
            fs::write(folder.path().join(name), "").unwrap();
        }
        remove_unfinished(folder.path(), |name| name == "part-0.parquet");
        assert!(!folder.path().join(ours).exists());
        assert!(others.iter().all(|name| folder.path().join(name).exists()));
        // The name is the one that a file has while it is written.
        let path = folder.path().join("part-0.parquet");
        let unfinished = Destination { path: &path, bytes: 0 }.begin().unwrap();
        let name = unfinished.path().file_name().and_then(destination_of);
        assert_eq!(name, Some("part-0.parquet"));
    }
}
