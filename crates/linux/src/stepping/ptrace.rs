//! The system calls of tracing, each wrapped once. None of them touches memory of this process but what it is given.

use super::error::SteppingError;
use libc::{c_int, c_void, pid_t, user_regs_struct};
use std::io;
use std::mem::offset_of;
use std::ptr::null_mut;

/// How a stopped thread goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Resume {
    /// At full speed.
    Continue,
    /// For one instruction.
    Step,
}

/// What the kernel says of the signal that stopped a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct SignalInfo {
    /// `si_code`: who sent it.
    pub(super) code: i32,
    /// The process that sent it, if one did.
    pub(super) sender: Option<pid_t>,
}

impl SignalInfo {
    /// Whether a program sent it, rather than the processor.
    pub(super) fn sent_by_a_program(self) -> bool {
        self.code <= 0
    }
}

fn failed(call: &'static str) -> SteppingError {
    SteppingError::System { call, source: io::Error::last_os_error() }
}

fn check(call: &'static str, answer: i64) -> Result<(), SteppingError> {
    if answer == -1 { Err(failed(call)) } else { Ok(()) }
}

/// Lets the parent trace this process, and if wanted places everything at the same addresses in each run. To be
/// called between fork and exec.
pub(super) fn be_traced(same_addresses: bool) -> io::Result<()> {
    if same_addresses {
        // SAFETY: takes no pointer, changes this process alone, and may be called after a fork.
        let answer = unsafe { libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong) };
        if answer == -1 {
            return Err(io::Error::last_os_error());
        }
    }
    // SAFETY: this request takes no pointer; the kernel ignores the arguments after the first.
    let answer = unsafe { libc::ptrace(libc::PTRACE_TRACEME, 0, null_mut::<c_void>(), null_mut::<c_void>()) };
    if answer == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Follows new threads, children and programs, and kills them if this thread ends.
pub(super) fn follow(thread: pid_t) -> Result<(), SteppingError> {
    let options = libc::PTRACE_O_EXITKILL
        | libc::PTRACE_O_TRACECLONE
        | libc::PTRACE_O_TRACEFORK
        | libc::PTRACE_O_TRACEVFORK
        | libc::PTRACE_O_TRACEVFORKDONE
        | libc::PTRACE_O_TRACEEXEC;
    // SAFETY: the options are passed by value; no memory is touched.
    let answer =
        unsafe { libc::ptrace(libc::PTRACE_SETOPTIONS, thread, null_mut::<c_void>(), i64::from(options)) };
    check("PTRACE_SETOPTIONS", answer)
}

/// Lets a stopped thread go on, with `signal` if it is not 0.
pub(super) fn resume(thread: pid_t, how: Resume, signal: c_int) -> Result<(), SteppingError> {
    let (request, call) = match how {
        Resume::Continue => (libc::PTRACE_CONT, "PTRACE_CONT"),
        Resume::Step => (libc::PTRACE_SINGLESTEP, "PTRACE_SINGLESTEP"),
    };
    // SAFETY: the signal is passed by value; no memory of this process is touched.
    let answer = unsafe { libc::ptrace(request, thread, null_mut::<c_void>(), i64::from(signal)) };
    check(call, answer)
}

/// Traces a stopped process no longer; it goes on.
pub(super) fn detach(process: pid_t) -> Result<(), SteppingError> {
    // SAFETY: takes no pointer.
    let answer =
        unsafe { libc::ptrace(libc::PTRACE_DETACH, process, null_mut::<c_void>(), null_mut::<c_void>()) };
    check("PTRACE_DETACH", answer)
}

/// The registers of a stopped thread.
pub(super) fn registers(thread: pid_t) -> Result<user_regs_struct, SteppingError> {
    // SAFETY: the structure consists of integers, for which zero is a value.
    let mut registers: user_regs_struct = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes one `user_regs_struct` of this architecture, and `registers` is one.
    let answer =
        unsafe { libc::ptrace(libc::PTRACE_GETREGS, thread, null_mut::<c_void>(), &raw mut registers) };
    check("PTRACE_GETREGS", answer)?;
    Ok(registers)
}

/// Replaces the registers of a stopped thread.
pub(super) fn set_registers(thread: pid_t, registers: &user_regs_struct) -> Result<(), SteppingError> {
    // SAFETY: the kernel reads one `user_regs_struct`, and `registers` refers to one.
    let answer = unsafe {
        libc::ptrace(libc::PTRACE_SETREGS, thread, null_mut::<c_void>(), std::ptr::from_ref(registers))
    };
    check("PTRACE_SETREGS", answer)
}

/// Why a thread stopped with a signal; `None` if no signal did it, as in a stop of the whole group.
pub(super) fn signal_info(thread: pid_t) -> Option<SignalInfo> {
    // SAFETY: the structure consists of integers, for which zero is a value.
    let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes one `siginfo_t`, and `info` is one.
    let answer =
        unsafe { libc::ptrace(libc::PTRACE_GETSIGINFO, thread, null_mut::<c_void>(), &raw mut info) };
    let sender = || {
        // SAFETY: of a signal that was sent by kill(2), sigqueue(3) or tgkill(2), these bytes are the sender's number
        // (sigaction(2)); and they are an integer in any case.
        matches!(info.si_code, libc::SI_USER | libc::SI_QUEUE | libc::SI_TKILL)
            .then(|| unsafe { info.si_pid() })
    };
    (answer != -1).then(|| SignalInfo { code: info.si_code, sender: sender() })
}

/// The offset of a debug register in the kernel's picture of a thread.
fn debug_register(number: usize) -> usize {
    offset_of!(libc::user, u_debugreg) + number * size_of::<u64>()
}

/// Writes debug register `number` of a stopped thread.
pub(super) fn set_debug_register(thread: pid_t, number: usize, value: u64) -> io::Result<()> {
    // SAFETY: offset and value are passed by value; the kernel checks both.
    let answer = unsafe { libc::ptrace(libc::PTRACE_POKEUSER, thread, debug_register(number), value) };
    if answer == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Reads debug register `number` of a stopped thread.
pub(super) fn get_debug_register(thread: pid_t, number: usize) -> Result<u64, SteppingError> {
    // SAFETY: `errno` belongs to this thread.
    unsafe { *libc::__errno_location() = 0 };
    // SAFETY: the C library returns the word itself; no memory of this process is written.
    let answer =
        unsafe { libc::ptrace(libc::PTRACE_PEEKUSER, thread, debug_register(number), null_mut::<c_void>()) };
    // Any word may have been read, -1 too: only `errno` says whether it failed.
    if answer == -1 && io::Error::last_os_error().raw_os_error() != Some(0) {
        return Err(failed("PTRACE_PEEKUSER"));
    }
    Ok(answer as u64)
}

/// Waits for any thread that this thread traces, and returns it with its status; `None` if there is none left.
/// Children of this process's other threads are left alone.
pub(super) fn wait() -> Result<Option<(pid_t, c_int)>, SteppingError> {
    let mut status = 0;
    loop {
        // SAFETY: the kernel writes one integer, and `status` is one.
        let thread = unsafe { libc::waitpid(-1, &raw mut status, libc::__WALL | libc::__WNOTHREAD) };
        if thread != -1 {
            return Ok(Some((thread, status)));
        }
        match io::Error::last_os_error().raw_os_error() {
            Some(libc::EINTR) => {}
            Some(libc::ECHILD) => return Ok(None),
            _ => return Err(failed("waitpid")),
        }
    }
}
