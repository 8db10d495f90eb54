//! The only door through which tuning reaches files and threads. It is narrow, so that a test can
//! stand in it: fail any single change, or end the process at it.

use crate::affinity;
use crate::tree::field_of;
use rustix::io::Errno;
use std::fmt::Debug;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use warmcore_topology::CpuSet;

/// What tuning asks of the system. Files of `/proc` and `/sys` are named by their path without the
/// leading slash; those of the journal by their path as it is.
///
/// # Errors
/// Every method gives what the system says. The kernel's number of the error
/// ([`io::Error::raw_os_error`]) is what tells refusals apart.
pub trait System: Debug {
    /// What stands for `/`.
    fn root(&self) -> &Path;
    /// The text of a file, with its line end.
    fn read(&self, file: &str) -> io::Result<String>;
    /// The names in a directory, in order.
    fn entries(&self, directory: &str) -> io::Result<Vec<String>>;
    /// What a symbolic link points to.
    fn link(&self, file: &str) -> io::Result<PathBuf>;
    /// Writes a value, in one call, to a file that is there.
    fn write(&self, file: &str, text: &str) -> io::Result<()>;
    /// The cpus a thread may run on.
    fn mask(&self, process: u32, thread: u32) -> io::Result<CpuSet>;
    /// Lets a thread run on `cpus` only.
    fn set_mask(&self, process: u32, thread: u32, cpus: &CpuSet) -> io::Result<()>;

    /// Writes a file of the journal, new or anew.
    fn create(&self, path: &Path, text: &str) -> io::Result<()>;
    /// Adds to the end of a file of the journal.
    fn append(&self, path: &Path, text: &str) -> io::Result<()>;
    /// Cuts a file of the journal off after `bytes` bytes.
    fn cut(&self, path: &Path, bytes: u64) -> io::Result<()>;
    /// Forces a file or directory of the journal to the disk.
    fn sync(&self, path: &Path) -> io::Result<()>;
    /// Gives a file of the journal another name, in place of what has it.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
}

/// The system as it is, or a tree of files like its own.
///
/// In a tree the mask of a thread is what its `status` says, so nothing outside the tree is changed
/// by its numbers. A file there is replaced in one step, as a kernel replaces a value.
#[derive(Clone, Debug)]
pub struct Disk {
    root: PathBuf,
}

impl Default for Disk {
    fn default() -> Self {
        Self::below(Path::new("/"))
    }
}

impl Disk {
    /// The files below `root`; those of the machine itself, and its threads, if that is `/`.
    #[must_use]
    pub fn below(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    fn is_live(&self) -> bool {
        self.root == Path::new("/")
    }

    fn path(&self, file: &str) -> PathBuf {
        self.root.join(file)
    }
}

impl System for Disk {
    fn root(&self) -> &Path {
        &self.root
    }

    fn read(&self, file: &str) -> io::Result<String> {
        fs::read_to_string(self.path(file))
    }

    fn entries(&self, directory: &str) -> io::Result<Vec<String>> {
        let entries = fs::read_dir(self.path(directory))?;
        let names = entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
        let mut names = names.collect::<io::Result<Vec<_>>>()?;
        names.sort();
        Ok(names)
    }

    fn link(&self, file: &str) -> io::Result<PathBuf> {
        fs::read_link(self.path(file))
    }

    fn write(&self, file: &str, text: &str) -> io::Result<()> {
        let path = self.path(file);
        if self.is_live() {
            // Not cut off first: the kernel takes each write as the whole value.
            return write_once(&mut OpenOptions::new().write(true).open(path)?, text);
        }
        let permissions = fs::metadata(&path)?.permissions();
        let beside = path.with_extension("new");
        fs::write(&beside, text)?;
        fs::set_permissions(&beside, permissions)?;
        fs::rename(beside, path)
    }

    fn mask(&self, process: u32, thread: u32) -> io::Result<CpuSet> {
        if self.is_live() {
            return Ok(affinity::mask_of(affinity::thread_id(thread)?)?);
        }
        let list = field_of(&self.read(&status(process, thread))?, ALLOWED);
        list.and_then(|list| list.parse().ok()).ok_or_else(|| ErrorKind::InvalidData.into())
    }

    fn set_mask(&self, process: u32, thread: u32, cpus: &CpuSet) -> io::Result<()> {
        if self.is_live() {
            return Ok(affinity::set_mask_of(affinity::thread_id(thread)?, cpus)?);
        }
        let file = status(process, thread);
        let replaced = |line: &str| match line.split_once(':') {
            Some((name, _)) if name == ALLOWED => format!("{ALLOWED}:\t{cpus}\n"),
            _ => format!("{line}\n"),
        };
        let text: String = self.read(&file)?.lines().map(replaced).collect();
        self.write(&file, &text)
    }

    fn create(&self, path: &Path, text: &str) -> io::Result<()> {
        fs::write(path, text)
    }

    fn append(&self, path: &Path, text: &str) -> io::Result<()> {
        write_once(&mut OpenOptions::new().append(true).open(path)?, text)
    }

    fn cut(&self, path: &Path, bytes: u64) -> io::Result<()> {
        OpenOptions::new().write(true).open(path)?.set_len(bytes)
    }

    fn sync(&self, path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }
}

/// The field of a thread's `status` with its mask.
const ALLOWED: &str = "Cpus_allowed_list";

fn status(process: u32, thread: u32) -> String {
    format!("proc/{process}/task/{thread}/status")
}

/// One call of the kernel: half a value would be another value.
fn write_once(file: &mut File, text: &str) -> io::Result<()> {
    loop {
        match file.write(text.as_bytes()) {
            Ok(written) if written == text.len() => return Ok(()),
            Ok(_) => return Err(Errno::NOSPC.into()),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Whether what was asked for is not there, or there no more: a file, a device or a process.
#[must_use]
pub fn is_absent(error: &io::Error) -> bool {
    let gone = [Errno::NOENT, Errno::NOTDIR, Errno::SRCH, Errno::NODEV].map(Errno::raw_os_error);
    error.raw_os_error().is_some_and(|number| gone.contains(&number))
}
