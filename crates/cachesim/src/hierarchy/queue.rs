//! What caches ask each other in a batch, in order.

use super::batch::BATCH;
use super::last_byte;
use crate::{Kind, Reference};

/// What one cache is asked by a nearer one, or by the processor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    pub(super) address: u64,
    /// Which reference of the batch it is for: what two nearer caches ask is answered in this order.
    pub(super) order: u16,
    /// Bytes after the first.
    pub(super) more: u32,
    pub(super) what: What,
    /// Whether the line is changed.
    pub(super) write: bool,
}

/// What is asked: the line for a reference, or to keep what was changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum What {
    Reference(Kind),
    WriteBack,
}

impl What {
    /// As an index into a table of four, whose last stays empty.
    #[inline(always)]
    pub(super) const fn index(self) -> usize {
        match self {
            Self::Reference(kind) => kind as usize,
            Self::WriteBack => 3,
        }
    }
}

const NO_ITEM: Item = Item { address: 0, order: 0, more: 0, what: What::WriteBack, write: false };

impl Item {
    #[inline(always)]
    pub(super) const fn from_reference(order: u16, reference: &Reference) -> Self {
        Self {
            address: reference.address,
            order,
            more: reference.size.saturating_sub(1) as u32,
            what: What::Reference(reference.kind),
            write: matches!(reference.kind, Kind::Store),
        }
    }

    /// The lines `first` to `last`, of `1 << bits` bytes.
    #[inline(always)]
    pub(super) const fn of_lines(order: u16, what: What, first: u64, last: u64, bits: u32) -> Self {
        let address = first << bits;
        Self { address, order, more: (last_byte(last, bits) - address) as u32, what, write: false }
    }

    #[inline(always)]
    pub(super) const fn last(&self) -> u64 {
        self.address.saturating_add(self.more as u64)
    }
}

/// Items in order. Their memory is written once and used again: what is behind the last item is left as it is.
#[derive(Clone, Debug, Default)]
pub(super) struct Queue {
    pub(super) memory: Vec<Item>,
    pub(super) length: usize,
}

impl Queue {
    pub(super) fn items(&self) -> &[Item] {
        &self.memory[..self.length]
    }

    pub(super) fn emptied(self) -> Self {
        Self { length: 0, ..self }
    }

    /// Writes `item` behind the last, and lets it stay there if `really`.
    #[inline(always)]
    pub(super) fn push(&mut self, item: Item, really: bool) {
        if self.length == self.memory.len() {
            self.grow();
        }
        self.memory[self.length] = item;
        self.length += usize::from(really);
    }

    #[cold]
    pub(super) fn grow(&mut self) {
        self.memory.resize(self.length + BATCH, NO_ITEM);
    }
}

/// What each cache is asked, and memory behind the last.
#[derive(Debug)]
pub(super) struct Queues {
    pub(super) asked: Vec<Queue>,
    /// Kept for its memory.
    pub(super) spare: Queue,
}

impl Queues {
    /// Puts `items` into the queue of `at`, in order with what another cache put there.
    pub(super) fn pass_on(&mut self, items: Queue, at: usize) {
        let asked = &mut self.asked[at];
        if asked.length == 0 {
            self.spare = std::mem::replace(asked, items);
            return;
        }
        let before = std::mem::replace(asked, std::mem::take(&mut self.spare));
        let (mut left, mut right) = (before.items(), items.items());
        while let ([first, ..], [second, ..]) = (left, right) {
            let from = if first.order < second.order { &mut left } else { &mut right };
            asked.push(from[0], true);
            *from = &from[1..];
        }
        left.iter().chain(right).for_each(|&item| asked.push(item, true));
        self.spare = items.emptied();
    }
}

/// Which references of a batch are fetches, and which are not.
pub(super) struct Sides {
    pub(super) fetches: [u16; BATCH],
    pub(super) data: [u16; BATCH],
}

impl Sides {
    /// The indices of both, in order.
    pub(super) fn split(&mut self, references: &[Reference]) -> [&[u16]; 2] {
        let (mut fetches, mut data) = (0, 0);
        for (index, reference) in (0..).zip(&references[..references.len().min(BATCH)]) {
            // Each place is written again until what it holds is to stay: no branch on what comes.
            self.fetches[fetches] = index;
            self.data[data] = index;
            let is_fetch = reference.kind == Kind::Fetch;
            fetches += usize::from(is_fetch);
            data += usize::from(!is_fetch);
        }
        [&self.fetches[..fetches], &self.data[..data]]
    }
}
