//! Starts a program so that it is traced from its first instruction.

use super::error::SteppingError;
use super::ptrace;
use libc::pid_t;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// What to start, and how far to go.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The program and its arguments.
    pub arguments: Vec<OsString>,
    /// Discards what it prints; otherwise that goes where this process prints. It has no input in any case.
    pub quiet: bool,
    /// Places code, data and stacks at the same addresses in each run, as far as the kernel does.
    pub same_addresses: bool,
    /// The wall-clock time after which it is ended.
    pub time: Duration,
    /// The most instructions of one path.
    pub steps: u64,
    /// Ends it too, as soon as it is set.
    pub stop: Option<&'static AtomicBool>,
}

impl Launch {
    /// A quiet program at the same addresses in each run, for at most a minute and ten million instructions a path.
    pub fn new<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Self {
        let arguments = arguments.into_iter().map(|argument| argument.as_ref().to_owned()).collect();
        Self {
            arguments,
            quiet: true,
            same_addresses: true,
            time: Duration::from_secs(60),
            steps: 10_000_000,
            stop: None,
        }
    }

    pub(super) fn program(&self) -> Result<String, SteppingError> {
        let program = self.arguments.first().ok_or(SteppingError::Unnamed)?;
        Ok(program.to_string_lossy().into_owned())
    }

    /// Starts it. It stops before its first instruction.
    #[allow(clippy::zombie_processes, reason = "the tracer reaps it")]
    pub(super) fn start(&self) -> Result<pid_t, SteppingError> {
        let (program, arguments) = self.arguments.split_first().ok_or(SteppingError::Unnamed)?;
        let output = || if self.quiet { Stdio::null() } else { Stdio::inherit() };
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null()).stdout(output()).stderr(output()).process_group(0);
        let same_addresses = self.same_addresses;
        // SAFETY: the closure runs in the child after the fork. It makes two system calls and touches neither the heap
        // nor a lock.
        unsafe { command.pre_exec(move || ptrace::be_traced(same_addresses)) };
        let child = command.spawn().map_err(|source| refused(program, source))?;
        Ok(child.id() as pid_t)
    }
}

fn refused(program: &OsStr, source: io::Error) -> SteppingError {
    let program = program.to_string_lossy().into_owned();
    match source.raw_os_error() {
        Some(libc::ENOENT | libc::ENOTDIR) => SteppingError::NoSuchProgram { program },
        Some(libc::EACCES | libc::ENOEXEC | libc::EISDIR) => SteppingError::NotExecutable { program, source },
        Some(libc::EPERM) => SteppingError::NotPermitted { program, source, advice: advice() },
        _ => SteppingError::NotStarted { program, source },
    }
}

/// What stands in the way of tracing (ptrace(2), "/proc/sys/kernel/yama/ptrace_scope").
fn advice() -> String {
    let scope = fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").unwrap_or_default();
    match scope.trim() {
        "3" => "/proc/sys/kernel/yama/ptrace_scope is 3, which forbids it until the next boot; set it to 1 or less in /etc/sysctl.d".to_owned(),
        "2" => "/proc/sys/kernel/yama/ptrace_scope is 2; set it to 1 or less, or run this with CAP_SYS_PTRACE".to_owned(),
        _ => "a container or sandbox may filter the system call ptrace; run this outside, or permit it (`--cap-add=SYS_PTRACE`)".to_owned(),
    }
}
