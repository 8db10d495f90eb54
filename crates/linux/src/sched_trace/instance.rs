//! A tracing instance of our own.

use rustix::fd::{AsRawFd, OwnedFd};
use rustix::io::Errno;
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// The beginning of the names of our instances; the number of the process follows.
const PREFIX: &str = "warmcore-";

/// The events that are recorded.
const EVENTS: [&str; 4] = ["sched_switch", "sched_waking", "sched_wakeup_new", "sched_process_exec"];

/// Room for each cpu's events until they are read.
const BUFFER_KB: u32 = 16 * 1024;

/// Why the scheduler cannot be traced.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// This user may not.
    #[error(
        "tracing the scheduler is not permitted: root is needed, or CAP_SYS_ADMIN, or write access to a mounted tracefs \
         (`{}`)", file.display()
    )]
    NotPermitted {
        /// What was refused.
        file: PathBuf,
    },
    /// The kernel cannot trace.
    #[error("this kernel has no tracefs: expected one built with CONFIG_FTRACE=y")]
    NoTracefs,
    /// The kernel lacks the scheduler's tracepoints.
    #[error("this kernel has no tracepoint `{0}`: expected one built with CONFIG_EVENT_TRACING=y")]
    NoEvent(&'static str),
    /// Something else went wrong.
    #[error("cannot trace the scheduler: `{}`: {error}", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// The error.
        error: io::Error,
    },
}

impl TraceError {
    pub(super) fn new(file: &Path, error: io::Error) -> Self {
        let file = file.to_owned();
        match error.kind() {
            io::ErrorKind::PermissionDenied => Self::NotPermitted { file },
            _ => Self::File { file, error },
        }
    }
}

/// Where tracefs is.
struct Tracefs {
    path: PathBuf,
    /// The mount of this process alone, if it is one.
    _mount: Option<OwnedFd>,
}

impl Tracefs {
    fn find() -> Result<Self, TraceError> {
        let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
        let mounted = mounts.lines().find_map(|line| {
            let mut words = line.split(' ');
            let folder = words.nth(1)?;
            (words.next() == Some("tracefs")).then(|| PathBuf::from(folder))
        });
        match mounted {
            Some(path) => Ok(Self { path, _mount: None }),
            None => Self::mount(),
        }
    }

    /// Mounts it where only this process sees it.
    fn mount() -> Result<Self, TraceError> {
        let mount = || {
            let context = fsopen("tracefs", FsOpenFlags::FSOPEN_CLOEXEC)?;
            fsconfig_create(&context)?;
            fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, MountAttrFlags::empty())
        };
        let mount = mount().map_err(|error| match error {
            Errno::NODEV => TraceError::NoTracefs,
            error => TraceError::new(Path::new("/sys/kernel/tracing"), error.into()),
        })?;
        Ok(Self { path: PathBuf::from(format!("/proc/self/fd/{}", mount.as_raw_fd())), _mount: Some(mount) })
    }
}

/// An instance, removed when it is dropped.
pub(super) struct Instance {
    folder: PathBuf,
    /// Kept while `folder` is used.
    _tracefs: Tracefs,
}

impl Instance {
    /// Makes it, with the scheduler's events switched on and recording off. Those of processes that have ended are removed.
    pub(super) fn new() -> Result<Self, TraceError> {
        let tracefs = Tracefs::find()?;
        let instances = tracefs.path.join("instances");
        remove_abandoned(&instances);
        let folder = instances.join(format!("{PREFIX}{}", std::process::id()));
        fs::create_dir(&folder).map_err(|error| TraceError::new(&folder, error))?;
        let instance = Self { folder, _tracefs: tracefs };
        instance.set("tracing_on", "0")?;
        instance.set("trace_clock", "mono")?;
        instance.set("buffer_size_kb", &BUFFER_KB.to_string())?;
        for event in EVENTS {
            let switch = format!("events/sched/{event}/enable");
            if !instance.folder.join(&switch).exists() {
                return Err(TraceError::NoEvent(event));
            }
            instance.set(&switch, "1")?;
        }
        Ok(instance)
    }

    /// Where it is.
    #[cfg(test)]
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Starts or stops recording.
    pub(super) fn record(&self, on: bool) -> Result<(), TraceError> {
        self.set("tracing_on", if on { "1" } else { "0" })
    }

    /// The lines as they come; reading them removes them, and none are waited for.
    pub(super) fn pipe(&self) -> Result<File, TraceError> {
        let file = self.folder.join("trace_pipe");
        let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
        let opened = OpenOptions::new().read(true).custom_flags(flags).open(&file);
        opened.map_err(|error| TraceError::new(&file, error))
    }

    fn set(&self, file: &str, value: &str) -> Result<(), TraceError> {
        let file = self.folder.join(file);
        fs::write(&file, value).map_err(|error| TraceError::new(&file, error))
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // What cannot be removed now is removed by the next recording.
        let _ = self.record(false);
        let _ = fs::remove_dir(&self.folder);
    }
}

/// Removes our instances whose processes have ended without doing so.
fn remove_abandoned(instances: &Path) {
    let Ok(entries) = fs::read_dir(instances) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let process =
            name.to_str().and_then(|name| name.strip_prefix(PREFIX)).and_then(|pid| pid.parse::<u32>().ok());
        // One with our own number was left by a process that had it before us.
        let is_abandoned =
            |pid: u32| pid == std::process::id() || !Path::new(&format!("/proc/{pid}")).exists();
        if process.is_some_and(is_abandoned) {
            let _ = fs::remove_dir(entry.path());
        }
    }
}
