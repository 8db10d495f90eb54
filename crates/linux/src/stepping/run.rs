//! From the start of a program to its first marker, and from its last path to its end.

use super::debug::{self, Condition, Conditions, Slot};
use super::error::{Activity, SteppingError};
use super::events::{Report, is_gone, unless_gone};
use super::launch::Launch;
use super::memory::{Mapping, Memory};
use super::watchdog::Watchdog;
use super::{End, Step, Stepper, ptrace};
use crate::StopPoint;
use libc::pid_t;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use std::fs;
use std::marker::PhantomData;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

impl Stepper {
    /// Starts a program and lets it come to its own first instruction.
    pub(super) fn start(launch: &Launch) -> Result<Self, SteppingError> {
        let program = launch.program()?;
        let process = launch.start()?;
        // From here on, whatever fails, it is killed and reaped.
        let guard = Abandoned(process);
        let first = ptrace::wait()?;
        if first.is_none_or(|(_, status)| !libc::WIFSTOPPED(status)) {
            let source = std::io::Error::other("it ended before its first instruction");
            return Err(SteppingError::NotStarted { program, source });
        }
        ptrace::follow(process)?;
        let mut stepper = Self {
            program,
            process,
            memory: Memory::open(process)?,
            threads: [process].into_iter().collect(),
            held: Some(process),
            stepped: None,
            file: fs::read_link(format!("/proc/{process}/exe")).ok(),
            watched: Conditions::default(),
            paths: 0,
            last_came: false,
            activity: Activity::Starting,
            ended: None,
            launch: launch.clone(),
            watchdog: Watchdog::start(process, launch.time, launch.stop)?,
            stays_here: PhantomData,
        };
        std::mem::forget(guard);
        if let Some(entry) = stepper.memory.entry()? {
            let entry = StopPoint::Execute(entry);
            let reached = stepper.reach(entry, entry);
            reached.map_err(|error| stepper.explain(error))?;
        }
        Ok(stepper)
    }

    /// The file of the program.
    ///
    /// # Errors
    /// If the system does not tell it.
    pub fn executable(&self) -> Result<PathBuf, SteppingError> {
        let link = fs::read_link(format!("/proc/{}/exe", self.process));
        link.map_err(|source| SteppingError::System { call: "reading /proc/PID/exe", source })
    }

    /// Its process number.
    #[must_use]
    pub const fn process(&self) -> u32 {
        self.process as u32
    }

    /// What lies where in its memory now.
    ///
    /// # Errors
    /// If the system does not tell it, as when the program has ended.
    pub fn mappings(&self) -> Result<Vec<Mapping>, SteppingError> {
        self.memory.mappings()
    }

    /// Reads its memory at `address`, up to the length of `bytes` and the end of what can be read there.
    pub fn read<'a>(&self, address: u64, bytes: &'a mut [u8]) -> &'a [u8] {
        self.memory.read(address, bytes)
    }

    /// Lets all threads run until one reaches `first`, and steps that one until it reaches `last`; calls `each` after each
    /// step. The path begins with the instruction at `first`, or after the store to it, and ends before the instruction at
    /// `last`, or with the store to it. The same marker twice is a path from one time to the next. Returns the number of
    /// steps.
    ///
    /// Stores to `first` are watched in the threads that start after the first call, and in the first thread; it must be
    /// the same in each call.
    ///
    /// # Errors
    /// If a marker is not reached, cannot be set, or the time is up. The program has then ended, or will.
    pub fn path(
        &mut self,
        first: StopPoint,
        last: StopPoint,
        each: &mut dyn FnMut(&Step<'_>),
    ) -> Result<u64, SteppingError> {
        self.activity = Activity::Before(first);
        let walked = self.reach(first, last).and_then(|thread| {
            self.stepped = Some(thread);
            self.walk(thread, last, each)
        });
        self.stepped = None;
        let walked = walked.map_err(|error| self.explain(error))?;
        self.paths += 1;
        Ok(walked)
    }

    /// Lets the program run to its end.
    ///
    /// # Errors
    /// If it does not end in time.
    pub fn finish(&mut self) -> Result<End, SteppingError> {
        self.activity = Activity::Ending;
        let end = self.run_to_end();
        end.and_then(|end| if self.watchdog.fired() { Err(self.out_of_time()) } else { Ok(end) })
    }

    fn run_to_end(&mut self) -> Result<End, SteppingError> {
        if let Some(end) = self.ended {
            return Ok(end);
        }
        self.memory.clear_breakpoints();
        if let Some(thread) = self.held.take() {
            self.go_on(thread, 0)?;
        }
        loop {
            match self.next_report()? {
                Report::Stopped(thread, signal) => self.pass_on(thread, signal).or_else(unless_gone)?,
                Report::ThreadEnded(_) => {}
                Report::ProgramEnded(end) => return Ok(end),
            }
        }
    }

    /// Lets all threads run until one reaches `first`, which is then held. Notes whether `last` comes before.
    fn reach(&mut self, first: StopPoint, last: StopPoint) -> Result<pid_t, SteppingError> {
        if let Some(end) = self.ended {
            return Err(self.ended_before(end, first));
        }
        if let (Some(held), StopPoint::Execute(address)) = (self.held, first)
            && ptrace::registers(held)?.rip == address
        {
            return Ok(held);
        }
        self.set_markers(first, last)?;
        if let Some(held) = self.held.take() {
            self.go_on(held, 0)?;
        }
        loop {
            match self.next_report()? {
                Report::Stopped(thread, signal) if self.has_reached(thread, signal, first)? => {
                    self.memory.clear_breakpoints();
                    self.held = Some(thread);
                    return Ok(thread);
                }
                Report::Stopped(thread, signal) => self.pass_on(thread, signal)?,
                Report::ThreadEnded(_) => {}
                Report::ProgramEnded(end) => return Err(self.ended_before(end, first)),
            }
        }
    }

    fn set_markers(&mut self, first: StopPoint, last: StopPoint) -> Result<(), SteppingError> {
        match first {
            StopPoint::Execute(address) => self.memory.set_breakpoint(address)?,
            StopPoint::Store { address, size } if self.watched.is_empty() => {
                self.watched = self.watched.with(Slot::First, Condition::Stores { address, size });
                let not_watched = |source| SteppingError::NotWatched { address, size, source };
                self.held.map_or(Ok(()), |held| self.watched.apply(held)).map_err(not_watched)?;
            }
            StopPoint::Store { .. } => {}
        }
        match last {
            StopPoint::Execute(address) if self.paths == 0 && first != last => {
                self.memory.set_breakpoint(address)
            }
            _ => Ok(()),
        }
    }

    /// Whether `thread` stopped at `first`. One that came to the last marker goes there again, without a breakpoint.
    fn has_reached(&mut self, thread: pid_t, signal: i32, first: StopPoint) -> Result<bool, SteppingError> {
        if signal != libc::SIGTRAP {
            return Ok(false);
        }
        if let StopPoint::Store { .. } = first
            && debug::happened(thread, Slot::First)?
        {
            return Ok(true);
        }
        let Some(address) = self.breakpoint_of(thread)?.filter(|&address| self.memory.is_set(address)) else {
            return Ok(false);
        };
        if first == StopPoint::Execute(address) {
            self.rewind(thread)?;
            return Ok(true);
        }
        self.last_came = true;
        self.memory.clear_breakpoint(address);
        Ok(false)
    }

    fn ended_before(&self, end: End, first: StopPoint) -> SteppingError {
        let program = self.program.clone();
        SteppingError::EndedBefore { program, end, first, last_came: self.last_came, paths: self.paths }
    }

    fn out_of_time(&self) -> SteppingError {
        let program = self.program.clone();
        if self.launch.stop.is_some_and(|stop| stop.load(Ordering::SeqCst)) {
            return SteppingError::Stopped { program };
        }
        SteppingError::TimeLimit { program, limit: self.launch.time, activity: self.activity }
    }

    /// The error that `error` is due to: the time was up, or the program was killed between two requests.
    fn explain(&mut self, error: SteppingError) -> SteppingError {
        let error = if is_gone(&error) { self.end_of_killed(error) } else { error };
        if self.watchdog.fired() { self.out_of_time() } else { error }
    }

    fn end_of_killed(&mut self, error: SteppingError) -> SteppingError {
        let program = self.program.clone();
        let end = match self.run_to_end() {
            Ok(end) => end,
            Err(error) => return error,
        };
        match self.activity {
            Activity::Before(first) => self.ended_before(end, first),
            Activity::Within { last, steps } => self.ended_within(end, last, steps),
            _ => SteppingError::NotStarted {
                program,
                source: std::io::Error::other(format!("{error}; {end}")),
            },
        }
    }
}

impl Drop for Stepper {
    /// Kills the program and its process group, and reaps what this thread traces.
    fn drop(&mut self) {
        if self.ended.is_none() {
            end(self.process);
        }
    }
}

/// A program that was started and has no stepper yet.
struct Abandoned(pid_t);

impl Drop for Abandoned {
    fn drop(&mut self) {
        end(self.0);
    }
}

/// Kills a process that was not reaped yet, its group and whatever this thread traces, and reaps them.
fn end(process: pid_t) {
    if let Some(process) = Pid::from_raw(process) {
        // These fail only if there is nothing to kill, which is what we want.
        let _ = kill_process_group(process, Signal::KILL);
        let _ = kill_process(process, Signal::KILL);
    }
    while let Ok(Some((thread, status))) = ptrace::wait() {
        if libc::WIFSTOPPED(status)
            && let Some(thread) = Pid::from_raw(thread)
        {
            let _ = kill_process(thread, Signal::KILL);
        }
    }
}
