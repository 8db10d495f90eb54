//! Steps one thread from the first marker to the second.

use super::debug::{self, Condition, Slot};
use super::error::{Activity, SteppingError};
use super::events::Report;
use super::ptrace::{self, Resume};
use super::{End, RegisterFile, Step, Stepper, repeated};
use crate::StopPoint;
use crate::affinity;
use libc::{c_int, pid_t, user_regs_struct};
use std::fs;
use std::io;
use warmcore_units::CpuId;

/// The longest instruction of the architecture, in bytes.
const LONGEST: usize = 15;
/// Repeated instructions that go on for longer run at full speed to their end.
const REPEATS_TO_STEP: u64 = 16;
/// After how many steps the tracer looks again for the cpu of the stepped thread.
const CPU_CHECK_INTERVAL: u64 = 4096;

/// What a thread will execute next.
struct Pending {
    registers: user_regs_struct,
    bytes: [u8; LONGEST],
    length: usize,
    /// The length of the instruction if it is a repeated one.
    repeated: Option<u64>,
}

impl Pending {
    fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// Whether it is repeated and has not come to its end.
    fn goes_on(&self, now: &user_regs_struct) -> bool {
        self.repeated.is_some() && now.rip == self.registers.rip
    }

    fn has_begun(&self, now: &user_regs_struct) -> bool {
        now.rip != self.registers.rip || (self.repeated.is_some() && now.rcx != self.registers.rcx)
    }
}

impl Stepper {
    /// Steps `thread`, which stands at the first marker, until `last`. Returns the number of steps.
    pub(super) fn walk(
        &mut self,
        thread: pid_t,
        last: StopPoint,
        each: &mut dyn FnMut(&Step<'_>),
    ) -> Result<u64, SteppingError> {
        self.watch_for_end(thread, last)?;
        let mut pending = self.pending(thread)?;
        let mut steps = 0;
        let mut signal = 0;
        let mut entering_handler = false;
        loop {
            if steps % CPU_CHECK_INTERVAL == 0 {
                self.join_cpu_of(thread);
            }
            self.activity = Activity::Within { last, steps };
            let stopped = self.advance(thread, &pending, signal, (last, steps))?;
            signal = 0;
            if is_step(thread, stopped, &pending) {
                if std::mem::take(&mut entering_handler) {
                    pending = self.pending(thread)?;
                    continue;
                }
                let next = self.pending(thread)?;
                if pending.goes_on(&next.registers) {
                    continue;
                }
                steps += 1;
                report(&pending, &next.registers, each);
                pending = next;
                if self.is_at_end(thread, last, &pending)? {
                    return Ok(steps);
                }
                if steps >= self.launch.steps {
                    return Err(SteppingError::NeverReached { last, steps });
                }
            } else if let Some(info) = ptrace::signal_info(thread) {
                signal = self.due(stopped, info);
                entering_handler = self.handles(stopped);
                let now = ptrace::registers(thread)?;
                if entering_handler && pending.has_begun(&now) {
                    steps += 1;
                    report(&pending, &now, each);
                }
            }
        }
    }

    /// Lets `thread` execute an instruction, or a long repeated one to its end. Returns the signal that it stops with.
    fn advance(
        &mut self,
        thread: pid_t,
        pending: &Pending,
        signal: c_int,
        within: (StopPoint, u64),
    ) -> Result<c_int, SteppingError> {
        let is_long = signal == 0 && pending.registers.rcx > REPEATS_TO_STEP;
        // A store that ends the path is to be noticed as it happens.
        if let (Some(length), StopPoint::Execute(_), true) = (pending.repeated, within.0, is_long) {
            let over = Condition::Executes(pending.registers.rip.wrapping_add(length));
            if self.watched.with(Slot::Repeated, over).apply(thread).is_ok() {
                self.resume(thread, Resume::Continue, 0)?;
                let stopped = self.await_stop(thread, within)?;
                self.watched.apply(thread).map_err(system)?;
                return Ok(stopped);
            }
        }
        self.resume(thread, Resume::Step, signal)?;
        self.await_stop(thread, within)
    }

    /// Waits until `thread` stops with a signal, and serves the others meanwhile.
    fn await_stop(&mut self, thread: pid_t, (last, steps): (StopPoint, u64)) -> Result<c_int, SteppingError> {
        loop {
            match self.next_report()? {
                Report::Stopped(stopped, signal) if stopped == thread => return Ok(signal),
                Report::Stopped(other, signal) => self.pass_on(other, signal)?,
                Report::ThreadEnded(ended) if ended == thread => {
                    return Err(SteppingError::ThreadEnded { last, steps });
                }
                Report::ThreadEnded(_) => {}
                Report::ProgramEnded(end) => return Err(self.ended_within(end, last, steps)),
            }
        }
    }

    pub(super) fn ended_within(&self, end: End, last: StopPoint, steps: u64) -> SteppingError {
        let program = self.program.clone();
        if self.last_came && self.paths == 0 {
            return SteppingError::WrongOrder { program, last };
        }
        SteppingError::EndedWithin { program, end, last, steps }
    }

    /// Lets `thread` alone be watched for the store that ends the path, if one does.
    fn watch_for_end(&self, thread: pid_t, last: StopPoint) -> Result<(), SteppingError> {
        let StopPoint::Store { address, size } = last else { return Ok(()) };
        let conditions = self.watched.with(Slot::Last, Condition::Stores { address, size });
        conditions.apply(thread).map_err(|source| SteppingError::NotWatched { address, size, source })
    }

    fn is_at_end(&self, thread: pid_t, last: StopPoint, next: &Pending) -> Result<bool, SteppingError> {
        match last {
            StopPoint::Execute(address) => Ok(next.registers.rip == address),
            StopPoint::Store { .. } if debug::happened(thread, Slot::Last)? => {
                self.watched.apply(thread).map_err(system)?;
                Ok(true)
            }
            StopPoint::Store { .. } => Ok(false),
        }
    }

    fn pending(&self, thread: pid_t) -> Result<Pending, SteppingError> {
        let registers = ptrace::registers(thread)?;
        let mut bytes = [0; LONGEST];
        let length = self.memory.read(registers.rip, &mut bytes).len();
        Ok(Pending { registers, bytes, length, repeated: repeated::length(&bytes[..length]) })
    }

    /// Moves the tracer to the cpu where `thread` ran last: waking each other there takes a third of the time. Where that
    /// is not allowed it stays.
    fn join_cpu_of(&self, thread: pid_t) {
        let stat = fs::read_to_string(format!("/proc/{}/task/{thread}/stat", self.process));
        // The 39th field; the second, in parentheses, may contain spaces (proc_pid_stat(5)).
        let cpu = stat.ok().and_then(|stat| stat.rsplit(") ").next()?.split(' ').nth(36)?.parse().ok());
        if let Some(cpu) = cpu {
            let _ = affinity::set_mask(&[CpuId(cpu)].into_iter().collect());
        }
    }
}

/// Whether a stop with `signal` is due to a step, rather than a signal for the program.
fn is_step(thread: pid_t, signal: c_int, pending: &Pending) -> bool {
    let is_breakpoint_of_program = pending.bytes().first() == Some(&0xcc);
    signal == libc::SIGTRAP
        && !is_breakpoint_of_program
        && ptrace::signal_info(thread).is_some_and(|info| !info.sent_by_a_program())
}

/// Hands over what was executed. `after` tells how often a repeated instruction did its work.
fn report(pending: &Pending, after: &user_regs_struct, each: &mut dyn FnMut(&Step<'_>)) {
    let iterations = pending.repeated.map(|_| pending.registers.rcx.wrapping_sub(after.rcx));
    let registers = RegisterFile::from(&pending.registers);
    each(&Step { registers: &registers, bytes: pending.bytes(), iterations });
}

fn system(source: io::Error) -> SteppingError {
    SteppingError::System { call: "PTRACE_POKEUSER", source }
}
