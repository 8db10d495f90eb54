//! Runs this command once more, in a child that loads a user's library, and watches it.

use super::call_record::{Call, CallRecord};
use crate::{orphans, parent_death};
use rustix::process::{Pid, Signal, kill_process};
use std::env;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Names the record of calls to the child.
const VARIABLE: &str = "WARMCORE_CALL_RECORD";
/// How often the child is looked at.
const LOOK: Duration = Duration::from_millis(20);

/// How a supervised command ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SupervisedEnd {
    /// After it has said everything, with this exit status.
    Done(u8),
    /// The user asked to stop.
    Interrupted,
    /// In the middle of its work.
    Crashed {
        /// How.
        status: ExitStatus,
        /// The calls of the library that were under way.
        calls: Vec<Call>,
    },
    /// It was ended because a call did not return.
    Stuck {
        /// The call.
        call: Call,
        /// For how long it had been under way, at least.
        least: Duration,
    },
}

/// The record of calls that this process is to keep, if it is a supervised one.
///
/// # Errors
/// If the supervisor's record cannot be opened.
pub fn is_supervised() -> io::Result<Option<CallRecord>> {
    env::var_os(VARIABLE).map(|path| CallRecord::open(Path::new(&path))).transpose()
}

/// Keeps standard output for this process's own results: from now on what a library writes there goes to standard error.
/// Returns where results go.
///
/// # Errors
/// If a descriptor is closed.
pub fn take_stdout() -> io::Result<OwnedFd> {
    let own = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdout(), FIRST_FREE)?;
    rustix::stdio::dup2_stdout(rustix::stdio::stderr())?;
    Ok(own)
}

/// Descriptors below are the standard ones.
const FIRST_FREE: i32 = 3;

/// Runs this process's command, with its arguments, in a child. Ends it, and all that the library has started, when the work is
/// done, if a call of the library takes longer than `limit`, or if it does not stop within `limit` once `stop` is set.
///
/// # Errors
/// If the child cannot be started or waited for.
pub fn supervise(limit: Duration, stop: &AtomicBool) -> io::Result<SupervisedEnd> {
    let (record, file) = CallRecord::shared()?;
    let mut words = env::args_os();
    let mut command = Command::new("/proc/self/exe");
    command.arg0(words.next().unwrap_or_default()).args(words).env(VARIABLE, CallRecord::path(&file));
    // Ctrl-C reaches the child through this process alone, once.
    command.process_group(0);
    parent_death::kill_with_this_thread(&mut command);
    orphans::adopt()?;
    let mut child = command.spawn()?;
    let watched = watch(&mut child, &record, limit, stop);
    orphans::end_all();
    watched
}

fn watch(
    child: &mut Child,
    record: &CallRecord,
    limit: Duration,
    stop: &AtomicBool,
) -> io::Result<SupervisedEnd> {
    let mut seen: Vec<(u64, Instant)> = CallRecord::slots().map(|_| (0, Instant::now())).collect();
    let mut asked: Option<Instant> = None;
    let mut ran = Instant::now();
    loop {
        let ended = child.try_wait()?;
        // Whatever the library does at its unloading does not change what was done.
        if let Some(code) = record.exit_code() {
            return Ok(SupervisedEnd::Done(code));
        }
        if let Some(asked) = asked {
            if ended.is_some() || asked.elapsed() > limit {
                return Ok(SupervisedEnd::Interrupted);
            }
        } else if let Some(status) = ended {
            return Ok(SupervisedEnd::Crashed { status, calls: record.calls() });
        } else if stop.load(Ordering::Relaxed) {
            asked = Some(Instant::now());
            terminate(child)?;
        }
        if !is_stopped(child) {
            ran = Instant::now();
        } else if asked.is_none() && ran.elapsed() > limit {
            // The signal is to the whole process: the call that sent it may be over.
            let status = ExitStatus::from_raw(STOPPED | (Signal::STOP.as_raw() << 8));
            return Ok(SupervisedEnd::Crashed { status, calls: record.calls() });
        }
        for (slot, (begun, since)) in CallRecord::slots().zip(&mut seen) {
            let (call, now) = record.look(slot);
            if call.is_none() || now != *begun {
                (*begun, *since) = (now, Instant::now());
            } else if let Some(call) = call.filter(|_| asked.is_none() && since.elapsed() > limit) {
                return Ok(SupervisedEnd::Stuck { call, least: since.elapsed() });
            }
        }
        thread::sleep(LOOK);
    }
}

/// What a status says of a process that was stopped, beside the signal.
const STOPPED: i32 = 0x7f;

/// Whether a signal has stopped the child.
fn is_stopped(child: &Child) -> bool {
    let text = fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap_or_default();
    // Behind the name, which may hold anything.
    text.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('T'))
}

/// Asks a child to stop.
fn terminate(child: &Child) -> io::Result<()> {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    // It is not reaped yet, so its number still belongs to it.
    pid.map_or(Ok(()), |pid| kill_process(pid, Signal::TERM).map_err(io::Error::from))
}
