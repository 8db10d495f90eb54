//! Why a program or a place in it was refused.

use std::io;
use std::path::PathBuf;

/// Why a program was refused.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// The file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// Its path.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// It is no ELF file.
    #[error("{name} is no program: {problem}; give an ELF file for x86-64, not a script")]
    Malformed {
        /// The file.
        name: String,
        /// What is wrong.
        problem: String,
    },
    /// It is a program for something else.
    #[error("{name} is {found}, expected an ELF file for x86-64")]
    OtherArchitecture {
        /// The file.
        name: String,
        /// Format and architecture.
        found: String,
    },
}

/// Why a marker was refused.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum MarkerError {
    /// It is not written as one.
    #[error(
        "`{text}` is no marker: write the name of a function, NAME+0xOFFSET, NAME@0xADDRESS, 0xADDRESS, or store:OBJECT"
    )]
    Malformed {
        /// What was written.
        text: String,
    },
    /// The program has no names.
    #[error(
        "{program} has no symbols, so `{name}` cannot be found: build it without `strip` (Cargo: `strip = \"none\"` in the profile; C: no `-s`)"
    )]
    Stripped {
        /// The name.
        name: String,
        /// The file.
        program: String,
    },
    /// No name is like it.
    #[error("{program} has no {what} `{name}`{}", suggestion(nearest))]
    Unknown {
        /// The name.
        name: String,
        /// `function` or `object`.
        what: &'static str,
        /// The file.
        program: String,
        /// Those that are most like it.
        nearest: Vec<String>,
    },
    /// Several names contain it.
    #[error("`{name}` could be {}: {}", list(candidates), if *equal { "write it with one of these addresses" } else { "write more of it, or the linker's name" })]
    Ambiguous {
        /// The name.
        name: String,
        /// Some that contain it, with the linker's names where others are the same, and with their addresses where these are
        /// too.
        candidates: Vec<String>,
        /// Whether some differ by their addresses only.
        equal: bool,
    },
    /// It has that name elsewhere.
    #[error(
        "{program} has no {what} `{name}` at {address:#x}, but at {}: these are addresses of the file, as `nm` prints them",
        list(found)
    )]
    OtherAddress {
        /// The name.
        name: String,
        /// `function` or `object`.
        what: &'static str,
        /// The file.
        program: String,
        /// The address.
        address: u64,
        /// Where it is.
        found: Vec<String>,
    },
    /// There is nothing.
    #[error(
        "{program} has no {what} at {address:#x}: give an address of the file, as `nm` or `objdump -d` print it"
    )]
    NothingThere {
        /// `code` or `object`.
        what: &'static str,
        /// The file.
        program: String,
        /// The address.
        address: u64,
    },
    /// No instruction begins there.
    #[error("`{text}` is {offset:#x} bytes behind the beginning of `{name}`, where no instruction begins: {}", beginnings(*before, *after))]
    WithinInstruction {
        /// The marker.
        text: String,
        /// The function.
        name: String,
        /// Bytes from its beginning to the marker.
        offset: u64,
        /// Bytes from its beginning to the last instruction before the marker.
        before: u64,
        /// The same to the next one, if that is known.
        after: Option<u64>,
    },
    /// The offset leads out of it.
    #[error("`{name}` has {size} bytes: an offset of {offset:#x} is not within it")]
    Outside {
        /// The name.
        name: String,
        /// How many bytes it has.
        size: u64,
        /// The offset.
        offset: u64,
    },
    /// Too many bytes for a processor to watch.
    #[error(
        "`{name}` has {size} bytes and a processor watches 8: write store:{name}+0xOFFSET, at a multiple of 8"
    )]
    TooLarge {
        /// The name.
        name: String,
        /// How many bytes it has.
        size: u64,
    },
}

fn list(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn beginnings(before: u64, after: Option<u64>) -> String {
    match after {
        Some(after) => format!("one begins at +{before:#x} and the next at +{after:#x}"),
        None => format!("its code cannot be decoded from +{before:#x} on; give a marker before that"),
    }
}

fn suggestion(nearest: &[String]) -> String {
    if nearest.is_empty() { String::new() } else { format!("; nearest: {}", list(nearest)) }
}
