//! A trace, read step by step. The format is described in [`format`](mod@super::format).

use super::format::{
    CLASSES, DEFINITION, END, HAS_TARGET, LONGEST_NAME, MAGIC, MANY, MOST_ACCESSES, MOST_FUNCTIONS,
    ReadError, STEP, VERSION, moved,
};
use super::input::Input;
use super::{Access, Function, Instruction, Registers, Step, Trace};
use hashbrown::HashSet;
use std::io::Read;
use warmcore_cachesim::Kind;

/// What comes next in a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event<'a> {
    /// An instruction was executed.
    Step(Step<'a>),
    /// The trace is complete and unchanged, and had so many steps.
    End(u64),
}

/// Reads a trace. What it has yielded is only known to be unchanged when the end has come.
#[derive(Debug)]
pub struct Reader<R: Read> {
    input: Input<R>,
    functions: Vec<Function>,
    instructions: Vec<Instruction>,
    defined: HashSet<u64>,
    accesses: Vec<Access>,
    steps: u64,
    next_index: u64,
    next_address: u64,
    last_access: u64,
    ended: bool,
}

impl<R: Read> Reader<R> {
    /// Reads the beginning of a trace, up to its functions. `from` needs no buffer of its own.
    ///
    /// # Errors
    /// If `from` fails, or no trace of this version is there.
    pub fn new(from: R) -> Result<Self, ReadError> {
        let mut input = Input::new(from);
        for expected in MAGIC {
            if input.byte_or_end()? != Some(expected) {
                return Err(ReadError::NoTrace);
            }
        }
        let found = input.byte()?;
        if found != VERSION {
            return Err(ReadError::Version { found });
        }
        Ok(Self {
            functions: functions(&mut input)?,
            input,
            instructions: Vec::new(),
            defined: HashSet::new(),
            accesses: Vec::new(),
            steps: 0,
            next_index: 0,
            next_address: 0,
            last_access: 0,
            ended: false,
        })
    }

    /// The functions, in the order in which they were written.
    #[must_use]
    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// What comes next. After the end, that again.
    ///
    /// # Errors
    /// If the trace cannot be read, is incomplete or was changed. Nothing that comes after an error means anything.
    pub fn event(&mut self) -> Result<Event<'_>, ReadError> {
        if self.ended {
            return Ok(Event::End(self.steps));
        }
        let offset = self.input.offset();
        let (index, count) = match self.input.number()? {
            END => return self.end(),
            DEFINITION => (self.define()?, self.input.number()?),
            step => self.reuse(step - STEP, offset)?,
        };
        self.read_accesses(count)?;
        let instruction = &self.instructions[index];
        self.next_index = index as u64 + 1;
        self.next_address = instruction.end();
        self.steps += 1;
        Ok(Event::Step(Step { instruction, accesses: &self.accesses }))
    }

    /// A step of an instruction that was defined before: which one, and how many accesses it has.
    fn reuse(&mut self, step: u64, offset: u64) -> Result<(usize, u64), ReadError> {
        let index = moved(self.next_index, step >> 2);
        let defined = self.instructions.len() as u64;
        if index >= defined {
            return Err(ReadError::Undefined { offset, index, defined });
        }
        let count = match step & 3 {
            MANY => self.input.number()?.saturating_add(MANY),
            few => few,
        };
        Ok((index as usize, count))
    }

    fn define(&mut self) -> Result<usize, ReadError> {
        let input = &mut self.input;
        let address = moved(self.next_address, input.number()?);
        let (length, class) = (input.byte()?, input.byte()?);
        let has_target = class & HAS_TARGET != 0;
        let class = CLASSES.get(usize::from(class & !HAS_TARGET)).copied();
        let class = class
            .ok_or_else(|| input.malformed("an unknown class of instructions; expected one below 11"))?;
        let target = if has_target { Some(moved(address, input.number()?)) } else { None };
        let (reads, writes) = (Registers(input.number()?), Registers(input.number()?));
        if !self.defined.insert(address) {
            return Err(input.malformed("an instruction is defined again; expected each address once"));
        }
        self.instructions.push(Instruction { address, length, class, reads, writes, target });
        Ok(self.instructions.len() - 1)
    }

    fn read_accesses(&mut self, count: u64) -> Result<(), ReadError> {
        let (what, limit) = ("accesses of an instruction", MOST_ACCESSES);
        if count > limit {
            return Err(ReadError::TooMany { offset: self.input.offset(), what, found: count, limit });
        }
        self.accesses.clear();
        for _ in 0..count {
            let access = self.access()?;
            self.accesses.push(access);
        }
        Ok(())
    }

    fn access(&mut self) -> Result<Access, ReadError> {
        let number = self.input.number()?;
        let size = u16::try_from(number >> 2);
        let size =
            size.map_err(|_| self.input.malformed("an access of 64 KiB or more; expected fewer bytes"))?;
        let kind = Kind::ALL.get((number & 3) as usize).copied();
        let kind =
            kind.ok_or_else(|| self.input.malformed("an unknown kind of access; expected one below 3"))?;
        self.last_access = moved(self.last_access, self.input.number()?);
        Ok(Access { address: self.last_access, size, kind })
    }

    fn end(&mut self) -> Result<Event<'_>, ReadError> {
        let offset = self.input.offset();
        let (stated, found) = (self.input.number()?, self.steps);
        if stated != found {
            return Err(ReadError::Steps { offset, stated, found });
        }
        let (offset, found) = (self.input.offset(), self.input.checksum());
        let mut bytes = [0; 4];
        for byte in &mut bytes {
            *byte = self.input.byte()?;
        }
        let stated = u32::from_le_bytes(bytes);
        if stated != found {
            return Err(ReadError::Checksum { offset, stated, found });
        }
        let offset = self.input.offset();
        if self.input.byte_or_end()?.is_some() {
            let problem = "more follows the end; expected nothing";
            return Err(ReadError::Malformed { offset, problem });
        }
        self.ended = true;
        Ok(Event::End(self.steps))
    }
}

fn functions<R: Read>(input: &mut Input<R>) -> Result<Vec<Function>, ReadError> {
    let count = input.bounded("functions", MOST_FUNCTIONS)?;
    let mut functions = Vec::new();
    for _ in 0..count {
        let (name, symbol) = (input.text(LONGEST_NAME)?, input.text(LONGEST_NAME)?);
        functions.push(Function { name, symbol, address: input.number()?, size: input.number()? });
    }
    Ok(functions)
}

impl Trace {
    /// Reads a whole trace.
    ///
    /// # Errors
    /// As [`Reader`].
    pub fn read(from: impl Read) -> Result<Self, ReadError> {
        let mut reader = Reader::new(from)?;
        let mut trace = Self::new(reader.functions().to_vec());
        while let Event::Step(step) = reader.event()? {
            trace.push(step.instruction, step.accesses);
        }
        Ok(trace)
    }
}
