//! The registers of a stopped thread, as far as addresses depend on them.

use libc::user_regs_struct;

/// The registers from which a processor computes addresses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RegisterFile {
    /// The general registers in the processor's numbering: rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 to r15.
    pub general: [u64; 16],
    /// The address of the next instruction.
    pub ip: u64,
    /// The flags.
    pub flags: u64,
    /// Where segment `fs` begins: the thread's own data.
    pub fs_base: u64,
    /// Where segment `gs` begins.
    pub gs_base: u64,
}

impl RegisterFile {
    /// The counter of repeated instructions.
    #[must_use]
    pub const fn rcx(&self) -> u64 {
        self.general[1]
    }

    /// The stack pointer.
    #[must_use]
    pub const fn rsp(&self) -> u64 {
        self.general[4]
    }
}

impl From<&user_regs_struct> for RegisterFile {
    fn from(r: &user_regs_struct) -> Self {
        let general = [
            r.rax, r.rcx, r.rdx, r.rbx, r.rsp, r.rbp, r.rsi, r.rdi, r.r8, r.r9, r.r10, r.r11, r.r12, r.r13,
            r.r14, r.r15,
        ];
        Self { general, ip: r.rip, flags: r.eflags, fs_base: r.fs_base, gs_base: r.gs_base }
    }
}
