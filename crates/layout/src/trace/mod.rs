//! What one processor executed: instructions in order, and the data that they touched.
//!
//! A [`Trace`] is in memory; a [`Writer`] and a [`Reader`] stream one to and from a file, whose format is described in [`mod@format`].

pub mod format;
mod input;
mod instruction;
mod reader;
mod writer;

#[cfg(test)]
mod tests;

pub use format::{ReadError, WriteError};
pub use instruction::{Class, Instruction, Registers};
pub use reader::{Event, Reader};
pub use writer::Writer;

use hashbrown::HashMap;
use std::cmp::Reverse;
use std::sync::Arc;
use warmcore_cachesim::Kind;
use warmcore_units::Bytes;

/// A function of the traced program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Function {
    /// Its name, demangled.
    pub name: String,
    /// Its name as the linker knows it.
    pub symbol: String,
    /// Its first byte.
    pub address: u64,
    /// How many bytes it has.
    pub size: u64,
}

impl Function {
    /// Sorts `functions` by address. Of several at one address the longest stays, and of these the one whose name is for
    /// users: names that libraries keep to themselves begin with underscores.
    pub(crate) fn one_at_each_address(functions: &mut Vec<Self>) {
        let underscores = |name: &str| name.bytes().take_while(|&byte| byte == b'_').count();
        functions.sort_by(|a, b| {
            let rank = |of: &Self| (of.address, Reverse(of.size), underscores(&of.symbol));
            rank(a).cmp(&rank(b)).then_with(|| a.symbol.cmp(&b.symbol))
        });
        functions.dedup_by_key(|function| function.address);
    }
}

/// Data that an instruction touched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    /// The first byte.
    pub address: u64,
    /// How many bytes.
    pub size: u16,
    /// A load or a store.
    pub kind: Kind,
}

/// One executed instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step<'a> {
    /// What was executed.
    pub instruction: &'a Instruction,
    /// What it touched, in its order.
    pub accesses: &'a [Access],
}

/// What was executed between two markers.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Trace {
    /// By address; traces of one program share them.
    functions: Arc<[Function]>,
    instructions: Vec<Instruction>,
    index: HashMap<u64, u32>,
    /// Of each step, its instruction and where its accesses end.
    steps: Vec<(u32, usize)>,
    accesses: Vec<Access>,
}

impl Trace {
    /// Nothing executed yet, of a program with `functions`.
    #[must_use]
    pub fn new(mut functions: Vec<Function>) -> Self {
        functions.sort_by_key(|function| function.address);
        Self { functions: functions.into(), ..Self::default() }
    }

    /// The same of the program of `other`, whose functions it shares, where they are known only afterwards.
    #[must_use]
    pub fn with_functions_of(self, other: &Self) -> Self {
        Self { functions: Arc::clone(&other.functions), ..self }
    }

    /// `instruction` was executed and touched `accesses`.
    pub fn push(&mut self, instruction: &Instruction, accesses: &[Access]) {
        let next = self.instructions.len() as u32;
        let index = *self.index.entry(instruction.address).or_insert(next);
        if index == next {
            self.instructions.push(*instruction);
        }
        self.accesses.extend_from_slice(accesses);
        self.steps.push((index, self.accesses.len()));
    }

    /// The functions, by address.
    #[must_use]
    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// The instructions that were executed at least once, in the order of their first execution.
    #[must_use]
    pub fn instructions(&self) -> &[Instruction] {
        &self.instructions
    }

    /// The function that has the byte at `address`, as its index in [`functions`](Self::functions).
    #[must_use]
    pub fn function_at(&self, address: u64) -> Option<usize> {
        let before = self.functions.partition_point(|function| function.address <= address).checked_sub(1)?;
        let function = &self.functions[before];
        (address - function.address < function.size.max(1)).then_some(before)
    }

    /// The bytes that [`function_at`](Self::function_at) takes for those of the function with that index, up to where another
    /// one begins; at least 1.
    ///
    /// # Panics
    /// If there is no such function.
    #[must_use]
    pub fn function_size(&self, function: usize) -> Bytes {
        let of = &self.functions[function];
        let next = self.functions.get(function + 1).map_or(u64::MAX, |next| next.address);
        Bytes(of.size.min(next - of.address).max(1))
    }

    /// What was executed, in order.
    pub fn steps(&self) -> impl ExactSizeIterator<Item = Step<'_>> {
        let mut first = 0;
        self.steps.iter().map(move |&(instruction, end)| {
            let accesses = &self.accesses[first..end];
            first = end;
            Step { instruction: &self.instructions[instruction as usize], accesses }
        })
    }

    /// What was executed, in order: each step's instruction as its index in [`instructions`](Self::instructions), and what
    /// it touched.
    pub fn executed(&self) -> impl ExactSizeIterator<Item = (usize, &[Access])> {
        let mut first = 0;
        self.steps.iter().map(move |&(instruction, end)| {
            let accesses = &self.accesses[first..end];
            first = end;
            (instruction as usize, accesses)
        })
    }
}
