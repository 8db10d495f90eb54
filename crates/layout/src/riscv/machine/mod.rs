//! A processor with its memory, which executes a program.

mod arithmetic;
mod memory;
mod observer;
mod step;
mod text;

#[cfg(test)]
mod tests;

pub use observer::{Nobody, Observer};

use super::error::MachineError;
use super::image::{Image, MOST_MEMORY};
use memory::Memory;
use step::{Halt, Hart};
use text::Text;

/// Where a function returns to when the host called it: no code is there.
pub const RETURN_ADDRESS: u64 = 0xffff_ffff_ffff_fff0;
/// Where the stack ends, upwards. It does not depend on the program, so that one that was moved has the same data.
pub const STACK_TOP: u64 = 0x7fff_f000_0000;
/// How many bytes the stack has.
pub const STACK_BYTES: u64 = 1 << 20;
/// How many instructions are executed at most, if nobody says otherwise.
pub const DEFAULT_LIMIT: u64 = 10_000_000_000;

const RA: usize = 1;
const SP: usize = 2;
const GP: usize = 3;
const A0: usize = 10;

/// Why the machine stopped where it should.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    /// The function that the host called has returned; `a0`.
    Returned(u64),
    /// The program asks its host by `ecall`; `a0` to `a7`. It goes on behind it.
    Ecall([u64; 8]),
    /// The next instruction is the one that the host named.
    Reached,
}

/// A processor of one hart, RV64IM, and memory: the segments of a program, a stack, and what the host adds.
///
/// Each word of code is taken apart once, when the machine is made; code cannot change.
#[derive(Clone, Debug)]
pub struct Machine {
    registers: [u64; 32],
    pc: u64,
    memory: Memory,
    texts: Vec<Text>,
    limit: u64,
    executed: u64,
}

impl Machine {
    /// A machine that holds `image` and has done nothing: at its entry, with a stack.
    ///
    /// # Errors
    /// If the program lies where the stack is.
    pub fn new(image: &Image) -> Result<Self, MachineError> {
        let mut memory = Memory::default();
        for segment in image.segments() {
            memory.add(segment.address, segment.bytes.clone(), segment.writable, segment.executable)?;
        }
        let code = image.segments().iter().filter(|segment| segment.executable);
        let texts = code.map(Text::new).collect();
        let mut registers = [0; 32];
        registers[SP] = STACK_TOP;
        registers[GP] = image.address("__global_pointer$").unwrap_or(0);
        let pc = image.entry();
        let mut machine = Self { registers, pc, memory, texts, limit: DEFAULT_LIMIT, executed: 0 };
        machine.add_memory(STACK_TOP - STACK_BYTES, STACK_BYTES)?;
        Ok(machine)
    }

    /// Adds `bytes` bytes of zeros at `address`, which the program may write.
    ///
    /// # Errors
    /// If something is there, or they are more than [`MOST_MEMORY`].
    pub fn add_memory(&mut self, address: u64, bytes: u64) -> Result<(), MachineError> {
        if bytes > MOST_MEMORY {
            return Err(MachineError::TooLarge { size: bytes, limit: MOST_MEMORY });
        }
        self.memory.add(address, vec![0; bytes as usize], true, false)
    }

    /// From now on, each [`run`](Self::run) executes at most `instructions`.
    pub const fn set_limit(&mut self, instructions: u64) {
        self.limit = instructions;
    }

    /// How many instructions have been executed, without `ecall`s.
    #[must_use]
    pub const fn executed(&self) -> u64 {
        self.executed
    }

    /// The next instruction.
    #[must_use]
    pub const fn pc(&self) -> u64 {
        self.pc
    }

    /// Goes to `address`.
    pub const fn set_pc(&mut self, address: u64) {
        self.pc = address;
    }

    /// The registers `x0` to `x31`.
    #[must_use]
    pub const fn registers(&self) -> &[u64; 32] {
        &self.registers
    }

    /// Sets the register `number` (modulo 32); `x0` stays zero.
    pub const fn set_register(&mut self, number: usize, value: u64) {
        self.registers[number % 32] = value;
        self.registers[0] = 0;
    }

    /// The `size` bytes at `address`.
    ///
    /// # Errors
    /// If they are not all in one region.
    pub fn read(&self, address: u64, size: u64) -> Result<&[u8], MachineError> {
        self.memory.read(address, size)
    }

    /// Writes `bytes` to `address`; where the program may only read, too.
    ///
    /// # Errors
    /// If they are not all in one region, or code is there.
    pub fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), MachineError> {
        self.memory.write(address, bytes.len() as u64)?.copy_from_slice(bytes);
        Ok(())
    }

    /// The number of 8 bytes at `address`.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_u64(&self, address: u64) -> Result<u64, MachineError> {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(self.read(address, 8)?);
        Ok(u64::from_le_bytes(bytes))
    }

    /// Writes a number of 8 bytes to `address`.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub fn write_u64(&mut self, address: u64, value: u64) -> Result<(), MachineError> {
        self.write(address, &value.to_le_bytes())
    }

    /// Prepares a call of the function at `address`, with an empty stack: [`run`](Self::run) does it.
    ///
    /// # Errors
    /// If there are more than 8 arguments.
    pub fn begin(&mut self, address: u64, arguments: &[u64]) -> Result<(), MachineError> {
        let places = self.registers[A0..A0 + 8].get_mut(..arguments.len());
        places.ok_or(MachineError::Arguments { given: arguments.len() })?.copy_from_slice(arguments);
        self.registers[RA] = RETURN_ADDRESS;
        self.registers[SP] = STACK_TOP;
        self.pc = address;
        Ok(())
    }

    /// Calls the function at `address` and returns its result, `a0`.
    ///
    /// # Errors
    /// As [`run`](Self::run); and if the program asks its host, whom it finds in nobody here.
    pub fn call(&mut self, address: u64, arguments: &[u64]) -> Result<u64, MachineError> {
        self.call_observed(address, arguments, &mut Nobody)
    }

    /// As [`call`](Self::call), with `observer` watching.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub fn call_observed<O: Observer>(
        &mut self,
        address: u64,
        arguments: &[u64],
        observer: &mut O,
    ) -> Result<u64, MachineError> {
        self.begin(address, arguments)?;
        match self.run(observer)? {
            Stop::Returned(result) => Ok(result),
            Stop::Ecall(_) | Stop::Reached => {
                Err(MachineError::UnexpectedCall { pc: self.pc.wrapping_sub(4) })
            }
        }
    }

    /// Answers an `ecall` with `value` in `a0`.
    pub const fn answer(&mut self, value: u64) {
        self.registers[A0] = value;
    }

    /// Goes on until the function that the host called returns, or the program asks its host. `observer` does not see
    /// the `ecall` itself.
    ///
    /// # Errors
    /// If the program does something that it cannot or may not, or does not stop within the limit. The machine stands
    /// at that instruction, which has done nothing.
    pub fn run<O: Observer>(&mut self, observer: &mut O) -> Result<Stop, MachineError> {
        self.run_until(RETURN_ADDRESS, observer)
    }

    /// As [`run`](Self::run), or until the next instruction is the one at `until`: at once, if it already is.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_until<O: Observer>(&mut self, until: u64, observer: &mut O) -> Result<Stop, MachineError> {
        let mut left = self.limit;
        loop {
            if self.pc == RETURN_ADDRESS {
                return Ok(Stop::Returned(self.registers[A0]));
            }
            if self.pc == until {
                return Ok(Stop::Reached);
            }
            if let Err(halt) = self.run_in_segment(until, &mut left, observer) {
                return self.halt(halt);
            }
        }
    }

    fn halt(&mut self, halt: Halt) -> Result<Stop, MachineError> {
        match halt {
            Halt::Error(error) => Err(error),
            Halt::Ecall => {
                self.pc = self.pc.wrapping_add(4);
                let mut arguments = [0; 8];
                arguments.copy_from_slice(&self.registers[A0..A0 + 8]);
                Ok(Stop::Ecall(arguments))
            }
        }
    }

    /// Executes at most `left` instructions, until one is at `until` or in another segment.
    fn run_in_segment<O: Observer>(
        &mut self,
        until: u64,
        left: &mut u64,
        observer: &mut O,
    ) -> Result<(), Halt> {
        let found = self.texts.iter().find(|text| self.pc.is_multiple_of(4) && text.get(self.pc).is_some());
        let text = found.ok_or(MachineError::NotCode { pc: self.pc })?;
        let before = *left;
        let mut hart = Hart { registers: &mut self.registers, memory: &mut self.memory, access: None };
        let mut pc = self.pc;
        let result = loop {
            let Some(decoded) = text.get(pc).filter(|_| pc != until) else { break Ok(()) };
            if *left == 0 {
                break Err(MachineError::InstructionLimit { pc, limit: self.limit }.into());
            }
            hart.access = None;
            match hart.step(pc, decoded) {
                Ok(next) => {
                    if O::ACTIVE {
                        observer.step(&super::describe(pc, decoded), hart.access.as_slice());
                    }
                    *left -= 1;
                    pc = next;
                }
                Err(halt) => break Err(halt),
            }
        };
        self.pc = pc;
        self.executed += before - *left;
        result
    }
}
