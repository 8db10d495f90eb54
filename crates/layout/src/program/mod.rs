//! Native programs and shared libraries: their functions, and the places that a user names in them.
//!
//! What must always hold: addresses here are those of the file. A position-independent file lies elsewhere in memory, by
//! the same distance for all of it, its *bias* ([`Program::bias`]).

mod error;
mod marker;
mod names;
mod symbols;

pub use error::{MarkerError, ProgramError};
pub(crate) use marker::Place;
pub use marker::{Marker, MarkerKind};

use crate::trace::Function;
use object::{Architecture, BinaryFormat, Object, ObjectSegment, SegmentFlags};
use std::path::Path;
use symbols::Symbol;

/// The longest program that is read, in bytes: large ones with debug information have some hundred MiB.
const LONGEST: u64 = 2 << 30;

/// A range of a file that is mapped to be executed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Segment {
    /// Where it begins in the file, in bytes.
    offset: u64,
    /// How many bytes of the file it has.
    size: u64,
    /// Its first address.
    address: u64,
}

/// An ELF file for x86-64: an executable or a shared library.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program {
    name: String,
    symbols: Vec<Symbol>,
    segments: Vec<Segment>,
    has_symbol_table: bool,
}

impl Program {
    /// Reads the file at `path`.
    ///
    /// # Errors
    /// If it cannot be read, or is no ELF file for x86-64.
    pub fn read(path: &Path) -> Result<Self, ProgramError> {
        let bytes = warmcore_files::read(path, LONGEST)
            .map_err(|source| ProgramError::Unreadable { path: path.to_owned(), source })?;
        Self::parse(&path.display().to_string(), &bytes)
    }

    /// Parses the file with these `bytes`; errors call it `name`.
    ///
    /// # Errors
    /// If it is no ELF file for x86-64.
    pub fn parse(name: &str, bytes: &[u8]) -> Result<Self, ProgramError> {
        let malformed = |problem: object::Error| ProgramError::Malformed {
            name: name.to_owned(),
            problem: problem.to_string(),
        };
        let file = object::File::parse(bytes).map_err(malformed)?;
        if file.format() != BinaryFormat::Elf || file.architecture() != Architecture::X86_64 {
            let found = format!("{:?} for {:?}", file.format(), file.architecture());
            return Err(ProgramError::OtherArchitecture { name: name.to_owned(), found });
        }
        let executable = file.segments().filter(|segment| match segment.flags() {
            SegmentFlags::Elf { p_flags, .. } => p_flags.contains(object::elf::PF_X),
            _ => false,
        });
        let segments = executable.map(|segment| {
            let (offset, size) = segment.file_range();
            Segment { offset, size, address: segment.address() }
        });
        Ok(Self {
            name: name.to_owned(),
            segments: segments.collect(),
            symbols: symbols::read(&file),
            has_symbol_table: file.symbol_table().is_some(),
        })
    }

    /// Its path, or how it was called.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether its symbols were stripped. Those that libraries offer to others remain.
    #[must_use]
    pub const fn is_stripped(&self) -> bool {
        !self.has_symbol_table
    }

    /// Its functions with `bias` added to their addresses, one for each address, ascending.
    #[must_use]
    pub fn functions(&self, bias: u64) -> Vec<Function> {
        let mut functions: Vec<Function> =
            self.symbols.iter().filter(|symbol| symbol.is_code).map(|symbol| symbol.function(bias)).collect();
        Function::one_at_each_address(&mut functions);
        functions
    }

    /// By how much addresses in memory exceed those of the file, if an executable part of it, from byte `offset` of the
    /// file on, was mapped at address `start`.
    #[must_use]
    pub fn bias(&self, offset: u64, start: u64) -> Option<u64> {
        /// Mappings begin at pages, segments anywhere within.
        const PAGE: u64 = 4096;
        let within = |segment: &&Segment| {
            let first = segment.offset / PAGE * PAGE;
            (first..segment.offset.saturating_add(segment.size)).contains(&offset)
        };
        let segment = self.segments.iter().find(within)?;
        let address = segment.address.wrapping_sub(segment.offset).wrapping_add(offset);
        Some(start.wrapping_sub(address))
    }
}
