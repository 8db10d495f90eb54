//! What has become of the events of a round.

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::Arc;
use warmcore_dispatch::Stats;

/// Of keys whose number has this remainder by 8, only the freshest event counts.
pub(super) const FRESHEST: u64 = 7;

/// After the producers' events come those that their handlers dispatch, and those that the handlers of these do.
const STAGES: u64 = 3;

pub(super) struct Books {
    keys: u64,
    producers: usize,
    /// What each source has dispatched, and the last of that which was handled, for each key.
    dispatched: Box<[AtomicU64]>,
    last: Box<[AtomicU64]>,
    busy: Box<[AtomicBool]>,
    running: AtomicU64,
    alone: AtomicBool,
    made: AtomicU64,
    put: AtomicU64,
    handled: AtomicU64,
    gone: AtomicU64,
    faults: AtomicU64,
}

/// What an event touches.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Key(u64),
    Keys([u64; 3]),
    Nothing,
    Alone,
}

pub(super) struct Event {
    pub(super) books: Arc<Books>,
    source: usize,
    /// As which of its source's.
    pub(super) number: u64,
    kind: Kind,
}

/// A handler at work.
pub(super) struct Visit<'a>(&'a Event);

impl Books {
    pub(super) fn new(producers: usize, keys: u64) -> Self {
        // Each key is a source at each stage but the last.
        let sources = producers + ((STAGES - 1) * keys) as usize;
        let counts = |count: usize| (0..count).map(|_| AtomicU64::new(0)).collect();
        Self {
            keys,
            producers,
            dispatched: counts(sources),
            // A key follows up to one key, at each stage.
            last: counts((producers + 2) * keys as usize),
            busy: (0..keys).map(|_| AtomicBool::new(false)).collect(),
            running: AtomicU64::new(0),
            alone: AtomicBool::new(false),
            made: AtomicU64::new(0),
            put: AtomicU64::new(0),
            handled: AtomicU64::new(0),
            gone: AtomicU64::new(0),
            faults: AtomicU64::new(0),
        }
    }

    /// An event has come in, or not.
    pub(super) fn put(&self, is_in: bool) {
        self.put.fetch_add(is_in.into(), Relaxed);
    }

    fn demand(&self, is_so: bool) {
        self.faults.fetch_add((!is_so).into(), Relaxed);
    }

    /// How many events there were, if all is as it must be.
    pub(super) fn close(&self, stats: &Stats, is_fragile: bool) -> Result<u64, String> {
        let [made, put, handled, gone, faults] =
            [&self.made, &self.put, &self.handled, &self.gone, &self.faults].map(|count| count.load(Relaxed));
        let ended = handled + stats.discarded + stats.shed + stats.superseded + stats.poisoned;
        let is_whole = is_fragile || put == ended;
        if is_whole && gone == made && faults == 0 && stats.depth == 0 {
            return Ok(made);
        }
        Err(format!("{faults} faults, {made} made, {gone} gone, {put} in, {ended} ended: {stats:?}"))
    }
}

impl Event {
    pub(super) fn new(books: &Arc<Books>, source: usize, number: u64, kind: Kind) -> Self {
        books.made.fetch_add(1, Relaxed);
        Self { books: books.clone(), source, number, kind }
    }

    pub(super) fn key(&self) -> u64 {
        match self.kind {
            Kind::Key(key) => key,
            _ => unreachable!("it has no single key"),
        }
    }

    fn keys(&self) -> &[u64] {
        match &self.kind {
            Kind::Key(key) => core::slice::from_ref(key),
            Kind::Keys(keys) => keys,
            Kind::Nothing | Kind::Alone => &[],
        }
    }

    /// What its handler dispatches, if it has one key and is not of the last stage.
    pub(super) fn follow(&self) -> Option<Self> {
        let (Kind::Key(key), books) = (self.kind, &self.books) else { return None };
        let stage = match self.source.checked_sub(books.producers) {
            None => 0,
            Some(source) => source as u64 / books.keys + 1,
        };
        if stage + 1 == STAGES {
            return None;
        }
        let source = books.producers + (stage * books.keys + key) as usize;
        // The key is the handler's own meanwhile.
        let number = books.dispatched[source].fetch_add(1, Relaxed) + 1;
        Some(Self::new(books, source, number, Kind::Key((key + 1 + stage) % books.keys)))
    }

    /// The number of the last event of the same source that was handled for `key`.
    fn last(&self, key: u64) -> &AtomicU64 {
        let (books, keys) = (&self.books, self.books.keys as usize);
        let row = match self.source.checked_sub(books.producers) {
            None => self.source,
            Some(source) => books.producers + source / keys,
        };
        &books.last[row * keys + key as usize]
    }

    pub(super) fn enter(&self) -> Visit<'_> {
        let (books, keys) = (&self.books, self.keys());
        let others = books.running.fetch_add(1, Relaxed);
        let is_alone = matches!(self.kind, Kind::Alone);
        books.demand(!books.alone.swap(is_alone, Relaxed) && (others == 0 || !is_alone));
        // A key may be named twice.
        let distinct = keys.iter().enumerate().filter(|(index, key)| !keys[..*index].contains(key));
        for (_, &key) in distinct {
            books.demand(!books.busy[key as usize].swap(true, Relaxed));
            books.demand(self.last(key).swap(self.number, Relaxed) < self.number);
        }
        books.handled.fetch_add(1, Relaxed);
        Visit(self)
    }
}

impl Drop for Visit<'_> {
    fn drop(&mut self) {
        let Event { books, kind, .. } = self.0;
        self.0.keys().iter().for_each(|&key| books.busy[key as usize].store(false, Relaxed));
        if matches!(kind, Kind::Alone) {
            books.alone.store(false, Relaxed);
        }
        books.running.fetch_sub(1, Relaxed);
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        self.books.gone.fetch_add(1, Relaxed);
    }
}
