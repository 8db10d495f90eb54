//! Writes a capture into a folder: whole, or recognisable as not whole.
//!
//! The files are written beside the folder, forced to the disk, and renamed. Where that is not possible, as for the root
//! of a mounted disk, they are written into the folder. Either way a file of ours is there until all others are, and a
//! probe refuses a folder with it.

use super::UNFINISHED;
use crate::fake::Tree;
use crate::inventory::EARLIER;
use rustix::fs::{FlockOperation, Mode, OFlags, flock, open, syncfs};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Checks that `folder` can be made, and leaves none.
///
/// # Errors
/// The error of the file system.
pub fn require_creatable(folder: &Path) -> io::Result<()> {
    let mut written = Written::default();
    let made = written.folder(folder);
    written.remove();
    made
}

/// Writes `later` into `folder`, which does not exist or is empty, and `earlier` into the folder of the first look in it.
/// What captures of the same name have left beside it that were killed is removed.
///
/// # Errors
/// The error of the file system, or that something is in the folder. Nothing is left of the capture then, as far as it can
/// be removed; what cannot be is refused by probes. Files of others are never touched.
pub fn write(folder: &Path, later: &Tree, earlier: Option<&Tree>) -> io::Result<()> {
    let halves = [Some((later, Path::new(""))), earlier.map(|earlier| (earlier, Path::new(EARLIER)))];
    let halves: Vec<(&Tree, &Path)> = halves.into_iter().flatten().collect();
    let mut written = Written::default();
    let done = written.folder(place_of(folder)).and_then(|()| {
        remove_left(folder);
        beside_or_in_place(folder, &halves)
    });
    done.inspect_err(|_| written.remove())
}

fn beside_or_in_place(folder: &Path, halves: &[(&Tree, &Path)]) -> io::Result<()> {
    let made = match make_locked(folder) {
        Ok((beside, _locked)) => {
            let filled = fill(&beside, halves, &mut Written::default());
            filled.and_then(|()| rename(&beside, folder)).inspect_err(|_| drop(fs::remove_dir_all(&beside)))
        }
        Err(error) => Err(error),
    };
    match made {
        Err(error) if is_unmovable(&error) => {
            let mut written = Written::default();
            let filled = written
                .folder(folder)
                .and_then(|()| require_empty(folder))
                .and_then(|()| fill(folder, halves, &mut written));
            filled.inspect_err(|_| written.remove())
        }
        done => done,
    }
}

/// Fails if something is in `folder`.
fn require_empty(folder: &Path) -> io::Result<()> {
    match fs::read_dir(folder)?.next() {
        Some(found) => {
            let name = found?.file_name();
            let problem = format!("`{}` has appeared in it, expected an empty folder", name.display());
            Err(io::Error::new(ErrorKind::DirectoryNotEmpty, problem))
        }
        None => Ok(()),
    }
}

/// The folder that `folder` is in.
fn place_of(folder: &Path) -> &Path {
    match folder.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

const SUFFIX: &str = ".unfinished";

/// Removes what captures named as `folder` have left beside it: folders that nobody has locked any more.
fn remove_left(folder: &Path) {
    let is_ours = |name: &OsStr| -> Option<bool> {
        let own = name.as_bytes().strip_prefix(b".")?;
        let rest = own.strip_prefix(folder.file_name()?.as_bytes())?.strip_prefix(b".")?;
        let middle = rest.strip_suffix(SUFFIX.as_bytes())?;
        Some(!middle.is_empty() && middle.iter().all(|byte| byte.is_ascii_digit() || *byte == b'-'))
    };
    for entry in fs::read_dir(place_of(folder)).into_iter().flatten().flatten() {
        if is_ours(&entry.file_name()) == Some(true) && lock(&entry.path()).is_ok() {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Makes a folder beside `folder`, which is locked for as long as the second value lives: so others see that its process
/// does, whatever its number is in their namespaces.
fn make_locked(folder: &Path) -> io::Result<(PathBuf, Option<OwnedFd>)> {
    const TRIALS: u32 = 16;
    let mut refused = Errno::AGAIN.into();
    for trial in 0..TRIALS {
        let beside = beside(folder, trial);
        match fs::create_dir(&beside) {
            Ok(()) => {}
            // Its maker has our number in another namespace.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                refused = error;
                continue;
            }
            Err(error) => return Err(error),
        }
        // Another capture may remove the folder before it is locked.
        match lock(&beside) {
            Ok(locked) if beside.is_dir() => return Ok((beside, Some(locked))),
            // Where folders cannot be locked, nobody removes one.
            Err(Errno::NOTSUP | Errno::NOLCK | Errno::INVAL) => return Ok((beside, None)),
            Ok(_) | Err(Errno::NOENT | Errno::WOULDBLOCK) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(refused)
}

/// Locks a folder, unless another process has.
fn lock(folder: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = open(folder, flags, Mode::empty())?;
    flock(&opened, FlockOperation::NonBlockingLockExclusive).map(|()| opened)
}

/// A name beside `folder` that says what it belongs to.
fn beside(folder: &Path, trial: u32) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(folder.file_name().unwrap_or_default());
    name.push(format!(".{}-{trial}{SUFFIX}", std::process::id()));
    folder.with_file_name(name)
}

/// Gives the folder `beside` its name, and the permissions of an empty folder that has it.
fn rename(beside: &Path, folder: &Path) -> io::Result<()> {
    let renamed = match fs::metadata(folder) {
        Ok(found) => fs::set_permissions(beside, found.permissions()),
        Err(_) => Ok(()),
    };
    renamed.and_then(|()| fs::rename(beside, folder))
}

/// Whether the error says that a folder cannot be replaced: it is mounted, `.`, a link, or in one that may not be
/// written to.
fn is_unmovable(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::ResourceBusy
            | ErrorKind::CrossesDevices
            | ErrorKind::PermissionDenied
            | ErrorKind::InvalidInput
            | ErrorKind::NotADirectory
            | ErrorKind::ReadOnlyFilesystem
    )
}

/// Writes the trees below `folder`, and takes the mark away once all is on the disk.
fn fill(folder: &Path, halves: &[(&Tree, &Path)], written: &mut Written) -> io::Result<()> {
    let mark = folder.join(UNFINISHED);
    written.file(&mark, "This capture is not whole.\n")?;
    for (tree, half) in halves {
        for (file, text) in &tree.files {
            let path = folder.join(half).join(file);
            written.file(&path, text)?;
            if tree.read_only.contains(file) {
                fs::set_permissions(path, Permissions::from_mode(0o444))?;
            }
        }
    }
    let opened = open(folder, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    syncfs(&opened)?;
    fs::remove_file(&mark)?;
    // It stays where drivers were asked.
    let _ = mark.parent().map(fs::remove_dir);
    Ok(())
}

/// The files and folders that were made here, and no others.
#[derive(Default)]
struct Written {
    files: Vec<PathBuf>,
    folders: Vec<PathBuf>,
}

impl Written {
    /// Makes the folder at `path` and those above it, unless they are there.
    fn folder(&mut self, path: &Path) -> io::Result<()> {
        let missing: Vec<&Path> =
            path.ancestors().take_while(|path| *path != Path::new("") && !path.is_dir()).collect();
        for path in missing.into_iter().rev() {
            fs::create_dir(path)?;
            self.folders.push(path.to_owned());
        }
        Ok(())
    }

    /// Makes a file, which must not be there.
    fn file(&mut self, path: &Path, text: &str) -> io::Result<()> {
        self.folder(path.parent().unwrap_or(Path::new("")))?;
        let mut file = File::create_new(path)?;
        self.files.push(path.to_owned());
        file.write_all(text.as_bytes())
    }

    /// Removes them in reverse order, so the mark as the last file. Folders that others have put something into stay.
    fn remove(&self) {
        for file in self.files.iter().rev() {
            if fs::remove_file(file).is_err_and(|error| error.kind() != ErrorKind::NotFound) {
                return;
            }
        }
        for folder in self.folders.iter().rev() {
            let _ = fs::remove_dir(folder);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Probe;
    use crate::inventory::Observation;
    use warmcore_topology::synthetic;

    fn tree() -> Tree {
        Tree::from_machine(&synthetic::virtual_machine(2))
    }

    #[test]
    fn a_capture_takes_the_place_of_an_empty_folder_and_nothing_is_left_beside_it() {
        let place = tempfile::tempdir().unwrap();
        for exists in [false, true] {
            let folder = place.path().join(exists.to_string());
            if exists {
                fs::create_dir(&folder).unwrap();
            }
            write(&folder, &tree(), Some(&tree())).unwrap();
            let halves = [folder.join(EARLIER), folder.clone()].map(|half| Probe::new().root(half));
            Observation::of_probes(&halves[0], &halves[1]).unwrap();
            assert!(!folder.join("warmcore").exists());
        }
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 2);
    }

    #[test]
    fn where_no_folder_can_be_made_beside_it_a_capture_is_written_in_place() {
        let place = tempfile::tempdir().unwrap();
        let (real, link) = (place.path().join("real"), place.path().join("link"));
        fs::create_dir(&real).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        write(&link, &tree(), None).unwrap();
        assert!(Probe::new().root(&link).machine().is_ok() && link.is_symlink());
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_capture_that_cannot_be_written_leaves_nothing() {
        let place = tempfile::tempdir().unwrap();
        let mut faulty = tree();
        // A file where another one needs a folder.
        faulty.put("proc/cpuinfo/below", "");
        let folder = place.path().join("capture");
        assert!(write(&folder, &faulty, None).is_err());
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
        fs::create_dir(&folder).unwrap();
        let (trees, mut written) = ([(&faulty, Path::new(""))], Written::default());
        assert!(fill(&folder, &trees, &mut written).is_err());
        let refused = Probe::new().root(&folder).machine().unwrap_err().to_string();
        assert!(refused.contains("is not a whole capture") && refused.contains("take it again"), "{refused}");
        let refused = Probe::new().root(&folder).inventory().unwrap_err().to_string();
        assert!(refused.contains("is not a whole capture"), "{refused}");
        fs::write(folder.join("proc/theirs"), "theirs").unwrap();
        written.remove();
        assert_eq!(fs::read_to_string(folder.join("proc/theirs")).unwrap(), "theirs");
        assert_eq!(
            fs::read_dir(&folder).unwrap().count(),
            1,
            "what others put there stays, and nothing else"
        );
    }

    /// Through a link, captures are written in place.
    #[test]
    fn what_appeared_in_the_folder_meanwhile_is_refused_and_left() {
        let place = tempfile::tempdir().unwrap();
        let (real, link) = (place.path().join("real"), place.path().join("link"));
        fs::create_dir(&real).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        fs::write(real.join("theirs"), "theirs").unwrap();
        for folder in [&link, &real] {
            assert!(write(folder, &tree(), None).is_err());
            assert_eq!(fs::read_to_string(real.join("theirs")).unwrap(), "theirs");
            assert_eq!(fs::read_dir(&real).unwrap().count(), 1);
        }
        let refused = write(&link, &tree(), None).unwrap_err().to_string();
        assert_eq!(refused, "`theirs` has appeared in it, expected an empty folder");
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 2);
    }

    #[test]
    fn what_killed_captures_of_the_same_name_have_left_is_removed() {
        let place = tempfile::tempdir().unwrap();
        // The number of a process says nothing: it may be another one in another namespace.
        let alive = format!(".copy.{}-3.unfinished", std::process::id());
        let names = [".copy.77-0.unfinished", alive.as_str(), ".other.77-0.unfinished", ".copy.unfinished"];
        let paths = names.map(|name| place.path().join(name));
        for path in &paths {
            fs::create_dir(path).unwrap();
            fs::write(path.join("file"), "").unwrap();
        }
        let _locked = lock(&paths[1]).unwrap();
        write(&place.path().join("copy"), &tree(), None).unwrap();
        let is_there = paths.each_ref().map(|path| path.exists());
        assert_eq!(is_there, [false, true, true, true]);
    }

    #[test]
    fn whether_a_folder_can_be_made_is_tried_without_a_trace() {
        let place = tempfile::tempdir().unwrap();
        require_creatable(&place.path().join("new/capture")).unwrap();
        require_creatable(place.path()).unwrap();
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
        fs::write(place.path().join("file"), "").unwrap();
        assert!(require_creatable(&place.path().join("file/capture")).is_err());
    }
}
