//! Opens files of our own, such as those of a journal: regular files only. A link planted in place of one is
//! not followed, and a pipe or device does not make the program wait.

use rustix::fs::{Mode, OFlags, open as open_path};
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::path::Path;
use warmcore_files::require_regular;

/// Flags of every file that others may have planted: opening it neither waits, nor takes a terminal, nor
/// passes it on to other programs.
pub(crate) const CAREFUL: OFlags = OFlags::NONBLOCK.union(OFlags::CLOEXEC).union(OFlags::NOCTTY);

/// Opens the regular file at `path`, which may be created if `flags` say so.
pub(crate) fn open(path: &Path, flags: OFlags) -> io::Result<File> {
    match open_path(path, flags | CAREFUL | OFlags::NOFOLLOW, Mode::RUSR | Mode::WUSR) {
        Ok(found) => checked(found),
        // The number of the error, such as `ELOOP`, does not say what stands there.
        Err(error) => Err(explained(path).err().unwrap_or_else(|| error.into())),
    }
}

/// Reads the regular file at `path`, of at most `limit` bytes.
pub(crate) fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    limited(&open(path, OFlags::RDONLY)?, limit)
}

/// Reads `file`, of at most `limit` bytes.
pub(crate) fn limited(file: &File, limit: u64) -> io::Result<Vec<u8>> {
    // Most files are shorter than this, and then read at once.
    let mut bytes = Vec::with_capacity(4096);
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        let problem = format!("it has more than {limit} bytes, the most that is read of it");
        return Err(io::Error::new(ErrorKind::FileTooLarge, problem));
    }
    Ok(bytes)
}

/// Creates the file at `path` with `text`. One that an earlier run has left there is removed first, rather
/// than written to, because it may have another name elsewhere.
pub(crate) fn create(path: &Path, text: &str) -> io::Result<()> {
    explained(path)?;
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    open(path, OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL)?.write_all(text.as_bytes())
}

/// Returns `found` as a file if it is a regular one.
pub(crate) fn checked(found: OwnedFd) -> io::Result<File> {
    let file = File::from(found);
    require_regular(file.metadata()?.file_type())?;
    Ok(file)
}

/// Fails if something other than a regular file stands at `path`.
fn explained(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(found) => require_regular(found.file_type()),
        Err(_) => Ok(()),
    }
}
