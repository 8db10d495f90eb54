//! A folder for the output of one process, locked before anything in it is removed or written.
//!
//! The folder itself is locked (`flock`), so that nothing has to be left in it, and a process that is killed holds no lock.
//! On file systems without locks it is used without one.

use crate::remedy::{Remedied, Remedy};
use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// How often a folder is looked for again that others remove while it is made.
const ATTEMPTS: u32 = 100;

/// A folder that no other process owns until this value is dropped.
#[derive(Debug)]
pub struct OwnedFolder {
    path: PathBuf,
    /// The folders that this process has made, the innermost first.
    made: Vec<PathBuf>,
    /// Keeps the lock; none where there are no locks.
    _lock: Option<File>,
}

/// A folder could not be had.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// It cannot be made.
    #[error("cannot create the folder {}: {source}", path.display())]
    Create {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Another process owns it.
    #[error("the folder `{}` is in use by another process", path.display())]
    InUse {
        /// The folder.
        path: PathBuf,
    },
}

impl Remedied for FolderError {
    fn remedies(&self) -> &'static [Remedy] {
        match self {
            Self::InUse { .. } => &[Remedy::Wait, Remedy::OtherFolder],
            Self::Create { .. } => &[],
        }
    }
}

impl OwnedFolder {
    /// Takes the folder at `path`, which is made if there is none.
    ///
    /// # Errors
    /// If another process owns it, or it cannot be made; folders made on the way are then removed again.
    pub fn take(path: &Path) -> Result<Self, FolderError> {
        let mut made = Vec::new();
        let mut failure = io::Error::from(ErrorKind::NotFound);
        for _ in 0..ATTEMPTS {
            let locked = make(path, &mut made).and_then(|()| lock(path));
            match locked {
                Ok(Locking::Locked(lock)) => return Ok(Self { path: path.to_owned(), made, _lock: lock }),
                // Whoever has locked it is in what was made.
                Ok(Locking::InUse) => return Err(FolderError::InUse { path: path.to_owned() }),
                Ok(Locking::Removed) => {}
                // Another process makes or removes the same folders.
                Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::AlreadyExists) => {
                    failure = error;
                }
                Err(error) => {
                    failure = error;
                    break;
                }
            }
        }
        remove(&made);
        Err(FolderError::Create { path: path.to_owned(), source: failure })
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the folders that this process has made; one in which something is stays.
    pub fn remove_made(&self) {
        remove(&self.made);
    }
}

fn remove(made: &[PathBuf]) {
    made.iter().for_each(|folder| drop(fs::remove_dir(folder)));
}

/// Makes what is missing of `path`, and adds it to what was `made`.
fn make(path: &Path, made: &mut Vec<PathBuf>) -> io::Result<()> {
    let folders: Vec<&Path> = path.ancestors().filter(|folder| !folder.as_os_str().is_empty()).collect();
    for folder in folders.into_iter().rev() {
        if folder.is_dir() {
            continue;
        }
        fs::create_dir(folder)?;
        made.retain(|other| other != folder);
        made.insert(0, folder.to_owned());
    }
    Ok(())
}

enum Locking {
    Locked(Option<File>),
    InUse,
    /// Its owner has removed it in the meantime.
    Removed,
}

fn lock(path: &Path) -> io::Result<Locking> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    let folder = match File::open(path) {
        // It may be written to, but not read.
        Err(error) if error.kind() == ErrorKind::PermissionDenied => return Ok(Locking::Locked(None)),
        folder => folder?,
    };
    match folder.try_lock() {
        Err(TryLockError::WouldBlock) => return Ok(Locking::InUse),
        Ok(()) | Err(TryLockError::Error(_)) => {}
    }
    let identity = |of: fs::Metadata| (of.dev(), of.ino());
    if identity(folder.metadata()?) != identity(fs::metadata(path)?) {
        return Ok(Locking::Removed);
    }
    Ok(Locking::Locked(Some(folder)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;

    #[test]
    fn a_folder_has_one_owner_at_a_time() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("a/b");
        let owner = OwnedFolder::take(&path).unwrap();
        let refused = OwnedFolder::take(&path).unwrap_err();
        assert!(matches!(refused, FolderError::InUse { .. }), "{refused}");
        assert!(path.is_dir(), "who is refused removes nothing");
        drop(owner);
        OwnedFolder::take(&path).unwrap();
    }

    #[test]
    fn only_what_was_made_is_removed() {
        let place = tempfile::tempdir().unwrap();
        fs::create_dir(place.path().join("a")).unwrap();
        OwnedFolder::take(&place.path().join("a/b/c")).unwrap().remove_made();
        assert!(place.path().join("a").is_dir() && !place.path().join("a/b").exists());
        let kept = OwnedFolder::take(&place.path().join("a/b/c")).unwrap();
        fs::write(place.path().join("a/b/other"), "").unwrap();
        kept.remove_made();
        assert!(place.path().join("a/b/other").exists());
        OwnedFolder::take(&place.path().join("a")).unwrap().remove_made();
        assert!(place.path().join("a").is_dir(), "it was there before");
    }

    #[test]
    fn what_cannot_be_a_folder_is_refused() {
        let place = tempfile::tempdir().unwrap();
        fs::write(place.path().join("file"), "").unwrap();
        for path in ["file", "file/folder"] {
            let error = OwnedFolder::take(&place.path().join(path)).unwrap_err();
            assert!(matches!(error, FolderError::Create { .. }), "{error}");
        }
    }

    /// Whatever the others do, an owner finds its folder until it gives it away.
    #[test]
    fn owners_that_make_and_remove_one_folder_do_not_disturb_each_other() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("outer/both");
        let together = Barrier::new(4);
        let owned: u32 = std::thread::scope(|scope| {
            let turn = || {
                together.wait();
                let mut owned = 0;
                for _ in 0..500 {
                    let Ok(folder) = OwnedFolder::take(&path) else { continue };
                    let file = folder.path().join("file");
                    fs::write(&file, "").expect("the folder is there");
                    std::thread::yield_now();
                    fs::remove_file(&file).expect("the file is there, and nobody else's");
                    folder.remove_made();
                    owned += 1;
                }
                owned
            };
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(turn)).collect();
            threads.into_iter().map(|thread| thread.join().expect("no thread fails")).sum()
        });
        assert!(owned > 0);
    }
}
