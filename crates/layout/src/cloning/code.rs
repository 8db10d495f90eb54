//! The code of a function, in a form that does not depend on its place.

use super::error::CloneError;
use crate::riscv::{Decoded, Image, Op, Relocation, is_compressed};
use crate::trace::Function;
use object::elf;

/// `unimp`, which compilers place where nothing can come: no instruction, but it may be moved.
const UNIMP: u32 = 0xc000_1073;

/// One word of a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Item {
    /// The same everywhere.
    Plain(u32),
    /// A branch or jump to the word with that index of the same function.
    Local { word: u32, target: usize },
    /// A branch or jump to another function.
    Leaves { word: u32, target: u64 },
    /// The first word of a call, `auipc`, which the second completes.
    Call { auipc: u32, jalr: u32, target: u64 },
    /// The second word of a call.
    Called,
    /// The upper part of the distance to `target`, `auipc`.
    High { word: u32, target: u64 },
    /// The lower part of the distance whose upper part has that index.
    Low { word: u32, high: usize, is_store: bool },
}

/// Takes `function` apart.
///
/// # Errors
/// If it cannot be moved.
pub(super) fn items(image: &Image, function: &Function) -> Result<Vec<Item>, CloneError> {
    let analysis = Analysis { image, function };
    analysis.refuse_pointers_inside()?;
    let count = function.size / 4;
    let mut items: Vec<Item> = Vec::new();
    for index in 0..count {
        let item = match items.last() {
            Some(Item::Call { .. }) => Item::Called,
            _ => analysis.item(function.address + 4 * index)?,
        };
        items.push(item);
    }
    analysis.refuse_fall_through(items.last())?;
    refuse_stray_lows(&items, function)?;
    Ok(items)
}

struct Analysis<'a> {
    image: &'a Image,
    function: &'a Function,
}

impl Analysis<'_> {
    fn name(&self) -> String {
        self.function.name.clone()
    }

    /// The index of the word at `address`, if it is in the function.
    fn index(&self, address: u64) -> Option<usize> {
        let offset = address.checked_sub(self.function.address)?;
        (offset < self.function.size).then_some((offset / 4) as usize)
    }

    /// Whether `address` is in the function, and not its beginning.
    fn is_inside(&self, address: u64) -> bool {
        self.index(address).is_some() && address != self.function.address
    }

    fn word(&self, address: u64) -> Result<u32, CloneError> {
        let word = self.image.word(address).unwrap_or(0);
        if word != UNIMP && (is_compressed(word) || Decoded::new(word).op == Op::Unknown) {
            return Err(CloneError::UnknownInstruction { function: self.name(), address, word });
        }
        Ok(word)
    }

    fn unrelocated(&self, address: u64) -> CloneError {
        CloneError::Unrelocated { function: self.name(), address }
    }

    fn jump_table(&self, place: u64) -> CloneError {
        CloneError::JumpTable { function: self.name(), place }
    }

    fn item(&self, address: u64) -> Result<Item, CloneError> {
        let word = self.word(address)?;
        for relocation in at(self.image, address) {
            match elf::RelocationType(relocation.kind) {
                elf::R_RISCV_CALL | elf::R_RISCV_CALL_PLT => return self.call(word, relocation),
                elf::R_RISCV_PCREL_HI20 => return self.high(word, address, relocation.target),
                elf::R_RISCV_GOT_HI20 => return self.high(word, address, self.distance(word, address)?),
                elf::R_RISCV_PCREL_LO12_I => return self.low(word, relocation, false),
                elf::R_RISCV_PCREL_LO12_S => return self.low(word, relocation, true),
                elf::R_RISCV_HI20 if self.is_inside(relocation.target) => {
                    return Err(self.jump_table(address));
                }
                _ => {}
            }
        }
        let decoded = Decoded::new(word);
        if decoded.op == Op::Auipc {
            return Err(self.unrelocated(address));
        }
        Ok(match decoded.target(address) {
            Some(target) => match self.index(target) {
                Some(target) => Item::Local { word, target },
                None => Item::Leaves { word, target },
            },
            None => Item::Plain(word),
        })
    }

    fn call(&self, auipc: u32, relocation: &Relocation) -> Result<Item, CloneError> {
        let (address, target) = (relocation.address, relocation.target);
        let second = self.index(address + 4).ok_or_else(|| self.unrelocated(address))?;
        let jalr = self.word(self.function.address + 4 * second as u64)?;
        if Decoded::new(auipc).op != Op::Auipc || Decoded::new(jalr).op != Op::Jalr {
            return Err(self.unrelocated(address));
        }
        Ok(Item::Call { auipc, jalr, target })
    }

    fn high(&self, word: u32, address: u64, target: u64) -> Result<Item, CloneError> {
        if Decoded::new(word).op != Op::Auipc {
            return Err(self.unrelocated(address));
        }
        if self.is_inside(target) {
            return Err(self.jump_table(address));
        }
        Ok(Item::High { word, target })
    }

    fn low(&self, word: u32, relocation: &Relocation, is_store: bool) -> Result<Item, CloneError> {
        let high = self.index(relocation.target).ok_or_else(|| self.unrelocated(relocation.address))?;
        Ok(Item::Low { word, high, is_store })
    }

    /// What a pair refers to whose upper part `word` is at `address`, by its instructions: an entry of a table of
    /// addresses has no symbol.
    fn distance(&self, word: u32, address: u64) -> Result<u64, CloneError> {
        let is_low = |relocation: &&Relocation| {
            let kind = elf::RelocationType(relocation.kind);
            relocation.target == address && kind == elf::R_RISCV_PCREL_LO12_I
        };
        let low = self.image.relocations().iter().find(is_low).ok_or_else(|| self.unrelocated(address))?;
        let (high, low) = (Decoded::new(word).imm, Decoded::new(self.word(low.address)?).imm);
        Ok(address.wrapping_add_signed(i64::from(high) + i64::from(low)))
    }

    /// Data that points inside the function would still point into the original.
    fn refuse_pointers_inside(&self) -> Result<(), CloneError> {
        let is_pointer = |relocation: &&Relocation| {
            let kind = elf::RelocationType(relocation.kind);
            let holds = [elf::R_RISCV_32, elf::R_RISCV_64, elf::R_RISCV_ADD32, elf::R_RISCV_ADD64];
            holds.contains(&kind) && self.is_inside(relocation.target)
        };
        match self.image.relocations().iter().find(is_pointer) {
            Some(pointer) => Err(self.jump_table(pointer.address)),
            None => Ok(()),
        }
    }

    /// A call at the end is one that does not return.
    fn refuse_fall_through(&self, last: Option<&Item>) -> Result<(), CloneError> {
        let ends = match last {
            Some(Item::Plain(word)) => {
                *word == UNIMP || matches!(Decoded::new(*word).op, Op::Jalr | Op::Ebreak)
            }
            Some(Item::Local { word, .. } | Item::Leaves { word, .. }) => Decoded::new(*word).op == Op::Jal,
            Some(Item::Called) => true,
            _ => false,
        };
        if ends { Ok(()) } else { Err(CloneError::FallsThrough { function: self.name() }) }
    }
}

/// The relocations of the word at `address`.
fn at(image: &Image, address: u64) -> impl Iterator<Item = &Relocation> {
    let first = image.relocations().partition_point(|relocation| relocation.address < address);
    image.relocations()[first..].iter().take_while(move |relocation| relocation.address == address)
}

/// Refuses lower parts whose upper part is none.
fn refuse_stray_lows(items: &[Item], function: &Function) -> Result<(), CloneError> {
    for (index, item) in items.iter().enumerate() {
        if let Item::Low { high, .. } = item
            && !matches!(items[*high], Item::High { .. })
        {
            let address = function.address + 4 * index as u64;
            return Err(CloneError::Unrelocated { function: function.name.clone(), address });
        }
    }
    Ok(())
}
