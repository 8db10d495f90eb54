//! Runs this command once more, in a child that loads a user's library, and watches it.

use super::call_record::{Call, CallRecord};
use crate::parent_death;
use rustix::process::{Pid, Signal, kill_process};
use std::env;
use std::io;
use std::os::unix::process::CommandExt;
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
    /// By itself, after it has said everything.
    Exited(ExitStatus),
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

/// Runs this process's command, with its arguments, in a child. Ends it if a call of the library takes longer than `limit`.
/// Once `stop` is set, the child is asked to stop in order.
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
    let mut child = command.spawn()?;
    let watched = watch(&mut child, &record, limit, stop);
    if watched.is_err() {
        let _ = child.kill();
        let _ = child.wait();
    }
    watched
}

fn watch(
    child: &mut Child,
    record: &CallRecord,
    limit: Duration,
    stop: &AtomicBool,
) -> io::Result<SupervisedEnd> {
    let mut seen: Vec<(u64, Instant)> = CallRecord::slots().map(|_| (0, Instant::now())).collect();
    let mut asked = false;
    loop {
        if let Some(status) = child.try_wait()? {
            let in_order = record.is_done() || asked && status.code().is_some();
            return Ok(match in_order {
                true => SupervisedEnd::Exited(status),
                false => SupervisedEnd::Crashed { status, calls: record.calls() },
            });
        }
        if stop.load(Ordering::Relaxed) && !asked {
            asked = true;
            terminate(child)?;
        }
        for (slot, (begun, since)) in CallRecord::slots().zip(&mut seen) {
            let (call, now) = record.look(slot);
            if call.is_none() || now != *begun {
                (*begun, *since) = (now, Instant::now());
            } else if let Some(call) = call.filter(|_| since.elapsed() > limit) {
                child.kill()?;
                child.wait()?;
                return Ok(SupervisedEnd::Stuck { call, least: since.elapsed() });
            }
        }
        thread::sleep(LOOK);
    }
}

/// Asks a child to stop.
fn terminate(child: &Child) -> io::Result<()> {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    // It is not reaped yet, so its number still belongs to it.
    pid.map_or(Ok(()), |pid| kill_process(pid, Signal::TERM).map_err(io::Error::from))
}
