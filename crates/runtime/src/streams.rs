//! Per-stream state outside the stack: the home processor, whether the stream has failed, and how many
//! of its packets each worker processed.

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use warmcore_units::{CpuId, StreamId};

/// Number of streams for which packets are counted by worker.
const TRACKED: u32 = 1024;

/// The streams of a run.
#[derive(Debug)]
pub(crate) struct Streams {
    homes: Vec<u32>,
    failed: Vec<AtomicBool>,
    /// By worker, by stream: packets.
    processed: Vec<Vec<AtomicU64>>,
}

impl Streams {
    /// Streams with these home processors, for this many workers.
    pub(crate) fn new(homes: Vec<u32>, workers: u32) -> Self {
        let failed = homes.iter().map(|_| AtomicBool::new(false)).collect();
        let tracked = homes.len().min(TRACKED as usize);
        let each = || (0..tracked).map(|_| AtomicU64::new(0)).collect();
        Self { failed, processed: (0..workers).map(|_| each()).collect(), homes }
    }

    #[inline]
    pub(crate) fn home(&self, stream: StreamId) -> CpuId {
        CpuId(self.homes.get(stream.index()).copied().unwrap_or_default())
    }

    /// Most streams that can be opened.
    pub(crate) fn limit(&self) -> usize {
        self.homes.len()
    }

    #[inline]
    pub(crate) fn has_failed(&self, stream: StreamId) -> bool {
        self.failed.get(stream.index()).is_some_and(|failed| failed.load(Ordering::Relaxed))
    }

    pub(crate) fn fail(&self, stream: StreamId) {
        self.set_failed(stream, true);
    }

    /// The stream's number is given to another.
    pub(crate) fn renew(&self, stream: StreamId) {
        self.set_failed(stream, false);
    }

    fn set_failed(&self, stream: StreamId, has_failed: bool) {
        if let Some(failed) = self.failed.get(stream.index()) {
            failed.store(has_failed, Ordering::Relaxed);
        }
    }

    /// Counts a packet of `stream` that `worker` processed. Only the worker itself may call this.
    #[inline]
    pub(crate) fn processed(&self, worker: CpuId, stream: StreamId) {
        if let Some(count) = self.processed[worker.index()].get(stream.index()) {
            count.store(count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        }
    }

    /// By worker, by stream: packets processed, of the streams that are counted.
    pub(crate) fn counts(&self) -> Vec<Vec<u64>> {
        let of = |worker: &Vec<AtomicU64>| worker.iter().map(|count| count.load(Ordering::Relaxed)).collect();
        self.processed.iter().map(of).collect()
    }
}
