//! Writes a capture into a folder: whole, or recognisable as not whole.
//!
//! The files are written beside the folder, forced to the disk, and renamed. Where that is not possible, as for the root
//! of a mounted disk, they are written into the folder. Either way a file of ours is there until all others are, and a
//! probe refuses a folder with it.

use super::UNFINISHED;
use crate::fake::Tree;
use crate::inventory::EARLIER;
use rustix::fs::{Mode, OFlags, open, syncfs};
use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};

/// Writes `later` into `folder`, which does not exist or is empty, and `earlier` into the folder of the first look in it.
///
/// # Errors
/// The error of the file system. Nothing is left of the capture then, as far as it can be removed; what cannot be is
/// refused by probes.
pub fn write(folder: &Path, later: &Tree, earlier: Option<&Tree>) -> io::Result<()> {
    let halves = [Some((later, Path::new(""))), earlier.map(|earlier| (earlier, Path::new(EARLIER)))];
    let halves: Vec<(&Tree, &Path)> = halves.into_iter().flatten().collect();
    let beside = beside(folder);
    let made = match fs::create_dir(&beside) {
        Ok(()) => fill(&beside, &halves).inspect_err(|_| drop(fs::remove_dir_all(&beside))),
        Err(error) => Err(error),
    };
    match made.and_then(|()| rename(&beside, folder)) {
        Err(error) if is_unmovable(&error) => {
            let _ = fs::remove_dir_all(&beside);
            fs::create_dir_all(folder)?;
            fill(folder, &halves).inspect_err(|_| empty(folder))
        }
        done => done,
    }
}

/// A name beside `folder` that says what it belongs to.
fn beside(folder: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(folder.file_name().unwrap_or_default());
    name.push(format!(".{}.unfinished", std::process::id()));
    folder.with_file_name(name)
}

/// Gives the folder `beside` its name, and the permissions of an empty folder that has it.
fn rename(beside: &Path, folder: &Path) -> io::Result<()> {
    let renamed = match fs::metadata(folder) {
        Ok(found) => fs::set_permissions(beside, found.permissions()),
        Err(_) => Ok(()),
    };
    let renamed = renamed.and_then(|()| fs::rename(beside, folder));
    renamed.inspect_err(|_| drop(fs::remove_dir_all(beside)))
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
fn fill(folder: &Path, halves: &[(&Tree, &Path)]) -> io::Result<()> {
    let mark = folder.join(UNFINISHED);
    fs::create_dir_all(mark.parent().unwrap_or(folder))?;
    fs::write(&mark, "This capture is not whole.\n")?;
    for (tree, half) in halves {
        tree.write_to(&folder.join(half))?;
    }
    let opened = open(folder, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    syncfs(&opened)?;
    fs::remove_file(&mark)?;
    // It stays where drivers were asked.
    let _ = mark.parent().map(fs::remove_dir);
    Ok(())
}

/// Removes what is in `folder`, the mark last.
fn empty(folder: &Path) {
    let ours = Path::new(UNFINISHED).components().next();
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    let (marked, others): (Vec<_>, Vec<_>) =
        paths.partition(|path| path.file_name() == ours.map(Component::as_os_str));
    for path in others.into_iter().chain(marked) {
        if fs::remove_dir_all(&path).or_else(|_| fs::remove_file(&path)).is_err() {
            return;
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
        let trees = [(&faulty, Path::new(""))];
        assert!(fill(&folder, &trees).is_err());
        let refused = Probe::new().root(&folder).machine().unwrap_err().to_string();
        assert!(refused.contains("is not a whole capture") && refused.contains("take it again"), "{refused}");
        let refused = Probe::new().root(&folder).inventory().unwrap_err().to_string();
        assert!(refused.contains("is not a whole capture"), "{refused}");
        empty(&folder);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
    }
}
