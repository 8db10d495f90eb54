//! The code of a clone, for its place.

use super::code::Item;
use super::error::CloneError;
use crate::riscv::encode::{
    jal, split, with_branch_offset, with_high, with_jump_offset, with_low_i, with_low_s,
};
use crate::riscv::{Decoded, Op};
use crate::trace::Function;
use hashbrown::HashMap;

/// How far `jal` goes, in bytes.
const JUMP: u64 = 1 << 20;

/// A function that becomes a clone.
pub(super) struct Draft<'a> {
    pub(super) function: &'a Function,
    pub(super) items: Vec<Item>,
    /// Where its clone begins.
    pub(super) address: u64,
}

/// Where functions begin that are cloned, and their clones.
pub(super) type Moved = HashMap<u64, u64>;

impl Draft<'_> {
    /// The words of the clone. Calls to near functions are one jump: the "PC-relative branch" of §3.2.
    ///
    /// # Errors
    /// If it does not reach what it refers to.
    pub(super) fn words(&self, moved: &Moved) -> Result<Vec<u32>, CloneError> {
        let places = self.places(moved);
        let mut words = Vec::new();
        for (index, item) in self.items.iter().enumerate() {
            let reached = self.emit(index, item, &places, moved, &mut words);
            reached.ok_or_else(|| self.too_far(index, item))?;
        }
        Ok(words)
    }

    /// Where each word will be, and the end.
    fn places(&self, moved: &Moved) -> Vec<u64> {
        let mut place = self.address;
        let mut places = vec![place];
        let mut is_short = false;
        for item in &self.items {
            match item {
                Item::Call { target, .. } => {
                    is_short = self.is_near(goes_to(*target, moved));
                    place += 4;
                }
                Item::Called if is_short => {}
                _ => place += 4,
            }
            places.push(place);
        }
        places
    }

    /// Whether a jump reaches `target` from anywhere in the clone.
    fn is_near(&self, target: u64) -> bool {
        target.abs_diff(self.address).saturating_add(self.function.size) < JUMP
    }

    /// Appends the word of `item`, or both of a call; none if it does not reach.
    fn emit(
        &self,
        index: usize,
        item: &Item,
        places: &[u64],
        moved: &Moved,
        words: &mut Vec<u32>,
    ) -> Option<()> {
        let place = places[index];
        let word = match *item {
            Item::Plain(word) => word,
            Item::Local { word, target } => going(word, place, places[target])?,
            Item::Leaves { word, target } => going(word, place, goes_to(target, moved))?,
            Item::High { word, target } => with_high(word, parts(place, goes_to(target, moved))?.0),
            Item::Low { word, high, is_store } => {
                let Item::High { target, .. } = self.items[high] else { return None };
                let (_, low) = parts(places[high], goes_to(target, moved))?;
                if is_store { with_low_s(word, low) } else { with_low_i(word, low) }
            }
            Item::Call { auipc, jalr, target } => {
                let target = goes_to(target, moved);
                if places[index + 2] == places[index + 1] {
                    jal(Decoded::new(jalr).rd, distance(place, target))?
                } else {
                    let (high, low) = parts(place, target)?;
                    words.push(with_high(auipc, high));
                    with_low_i(jalr, low)
                }
            }
            Item::Called => return Some(()),
        };
        words.push(word);
        Some(())
    }

    fn too_far(&self, index: usize, item: &Item) -> CloneError {
        let (function, address) = (self.function.name.clone(), self.function.address + 4 * index as u64);
        let target = match *item {
            Item::Leaves { target, .. } | Item::Call { target, .. } | Item::High { target, .. } => target,
            _ => address,
        };
        CloneError::TooFar { function, address, target }
    }
}

fn goes_to(target: u64, moved: &Moved) -> u64 {
    moved.get(&target).copied().unwrap_or(target)
}

fn distance(from: u64, to: u64) -> i64 {
    to.wrapping_sub(from) as i64
}

fn parts(from: u64, to: u64) -> Option<(i32, i32)> {
    split(distance(from, to))
}

/// The branch or jump `word` at `place`, going to `target`.
fn going(word: u32, place: u64, target: u64) -> Option<u32> {
    let offset = distance(place, target);
    if Decoded::new(word).op == Op::Jal {
        with_jump_offset(word, offset)
    } else {
        with_branch_offset(word, offset)
    }
}
