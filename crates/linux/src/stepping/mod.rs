//! Steps a native program: what one of its threads executes between two markers, instruction by instruction.
//!
//! ```text
//!  start ──► run at full speed ──► first marker ──► step one thread ──► last marker ──┐
//!                  ▲                                (others run on)                   │
//!                  └──────────────────────────── next path ◄──────────────────────────┘
//! ```
//!
//! [`with_program`] starts a program under `ptrace` and lends a [`Stepper`]. [`Stepper::path`] lets all threads run until
//! one reaches the first marker; from there to the last marker that thread alone is stepped. No breakpoint
//! is set while it is, so that other threads pass where it began.
//!
//! What must always hold:
//!
//! - Only processes that it started are traced, and the program with its process group is killed and reaped
//!   when the stepper is dropped, if this thread ends, and when the time is up.
//! - A child that the program forks runs on its own, without breakpoints. One that has left the process group
//!   (`setsid`, as daemons do) is not killed with the program: it is not known any more who started it.
//! - Signals reach the program. A handler that runs on a path belongs to the path. The exception is a `SIGTRAP` that the
//!   program sends to itself and does not handle: the kernel forgets that the program ignores this signal as soon as
//!   tracing causes one (`force_sig_info_to_task` in `kernel/signal.c`), so it is taken to be ignored.
//! - A system call is one step, and so is a repeated string instruction.
//!
//! What cannot be had: a stepped thread is about a thousand times as slow as another (some 30,000 steps a second), so a
//! timer that signals it every millisecond leaves it no time for its path.
//!
//! The kernel lets only the thread that started a program trace it, and tells that thread alone what becomes of its
//! children. So each stepper has a thread of its own.

mod debug;
mod error;
mod events;
#[allow(unsafe_code)]
mod launch;
mod memory;
#[allow(unsafe_code)]
mod ptrace;
mod registers;
mod repeated;
mod run;
mod walk;
mod watchdog;

pub use error::{Activity, SteppingError};
pub use launch::Launch;
pub use memory::Mapping;
pub use registers::RegisterFile;

use debug::Conditions;
use libc::{c_int, pid_t};
use memory::Memory;
use std::collections::HashSet;
use std::fmt;
use std::marker::PhantomData;
use std::path::PathBuf;
use std::thread;
use watchdog::Watchdog;

/// How a program ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// By itself, with this code.
    Exited(i32),
    /// By this signal.
    Killed(i32),
}

impl End {
    fn from_status(status: c_int) -> Self {
        if libc::WIFSIGNALED(status) {
            Self::Killed(libc::WTERMSIG(status))
        } else {
            Self::Exited(libc::WEXITSTATUS(status))
        }
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited(code) => write!(f, "exit status {code}"),
            Self::Killed(signal) => write!(f, "killed by signal {signal}"),
        }
    }
}

/// One executed instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step<'a> {
    /// The registers before it.
    pub registers: &'a RegisterFile,
    /// Its bytes, and some that follow: up to 15, fewer where the memory ends.
    pub bytes: &'a [u8],
    /// How often a repeated string instruction did its work; `None` of any other.
    pub iterations: Option<u64>,
}

/// A program that is traced. Dropping it kills the program.
#[derive(Debug)]
pub struct Stepper {
    program: String,
    process: pid_t,
    /// The file that it executed at first, if the system told it.
    file: Option<PathBuf>,
    memory: Memory,
    threads: HashSet<pid_t>,
    /// A thread that stands at the end of a path, or at the beginning of the program.
    held: Option<pid_t>,
    /// The thread that is being stepped.
    stepped: Option<pid_t>,
    /// What every thread is watched for.
    watched: Conditions,
    /// How many paths there were.
    paths: u64,
    /// Whether the last marker was reached before the first was.
    last_came: bool,
    activity: Activity,
    ended: Option<End>,
    launch: Launch,
    watchdog: Watchdog,
    /// The kernel accepts requests from one thread only.
    stays_here: PhantomData<*const ()>,
}

/// Starts a program, lets its libraries be loaded, and calls `work` with it, in a thread of its own. The program is
/// ended when `work` returns, unless it has ended by itself.
///
/// # Errors
/// If it cannot be started or traced; and those of `work`.
///
/// # Panics
/// If `work` does.
///
/// ```
/// use warmcore_linux::stepping::{End, Launch, SteppingError, with_program};
/// let end = with_program(&Launch::new(["true"]), |program| program.finish());
/// # let end: Result<End, SteppingError> = end;
/// assert_eq!(end?, End::Exited(0));
/// # Ok::<(), SteppingError>(())
/// ```
pub fn with_program<T: Send, E: From<SteppingError> + Send>(
    launch: &Launch,
    work: impl FnOnce(&mut Stepper) -> Result<T, E> + Send,
) -> Result<T, E> {
    thread::scope(|scope| {
        let tracer = scope.spawn(|| work(&mut Stepper::start(launch)?));
        tracer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
