//! The senders that have a stream, and those that want one.
//!
//! Queues note when they last received a frame of each open flow. The thread that watches the run reads that when all
//! streams are in use. It closes one and opens another in the pause that opening takes anyway, and several at once if
//! several senders wait.

use super::key;
use crate::run_handle::{NewFlow, OpenStreamError, RunHandle};
use hashbrown::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, Instant};
use warmcore_scenario::Live;
use warmcore_stack::FlowKey;
use warmcore_units::{Nanos, StreamId, Transport};

/// The flows that have a stream, shared by all queues.
#[derive(Debug, Default)]
pub(super) struct OpenFlows {
    /// Incremented with every change of `flows`.
    version: AtomicU64,
    flows: RwLock<FlowSet>,
    /// Senders that were refused.
    refused: AtomicU64,
}

#[derive(Clone, Debug, Default)]
pub(super) struct FlowSet {
    pub(super) open: HashMap<FlowKey, Arc<LastSeen>>,
    /// No more streams can be opened.
    pub(super) is_full: bool,
}

/// When the last frame of a flow was received, as the bits of a time.
#[derive(Debug)]
pub(super) struct LastSeen(AtomicU64);

impl LastSeen {
    fn new(now: Nanos) -> Self {
        Self(AtomicU64::new(now.0.to_bits()))
    }

    #[inline]
    pub(super) fn note(&self, now: Nanos) {
        self.0.store(now.0.to_bits(), Ordering::Relaxed);
    }

    fn time(&self) -> Nanos {
        Nanos(f64::from_bits(self.0.load(Ordering::Relaxed)))
    }
}

impl OpenFlows {
    fn change(&self, change: impl FnOnce(&mut FlowSet)) {
        change(&mut self.flows.write().unwrap_or_else(PoisonError::into_inner));
        self.version.fetch_add(1, Ordering::Release);
    }

    /// A copy of the flows and its version, unless that is `version`.
    #[inline]
    pub(super) fn newer_than(&self, version: u64) -> Option<(u64, FlowSet)> {
        let current = self.version.load(Ordering::Acquire);
        (current != version)
            .then(|| (current, self.flows.read().unwrap_or_else(PoisonError::into_inner).clone()))
    }

    /// Counts a sender that was refused for the first time.
    pub(super) fn refuse(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }
}

/// Senders that have no stream yet.
#[derive(Debug)]
pub struct NewSenders {
    announced: Receiver<NewFlow>,
    open_flows: Arc<OpenFlows>,
    transport: Transport,
    idle: Duration,
    table: Mutex<Table>,
}

/// The streams that were opened here.
#[derive(Debug, Default)]
struct Table {
    opened: HashMap<StreamId, (FlowKey, Arc<LastSeen>)>,
    is_full: bool,
    /// Streams that were closed because they were idle.
    closed: u64,
}

/// What became of senders when all streams were in use.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SenderCounts {
    /// Streams that had been idle and were closed for new senders.
    pub closed: u64,
    /// Senders that were refused, at least for a while: no stream was idle. Each queue of the driver counts a sender
    /// once, of the first 65,536.
    pub refused: u64,
}

/// How often connections that have ended, and streams that have become idle, are looked for.
const LOOK: Duration = Duration::from_millis(20);
/// Most streams that are opened in one pause of the workers.
const MAX_OPENED: usize = 64;

impl NewSenders {
    pub(super) fn new(
        announced: Receiver<NewFlow>,
        open_flows: Arc<OpenFlows>,
        transport: Transport,
    ) -> Self {
        Self { announced, open_flows, transport, idle: Live::STREAM_IDLE, table: Mutex::default() }
    }

    /// Lets a stream be closed for another sender when it has received nothing for `idle`, in place of
    /// [`Live::STREAM_IDLE`]. Connections of TCP are not closed so: they end by themselves.
    pub fn close_after(&mut self, idle: Duration) {
        self.idle = idle;
    }

    /// Waits for up to `longest`; opens a stream for each new sender, and closes those whose connections have
    /// ended. When all streams are in use, those that have been idle for longest are closed for new senders. While
    /// none has been idle for [long enough](Self::close_after), packets of other senders are refused and counted.
    /// Returns whether the run goes on: false soon after it has [ended](RunHandle::has_ended) early.
    #[must_use = "a run that has ended early admits nobody"]
    pub fn admit(&self, run: &RunHandle<'_>, longest: Duration) -> bool {
        let until = Instant::now() + longest;
        let left = || until.saturating_duration_since(Instant::now());
        while !left().is_zero() && !run.has_ended() {
            self.close_ended(run);
            self.look_for_idle(run);
            if let Ok(first) = self.announced.recv_timeout(left().min(LOOK)) {
                let others = self.announced.try_iter();
                self.open(run, core::iter::once(first).chain(others).take(MAX_OPENED));
            }
        }
        !run.has_ended()
    }

    /// What became of senders when all streams were in use.
    #[must_use]
    pub fn counts(&self) -> SenderCounts {
        SenderCounts { closed: self.table().closed, refused: self.open_flows.refused.load(Ordering::Relaxed) }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The streams that may be closed for others at `now`; the one that has been idle for longest is the last.
    fn idle(&self, table: &Table, now: Nanos) -> Vec<StreamId> {
        if self.transport == Transport::Tcp {
            return Vec::new();
        }
        let latest = now.0 - self.idle.as_nanos() as f64;
        let seen = table.opened.iter().map(|(stream, (_, seen))| (seen.time().0, *stream));
        let mut idle: Vec<(f64, StreamId)> = seen.filter(|(seen, _)| *seen <= latest).collect();
        idle.sort_by(|one, other| other.0.total_cmp(&one.0).then(other.1.cmp(&one.1)));
        idle.into_iter().map(|(_, stream)| stream).collect()
    }

    /// Opens a stream for each of `announced` that has none.
    fn open(&self, run: &RunHandle<'_>, announced: impl Iterator<Item = NewFlow>) {
        let mut table = self.table();
        let mut keys: HashSet<FlowKey> = table.opened.values().map(|(key, _)| *key).collect();
        let flows: Vec<NewFlow> =
            announced.filter(|new| keys.insert(key(self.transport, &new.flow))).collect();
        if flows.is_empty() {
            return;
        }
        let (mut idle, mut closed) = (None, Vec::new());
        // Workers pause when this is called, so that nothing is received meanwhile.
        let mut spare = || idle.get_or_insert_with(|| self.idle(&table, run.elapsed())).pop();
        let opened = run.open_each(&flows, &mut spare, &mut closed);
        let now = run.elapsed();
        self.open_flows.change(|set| {
            for stream in &closed {
                if let Some((key, _)) = table.opened.remove(stream) {
                    set.open.remove(&key);
                }
            }
            for (NewFlow { flow, .. }, opened) in flows.iter().zip(opened) {
                let (key, seen) = (key(self.transport, flow), Arc::new(LastSeen::new(now)));
                match opened {
                    Ok(stream) => {
                        table.opened.insert(stream, (key, Arc::clone(&seen)));
                        set.open.insert(key, seen);
                    }
                    // A stack that refuses to open a flow also refuses its frames.
                    Err(OpenStreamError::Refused(_)) => drop(set.open.entry(key).or_insert(seen)),
                    Err(OpenStreamError::TooMany { .. }) => set.is_full = true,
                    Err(OpenStreamError::Ended) => {}
                }
            }
            table.is_full = set.is_full;
        });
        table.closed += closed.len() as u64;
        drop(table);
        // The first frames are waiting, but the workers that polled for them may sleep again.
        run.resume();
    }

    /// Lets senders be announced again once a stream can be closed for them.
    fn look_for_idle(&self, run: &RunHandle<'_>) {
        let mut table = self.table();
        if table.is_full && !self.idle(&table, run.elapsed()).is_empty() {
            table.is_full = false;
            self.open_flows.change(|flows| flows.is_full = false);
        }
    }

    fn close_ended(&self, run: &RunHandle<'_>) {
        let ended = run.close_ended();
        if ended.is_empty() {
            return;
        }
        let mut table = self.table();
        table.is_full = false;
        self.open_flows.change(|flows| {
            flows.is_full = false;
            for (key, _) in ended.iter().filter_map(|stream| table.opened.remove(stream)) {
                flows.open.remove(&key);
            }
        });
    }
}
