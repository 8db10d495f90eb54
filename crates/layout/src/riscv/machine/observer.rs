//! Who watches a program.

use crate::trace::{Access, Instruction, Trace};

/// Sees every instruction that was executed. A type, so that what nobody watches costs nothing.
pub trait Observer {
    /// Whether it sees anything at all.
    const ACTIVE: bool = true;

    /// `instruction` was executed and touched `accesses`.
    fn step(&mut self, instruction: &Instruction, accesses: &[Access]);
}

/// Nobody watches.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Nobody;

impl Observer for Nobody {
    const ACTIVE: bool = false;

    fn step(&mut self, _: &Instruction, _: &[Access]) {}
}

impl Observer for Trace {
    fn step(&mut self, instruction: &Instruction, accesses: &[Access]) {
        self.push(instruction, accesses);
    }
}

impl<F: FnMut(&Instruction, &[Access])> Observer for F {
    fn step(&mut self, instruction: &Instruction, accesses: &[Access]) {
        self(instruction, accesses);
    }
}
