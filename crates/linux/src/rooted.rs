//! Files beneath a root directory that a stranger may have filled: a capture.
//!
//! The kernel itself resolves every path beneath the root (`openat2` with `RESOLVE_IN_ROOT`, Linux 5.6, as
//! libpathrs and cap-std do): `..` at the root stays there, the target of an absolute link is looked up from
//! the root, and links that the kernel invents (`/proc/self/root`) are not followed. So links within a capture
//! work, and none leads out of it. Only regular files are read. A pipe, device or directory is an error at
//! once, and nothing waits for it.
//!
//! A file is replaced by a new one, which is created beside it under a name that cannot be planted in
//! advance. A link is resolved first and kept: the file that it means is replaced. The new file is locked until it is in
//! place, so that what a killed process has left can be told from what another one is writing.
//!
//! The root `/` is this machine: its links are the kernel's and the administrator's, and its files are the
//! kernel's values, which are written in place.

use crate::regular::{CAREFUL, checked, limited};
use rustix::fs::{
    self as sys, AtFlags, CWD, Dir, FileType, Mode, OFlags, ResolveFlags, openat2, readlinkat, statat,
};
use rustix::io::Errno;
use std::ffi::{CStr, OsStr, OsString};
use std::fs::{File, Permissions, TryLockError};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, ErrorKind, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use warmcore_files::require_regular;

/// The most bytes read of a file. No file that is read here is longer on any machine. The longest is
/// `/proc/interrupts`, which has a column of 11 characters for each cpu.
const LONGEST: u64 = 64 << 20;

/// How often a path is resolved again if directories were renamed meanwhile (`EAGAIN` of openat2(2)).
const RETRIES: usize = 128;

/// The most links in a row, as in the kernel (`MAXSYMLINKS` in `include/linux/namei.h`).
const LINKS: usize = 40;

/// How many names are tried for a new file.
const NAMES: usize = 16;

/// A root directory. It is kept open, so that a file costs one look-up.
#[derive(Clone, Debug)]
pub(crate) struct Root {
    path: PathBuf,
    /// `None` for `/`.
    directory: Option<Arc<Result<OwnedFd, Unusable>>>,
}

/// Why nothing can be opened beneath a root.
#[derive(Clone, Copy, Debug)]
enum Unusable {
    /// It cannot be opened.
    Unopened(Errno),
    /// The kernel cannot open files beneath a directory only.
    Unconfined(Errno),
}

impl From<Unusable> for io::Error {
    fn from(unusable: Unusable) -> Self {
        match unusable {
            Unusable::Unopened(number) => number.into(),
            Unusable::Unconfined(number) => Self::new(
                ErrorKind::Unsupported,
                format!(
                    "links in it could lead out of it, because this kernel or sandbox does not offer openat2 \
                     ({number}): expected Linux 5.6 or later, and a sandbox that allows this system call"
                ),
            ),
        }
    }
}

impl Root {
    /// Opens `path`. A failure is reported with every file.
    pub(crate) fn new(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        let directory = (path != Path::new("/")).then(|| Arc::new(open_root(&path)));
        Self { path, directory }
    }

    /// Opens the folder `name` in it as a root of its own; `None` if nothing has the name. A link is refused, wherever it
    /// leads. Nothing is a root within this machine.
    pub(crate) fn within(&self, name: &str) -> io::Result<Option<Self>> {
        if self.is_live() {
            return Ok(None);
        }
        let opened = match self.open(Path::new(name), OFlags::PATH | OFlags::NOFOLLOW) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            opened => opened?,
        };
        let kind = File::from(opened.try_clone()?).metadata()?.file_type();
        if !kind.is_dir() {
            let what = if kind.is_symlink() { "it is a symbolic link" } else { "it is no folder" };
            return Err(io::Error::new(ErrorKind::NotADirectory, format!("{what}, expected a folder")));
        }
        Ok(Some(Self { path: self.path.join(name), directory: Some(Arc::new(Ok(opened))) }))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it is this machine.
    pub(crate) const fn is_live(&self) -> bool {
        self.directory.is_none()
    }

    /// Fails if nothing can be opened beneath it.
    pub(crate) fn require_usable(&self) -> io::Result<()> {
        match self.directory.as_deref() {
            Some(Err(unusable)) => Err((*unusable).into()),
            _ => Ok(()),
        }
    }

    /// Reads the regular file `file`.
    pub(crate) fn read(&self, file: &Path) -> io::Result<Vec<u8>> {
        limited(&checked(self.open(file, OFlags::RDONLY)?)?, LONGEST)
    }

    /// Whether `file` exists, as anything.
    pub(crate) fn has(&self, file: &Path) -> bool {
        self.open(file, OFlags::PATH).is_ok()
    }

    /// Whether anybody may write `file`.
    pub(crate) fn is_writable(&self, file: &Path) -> io::Result<bool> {
        Ok(!File::from(self.open(file, OFlags::PATH)?).metadata()?.permissions().readonly())
    }

    /// Lists the names in `directory`.
    pub(crate) fn names(&self, directory: &Path) -> io::Result<Vec<OsString>> {
        let entries = Dir::new(self.open(directory, OFlags::RDONLY | OFlags::DIRECTORY)?)?;
        let name = |entry: Result<sys::DirEntry, Errno>| {
            Ok(OsStr::from_bytes(entry?.file_name().to_bytes()).to_owned())
        };
        let is_child = |name: &io::Result<OsString>| {
            !matches!(name.as_ref().map(|name| name.as_bytes()), Ok(b"." | b".."))
        };
        entries.map(name).filter(is_child).collect()
    }

    /// Reads the target of the link `file`.
    pub(crate) fn link(&self, file: &Path) -> io::Result<PathBuf> {
        target_of(self.open(file, OFlags::PATH | OFlags::NOFOLLOW)?, "")
    }

    /// Gives `file`, which must exist, the contents `text`: a value of this machine in one call, and a file
    /// beneath a root by a new file in its place.
    pub(crate) fn write(&self, file: &Path, text: &str) -> io::Result<()> {
        if self.is_live() {
            // Without truncating first: the kernel takes each write as a whole value.
            return write_once(&mut checked(self.open(file, OFlags::WRONLY)?)?, text);
        }
        let (directory, name, permissions) = self.resolved(file)?;
        let is_there = || statat(&directory, &name, AtFlags::SYMLINK_NOFOLLOW).is_ok();
        let mut written = replace(&directory, &name, text, &permissions);
        for _ in 1..NAMES {
            // Another process may remove the new file before it is locked.
            if !written.as_ref().is_err_and(|error| error.kind() == ErrorKind::NotFound) || !is_there() {
                break;
            }
            written = replace(&directory, &name, text, &permissions);
        }
        written.map_err(|error| explained(error, &self.path))
    }

    /// Removes what processes that were killed while they wrote `file` have left beside it. On this machine that is nothing.
    pub(crate) fn remove_left(&self, file: &Path) -> io::Result<()> {
        if self.is_live() {
            return Ok(());
        }
        let (directory, name, _) = self.resolved(file)?;
        let listed = open_beneath(&directory, Path::new("."), OFlags::RDONLY | OFlags::DIRECTORY)?;
        for entry in Dir::new(listed)? {
            let entry = entry?;
            let is_file = || {
                statat(&directory, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW)
                    .map(|found| FileType::from_raw_mode(found.st_mode) == FileType::RegularFile)
            };
            if is_temporary(entry.file_name().to_bytes(), name.as_bytes()) && is_file().unwrap_or(false) {
                remove_unlocked(&directory, entry.file_name())?;
            }
        }
        Ok(())
    }

    /// Opens `path`, which has no leading slash.
    fn open(&self, path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        match self.directory.as_deref() {
            None => Ok(sys::openat(CWD, self.path.join(path), flags | CAREFUL, Mode::empty())?),
            Some(Ok(root)) => Ok(open_beneath(root, path, flags)?),
            Some(Err(unusable)) => Err((*unusable).into()),
        }
    }

    /// Follows the links that `file` consists of. Returns the directory of the regular file at their end, its
    /// name there, and its permissions.
    fn resolved(&self, file: &Path) -> io::Result<(OwnedFd, OsString, Permissions)> {
        let mut path = file.to_owned();
        for _ in 0..LINKS {
            let Some(name) = path.file_name() else { return Err(ErrorKind::IsADirectory.into()) };
            let parent = path.parent().unwrap_or(Path::new(""));
            let directory = self.open(parent, OFlags::PATH | OFlags::DIRECTORY)?;
            let mode = statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW)?.st_mode;
            if FileType::from_raw_mode(mode) != FileType::Symlink {
                let found =
                    File::from(open_beneath(&directory, Path::new(name), OFlags::PATH)?).metadata()?;
                require_regular(found.file_type())?;
                return Ok((directory, name.to_owned(), found.permissions()));
            }
            path = parent.join(target_of(&directory, name)?);
        }
        Err(Errno::LOOP.into())
    }
}

fn open_root(path: &Path) -> Result<OwnedFd, Unusable> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let root = sys::open(path, flags, Mode::empty()).map_err(Unusable::Unopened)?;
    // A sandbox may refuse the call with any error, so one call that must succeed shows whether it exists.
    match open_beneath(&root, Path::new("."), OFlags::PATH) {
        Ok(_) => Ok(root),
        Err(number) => Err(Unusable::Unconfined(number)),
    }
}

fn open_beneath(root: &OwnedFd, path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    // Flags that `O_PATH` ignores are errors in openat2(2).
    let careful = if flags.contains(OFlags::PATH) { OFlags::CLOEXEC } else { CAREFUL };
    let resolve = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
    let open = || openat2(root, path, flags | careful, Mode::empty(), resolve);
    let mut opened = open();
    for _ in 0..RETRIES {
        if !matches!(opened, Err(Errno::AGAIN | Errno::INTR)) {
            break;
        }
        opened = open();
    }
    opened
}

fn target_of(directory: impl AsFd, name: impl rustix::path::Arg) -> io::Result<PathBuf> {
    let target = readlinkat(directory, name, Vec::new())?;
    Ok(OsString::from_vec(target.into_bytes()).into())
}

/// The error of a copy on a full or read-only disk. Its number means something else where the kernel takes a value.
fn explained(error: io::Error, root: &Path) -> io::Error {
    let root = root.display();
    let problem = match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            format!("no space is left on the disk of `{root}` ({error}): free some")
        }
        ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied => format!(
            "the folder `{root}` is read-only here ({error}): expected one that this user may write to, such as a copy of it"
        ),
        _ => return error,
    };
    io::Error::new(error.kind(), problem)
}

/// The digits at the end of a temporary name.
const DIGITS: usize = 16;

/// Whether `found` is a name that [`create_beside`] makes for the file `name`.
fn is_temporary(found: &[u8], name: &[u8]) -> bool {
    let rest = found.strip_prefix(b".").and_then(|rest| rest.strip_prefix(name)?.strip_prefix(b"."));
    let is_digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    rest.is_some_and(|digits| digits.len() == DIGITS && digits.iter().all(is_digit))
}

/// Removes the file `name` unless a process that lives has it locked.
fn remove_unlocked(directory: &OwnedFd, name: &CStr) -> io::Result<()> {
    let opened = sys::openat(directory, name, OFlags::RDONLY | OFlags::NOFOLLOW | CAREFUL, Mode::empty());
    let removed = match opened.map(File::from) {
        // Locked until it is removed: its process must not write to it any more.
        Ok(left) if left.try_lock().is_ok() => sys::unlinkat(directory, name, AtFlags::empty()),
        Ok(_) => Ok(()),
        Err(number) => Err(number),
    };
    match removed {
        // It has just been put in place.
        Err(Errno::NOENT) => Ok(()),
        removed => Ok(removed?),
    }
}

/// Puts a new file in the place of the file `name`; `ENOENT` if another process removes the new one meanwhile.
fn replace(directory: &OwnedFd, name: &OsStr, text: &str, permissions: &Permissions) -> io::Result<()> {
    let (temporary, mut new) = create_beside(directory, name)?;
    let locked = match new.try_lock() {
        Err(TryLockError::WouldBlock) => Err(Errno::NOENT.into()),
        // Where files cannot be locked, nobody removes one.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
    };
    let written = locked
        .and_then(|()| write_once(&mut new, text))
        .and_then(|()| new.set_permissions(permissions.clone()))
        .and_then(|()| Ok(sys::renameat(directory, &temporary, directory, name)?));
    if written.is_err() {
        // What matters is the first error.
        let _ = sys::unlinkat(directory, &temporary, AtFlags::empty());
    }
    written
}

/// Creates a file in `directory` with a name that nobody can foresee, and that says what it belongs to.
fn create_beside(directory: &OwnedFd, name: &OsStr) -> io::Result<(OsString, File)> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | CAREFUL;
    for _ in 0..NAMES {
        let mut temporary = OsString::from(".");
        temporary.push(name);
        // Each state has keys of its own, which the system drew at random.
        temporary.push(format!(".{:0DIGITS$x}", RandomState::new().build_hasher().finish()));
        match sys::openat(directory, &temporary, flags, Mode::RUSR | Mode::WUSR) {
            Ok(file) => return Ok((temporary, file.into())),
            Err(Errno::EXIST) => {}
            Err(number) => return Err(number.into()),
        }
    }
    Err(Errno::EXIST.into())
}

/// Writes `text` in one system call, because half a value would be a different value.
pub(crate) fn write_once(file: &mut File, text: &str) -> io::Result<()> {
    loop {
        match file.write(text.as_bytes()) {
            Ok(written) if written == text.len() => return Ok(()),
            Ok(_) => return Err(Errno::NOSPC.into()),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::process::Command;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;
    use tempfile::TempDir;

    /// A directory with a root in `root`, and a file of somebody else's in `outside/secret`.
    fn place() -> (TempDir, PathBuf, Root) {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("root");
        fs::create_dir_all(path.join("inside")).unwrap();
        fs::create_dir(place.path().join("outside")).unwrap();
        fs::write(place.path().join("outside/secret"), "theirs").unwrap();
        fs::write(path.join("inside/value"), "ours").unwrap();
        let root = Root::new(&path);
        (place, path, root)
    }

    fn text(root: &Root, file: &str) -> Result<String, Option<i32>> {
        let read = root.read(Path::new(file));
        read.map(|bytes| String::from_utf8(bytes).unwrap()).map_err(|error| error.raw_os_error())
    }

    #[test]
    fn no_link_leads_out_of_the_root() {
        let (place, path, root) = place();
        let outside = place.path().join("outside");
        symlink(outside.join("secret"), path.join("file")).unwrap();
        symlink(&outside, path.join("folder")).unwrap();
        symlink("../outside/secret", path.join("up")).unwrap();
        symlink("../../../../../../../../etc/hostname", path.join("inside/far")).unwrap();
        let absent = Err(Some(Errno::NOENT.raw_os_error()));
        for file in
            ["file", "folder/secret", "up", "inside/far", "../outside/secret", "inside/../../outside/secret"]
        {
            assert_eq!(text(&root, file), absent, "{file}");
            assert!(!root.has(Path::new(file)), "{file}");
            assert!(root.write(Path::new(file), "changed").is_err(), "{file}");
        }
        assert!(root.names(Path::new("folder")).is_err());
        assert_eq!(fs::read_to_string(outside.join("secret")).unwrap(), "theirs");
    }

    #[test]
    fn links_within_the_root_are_followed_and_absolute_ones_begin_at_the_root() {
        let (_place, path, root) = place();
        symlink("inside/value", path.join("relative")).unwrap();
        symlink("/inside/value", path.join("absolute")).unwrap();
        symlink("../../../inside/value", path.join("inside/above")).unwrap();
        symlink("/inside", path.join("folder")).unwrap();
        for file in ["relative", "absolute", "inside/above", "folder/value"] {
            assert_eq!(text(&root, file).as_deref(), Ok("ours"), "{file}");
            root.write(Path::new(file), "new").unwrap();
            assert_eq!(fs::read_to_string(path.join("inside/value")).unwrap(), "new", "{file}");
            root.write(Path::new("inside/value"), "ours").unwrap();
        }
        assert!(path.join("absolute").is_symlink() && path.join("inside/above").is_symlink());
        assert_eq!(root.link(Path::new("absolute")).unwrap(), Path::new("/inside/value"));
        let mut names = root.names(Path::new("folder")).unwrap();
        names.sort();
        assert_eq!(names, ["above", "value"], "nothing else is left there");
    }

    #[test]
    fn a_root_within_a_root_is_a_folder_in_it_and_no_link() {
        let (place, path, root) = place();
        symlink(place.path().join("outside"), path.join("away")).unwrap();
        symlink("inside", path.join("there")).unwrap();
        let within = root.within("inside").unwrap().unwrap();
        assert_eq!(text(&within, "value").as_deref(), Ok("ours"));
        assert_eq!(text(&within, "../inside/value"), Err(Some(Errno::NOENT.raw_os_error())));
        assert!(root.within("absent").unwrap().is_none());
        for (name, what) in [
            ("away", "it is a symbolic link"),
            ("there", "it is a symbolic link"),
            ("inside/value", "it is no folder"),
        ] {
            let refused = root.within(name).unwrap_err().to_string();
            assert_eq!(refused, format!("{what}, expected a folder"), "{name}");
        }
    }

    #[test]
    fn links_in_a_circle_are_an_error() {
        let (_place, path, root) = place();
        symlink("two", path.join("one")).unwrap();
        symlink("one", path.join("two")).unwrap();
        assert_eq!(text(&root, "one"), Err(Some(Errno::LOOP.raw_os_error())));
        let error = root.write(Path::new("one"), "").unwrap_err();
        assert_eq!(error.raw_os_error(), Some(Errno::LOOP.raw_os_error()));
    }

    #[test]
    fn other_than_regular_files_are_refused_without_waiting() {
        let (_place, path, root) = place();
        assert!(Command::new("mkfifo").arg(path.join("pipe")).status().unwrap().success());
        for (file, what) in [("pipe", "a pipe"), ("inside", "a directory")] {
            for error in
                [root.read(Path::new(file)).unwrap_err(), root.write(Path::new(file), "").unwrap_err()]
            {
                assert_eq!(error.to_string(), format!("it is {what}, expected a regular file"));
            }
        }
        // The same on this machine, where links may lead to devices.
        let error = Root::new("/").read(Path::new("dev/zero")).unwrap_err();
        assert_eq!(error.to_string(), "it is a device, expected a regular file");
    }

    #[test]
    fn a_replaced_file_keeps_its_permissions_and_no_planted_name_is_touched() {
        let (place, path, root) = place();
        let value = path.join("inside/value");
        fs::set_permissions(&value, Permissions::from_mode(0o640)).unwrap();
        for name in ["value.new", "value.tmp", ".value.new"] {
            symlink(place.path().join("outside/secret"), path.join("inside").join(name)).unwrap();
        }
        root.write(Path::new("inside/value"), "new").unwrap();
        assert_eq!(fs::read_to_string(&value).unwrap(), "new");
        assert_eq!(fs::metadata(&value).unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(fs::read_to_string(place.path().join("outside/secret")).unwrap(), "theirs");
        assert!(path.join("inside/value.new").is_symlink());
        assert_eq!(root.names(Path::new("inside")).unwrap().len(), 4);
    }

    #[test]
    fn what_a_living_process_writes_is_not_removed() {
        let (_place, path, root) = place();
        let (file, inside) = (Path::new("inside/value"), path.join("inside"));
        let left = inside.join(".value.00000000000000ff");
        let writer = File::create(&left).unwrap();
        writer.lock().unwrap();
        root.remove_left(file).unwrap();
        assert!(left.exists(), "its process lives");
        writer.unlock().unwrap();
        root.remove_left(file).unwrap();
        assert!(!left.exists(), "its process has ended");
    }

    #[test]
    fn a_change_succeeds_while_others_remove_what_is_left() {
        let (_place, path, root) = place();
        let (file, ended) = (Path::new("inside/value"), AtomicBool::new(false));
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while !ended.load(Ordering::Relaxed) {
                        root.remove_left(file).unwrap();
                    }
                });
            }
            let written = (0..2000).try_for_each(|number| root.write(file, &number.to_string()));
            ended.store(true, Ordering::Relaxed);
            written.unwrap();
        });
        assert_eq!(text(&root, "inside/value").as_deref(), Ok("1999"));
        assert_eq!(fs::read_dir(path.join("inside")).unwrap().count(), 1, "nothing is left");
    }

    #[test]
    fn a_full_disk_is_reported_as_one() {
        let full = explained(Errno::NOSPC.into(), Path::new("/copy"));
        assert!(
            full.to_string().starts_with("no space is left on the disk of `/copy` (No space left"),
            "{full}"
        );
        assert_eq!(full.raw_os_error(), None, "not the number by which a kernel refuses a value");
        let other = explained(Errno::IO.into(), Path::new("/copy"));
        assert_eq!(other.raw_os_error(), Some(Errno::IO.raw_os_error()));
    }

    #[test]
    fn an_absent_root_is_an_error_with_every_file() {
        let root = Root::new("/nonexistent/root");
        assert_eq!(text(&root, "proc/stat"), Err(Some(Errno::NOENT.raw_os_error())));
        assert!(root.require_usable().is_err() && !root.has(Path::new("proc")));
    }

    #[test]
    fn a_kernel_without_confinement_is_reported_with_what_is_needed() {
        let error = io::Error::from(Unusable::Unconfined(Errno::NOSYS));
        assert!(error.to_string().contains("expected Linux 5.6 or later"), "{error}");
    }
}
