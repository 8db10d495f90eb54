//! Traces that valgrind's tool lackey prints: `valgrind --tool=lackey --trace-mem=yes program`.
//!
//! ```text
//! I  00401126,4        an instruction of 4 bytes
//!  L 1ffeffe7e0,8      it loads 8 bytes
//!  S 00404010,4        it stores 4
//!  M 0040401c,8        it loads and stores the same
//! ==31337== …          messages of valgrind's and the program's are skipped
//! ```
//!
//! The format is described in `lackey/lk_main.c`. Lackey says neither which registers an instruction uses nor where it
//! goes, and a repeated string instruction is printed once for each element.

use crate::trace::{Access, Class, Function, Instruction, Registers, Trace};
use std::io::{self, BufRead};
use warmcore_cachesim::Kind;

/// Why an output of lackey's was refused.
#[derive(Debug, thiserror::Error)]
pub enum LackeyError {
    /// It cannot be read.
    #[error("line {line} cannot be read: {source}")]
    Unreadable {
        /// From 1.
        line: u64,
        /// The error of the system.
        source: io::Error,
    },
    /// A line of it is malformed.
    #[error("line {line} is `{found}`, expected an address and a size such as `I  00401126,4`")]
    Malformed {
        /// From 1.
        line: u64,
        /// The line.
        found: String,
    },
    /// Data were touched before there was an instruction.
    #[error("line {line} touches data before the first instruction: give the whole output of lackey")]
    NoInstruction {
        /// From 1.
        line: u64,
    },
    /// Nothing of it belongs to a trace.
    #[error(
        "no path is in the {lines} lines: give the output of `valgrind --tool=lackey --trace-mem=yes`, and markers that the program reaches"
    )]
    Empty {
        /// How many lines there were.
        lines: u64,
    },
}

/// The addresses between which a path lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Between {
    /// The first instruction of the path.
    pub first: u64,
    /// The first instruction that is no longer part of it.
    pub last: u64,
}

/// Reads the output of lackey for a program with `functions`, line by line. Returns the first `passes` complete paths
/// between two addresses and reads no further, or all of it as one path.
///
/// # Errors
/// If a line cannot be read or parsed, or there is no path.
///
/// ```
/// use warmcore_layout::lackey;
/// let output = "==1== Lackey\nI  00401000,4\n L 00404010,8\nI  00401004,1\n";
/// let traces = lackey::read(output.as_bytes(), Vec::new(), None, 1)?;
/// assert_eq!(traces[0].steps().len(), 2);
/// # Ok::<(), lackey::LackeyError>(())
/// ```
pub fn read(
    mut output: impl BufRead,
    functions: Vec<Function>,
    between: Option<Between>,
    passes: usize,
) -> Result<Vec<Trace>, LackeyError> {
    let empty = Trace::new(functions);
    let mut reader = Reader { empty, between, traces: Vec::new(), path: None, step: None };
    let mut text = Vec::new();
    let mut lines = 0;
    while reader.traces.len() < passes {
        let line = lines + 1;
        text.clear();
        let read = output.read_until(b'\n', &mut text);
        if read.map_err(|source| LackeyError::Unreadable { line, source })? == 0 {
            break;
        }
        reader.line(line, text.trim_ascii_end())?;
        lines = line;
    }
    reader.finish(lines)
}

/// What has been read so far.
struct Reader {
    /// What each path begins as: it shares the functions.
    empty: Trace,
    between: Option<Between>,
    traces: Vec<Trace>,
    /// The path that has begun.
    path: Option<Trace>,
    /// The last instruction and what it touched so far.
    step: Option<(Instruction, Vec<Access>)>,
}

impl Reader {
    fn line(&mut self, line: u64, text: &[u8]) -> Result<(), LackeyError> {
        let (kinds, rest): (&[Kind], &[u8]) = match text {
            [b'I', b' ', b' ', rest @ ..] => (&[Kind::Fetch], rest),
            [b' ', b'L', b' ', rest @ ..] => (&[Kind::Load], rest),
            [b' ', b'S', b' ', rest @ ..] => (&[Kind::Store], rest),
            [b' ', b'M', b' ', rest @ ..] => (&[Kind::Load, Kind::Store], rest),
            _ => return Ok(()),
        };
        let malformed = || LackeyError::Malformed { line, found: String::from_utf8_lossy(text).into_owned() };
        let (address, size) = parse(rest).ok_or_else(malformed)?;
        if kinds == [Kind::Fetch] {
            let length = u8::try_from(size).map_err(|_| malformed())?;
            self.instruction(address, length);
            return Ok(());
        }
        let (_, accesses) = self.step.as_mut().ok_or(LackeyError::NoInstruction { line })?;
        accesses.extend(kinds.iter().map(|&kind| Access { address, size, kind }));
        Ok(())
    }

    fn instruction(&mut self, address: u64, length: u8) {
        let mut accesses = self.push().unwrap_or_default();
        accesses.clear();
        match self.between {
            // The same address twice is a path from one time to the next.
            Some(Between { first, last }) => {
                if address == last {
                    self.traces.extend(self.path.take());
                }
                if address == first && self.path.is_none() {
                    self.path = Some(self.empty.clone());
                }
            }
            None if self.path.is_none() => self.path = Some(self.empty.clone()),
            None => {}
        }
        let instruction = Instruction {
            address,
            length,
            class: Class::Other,
            reads: Registers::default(),
            writes: Registers::default(),
            target: None,
        };
        self.step = Some((instruction, accesses));
    }

    /// Adds the last instruction to the path. Returns its list of accesses, to be used again.
    fn push(&mut self) -> Option<Vec<Access>> {
        let (mut instruction, accesses) = self.step.take()?;
        if accesses.iter().any(|access| access.kind == Kind::Store) {
            instruction.class = Class::Store;
        } else if !accesses.is_empty() {
            instruction.class = Class::Load;
        }
        if let Some(path) = &mut self.path {
            path.push(&instruction, &accesses);
        }
        Some(accesses)
    }

    fn finish(mut self, lines: u64) -> Result<Vec<Trace>, LackeyError> {
        self.push();
        if self.between.is_none() {
            self.traces.extend(self.path.take());
        }
        if self.traces.is_empty() { Err(LackeyError::Empty { lines }) } else { Ok(self.traces) }
    }
}

/// Parses an address and a size: `00401126,4`.
fn parse(text: &[u8]) -> Option<(u64, u16)> {
    let (address, size) = std::str::from_utf8(text).ok()?.trim_start().split_once(',')?;
    Some((u64::from_str_radix(address, 16).ok()?, size.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "==7== Lackey, an example Valgrind tool\n\
        I  00401000,3\n\
        I  00401003,4\n L 1ffe,8\n\
        hello from the program\n\
        I  00401007,2\n M 00404010,4\n\
        I  00401003,4\n L 2ffe,8\n\
        I  00401009,5\n S 1ff0,8\n\
        ==7== Counted 1 call to main()\n";

    fn read(output: &str, between: Option<(u64, u64)>) -> Result<Vec<Trace>, LackeyError> {
        let between = between.map(|(first, last)| Between { first, last });
        super::read(output.as_bytes(), Vec::new(), between, usize::MAX)
    }

    fn addresses(trace: &Trace) -> Vec<u64> {
        trace.steps().map(|step| step.instruction.address).collect()
    }

    #[test]
    fn instructions_have_the_accesses_that_follow_them() {
        let traces = read(OUTPUT, None).unwrap();
        let [trace] = &traces[..] else { panic!("one trace") };
        assert_eq!(addresses(trace), [0x40_1000, 0x40_1003, 0x40_1007, 0x40_1003, 0x40_1009]);
        let classes: Vec<Class> = trace.steps().map(|step| step.instruction.class).collect();
        assert_eq!(classes, [Class::Other, Class::Load, Class::Store, Class::Load, Class::Store]);
        let modified = trace.steps().nth(2).unwrap().accesses;
        let access = |kind| Access { address: 0x40_4010, size: 4, kind };
        assert_eq!(modified, [access(Kind::Load), access(Kind::Store)]);
        assert_eq!(trace.steps().nth(3).unwrap().accesses[0].address, 0x2ffe, "not that of the first time");
    }

    #[test]
    fn paths_are_cut_out_and_incomplete_ones_left_out() {
        let cut = |first, last| {
            read(OUTPUT, Some((first, last))).map(|traces| traces.iter().map(addresses).collect())
        };
        let paths: Vec<Vec<u64>> = cut(0x40_1000, 0x40_1007).unwrap();
        assert_eq!(paths, [[0x40_1000, 0x40_1003]]);
        let period: Vec<Vec<u64>> = cut(0x40_1003, 0x40_1003).unwrap();
        assert_eq!(period, [[0x40_1003, 0x40_1007]]);
        let none: Result<Vec<Vec<u64>>, _> = cut(0x40_1009, 0x40_1000);
        assert!(matches!(none, Err(LackeyError::Empty { lines: 12 })), "{none:?}");
    }

    #[test]
    fn nothing_is_read_behind_the_last_pass() {
        let output = format!("{}I  zz,8\n", "I  00401000,3\nI  00401003,4\n".repeat(3));
        let between = Some(Between { first: 0x40_1000, last: 0x40_1003 });
        let read = |passes| super::read(output.as_bytes(), Vec::new(), between, passes);
        assert_eq!(read(2).unwrap().len(), 2);
        assert_eq!(read(3).unwrap().len(), 3, "the malformed line comes behind it");
        assert!(matches!(read(4), Err(LackeyError::Malformed { line: 7, .. })));
    }

    #[test]
    fn faults_are_reported_with_their_line() {
        let refused = |output| read(output, None).unwrap_err().to_string();
        assert!(refused("I  00401000,3\n L zz,8\n").starts_with("line 2 is ` L zz,8`"));
        assert!(refused("I  00401000\n").starts_with("line 1 is"));
        assert!(refused("I  00401000,300\n").starts_with("line 1 is"));
        assert!(refused("\n S 1ff0,8\n").starts_with("line 2 touches data"));
        assert!(refused("").starts_with("no path is in the 0 lines"));
    }
}
