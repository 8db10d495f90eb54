//! What the threads of a traced program report. Everything but signals and ends is dealt with here.

use super::error::SteppingError;
use super::ptrace::{self, Resume, SignalInfo};
use super::{End, Stepper};
use libc::{c_int, pid_t};
use std::fs;
use std::io;

/// `si_code` of a trap after one instruction, and of one by a debug register (`TRAP_TRACE`, `TRAP_HWBKPT`).
const TRACE: i32 = 2;
const WATCHED: i32 = 4;
/// `si_code` of the stop before the first instruction of a signal's handler.
const HANDLER: i32 = libc::SIGTRAP;
/// The flag that stops a thread after each instruction.
const TRAP_FLAG: u64 = 0x100;

/// What a caller has to deal with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Report {
    /// A thread stopped with a signal.
    Stopped(pid_t, c_int),
    /// A thread ended, and the program goes on.
    ThreadEnded(pid_t),
    /// The program ended.
    ProgramEnded(End),
}

impl Stepper {
    /// Waits for the next report.
    pub(super) fn next_report(&mut self) -> Result<Report, SteppingError> {
        loop {
            let (thread, status) = ptrace::wait()?.ok_or_else(vanished)?;
            if !libc::WIFSTOPPED(status) {
                self.threads.remove(&thread);
                self.held = self.held.filter(|&held| held != thread);
                if thread != self.process {
                    return Ok(Report::ThreadEnded(thread));
                }
                let end = End::from_status(status);
                self.ended = Some(end);
                return Ok(Report::ProgramEnded(end));
            }
            if !self.threads.contains(&thread) {
                // It may have been killed meanwhile.
                self.welcome(thread).or_else(unless_gone)?;
                continue;
            }
            match status >> 16 {
                0 => return Ok(Report::Stopped(thread, libc::WSTOPSIG(status))),
                libc::PTRACE_EVENT_EXEC => return Err(self.replaced()),
                libc::PTRACE_EVENT_VFORK_DONE => {
                    self.memory.renew_breakpoints()?;
                    self.go_on(thread, 0)?;
                }
                // What is new reports itself.
                _ => self.go_on(thread, 0)?,
            }
        }
    }

    /// A new thread is followed; a new process is left alone, without our breakpoints.
    fn welcome(&mut self, newcomer: pid_t) -> Result<(), SteppingError> {
        if self.is_thread(newcomer) {
            self.threads.insert(newcomer);
            if !self.watched.is_empty() {
                let system = |source| SteppingError::System { call: "PTRACE_POKEUSER", source };
                self.watched.apply(newcomer).map_err(system)?;
            }
            return self.go_on(newcomer, 0);
        }
        self.memory.clean_copy(newcomer)?;
        ptrace::detach(newcomer)
    }

    fn is_thread(&self, number: pid_t) -> bool {
        fs::exists(format!("/proc/{}/task/{number}", self.process)).unwrap_or(false)
    }

    fn replaced(&self) -> SteppingError {
        let program = self.program.clone();
        let by = fs::read_link(format!("/proc/{}/exe", self.process)).unwrap_or_default();
        if self.file.as_ref() == Some(&by) {
            return SteppingError::Restarted { program };
        }
        SteppingError::Replaced { program, by: by.display().to_string() }
    }

    /// Lets a stopped thread go on in its own way: the stepped one by a step, others at full speed.
    pub(super) fn go_on(&self, thread: pid_t, signal: c_int) -> Result<(), SteppingError> {
        let how = if self.stepped == Some(thread) { Resume::Step } else { Resume::Continue };
        self.resume(thread, how, signal)
    }

    /// Lets a stopped thread go on. One that was killed meanwhile reports its end later.
    pub(super) fn resume(&self, thread: pid_t, how: Resume, signal: c_int) -> Result<(), SteppingError> {
        ptrace::resume(thread, how, signal).or_else(unless_gone)
    }

    /// Deals with a signal for a thread that nobody waits for: takes back what tracing caused, passes on the rest.
    pub(super) fn pass_on(&self, thread: pid_t, signal: c_int) -> Result<(), SteppingError> {
        let Some(info) = ptrace::signal_info(thread) else { return self.go_on(thread, 0) };
        if signal != libc::SIGTRAP || info.sent_by_a_program() {
            return self.go_on(thread, self.due(signal, info));
        }
        if matches!(info.code, TRACE | WATCHED | HANDLER) {
            // A program that stored its flags while it was stepped has restored them with this one.
            let mut registers = ptrace::registers(thread)?;
            registers.eflags &= !TRAP_FLAG;
            ptrace::set_registers(thread, &registers)?;
            return self.go_on(thread, 0);
        }
        let ours = self.breakpoint_of(thread)?.is_some();
        if ours {
            self.rewind(thread)?;
        }
        self.go_on(thread, if ours { 0 } else { signal })
    }

    /// What of `signal`, which no tracing caused, is for the program: 0 if it ignored that before we made the kernel forget
    /// it.
    pub(super) fn due(&self, signal: c_int, info: SignalInfo) -> c_int {
        let from_itself = info.sender == Some(self.process);
        if signal == libc::SIGTRAP && from_itself && !self.handles(signal) { 0 } else { signal }
    }

    /// The breakpoint that `thread` has just executed, set or since taken out.
    pub(super) fn breakpoint_of(&self, thread: pid_t) -> Result<Option<u64>, SteppingError> {
        let caused_by_instruction = ptrace::signal_info(thread)
            .is_some_and(|info| !info.sent_by_a_program() && !matches!(info.code, TRACE | WATCHED | HANDLER));
        let address = ptrace::registers(thread)?.rip.wrapping_sub(1);
        Ok((caused_by_instruction && self.memory.was_breakpoint(address)).then_some(address))
    }

    /// Sends a thread back to the breakpoint that it has just executed.
    pub(super) fn rewind(&self, thread: pid_t) -> Result<(), SteppingError> {
        let mut registers = ptrace::registers(thread)?;
        registers.rip = registers.rip.wrapping_sub(1);
        ptrace::set_registers(thread, &registers)
    }

    /// Whether the program handles `signal` itself (`SigCgt` of proc_pid_status(5)).
    pub(super) fn handles(&self, signal: c_int) -> bool {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process)).unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
        mask >> (signal - 1) & 1 == 1
    }
}

fn vanished() -> SteppingError {
    SteppingError::System { call: "waitpid", source: io::Error::from_raw_os_error(libc::ECHILD) }
}

/// Whether a call failed because its thread was killed meanwhile: it is not there, or has no files in `/proc` any more.
pub(super) fn is_gone(error: &SteppingError) -> bool {
    let number = match error {
        SteppingError::System { source, .. } => source.raw_os_error(),
        _ => None,
    };
    matches!(number, Some(libc::ESRCH | libc::ENOENT))
}

/// The error of a call, unless its thread was killed meanwhile.
pub(super) fn unless_gone(error: SteppingError) -> Result<(), SteppingError> {
    if is_gone(&error) { Ok(()) } else { Err(error) }
}
