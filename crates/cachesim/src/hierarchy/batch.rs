//! Whole traces through caches of which none affects a nearer one: each cache takes a batch of what is asked of it at
//! once, and passes on what it does not have. So each is one short loop, which knows the form of its sets.
//!
//! The results are those of [`Hierarchy::access`], reference by reference.

use super::queue::{Item, Queue, Queues, Sides, What};
use super::{Hierarchy, MEMORY};
use crate::counts::CacheCounts;
use crate::sets::{EMPTY, Form, FormTask};
use crate::{CacheDescription, Observer, Prefetch, Reference, Straddling, Writes};
use warmcore_units::CpuId;

/// References in a batch: its items fit the nearest caches of today's machines.
pub(super) const BATCH: usize = 1024;

/// The longest line: far below what an item can count.
const MAX_LINE: u64 = 1 << 20;

/// Whether such a cache never affects a nearer one, nor does anything of its own accord.
pub(super) fn can(cache: &CacheDescription) -> bool {
    !cache.inclusive
        && cache.prefetch == Prefetch::Off
        && cache.writes == Writes::Back
        && cache.geometry.line.0 <= MAX_LINE
}

impl<O: Observer> Hierarchy<O> {
    pub(super) const fn can_batch(&self) -> bool {
        self.one_way && !O::WATCHES
    }

    pub(super) fn run_in_batches(&mut self, cpu: CpuId, trace: &[Reference]) {
        let nearest = self.cpus[cpu.index()].nearest;
        let hits = |this: &Self| -> Vec<u64> {
            let hits = |counts: &CacheCounts| counts.references() - counts.reference_misses();
            this.caches.iter().map(|cache| hits(&cache.counts)).collect()
        };
        let (hits_before, reads_before) = (hits(self), self.memory.reads);
        let mut queues =
            Queues { asked: vec![Queue::default(); self.caches.len() + 1], spare: Queue::default() };
        let (first, behind) = self.nearest_first(nearest);
        let mut sides = Sides { fetches: [0; BATCH], data: [0; BATCH] };
        for references in trace.chunks(BATCH) {
            if nearest[0] == nearest[1] && nearest[0] != MEMORY {
                let items = (0..).zip(references).map(|(order, one)| Item::from_reference(order, one));
                self.ask(nearest[0], items, &mut queues);
            } else {
                let item = |&order: &u16| Item::from_reference(order, &references[usize::from(order)]);
                let sides = nearest.into_iter().zip(sides.split(references));
                // A cache that a nearer one asks too has the processor's items first: what is passed on is put in
                // order with them.
                for (at, side) in sides.clone().filter(|(at, _)| !first.contains(at)) {
                    let queue = &mut queues.asked[self.queue_of(at)];
                    side.iter().map(item).for_each(|item| queue.push(item, true));
                }
                for (at, side) in sides.filter(|(at, _)| first.contains(at)) {
                    self.ask(at, side.iter().map(item), &mut queues);
                }
            }
            for &at in &behind {
                let asked = std::mem::take(&mut queues.asked[at as usize]);
                self.ask(at, asked.items().iter().copied(), &mut queues);
                queues.asked[at as usize] = asked.emptied();
            }
            // Only where there is no cache on the way.
            let beyond = queues.asked[self.caches.len()].items();
            let writes = beyond.iter().filter(|item| item.write).count() as u64;
            self.memory.writes += writes;
            self.memory.reads += beyond.len() as u64 - writes;
            self.cpus[cpu.index()].cycles += writes * self.memory.latency;
            queues.asked[self.caches.len()].length = 0;
        }
        let found = hits(self).into_iter().zip(hits_before).map(|(now, before)| now - before);
        let cycles: u64 = found.zip(&self.caches).map(|(found, cache)| found * cache.latency).sum();
        self.cpus[cpu.index()].cycles += cycles + (self.memory.reads - reads_before) * self.memory.latency;
    }

    /// The caches that nothing asks but the processor; and those behind, such that each comes before those further away.
    fn nearest_first(&self, nearest: [u32; 2]) -> (Vec<u32>, Vec<u32>) {
        let path = |from: u32| {
            let below = |&at: &u32| self.caches.get(at as usize).map(|cache| cache.below);
            std::iter::successors(Some(from), below).take_while(|&at| at != MEMORY)
        };
        let data: Vec<u32> = path(nearest[1]).collect();
        let all = path(nearest[0]).filter(|at| !data.contains(at)).chain(data.iter().copied());
        let asked: Vec<u32> = nearest.into_iter().flat_map(|from| path(from).skip(1)).collect();
        all.partition(|at| !asked.contains(at))
    }

    const fn queue_of(&self, at: u32) -> usize {
        if at == MEMORY { self.caches.len() } else { at as usize }
    }

    /// Asks the cache `at` for `items`, in order; what it does not have goes to the queue of the next.
    fn ask(&mut self, at: u32, items: impl Iterator<Item = Item>, queues: &mut Queues) {
        let below = self.queue_of(self.caches[at as usize].below);
        let is_last = below == self.caches.len();
        let cache = &mut self.caches[at as usize];
        let answer = Answer {
            bits: cache.line_bits,
            straddling: self.straddling,
            items,
            passed_on: std::mem::take(&mut queues.spare),
            counts: CacheCounts::default(),
            to_memory: 0,
        };
        let answered = cache.sets.with_form(Ask { answer, is_last });
        cache.counts.add(&answered.counts);
        if is_last {
            self.memory.reads += answered.counts.reference_misses();
            self.memory.writes += answered.to_memory;
            queues.spare = answered.passed_on.emptied();
        } else {
            queues.pass_on(answered.passed_on, below);
        }
    }
}

/// One cache's answer to what it is asked.
struct Answer<I> {
    bits: u32,
    straddling: Straddling,
    items: I,
    /// What it does not have, in order.
    passed_on: Queue,
    counts: CacheCounts,
    /// Lines that it and nearer ones write to memory, if it is the last.
    to_memory: u64,
}

struct Ask<I> {
    answer: Answer<I>,
    is_last: bool,
}

impl<I: Iterator<Item = Item>> FormTask for Ask<I> {
    type Output = Answer<std::iter::Empty<Item>>;

    fn run(self, form: impl Form, mask: u64) -> Self::Output {
        if self.is_last { self.answer.all::<true>(form, mask) } else { self.answer.all::<false>(form, mask) }
    }
}

impl<I: Iterator<Item = Item>> Answer<I> {
    #[inline(always)]
    fn all<const LAST: bool>(self, mut form: impl Form, mask: u64) -> Answer<std::iter::Empty<Item>> {
        let Self { bits, straddling, items, passed_on, counts, to_memory } = self;
        let mut answer = Answer { bits, straddling, items: std::iter::empty(), passed_on, counts, to_memory };
        // Counted apart from the rest, so that they can stay in registers or at least in one line.
        let (mut accesses, mut misses, mut displaced) = ([0_u64; 4], [0_u64; 4], 0_u64);
        for item in items {
            let line = item.address >> bits;
            if item.what == What::WriteBack {
                answer.keep::<LAST>(&mut form, mask, item);
                continue;
            }
            if line != item.last() >> bits {
                answer.straddle::<LAST>(&mut form, mask, item);
                continue;
            }
            let access = form.access((line & mask) as usize, line, u64::from(item.write));
            let kind = item.what.index();
            accesses[kind] += 1;
            misses[kind] += u64::from(!access.hit);
            let made_way = access.victim != EMPTY;
            displaced += u64::from(made_way);
            answer.write_back::<LAST>(made_way && access.victim & 1 == 1, access.victim, item.order);
            answer.pass_on::<LAST>(!access.hit, item, line, line);
        }
        for kind in 0..3 {
            answer.counts.accesses[kind] += accesses[kind];
            answer.counts.misses[kind] += misses[kind];
        }
        answer.counts.displaced += displaced;
        answer
    }

    /// Passes the lines from `first` to `last` on if `really`.
    #[inline(always)]
    fn pass_on<const LAST: bool>(&mut self, really: bool, item: Item, first: u64, last: u64) {
        if !LAST {
            self.passed_on.push(Item::of_lines(item.order, item.what, first, last, self.bits), really);
        }
    }

    /// Passes on what was `changed` in a line that made way.
    #[inline(always)]
    fn write_back<const LAST: bool>(&mut self, changed: bool, victim: u64, order: u16) {
        if LAST {
            self.counts.written_back += u64::from(changed);
            self.to_memory += u64::from(changed);
        } else if changed {
            self.counts.written_back += 1;
            let line = victim >> 1;
            self.passed_on.push(Item::of_lines(order, What::WriteBack, line, line, self.bits), true);
        }
    }

    /// Keeps what a nearer cache wrote back if its line is here.
    #[inline(never)]
    fn keep<const LAST: bool>(&mut self, form: &mut impl Form, mask: u64, item: Item) {
        let line = item.address >> self.bits;
        if form.mark_changed((line & mask) as usize, line) {
            return;
        }
        if LAST {
            self.to_memory += 1;
        } else {
            self.passed_on.push(item, true);
        }
    }

    /// An item whose bytes lie in two or more lines.
    #[inline(never)]
    fn straddle<const LAST: bool>(&mut self, form: &mut impl Form, mask: u64, item: Item) {
        let (first, last) = (item.address >> self.bits, item.last() >> self.bits);
        let kind = item.what.index();
        let mut all = true;
        for line in first..=last {
            let access = form.access((line & mask) as usize, line, u64::from(item.write));
            let made_way = access.victim != EMPTY;
            self.counts.displaced += u64::from(made_way);
            self.write_back::<LAST>(made_way && access.victim & 1 == 1, access.victim, item.order);
            all &= access.hit;
            if self.straddling == Straddling::EachLine {
                self.counts.accesses[kind] += 1;
                self.counts.misses[kind] += u64::from(!access.hit);
                self.pass_on::<LAST>(!access.hit, item, line, line);
            }
        }
        if self.straddling == Straddling::Whole {
            self.counts.accesses[kind] += 1;
            self.counts.misses[kind] += u64::from(!all);
            self.pass_on::<LAST>(!all, item, first, last);
        }
    }
}
