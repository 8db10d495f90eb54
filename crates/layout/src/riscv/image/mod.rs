//! A program for riscv64 as the linker left it: its bytes, its names and, if they were kept, its relocations.

mod elf;
mod symbols;

use super::error::ImageError;
use crate::trace::Function;
use std::path::Path;

pub(crate) use symbols::Symbols;

/// The longest executable that is read, in bytes.
pub const LONGEST_EXECUTABLE: u64 = 256 << 20;
/// The most memory that all segments may take, in bytes.
pub const MOST_MEMORY: u64 = 64 << 20;

/// Bytes that are in memory when the program begins.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Segment {
    /// The first byte.
    pub address: u64,
    /// What is there; what the file leaves out is zero.
    pub bytes: Vec<u8>,
    /// Whether the program may write there.
    pub writable: bool,
    /// Whether instructions are there.
    pub executable: bool,
}

impl Segment {
    /// Where the `size` bytes at `address` are in it, if all of them are.
    #[must_use]
    pub fn offset(&self, address: u64, size: u64) -> Option<usize> {
        let offset = address.checked_sub(self.address)?;
        (offset.checked_add(size)? <= self.bytes.len() as u64).then_some(offset as usize)
    }
}

/// What the linker filled in at one place, kept by `--emit-relocs` (*RISC-V ABIs Specification*, "ELF Object Files",
/// relocations).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Relocation {
    /// The first byte that was filled in.
    pub address: u64,
    /// The number of its kind, `R_RISCV_…`.
    pub kind: u32,
    /// The place that it names: the symbol's address and the addend. Of the lower half of a pair, it is the upper half.
    pub target: u64,
}

/// An executable for riscv64, statically linked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Image {
    pub(crate) segments: Vec<Segment>,
    pub(crate) symbols: Symbols,
    pub(crate) relocations: Vec<Relocation>,
    pub(crate) entry: u64,
}

impl Image {
    /// Reads the executable at `path`.
    ///
    /// # Errors
    /// If it is no regular file of at most [`LONGEST_EXECUTABLE`] bytes, and as [`Image::parse`].
    pub fn read(path: &Path) -> Result<Self, ImageError> {
        let bytes = warmcore_files::read(path, LONGEST_EXECUTABLE).map_err(|error| ImageError::File {
            path: path.display().to_string(),
            problem: error.to_string(),
        })?;
        Self::parse(&bytes)
    }

    /// Takes the executable apart.
    ///
    /// # Errors
    /// If it is no statically linked ELF executable for riscv64 with symbols, or its segments are beyond
    /// [`MOST_MEMORY`], overlap or are not in the file.
    pub fn parse(bytes: &[u8]) -> Result<Self, ImageError> {
        elf::parse(bytes)
    }

    /// What is in memory when the program begins, by address.
    #[must_use]
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// The functions, by address; of several names for one place, one.
    #[must_use]
    pub fn functions(&self) -> &[Function] {
        &self.symbols.functions
    }

    /// What the linker filled in, by address; empty unless it was told `--emit-relocs`.
    #[must_use]
    pub fn relocations(&self) -> &[Relocation] {
        &self.relocations
    }

    /// Where the program begins.
    #[must_use]
    pub const fn entry(&self) -> u64 {
        self.entry
    }

    /// The address of the symbol `name`, as the linker knows it.
    ///
    /// # Errors
    /// If there is none.
    pub fn address(&self, name: &str) -> Result<u64, ImageError> {
        let found = self.symbols.addresses.get(name).copied();
        found.ok_or_else(|| ImageError::MissingSymbol { name: name.to_owned() })
    }

    /// The function `name`, as the linker knows it, or demangled.
    ///
    /// # Errors
    /// If there is none.
    pub fn function(&self, name: &str) -> Result<&Function, ImageError> {
        self.function_index(name).map(|index| &self.functions()[index])
    }

    /// The place in [`functions`](Self::functions) of the function `name`, as the linker knows it, or demangled.
    ///
    /// # Errors
    /// If there is none.
    pub fn function_index(&self, name: &str) -> Result<usize, ImageError> {
        let functions = self.functions();
        let found = match self.symbols.addresses.get(name) {
            Some(&address) => functions.binary_search_by_key(&address, |function| function.address).ok(),
            None => functions.iter().position(|function| function.name == name),
        };
        found.ok_or_else(|| ImageError::MissingSymbol { name: name.to_owned() })
    }

    /// The word at `address` of some executable segment.
    #[must_use]
    pub fn word(&self, address: u64) -> Option<u32> {
        let segment = self.segments.iter().find(|s| s.executable && s.offset(address, 4).is_some())?;
        let offset = segment.offset(address, 4)?;
        segment.bytes[offset..].first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
    }
}
