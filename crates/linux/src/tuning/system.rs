//! The interface through which tuning accesses files and threads. Tests replace it, to make any single
//! change fail or to kill the process at it.

use crate::affinity;
use crate::ethtool::{self, DriverSetting, DriverSettings};
use crate::regular;
use crate::rooted::{Root, write_once};
use crate::tree::field_of;
use rustix::fs::OFlags;
use rustix::io::Errno;
use std::fmt::Debug;
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use warmcore_topology::CpuSet;

/// The system operations that tuning needs. Files of `/proc` and `/sys` are given by their path without
/// the leading slash, files of the journal by their full path.
///
/// # Errors
/// Every method returns the error of the system. Refusals are recognised by the error number
/// ([`io::Error::raw_os_error`]).
pub trait System: Debug {
    /// The root directory of the files.
    fn root(&self) -> &Path;
    /// Reads the text of a file, including its newline.
    fn read(&self, file: &str) -> io::Result<String>;
    /// Lists the names in a directory, sorted.
    fn entries(&self, directory: &str) -> io::Result<Vec<String>>;
    /// Reads the target of a symbolic link.
    fn link(&self, file: &str) -> io::Result<PathBuf>;
    /// Writes a value to an existing file, in one call.
    fn write(&self, file: &str, text: &str) -> io::Result<()>;
    /// Removes what a process that was killed while it wrote `file` has left beside it. A kernel leaves nothing.
    fn remove_left(&self, _file: &str) -> io::Result<()> {
        Ok(())
    }
    /// Reads the cpus a thread may run on.
    fn mask(&self, process: u32, thread: u32) -> io::Result<CpuSet>;
    /// Lets a thread run on `cpus` only.
    fn set_mask(&self, process: u32, thread: u32, cpus: &CpuSet) -> io::Result<()>;
    /// Reads a setting of an interface's driver, as text.
    fn driver_setting(&self, interface: &str, setting: DriverSetting) -> io::Result<String>;
    /// Changes a setting of an interface's driver.
    fn set_driver_setting(&self, interface: &str, setting: DriverSetting, text: &str) -> io::Result<()>;

    /// Creates or overwrites a file of the journal.
    fn create(&self, path: &Path, text: &str) -> io::Result<()>;
    /// Appends to a file of the journal.
    fn append(&self, path: &Path, text: &str) -> io::Result<()>;
    /// Truncates a file of the journal to `bytes` bytes.
    fn cut(&self, path: &Path, bytes: u64) -> io::Result<()>;
    /// Syncs a file or directory of the journal to disk.
    fn sync(&self, path: &Path) -> io::Result<()>;
    /// Renames a file of the journal, replacing an existing one.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
}

/// The running system, or a directory with a copy of its files.
///
/// In a directory the mask of a thread is stored in its `status` file, and the settings of a driver in the
/// document of a capture, so nothing real is changed. A file in a directory is replaced atomically, as a kernel
/// replaces a value. Links in a directory do not lead out of it, and only regular files are read and written.
#[derive(Clone, Debug)]
pub struct Disk {
    root: Root,
}

impl Default for Disk {
    fn default() -> Self {
        Self::below(Path::new("/"))
    }
}

impl Disk {
    /// Uses the files below `root`; if that is `/`, the running system and its threads.
    #[must_use]
    pub fn below(root: &Path) -> Self {
        Self { root: Root::new(root) }
    }
}

impl System for Disk {
    fn root(&self) -> &Path {
        self.root.path()
    }

    fn read(&self, file: &str) -> io::Result<String> {
        let bytes = self.root.read(Path::new(file))?;
        String::from_utf8(bytes).map_err(|error| io::Error::new(ErrorKind::InvalidData, error))
    }

    fn entries(&self, directory: &str) -> io::Result<Vec<String>> {
        let names = self.root.names(Path::new(directory))?;
        let mut names: Vec<String> = names.iter().map(|name| name.to_string_lossy().into_owned()).collect();
        names.sort();
        Ok(names)
    }

    fn link(&self, file: &str) -> io::Result<PathBuf> {
        self.root.link(Path::new(file))
    }

    fn write(&self, file: &str, text: &str) -> io::Result<()> {
        self.root.write(Path::new(file), text)
    }

    fn remove_left(&self, file: &str) -> io::Result<()> {
        self.root.remove_left(Path::new(file))
    }

    fn mask(&self, process: u32, thread: u32) -> io::Result<CpuSet> {
        if self.root.is_live() {
            return Ok(affinity::mask_of(affinity::thread_id(thread)?)?);
        }
        let list = field_of(&self.read(&status(process, thread))?, ALLOWED);
        list.and_then(|list| list.parse().ok()).ok_or_else(|| ErrorKind::InvalidData.into())
    }

    fn set_mask(&self, process: u32, thread: u32, cpus: &CpuSet) -> io::Result<()> {
        if self.root.is_live() {
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

    fn driver_setting(&self, interface: &str, setting: DriverSetting) -> io::Result<String> {
        if self.root.is_live() {
            return Ok(ethtool::read(interface, setting)?);
        }
        copied_settings(self, interface)?.text(setting).ok_or_else(|| Errno::OPNOTSUPP.into())
    }

    fn set_driver_setting(&self, interface: &str, setting: DriverSetting, text: &str) -> io::Result<()> {
        if self.root.is_live() {
            return Ok(ethtool::write(interface, setting, text)?);
        }
        let mut settings = copied_settings(self, interface)?;
        settings.set(setting, text)?;
        let text = toml::to_string(&settings).map_err(io::Error::other)?;
        self.write(&ethtool::file(interface), &text)
    }

    fn create(&self, path: &Path, text: &str) -> io::Result<()> {
        regular::create(path, text)
    }

    fn append(&self, path: &Path, text: &str) -> io::Result<()> {
        write_once(&mut regular::open(path, OFlags::WRONLY | OFlags::APPEND)?, text)
    }

    fn cut(&self, path: &Path, bytes: u64) -> io::Result<()> {
        regular::open(path, OFlags::WRONLY)?.set_len(bytes)
    }

    fn sync(&self, path: &Path) -> io::Result<()> {
        let nonblocking = OFlags::NONBLOCK.bits() as i32;
        OpenOptions::new().read(true).custom_flags(nonblocking).open(path)?.sync_all()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }
}

/// What the driver of an interface said when the machine was copied.
fn copied_settings(disk: &Disk, interface: &str) -> io::Result<DriverSettings> {
    let text = disk.read(&ethtool::file(interface))?;
    toml::from_str(&text).map_err(|error| io::Error::new(ErrorKind::InvalidData, error))
}

/// The field of a thread's `status` with its mask.
const ALLOWED: &str = "Cpus_allowed_list";

pub(super) fn status(process: u32, thread: u32) -> String {
    format!("proc/{process}/task/{thread}/status")
}

/// Whether the error means that a file, device or process does not exist, or no longer exists.
#[must_use]
pub fn is_absent(error: &io::Error) -> bool {
    let gone = [Errno::NOENT, Errno::NOTDIR, Errno::SRCH, Errno::NODEV].map(Errno::raw_os_error);
    error.raw_os_error().is_some_and(|number| gone.contains(&number))
}
