//! Reading a file that a user names, if it is a regular file and not too long; and [`document`], reading a TOML document.
//!
//! A path may lead anywhere: to a directory, an endless device, a pipe without a writer, or a file of the kernel that
//! waits for messages. These are refused at once with an explanation, or not opened, so that no command hangs or fills
//! the memory.

pub mod document;
pub mod refusal;
pub mod wording;

use std::fs::{File, FileType};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// The longest document, in bytes. Profiles, scenarios and plans take a few kilobytes.
pub const LONGEST_DOCUMENT: u64 = 16 << 20;
/// The longest journal, in bytes. A finished point takes about a kilobyte.
pub const LONGEST_JOURNAL: u64 = 1 << 30;
/// The longest packet capture, in bytes. It is read into memory.
pub const LONGEST_CAPTURE: u64 = 4 << 30;

/// Reads the regular file at `path`, which may have at most `limit` bytes. One that reports no length, as those of
/// `/proc` do, is empty.
///
/// # Errors
/// The system's errors; [`ErrorKind::IsADirectory`] or [`ErrorKind::InvalidInput`] if it is not a regular
/// file, [`ErrorKind::FileTooLarge`] if it is too long.
pub fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let length = checked_length(path, limit)?;
    let mut bytes = Vec::new();
    // Files of the kernel report a length of 0, and reading one may wait for ever or take away what it holds.
    if length == 0 {
        return Ok(bytes);
    }
    // The file may have grown since the check.
    File::open(path)?.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    refuse_longer(bytes.len() as u64, limit)?;
    Ok(bytes)
}

/// Checks whether [`read`] would refuse `path`, without opening it: opening a pipe would wait for its other
/// end.
///
/// # Errors
/// As [`read`].
pub fn check(path: &Path, limit: u64) -> io::Result<()> {
    checked_length(path, limit).map(drop)
}

fn checked_length(path: &Path, limit: u64) -> io::Result<u64> {
    let found = path.metadata().map_err(|error| explain_dangling_link(path, error))?;
    require_regular(found.file_type())?;
    refuse_longer(found.len(), limit)?;
    Ok(found.len())
}

/// Reads the regular file at `path` as text; it may have at most `limit` bytes.
///
/// # Errors
/// As [`read`], and [`ErrorKind::InvalidData`] if it is not UTF-8.
pub fn read_text(path: &Path, limit: u64) -> io::Result<String> {
    String::from_utf8(read(path, limit)?).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        let found = error.as_bytes()[offset];
        let problem = format!("it is not UTF-8 text: the byte at offset {offset} is 0x{found:02x}");
        io::Error::new(ErrorKind::InvalidData, problem)
    })
}

/// Replaces `error` by one that names the missing target, if `path` is a dangling link.
fn explain_dangling_link(path: &Path, error: io::Error) -> io::Error {
    match path.read_link() {
        Ok(target) if error.kind() == ErrorKind::NotFound => {
            let problem = format!("it is a link to {}, which is not there", target.display());
            io::Error::new(ErrorKind::NotFound, problem)
        }
        _ => error,
    }
}

/// Checks that what was found is a regular file.
///
/// # Errors
/// [`ErrorKind::IsADirectory`] or [`ErrorKind::InvalidInput`], with what it is instead.
pub fn require_regular(found: FileType) -> io::Result<()> {
    let (kind, what) = match found {
        _ if found.is_file() => return Ok(()),
        _ if found.is_symlink() => (ErrorKind::InvalidInput, "a symbolic link"),
        _ if found.is_dir() => (ErrorKind::IsADirectory, "a directory"),
        _ if found.is_fifo() => (ErrorKind::InvalidInput, "a pipe"),
        _ if found.is_socket() => (ErrorKind::InvalidInput, "a socket"),
        _ => (ErrorKind::InvalidInput, "a device"),
    };
    Err(io::Error::new(kind, format!("it is {what}, expected a regular file")))
}

fn refuse_longer(bytes: u64, limit: u64) -> io::Result<()> {
    if bytes <= limit {
        return Ok(());
    }
    let problem = format!("it has more than {limit} bytes, the most that can be read");
    Err(io::Error::new(ErrorKind::FileTooLarge, problem))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::net::UnixListener;
    use std::process::Command;

    fn refusal(path: &Path) -> (ErrorKind, String) {
        let error = read_text(path, 8).unwrap_err();
        (error.kind(), error.to_string())
    }

    #[test]
    fn a_file_is_read_up_to_its_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "12345678").unwrap();
        assert_eq!(read_text(&path, 8).unwrap(), "12345678");
        let (kind, problem) = {
            fs::write(&path, "123456789").unwrap();
            refusal(&path)
        };
        assert_eq!(kind, ErrorKind::FileTooLarge);
        assert!(problem.contains("more than 8 bytes"), "{problem}");
        // A kernel file that reports a length of 0.
        assert_eq!(read(Path::new("/proc/self/maps"), 8).unwrap(), b"");
    }

    #[test]
    fn other_than_regular_files_are_refused_without_waiting() {
        let folder = tempfile::tempdir().unwrap();
        let (pipe, socket) = (folder.path().join("pipe"), folder.path().join("socket"));
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let _listener = UnixListener::bind(&socket).unwrap();
        for (path, kind, what) in [
            (folder.path(), ErrorKind::IsADirectory, "a directory"),
            (&pipe, ErrorKind::InvalidInput, "a pipe"),
            (&socket, ErrorKind::InvalidInput, "a socket"),
            (Path::new("/dev/zero"), ErrorKind::InvalidInput, "a device"),
        ] {
            assert_eq!(refusal(path), (kind, format!("it is {what}, expected a regular file")));
        }
        assert_eq!(refusal(&folder.path().join("none")).0, ErrorKind::NotFound);
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("nowhere", &link).unwrap();
        let dangling = (ErrorKind::NotFound, "it is a link to nowhere, which is not there".to_owned());
        assert_eq!(refusal(&link), dangling);
    }

    #[test]
    fn the_first_byte_that_is_not_utf_8_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, b"abc\xffd").unwrap();
        let (kind, problem) = refusal(&path);
        assert_eq!(kind, ErrorKind::InvalidData);
        assert!(problem.ends_with("the byte at offset 3 is 0xff"), "{problem}");
    }
}
