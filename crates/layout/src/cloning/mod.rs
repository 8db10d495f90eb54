//! Cloning: functions copied to other places after linking (Mosberger et al. 1996, §3.2).
//!
//! ```text
//!  Image ──┬─ code: words in a form without place ──┬─ emit ──► words at the new place ──► place ──► Image
//!  (index, │  relocations say what pairs mean,      │                                      new segments,
//!  address)┘  decoding finds branches               └─ calls go to clones, one jump if near  redirected data
//! ```
//!
//! "Cloning involves making a copy of a function. The cloned copy can be relocated to a more appropriate address and/or
//! optimized for a particular use of that function." The copies refer to one another, and so does data that holds the
//! address of a function that is cloned, such as tables of methods. The originals are still there, unchanged, for
//! everybody else. Of the source's two specialisations one is here: a call of a near function is a single jump relative
//! to the program counter. The other, skipping the beginning of a function that loads what its caller already has, is
//! particular to the Alpha.
//!
//! The program must be linked with `--emit-relocs --no-relax`: the relocations say which two instructions make up an
//! address. What must always hold: the new program computes the same as the old one and touches the same data in the
//! same order, or there is an error that names the function. It has no relocations of the clones: cloning
//! starts from the original.

mod code;
mod emit;
mod error;
mod place;

#[cfg(test)]
mod tests;

pub use error::CloneError;

use crate::riscv::{Image, Relocation};
use crate::trace::Function;
use emit::{Draft, Moved};
use object::elf;

/// What clones have at the end of their names.
pub const SUFFIX: &str = ".clone";

/// A program with clones.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cloned {
    /// The program. Its functions are the originals and the clones, whose names end with [`SUFFIX`].
    pub image: Image,
    /// The clones, in the order of their placements.
    pub clones: Vec<Function>,
}

/// Clones functions of `image`: for each of `placements`, the one with that index in [`Image::functions`] to that address.
/// Calls in the clones to functions within about 1 MiB are one instruction instead of two.
///
/// # Errors
/// If a function cannot be moved or not there; [`CloneError`] tells the reasons.
pub fn clone_functions(image: &Image, placements: &[(usize, u64)]) -> Result<Cloned, CloneError> {
    let drafts = drafts(image, placements)?;
    let moved = moved(&drafts)?;
    let mut clones = Vec::new();
    for draft in &drafts {
        let words = draft.words(&moved)?;
        clones.push((named(draft, 4 * words.len() as u64), words));
    }
    let functions: Vec<Function> = clones.iter().map(|(function, _)| function.clone()).collect();
    let mut image = image.clone();
    redirect(&mut image, &moved);
    place::add(&mut image.segments, clones)?;
    for function in &functions {
        image.symbols.add(function.clone());
    }
    Ok(Cloned { image, clones: functions })
}

fn drafts<'a>(image: &'a Image, placements: &[(usize, u64)]) -> Result<Vec<Draft<'a>>, CloneError> {
    placements.iter().map(|&(index, address)| draft(image, index, address)).collect()
}

/// Checks what everything else relies on: the function is whole words of code in one segment, and so will be its clone.
fn draft(image: &Image, index: usize, address: u64) -> Result<Draft<'_>, CloneError> {
    if image.relocations().is_empty() {
        return Err(CloneError::NoRelocations);
    }
    let functions = image.functions();
    let function =
        functions.get(index).ok_or(CloneError::NoFunction { index, functions: functions.len() })?;
    let size = function.size;
    if size == 0 || !(size | address | function.address).is_multiple_of(4) {
        return Err(CloneError::Alignment { function: function.name.clone(), address, size });
    }
    if !image.segments().iter().any(|code| code.executable && code.offset(function.address, size).is_some()) {
        let (function, address) = (function.name.clone(), function.address);
        return Err(CloneError::NoCode { function, address, size });
    }
    if address.checked_add(size).is_none() {
        return Err(CloneError::Overlap { function: function.name.clone(), address });
    }
    Ok(Draft { function, items: code::items(image, function)?, address })
}

fn moved(drafts: &[Draft<'_>]) -> Result<Moved, CloneError> {
    let mut moved = Moved::new();
    for draft in drafts {
        if moved.insert(draft.function.address, draft.address).is_some() {
            return Err(CloneError::Twice { function: draft.function.name.clone() });
        }
    }
    Ok(moved)
}

fn named(draft: &Draft<'_>, size: u64) -> Function {
    let Function { name, symbol, .. } = draft.function;
    let [name, symbol] = [name, symbol].map(|name| format!("{name}{SUFFIX}"));
    Function { name, symbol, address: draft.address, size }
}

/// Lets data that holds the address of a function hold that of its clone.
fn redirect(image: &mut Image, moved: &Moved) {
    let Image { segments, relocations, .. } = image;
    let holds_address = |relocation: &&mut Relocation| relocation.kind == elf::R_RISCV_64.0;
    for relocation in relocations.iter_mut().filter(holds_address) {
        let Some(&clone) = moved.get(&relocation.target) else { continue };
        for segment in segments.iter_mut().filter(|segment| !segment.executable) {
            if let Some(offset) = segment.offset(relocation.address, 8) {
                segment.bytes[offset..offset + 8].copy_from_slice(&clone.to_le_bytes());
                relocation.target = clone;
            }
        }
    }
}
