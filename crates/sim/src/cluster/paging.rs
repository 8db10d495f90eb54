//! Page operations: what happens when a node's page cache has no free frame for a remote page (Falsafi 1998, §4 and §5.1).
//!
//! ```text
//!   processor: page fault, no free frame ─► another page is no longer mapped: TLBs forget it
//!                                           each of its blocks that the node has a copy of: Event::Unmap, which is
//!                                           sequential and returns to the home what was written
//!   the processor goes on ◄──────────────── all of them have been handled
//! ```
//!
//! One page makes way at a time, for the processor that has waited for longest: else those that poll words in different pages
//! would take the frames from each other, and one that has work to do might never get one. A page to which a processor is
//! referring stays.

use super::agenda::Event;
use super::device::{Cause, ProtocolEvent};
use super::error::Error;
use super::layout::PageNumber;
use super::memory::PAGE_WORDS;
use super::system::{State, System};
use std::collections::VecDeque;
use warmcore_coherence::Event as ProtocolCause;

/// Who waits for frames on a node, and the page that makes way.
#[derive(Debug, Default)]
pub(super) struct Paging {
    /// The processors that wait, the first that came at the front.
    waiting: VecDeque<usize>,
    /// The page that gets the frame of the one that makes way.
    next: PageNumber,
    /// How many blocks of the page that makes way have not been unmapped yet.
    left: usize,
    /// Whether it is on the agenda to look for a frame again.
    looks_again: bool,
    /// How many pages have made way.
    pub(super) unmapped: u64,
}

impl System {
    /// A processor needs a frame for `page`.
    pub(super) fn map(&mut self, now: u64, number: usize, page: PageNumber) -> Result<(), Error> {
        let (at, cpu) = (number / self.per_node, number % self.per_node);
        if self.nodes[at].memory.is_mapped(page) {
            return self.go_on(now, number);
        }
        let waiting = &mut self.nodes[at].paging.waiting;
        if !waiting.contains(&cpu) {
            waiting.push_back(cpu);
            self.begin_polling(now, number);
        }
        self.find_frame(now, at)
    }

    /// Finds a frame for the processor of a node that has waited for longest, and then for the next.
    fn find_frame(&mut self, now: u64, at: usize) -> Result<(), Error> {
        while self.nodes[at].paging.left == 0 {
            let Some(&cpu) = self.nodes[at].paging.waiting.front() else { return Ok(()) };
            let number = at * self.per_node + cpu;
            let State::Mapping { page, .. } = self.processors[number].state else { return Ok(()) };
            let busy = |other| self.is_referred_to(at, other);
            match self.nodes[at].memory.map_in_place_of(page, busy) {
                Ok(victim) => {
                    self.nodes[at].paging.next = page;
                    match victim {
                        Some(victim) => self.unmap(now, at, victim)?,
                        None => self.end_map(now, at),
                    }
                }
                Err(_) => {
                    self.look_later(now, at);
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// All frames hold pages that are being referred to: a node looks again when a page fault's time has gone.
    fn look_later(&mut self, now: u64, at: usize) {
        let node = &mut self.nodes[at];
        if !node.paging.looks_again {
            node.paging.looks_again = true;
            let later = now + node.timing.page_fault.max(1);
            self.agenda.push(later, Event::FindFrame { node: at as u32 });
        }
    }

    /// That time has gone.
    pub(super) fn look_again(&mut self, now: u64, at: usize) -> Result<(), Error> {
        self.nodes[at].paging.looks_again = false;
        self.find_frame(now, at)
    }

    /// Whether a processor of the node is in the middle of a reference to `page`, or about to refer to it.
    fn is_referred_to(&self, at: usize, page: PageNumber) -> bool {
        let sizes = self.nodes[at].sizes;
        let page_lines = 8 * PAGE_WORDS as u64 / sizes.line_bytes;
        self.processors[at * self.per_node..(at + 1) * self.per_node].iter().any(|processor| match processor
            .state
        {
            State::Mapping { page: needed, .. } => needed == page,
            State::Referring { line, .. } | State::Faulted { line, .. } => {
                (u64::from(line - 1) / page_lines) as PageNumber == page
            }
            _ => false,
        })
    }

    /// `victim` makes way: TLBs forget it, and its blocks are to be unmapped.
    fn unmap(&mut self, now: u64, at: usize, victim: PageNumber) -> Result<(), Error> {
        for cpu in &self.processors[at * self.per_node..(at + 1) * self.per_node] {
            cpu.local.tlb.forget(victim);
        }
        let node = &mut self.nodes[at];
        node.paging.unmapped += 1;
        let copies: Vec<_> = node.memory.copies(victim).collect();
        node.paging.left = copies.len();
        if copies.is_empty() {
            self.end_map(now, at);
        }
        for block in copies {
            let cause = Cause::Stache(ProtocolCause::Unmap);
            self.arrive(now, at, ProtocolEvent { block, cause, data: None, arrived: now })?;
        }
        Ok(())
    }

    /// A block of the page that makes way has been unmapped.
    pub(super) fn end_unmap(&mut self, now: u64, at: usize) -> Result<(), Error> {
        self.nodes[at].paging.left -= 1;
        if self.nodes[at].paging.left > 0 {
            return Ok(());
        }
        self.end_map(now, at);
        self.find_frame(now, at)
    }

    /// The next page has its frame: all who have waited for it go on.
    fn end_map(&mut self, now: u64, at: usize) {
        let page = self.nodes[at].paging.next;
        self.nodes[at].memory.set_mapped(page);
        for cpu in core::mem::take(&mut self.nodes[at].paging.waiting) {
            let number = at * self.per_node + cpu;
            let needs_it = matches!(self.processors[number].state, State::Mapping { page: needed, .. } if needed == page);
            if !needs_it {
                self.nodes[at].paging.waiting.push_back(cpu);
            } else if !self.keeps_acting(now, at, cpu) {
                self.agenda.push(now, Event::Continue(number as u32));
            }
        }
    }
}
