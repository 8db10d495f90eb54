//! Page operations: what happens when a node's page cache has no free frame for a remote page (Falsafi 1998, §4 and §5.1).
//!
//! ```text
//!   processor: page fault, no free frame ─► another page is no longer mapped: TLBs forget it
//!                                           each of its blocks that the node has a copy of: Event::Unmap, which is
//!                                           sequential and returns to the home what was written
//!   the processor goes on ◄──────────────── all of them have been handled
//! ```
//!
//! One page makes way at a time. A page to which a processor is referring stays.

use super::agenda::Event;
use super::device::{Cause, ProtocolEvent};
use super::error::Error;
use super::layout::PageNumber;
use super::memory::PAGE_WORDS;
use super::system::{State, System};
use std::collections::VecDeque;
use warmcore_coherence::Event as ProtocolCause;

/// The page that makes way on a node.
#[derive(Debug, Default)]
pub(super) struct Paging {
    /// How many of its blocks have not been unmapped yet.
    left: usize,
    /// The processors that wait for the end of that.
    waiting: VecDeque<usize>,
    /// How many pages have made way.
    pub(super) unmapped: u64,
}

impl System {
    /// A processor needs a frame for `page`.
    pub(super) fn map(&mut self, now: u64, number: usize, page: PageNumber) -> Result<(), Error> {
        let at = number / self.per_node;
        if self.nodes[at].paging.left > 0 {
            self.wait_for_frame(now, number);
            return Ok(());
        }
        let busy = |other| self.is_referred_to(at, number, other);
        match self.nodes[at].memory.map_in_place_of(page, busy) {
            Ok(None) => self.go_on(now, number),
            Ok(Some(victim)) => self.unmap(now, number, victim),
            Err(_) => {
                let later = now + self.nodes[at].timing.page_fault.max(1);
                self.agenda.push(later, Event::Reference(number as u32));
                Ok(())
            }
        }
    }

    /// Whether a processor of the node other than `except` is in the middle of a reference to `page`.
    fn is_referred_to(&self, at: usize, except: usize, page: PageNumber) -> bool {
        let sizes = self.nodes[at].sizes;
        let page_lines = 8 * PAGE_WORDS as u64 / sizes.line_bytes;
        (at * self.per_node..(at + 1) * self.per_node).filter(|&number| number != except).any(|number| {
            match self.processors[number].state {
                State::Mapping { page: needed, .. } => needed == page,
                State::Referring { line, .. } | State::Faulted { line, .. } => {
                    (u64::from(line - 1) / page_lines) as PageNumber == page
                }
                _ => false,
            }
        })
    }

    fn unmap(&mut self, now: u64, number: usize, victim: PageNumber) -> Result<(), Error> {
        let at = number / self.per_node;
        for cpu in &self.processors[at * self.per_node..(at + 1) * self.per_node] {
            cpu.local.tlb.forget(victim);
        }
        let node = &mut self.nodes[at];
        node.paging.unmapped += 1;
        let copies: Vec<_> = node.memory.copies(victim).collect();
        node.paging.left = copies.len();
        if copies.is_empty() {
            return self.go_on(now, number);
        }
        self.wait_for_frame(now, number);
        for block in copies {
            let cause = Cause::Stache(ProtocolCause::Unmap);
            self.arrive(now, at, ProtocolEvent { block, cause, data: None, arrived: now })?;
        }
        Ok(())
    }

    fn wait_for_frame(&mut self, now: u64, number: usize) {
        let (at, cpu) = (number / self.per_node, number % self.per_node);
        self.nodes[at].paging.waiting.push_back(cpu);
        self.begin_polling(now, number);
    }

    /// A block of the page that makes way has been unmapped.
    pub(super) fn end_unmap(&mut self, now: u64, at: usize) {
        let paging = &mut self.nodes[at].paging;
        paging.left -= 1;
        if paging.left > 0 {
            return;
        }
        for cpu in core::mem::take(&mut paging.waiting) {
            if !self.keeps_acting(now, at, cpu) {
                self.agenda.push(now, Event::Continue((at * self.per_node + cpu) as u32));
            }
        }
    }
}
