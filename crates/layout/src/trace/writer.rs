//! A trace, written while it happens. The format is described in [`format`](mod@super::format).

use super::format::{
    CLASSES, DEFINITION, END, HAS_TARGET, LONGEST_NAME, MAGIC, MANY, MOST_ACCESSES, MOST_FUNCTIONS, STEP,
    VERSION, WriteError, difference,
};
use super::{Access, Function, Instruction, Trace};
use crc32fast::Hasher;
use hashbrown::HashMap;
use std::io::Write;
use warmcore_cachesim::Kind;

/// As many bytes are written at once.
const BLOCK: usize = 1 << 16;

/// Writes a trace step by step. One that is not [finished](Self::finish) cannot be read.
#[derive(Debug)]
pub struct Writer<W: Write> {
    out: W,
    block: Vec<u8>,
    checksum: Hasher,
    index: HashMap<u64, u32>,
    steps: u64,
    /// The index that the next step has in straight code, and the end of the last step's instruction.
    next_index: u64,
    next_address: u64,
    last_access: u64,
}

impl<W: Write> Writer<W> {
    /// Begins a trace of a program with `functions`.
    ///
    /// # Errors
    /// If `out` fails, or there are too many functions or too long names.
    pub fn new(out: W, functions: &[Function]) -> Result<Self, WriteError> {
        let mut writer = Self {
            out,
            block: Vec::with_capacity(2 * BLOCK),
            checksum: Hasher::new(),
            index: HashMap::new(),
            steps: 0,
            next_index: 0,
            next_address: 0,
            last_access: 0,
        };
        writer.block.extend_from_slice(&MAGIC);
        writer.block.push(VERSION);
        writer.number(bounded("functions", functions.len(), MOST_FUNCTIONS)?);
        for function in functions {
            writer.text(&function.name)?;
            writer.text(&function.symbol)?;
            writer.number(function.address);
            writer.number(function.size);
            writer.flush_full()?;
        }
        Ok(writer)
    }

    /// `instruction` was executed and touched `accesses`. Of the instructions at one address, the first counts.
    ///
    /// # Errors
    /// If `out` fails, or there are too many accesses.
    pub fn step(&mut self, instruction: &Instruction, accesses: &[Access]) -> Result<(), WriteError> {
        let count = bounded("accesses of an instruction", accesses.len(), MOST_ACCESSES)?;
        let new = self.index.len() as u64;
        let index = u64::from(*self.index.entry(instruction.address).or_insert(new as u32));
        if index == new {
            self.define(instruction);
            self.number(count);
        } else {
            self.number(STEP + (difference(self.next_index, index) << 2) + count.min(MANY));
            if count >= MANY {
                self.number(count - MANY);
            }
        }
        self.next_index = index + 1;
        self.next_address = instruction.end();
        for access in accesses {
            self.access(access);
        }
        self.steps += 1;
        self.flush_full()
    }

    /// Ends the trace and returns where it was written to.
    ///
    /// # Errors
    /// If `out` fails.
    pub fn finish(mut self) -> Result<W, WriteError> {
        self.number(END);
        self.number(self.steps);
        self.flush()?;
        let checksum = self.checksum.clone().finalize();
        self.out.write_all(&checksum.to_le_bytes())?;
        self.out.flush()?;
        Ok(self.out)
    }

    fn define(&mut self, instruction: &Instruction) {
        self.number(DEFINITION);
        self.number(difference(self.next_address, instruction.address));
        let class = CLASSES.iter().position(|&class| class == instruction.class).unwrap_or(CLASSES.len());
        let has_target = if instruction.target.is_some() { HAS_TARGET } else { 0 };
        self.block.extend_from_slice(&[instruction.length, class as u8 | has_target]);
        if let Some(target) = instruction.target {
            self.number(difference(instruction.address, target));
        }
        self.number(instruction.reads.0);
        self.number(instruction.writes.0);
    }

    fn access(&mut self, access: &Access) {
        let kind = match access.kind {
            Kind::Fetch => 0,
            Kind::Load => 1,
            Kind::Store => 2,
        };
        self.number(u64::from(access.size) << 2 | kind);
        self.number(difference(self.last_access, access.address));
        self.last_access = access.address;
    }

    fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.block.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.block.push(number as u8);
    }

    fn text(&mut self, text: &str) -> Result<(), WriteError> {
        let length = bounded("bytes of a name", text.len(), LONGEST_NAME)?;
        self.number(length);
        self.block.extend_from_slice(text.as_bytes());
        Ok(())
    }

    fn flush_full(&mut self) -> Result<(), WriteError> {
        if self.block.len() >= BLOCK { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), WriteError> {
        self.checksum.update(&self.block);
        self.out.write_all(&self.block)?;
        self.block.clear();
        Ok(())
    }
}

fn bounded(what: &'static str, found: usize, limit: u64) -> Result<u64, WriteError> {
    let found = found as u64;
    if found <= limit { Ok(found) } else { Err(WriteError::TooMany { what, found, limit }) }
}

impl Trace {
    /// Writes the trace to `out`.
    ///
    /// # Errors
    /// As [`Writer`].
    pub fn write(&self, out: impl Write) -> Result<(), WriteError> {
        let mut writer = Writer::new(out, self.functions())?;
        for step in self.steps() {
            writer.step(step.instruction, step.accesses)?;
        }
        writer.finish().map(drop)
    }
}
