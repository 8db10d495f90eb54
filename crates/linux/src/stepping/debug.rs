//! The processor's debug registers: they stop one thread when it stores to a place, or comes to one (Intel's manual,
//! volume 3, §19.2). Each thread has its own.

use super::error::SteppingError;
use super::ptrace::{get_debug_register, set_debug_register};
use libc::pid_t;
use std::io;

/// The register that says what has happened.
const STATUS: usize = 6;
/// The register that says what to look for.
const CONTROL: usize = 7;

/// What a thread is stopped for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Condition {
    /// It is about to execute the instruction there.
    Executes(u64),
    /// It has stored to one of these bytes.
    Stores {
        /// The first byte, a multiple of their number.
        address: u64,
        /// 1, 2, 4 or 8.
        size: u64,
    },
}

/// Which of the four conditions is meant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Slot {
    /// A path begins.
    First = 0,
    /// A path ends.
    Last = 1,
    /// A repeated instruction is over.
    Repeated = 3,
}

/// The conditions of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Conditions([Option<Condition>; 4]);

impl Conditions {
    pub(super) fn with(mut self, slot: Slot, condition: Condition) -> Self {
        self.0[slot as usize] = Some(condition);
        self
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(Option::is_none)
    }

    /// Gives them to a stopped thread.
    pub(super) fn apply(&self, thread: pid_t) -> io::Result<()> {
        set_debug_register(thread, CONTROL, 0)?;
        for (number, condition) in self.0.iter().enumerate() {
            if let Some(Condition::Executes(address) | Condition::Stores { address, .. }) = condition {
                set_debug_register(thread, number, *address)?;
            }
        }
        set_debug_register(thread, STATUS, 0)?;
        set_debug_register(thread, CONTROL, self.control())
    }

    /// The control register: bit 2N switches condition N on for this thread, bits 16+4N say what it is and how long.
    fn control(&self) -> u64 {
        let bits = |(number, condition): (usize, &Option<Condition>)| {
            let kind = match condition {
                None => return 0,
                Some(Condition::Executes(_)) => 0b0000,
                Some(Condition::Stores { size, .. }) => 0b0001 | length(*size) << 2,
            };
            1 << (2 * number) | kind << (16 + 4 * number)
        };
        self.0.iter().enumerate().map(bits).sum()
    }
}

fn length(size: u64) -> u64 {
    match size {
        1 => 0b00,
        2 => 0b01,
        8 => 0b10,
        _ => 0b11,
    }
}

/// Whether the condition was what stopped `thread`. It is forgotten thereby.
pub(super) fn happened(thread: pid_t, slot: Slot) -> Result<bool, SteppingError> {
    let status = get_debug_register(thread, STATUS)?;
    let bit = 1 << slot as usize;
    if status & bit != 0 {
        let system = |source| SteppingError::System { call: "PTRACE_POKEUSER", source };
        set_debug_register(thread, STATUS, status & !bit).map_err(system)?;
    }
    Ok(status & bit != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_control_register_is_composed_as_the_manual_says() {
        let none = Conditions::default();
        assert_eq!(none.control(), 0);
        let stores = |size| none.with(Slot::First, Condition::Stores { address: 64, size }).control();
        assert_eq!([1, 2, 4, 8].map(stores), [0x1_0001, 0x5_0001, 0xd_0001, 0x9_0001]);
        let both = none
            .with(Slot::Last, Condition::Stores { address: 64, size: 4 })
            .with(Slot::Repeated, Condition::Executes(3));
        assert_eq!(both.control(), 0xd0_0044);
    }
}
