//! How events come in: into one queue or several; and what becomes of them where there is no room.

use crate::batch::Part;
use crate::entry::{Entry, Plain, Why};
use crate::error::{DispatchError, Refusals};
use crate::joint::{Barrier, KeySet};
use crate::label::{IS_TAG, Label, NOTHING, TAG_BITS, Tagged};
use crate::options::Overload;
use crate::ring::Reserved;
use crate::shared::Shared;
use crate::sync::{Arc, Ordering};
use core::hash::{BuildHasher, Hash};

impl<K: Eq + Hash + Clone, E> Shared<K, E> {
    /// `key` with some bits of its hash, and its queue.
    #[inline]
    pub(crate) fn tagged(&self, key: K) -> (Tagged<K>, usize) {
        let hash = self.hasher.hash_one(&key);
        let (tag, spread) = match self.settings.partition_bits {
            None => ((hash >> (u64::BITS - TAG_BITS)) as u32 | IS_TAG, hash & u64::from(u32::MAX)),
            // The same queue for all keys that are not told apart.
            Some(bits) => {
                let tag = ((hash >> 32) as u32 & ((1 << bits) - 1)) << 2 | IS_TAG;
                (tag, u64::from(tag).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32)
            }
        };
        let queue = (spread * self.queues.len() as u64) >> 32;
        (Tagged { tag, freshest: false, key }, queue as usize)
    }

    /// An event that touches `key`.
    #[inline]
    pub(crate) fn dispatch(&self, key: K, event: E) -> Result<(), DispatchError<E>> {
        let (key, queue) = self.tagged(key);
        self.put(queue, Plain::Key(key), event)
    }

    /// The same, for a future.
    pub(crate) fn entry(&self, key: K, event: E) -> Entry<K, E> {
        let (key, queue) = self.tagged(key);
        Entry::Plain { queue, label: Plain::Key(key), event }
    }

    /// An event that touches `key`, and takes the place of another such that waits.
    pub(crate) fn dispatch_freshest(&self, key: K, event: E) -> Result<(), DispatchError<E>> {
        let (key, queue) = self.tagged(key);
        let label = Plain::Key(Tagged { freshest: true, ..key });
        self.put_any(Entry::Plain { queue, label, event })
    }

    /// An event that touches nothing.
    pub(crate) fn dispatch_unordered(&self, event: E) -> Result<(), DispatchError<E>> {
        let lengths = self.queues.iter().map(|lane| lane.queue.ring().len()).enumerate();
        let queue = lengths.min_by_key(|&(_, length)| length).map_or(0, |(queue, _)| queue);
        self.put(queue, Plain::Unordered, event)
    }

    /// An event that touches all of `keys`.
    pub(crate) fn dispatch_keys(
        &self,
        keys: impl IntoIterator<Item = K>,
        event: E,
    ) -> Result<(), DispatchError<E>> {
        let mut tagged: Vec<(Tagged<K>, usize)> = Vec::new();
        for (key, queue) in keys.into_iter().map(|key| self.tagged(key)) {
            if !tagged.iter().any(|(other, _)| other.is(&key)) {
                tagged.push((key, queue));
            }
        }
        if tagged.len() <= 1 {
            return match tagged.pop() {
                Some((key, queue)) => self.put(queue, Plain::Key(key), event),
                None => self.dispatch_unordered(event),
            };
        }
        let mut queues: Vec<usize> = tagged.iter().map(|&(_, queue)| queue).collect();
        queues.sort_unstable();
        queues.dedup();
        let touched = tagged.into_iter().map(|(key, _)| key).collect();
        self.put_any(Entry::Keys { touched, queues: queues.into(), event })
    }

    /// An event that runs alone.
    pub(crate) fn dispatch_sequential(&self, event: E) -> Result<(), DispatchError<E>> {
        self.put_any(Entry::Sequential { event })
    }

    #[inline]
    fn put(&self, queue: usize, label: Plain<K>, event: E) -> Result<(), DispatchError<E>> {
        if self.is_simple()
            && let Ok(place) = self.queues[queue].queue.ring().reserve()
        {
            self.fill(place, queue, label, Some(event));
            return Ok(());
        }
        self.put_any(Entry::Plain { queue, label, event })
    }

    /// Puts in all of `part`, which belongs into `queue`; what cannot come in is `refused`.
    pub(crate) fn put_part(&self, queue: usize, part: &mut Part<K, E>, refused: &mut Refusals<E>) {
        let lane = &self.queues[queue];
        let mut events = part.drain(..);
        while events.len() > 0 {
            if self.is_simple()
                && let Ok(places) = lane.queue.ring().reserve_run(events.len())
            {
                lane.samples.came_together(places.positions(), &self.clock);
                places.fill(&mut events.by_ref().map(|(tag, key, event)| (Label::key(tag, key), event)));
                self.announce(queue, NOTHING);
            } else if let Some((tag, key, event)) = events.next() {
                let label = Plain::Key(Tagged { tag, freshest: false, key });
                if let Err(error) = self.put_any(Entry::Plain { queue, label, event }) {
                    refused.add(error);
                }
            }
        }
    }

    /// Whether an event goes straight into a queue that has room: not from a handler, which may have
    /// kept others aside, and not if its key may have too many.
    #[inline]
    fn is_simple(&self) -> bool {
        self.handler_here().is_none() && self.settings.key_limit.is_none()
    }

    // Where it is known what the label is, nothing of it goes through memory.
    #[inline(always)]
    fn fill(&self, place: Reserved<'_, K, E>, queue: usize, label: Plain<K>, event: Option<E>) {
        self.queues[queue].samples.came(place.position(), &self.clock);
        match label {
            Plain::Key(key) => {
                let tag = key.tag;
                place.fill(Label::Key(key), event);
                self.announce(queue, tag);
            }
            Plain::Unordered => {
                place.fill(Label::Unordered, event);
                self.announce(queue, NOTHING);
            }
        }
    }

    /// Puts `entry` where it belongs, or does what is to be done if there is no room.
    #[cold]
    fn put_any(&self, mut entry: Entry<K, E>) -> Result<(), DispatchError<E>> {
        let worker = self.handler_here();
        let blocks = self.settings.overload == Overload::Block;
        // What a handler dispatched before goes first.
        if let Some(worker) = worker.filter(|&worker| blocks && self.aside[worker].has_any()) {
            return self.keep_aside(worker, entry);
        }
        loop {
            let why = match self.try_put(entry) {
                Ok(()) => return Ok(()),
                Err((why, again)) => {
                    entry = again;
                    why
                }
            };
            let (Why::Full(queue) | Why::KeyFull(queue)) = why else { return Err(entry.refused(why)) };
            match (self.settings.overload, worker) {
                (Overload::Reject, _) => return Err(entry.refused(why)),
                (Overload::Shed, _) => {
                    self.shed_at(queue);
                    return Ok(());
                }
                (Overload::Block, Some(worker)) => return self.keep_aside(worker, entry),
                (Overload::Block, None) => self.queues[queue].room.wait(|| self.may_try(why, &entry)),
            }
        }
    }

    /// Keeps `entry`, which a handler of `worker` dispatched, until there is room.
    fn keep_aside(&self, worker: usize, entry: Entry<K, E>) -> Result<(), DispatchError<E>> {
        let kept = self.aside[worker].keep(entry, self.settings.aside);
        kept.map_err(|entry| DispatchError::Full(entry.into_event()))
    }

    /// Puts in what `worker` has kept aside, as far as there is room; whether anything was dropped, as
    /// the dispatcher is closed.
    pub(crate) fn put_aside(&self, worker: usize) -> bool {
        let mut dropped = false;
        self.aside[worker].put_in(|entry| match self.try_put(entry) {
            Ok(()) => None,
            Err((Why::Full(_) | Why::KeyFull(_), entry)) => Some(entry),
            Err((Why::Closed, _)) => {
                self.counters[worker].shed();
                dropped = true;
                None
            }
        });
        dropped
    }

    /// Puts `entry` where it belongs, if there is room.
    pub(crate) fn try_put(&self, entry: Entry<K, E>) -> Result<(), (Why, Entry<K, E>)> {
        match entry {
            Entry::Plain { queue, label: Plain::Key(key), event }
                if key.freshest || self.settings.key_limit.is_some() =>
            {
                self.try_put_keyed(queue, key, event)
            }
            Entry::Plain { queue, label, event } => match self.queues[queue].queue.ring().reserve() {
                Ok(place) => {
                    self.fill(place, queue, label, Some(event));
                    Ok(())
                }
                Err(refused) => Err((Why::of(refused, queue), Entry::Plain { queue, label, event })),
            },
            Entry::Keys { touched, queues, event } => {
                let set = Arc::new(KeySet::new(touched, queues.iter().copied(), event));
                match self.put_jointly(&queues, || Label::Keys(set.clone())) {
                    Ok(()) => Ok(()),
                    Err(why) => {
                        let event = set.withdraw().expect("it has not come to the front of all its queues");
                        self.announce_withdrawal(&queues);
                        Err((why, Entry::Keys { touched: set.touched.clone(), queues, event }))
                    }
                }
            }
            Entry::Sequential { event } => {
                let barrier = Arc::new(Barrier::new(self.queues.len(), event));
                let queues: Vec<usize> = (0..self.queues.len()).collect();
                match self.put_jointly(&queues, || Label::Sequential(barrier.clone())) {
                    Ok(()) => Ok(()),
                    Err(why) => {
                        let event = barrier.withdraw().expect("it has not come to the front of all queues");
                        self.announce_withdrawal(&queues);
                        Err((why, Entry::Sequential { event }))
                    }
                }
            }
        }
    }

    /// Puts in an event of a key that is looked up first: it may have too many, or the event may take
    /// the place of another. What it needs in the queue is done under the lock of those keys, so that whoever
    /// comes to the event finds its key there.
    fn try_put_keyed(&self, queue: usize, key: Tagged<K>, event: E) -> Result<(), (Why, Entry<K, E>)> {
        let refuse = |why, key, event| Err((why, Entry::Plain { queue, label: Plain::Key(key), event }));
        if self.closed.load(Ordering::SeqCst) {
            return refuse(Why::Closed, key, event);
        }
        let lane = &self.queues[queue];
        let mut keyed = crate::lock(&lane.keyed);
        let replaced = if key.freshest { keyed.replace(&key.key, event) } else { Err(event) };
        let event = match replaced {
            Ok(former) => {
                self.counters[self.home(queue)].superseded();
                drop(keyed);
                drop(former);
                return Ok(());
            }
            Err(event) => event,
        };
        if self.settings.key_limit.is_some_and(|limit| keyed.events(&key.key) >= limit) {
            return refuse(Why::KeyFull(queue), key, event);
        }
        match lane.queue.ring().reserve() {
            Ok(place) => {
                let (here, in_queue) = if key.freshest { (Some(event), None) } else { (None, Some(event)) };
                keyed.enter(&key.key, here);
                self.fill(place, queue, Plain::Key(key), in_queue);
                Ok(())
            }
            Err(refused) => refuse(Why::of(refused, queue), key, event),
        }
    }

    /// Puts a label into each of `queues`, in an order that all such events are in.
    fn put_jointly(&self, queues: &[usize], label: impl Fn() -> Label<K, E>) -> Result<(), Why> {
        let order = crate::lock(&self.joint);
        // What is full when all is stopped stays full.
        if self.closed.load(Ordering::SeqCst) {
            return Err(Why::Closed);
        }
        let is_full = |&&queue: &&usize| {
            let ring = self.queues[queue].queue.ring();
            ring.len() >= ring.capacity() as u64
        };
        // Looked for before anything is put anywhere; others may still be faster.
        if let Some(&full) = queues.iter().find(is_full) {
            return Err(Why::Full(full));
        }
        for &queue in queues {
            match self.queues[queue].queue.ring().reserve() {
                Ok(place) => place.fill(label(), None),
                Err(refused) => return Err(Why::of(refused, queue)),
            }
        }
        drop(order);
        self.announce_all(queues);
        Ok(())
    }

    fn announce_all(&self, queues: &[usize]) {
        queues.iter().for_each(|&queue| self.announce(queue, NOTHING));
    }

    /// What was put into `queues` was withdrawn, where it may have been seen already.
    fn announce_withdrawal(&self, queues: &[usize]) {
        queues.iter().for_each(|&queue| self.queues[queue].queue.pass());
        queues.iter().for_each(|&queue| self.reopen(queue));
    }
}
