//! A tracing instance of our own.

use super::names;
use crate::detached;
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::io::Errno;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// The events that are recorded.
const EVENTS: [&str; 5] = [
    "sched/sched_switch",
    "sched/sched_waking",
    "sched/sched_wakeup_new",
    "sched/sched_process_exec",
    "task/task_newtask",
];

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
    #[error("cannot trace the scheduler: cannot {step} `{}`: {error}", file.display())]
    File {
        /// What was being done.
        step: &'static str,
        /// The file.
        file: PathBuf,
        /// The error.
        error: io::Error,
    },
}

impl TraceError {
    pub(super) fn new(step: &'static str, file: &Path, error: io::Error) -> Self {
        let file = file.to_owned();
        match error.kind() {
            io::ErrorKind::PermissionDenied => Self::NotPermitted { file },
            _ => Self::File { step, file, error },
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
        let mounts = fs::read("/proc/self/mounts").unwrap_or_default();
        // Something else may be mounted over it.
        let mounted = mounted(&mounts).find(|folder| folder.join("instances").is_dir());
        match mounted {
            Some(path) => Ok(Self { path, _mount: None }),
            None => Self::mount(),
        }
    }

    /// Mounts it where only this process sees it.
    fn mount() -> Result<Self, TraceError> {
        let mount = detached::mount("tracefs").map_err(|error| match error {
            Errno::NODEV => TraceError::NoTracefs,
            error => TraceError::new("mount tracefs as at", Path::new("/sys/kernel/tracing"), error.into()),
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
        names::abandoned(&instances).for_each(|folder| drop(fs::remove_dir(folder)));
        let folder = make(&instances)?;
        let instance = Self { folder, _tracefs: tracefs };
        instance.set("tracing_on", "0")?;
        instance.set("trace_clock", "mono")?;
        instance.set("buffer_size_kb", &BUFFER_KB.to_string())?;
        for event in EVENTS {
            let switch = format!("events/{event}/enable");
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
        opened.map_err(|error| TraceError::new("open", &file, error))
    }

    fn set(&self, file: &str, value: &str) -> Result<(), TraceError> {
        let file = self.folder.join(file);
        fs::write(&file, value).map_err(|error| TraceError::new("write to", &file, error))
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // What cannot be removed now is removed by the next recording.
        let _ = self.record(false);
        let _ = fs::remove_dir(&self.folder);
    }
}

/// Makes a folder in `instances` under the first of our names that nobody has.
fn make(instances: &Path) -> Result<PathBuf, TraceError> {
    let mut folders = names::of_this_process().map(|name| instances.join(name));
    let mut folder = folders.next().unwrap_or_default();
    loop {
        let error = match fs::create_dir(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) => error,
        };
        // A process of another PID namespace may have our number and our start.
        match folders.next() {
            Some(next) if error.kind() == io::ErrorKind::AlreadyExists => folder = next,
            _ => return Err(TraceError::new("make the tracing instance", &folder, error)),
        }
    }
}

/// Where tracefs is mounted, as `/proc/self/mounts` tells it, the last mount first.
fn mounted(mounts: &[u8]) -> impl Iterator<Item = PathBuf> {
    let lines = mounts.split(|&byte| byte == b'\n').rev();
    lines.filter_map(|line| {
        let mut words = line.split(|&byte| byte == b' ');
        let folder = words.nth(1)?;
        (words.next() == Some(b"tracefs")).then(|| PathBuf::from(OsString::from_vec(unescaped(folder))))
    })
}

/// A word of `/proc/self/mounts`, where a space is `\040` (`proc_pid_mounts(5)`).
fn unescaped(word: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(word.len());
    let mut rest = word;
    while let [first, after @ ..] = rest {
        let octal = |digits: &[u8]| u8::from_str_radix(str::from_utf8(digits).ok()?, 8).ok();
        let escaped = after.first_chunk::<3>().filter(|_| *first == b'\\').and_then(|digits| octal(digits));
        bytes.push(escaped.unwrap_or(*first));
        rest = if escaped.is_some() { &after[3..] } else { after };
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tracefs_is_found_under_any_path() {
        let mounts =
            b"proc /proc proc rw 0 0\nnone /t\\040f\\134s\\011 tracefs rw 0 0\nx /\xff tracefs rw 0 0\n\
            none /tracefs tmpfs rw 0 0\n";
        let found: Vec<OsString> = mounted(mounts).map(PathBuf::into_os_string).collect();
        assert_eq!(found, [OsString::from_vec(vec![b'/', 0xff]), OsString::from("/t f\\s\t")]);
        assert_eq!(unescaped(b"a\\04"), b"a\\04");
        assert_eq!(unescaped(b"\\777\\"), b"\\777\\");
    }

    #[test]
    fn a_name_that_exists_is_passed_over_and_an_error_says_what_failed() {
        let instances = tempfile::tempdir().unwrap();
        let (first, second) = (make(instances.path()).unwrap(), make(instances.path()).unwrap());
        assert_ne!(first, second);
        assert!(first.is_dir() && second.is_dir());
        let error = make(&instances.path().join("absent")).unwrap_err().to_string();
        assert!(error.contains("cannot make the tracing instance `") && error.contains("absent"), "{error}");
    }
}
