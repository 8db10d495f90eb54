//! The interface through which tuning accesses files and threads. Tests replace it, to make any single
//! change fail or to kill the process at it.

use crate::affinity;
use crate::ethtool::{self, DriverSetting, DriverSettings};
use crate::tree::field_of;
use rustix::io::Errno;
use std::fmt::Debug;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
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
/// document of a capture, so nothing real is changed. A
/// file in a directory is replaced atomically, as a kernel replaces a value.
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
    /// Uses the files below `root`; if that is `/`, the running system and its threads.
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
            // Without truncating first: the kernel takes each write as a whole value.
            return write_once(&mut OpenOptions::new().write(true).open(path)?, text);
        }
        let permissions = fs::metadata(&path)?.permissions();
        let temporary = path.with_extension("new");
        fs::write(&temporary, text)?;
        fs::set_permissions(&temporary, permissions)?;
        fs::rename(temporary, path)
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

    fn driver_setting(&self, interface: &str, setting: DriverSetting) -> io::Result<String> {
        if self.is_live() {
            return Ok(ethtool::read(interface, setting)?);
        }
        copied_settings(self, interface)?.text(setting).ok_or_else(|| Errno::OPNOTSUPP.into())
    }

    fn set_driver_setting(&self, interface: &str, setting: DriverSetting, text: &str) -> io::Result<()> {
        if self.is_live() {
            return Ok(ethtool::write(interface, setting, text)?);
        }
        let mut settings = copied_settings(self, interface)?;
        settings.set(setting, text)?;
        let text = toml::to_string(&settings).map_err(io::Error::other)?;
        self.write(&ethtool::file(interface), &text)
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

/// What the driver of an interface said when the machine was copied.
fn copied_settings(disk: &Disk, interface: &str) -> io::Result<DriverSettings> {
    let text = disk.read(&ethtool::file(interface))?;
    toml::from_str(&text).map_err(|error| io::Error::new(ErrorKind::InvalidData, error))
}

/// The field of a thread's `status` with its mask.
const ALLOWED: &str = "Cpus_allowed_list";

fn status(process: u32, thread: u32) -> String {
    format!("proc/{process}/task/{thread}/status")
}

/// Writes `text` in one system call, because half a value would be a different value.
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

/// Whether the error means that a file, device or process does not exist, or no longer exists.
#[must_use]
pub fn is_absent(error: &io::Error) -> bool {
    let gone = [Errno::NOENT, Errno::NOTDIR, Errno::SRCH, Errno::NODEV].map(Errno::raw_os_error);
    error.raw_os_error().is_some_and(|number| gone.contains(&number))
}
