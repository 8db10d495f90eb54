//! Which call of the handler each worker is in. A worker notes it for every packet; it is read only when a worker does
//! not pause or end.

use core::fmt;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use crossbeam_utils::CachePadded;
use warmcore_units::{CpuId, Nanos, StreamId};

/// A worker that does not end, because a call of the handler, of other work or of the driver does not return.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Stuck {
    /// Number of the worker.
    pub worker: usize,
    /// Its processor.
    pub cpu: CpuId,
    /// The call of the handler that does not return; `None` if the worker is elsewhere.
    pub call: Option<Call>,
}

/// A call of the handler that has not returned.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Call {
    /// The stream of the packet.
    pub stream: StreamId,
    /// When it began, from the start of the run.
    pub since: Nanos,
    /// How long it has lasted.
    pub lasted: Nanos,
}

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { worker, cpu, call } = self;
        match call {
            Some(Call { stream, since, lasted }) => write!(
                f,
                "worker {worker} on cpu {} is still in the handler for a packet of stream {}, which began {since} after \
                 the start of the run, {lasted} ago",
                cpu.0, stream.0
            ),
            None => write!(f, "worker {worker} on cpu {} is still in other work or in the driver", cpu.0),
        }
    }
}

/// The call that each worker is in.
pub(crate) struct Calls(Vec<CachePadded<Noted>>);

/// A worker that calls the handler; dropping this says that the last call has returned.
pub(crate) struct Calling<'a>(&'a Noted);

impl Calling<'_> {
    /// The next call is for a packet of `stream`.
    #[inline]
    pub(crate) fn next(&self, stream: StreamId) {
        self.0.stream.store(u64::from(stream.0) + 1, Ordering::Release);
    }
}

impl Drop for Calling<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.stream.store(0, Ordering::Relaxed);
    }
}

#[derive(Default)]
struct Noted {
    /// The number of the stream plus one; 0 between two calls.
    stream: AtomicU64,
    /// When the call began, as the bits of a time.
    since: AtomicU64,
    /// Whether the worker has ended.
    ended: AtomicBool,
}

impl Calls {
    pub(crate) fn new(workers: usize) -> Self {
        Self((0..workers).map(|_| CachePadded::default()).collect())
    }

    /// `worker` calls the handler from `now` on, for one packet after another. A call that does not return is told
    /// as if it had begun then: quick ones before it took next to nothing.
    #[inline]
    pub(crate) fn begin(&self, worker: CpuId, now: Nanos) -> Calling<'_> {
        let noted = &*self.0[worker.index()];
        noted.since.store(now.0.to_bits(), Ordering::Relaxed);
        Calling(noted)
    }

    /// The thread of `worker` has ended.
    pub(crate) fn worker_ended(&self, worker: usize) {
        self.0[worker].ended.store(true, Ordering::Release);
    }

    /// Whether the threads of all workers have ended.
    pub(crate) fn all_ended(&self) -> bool {
        self.0.iter().all(|noted| noted.ended.load(Ordering::Acquire))
    }

    /// The worker that has been in a call for longest at `now`, of those that have not ended; one that is in no call
    /// if none is. `cpus` are their processors.
    pub(crate) fn stuck(&self, cpus: &[CpuId], now: Nanos) -> Option<Stuck> {
        let lasted = |stuck: &Stuck| stuck.call.map_or(Nanos(-1.0), |call| call.lasted).0;
        let workers = self.0.iter().zip(cpus).enumerate();
        let running = workers.filter(|(_, (noted, _))| !noted.ended.load(Ordering::Acquire));
        running
            .map(|(worker, (noted, &cpu))| Stuck { worker, cpu, call: noted.call(now) })
            .max_by(|one, other| lasted(one).total_cmp(&lasted(other)))
    }
}

impl Noted {
    fn call(&self, now: Nanos) -> Option<Call> {
        let stream = u32::try_from(self.stream.load(Ordering::Acquire).checked_sub(1)?).ok()?;
        let since = Nanos(f64::from_bits(self.since.load(Ordering::Relaxed)));
        Some(Call { stream: StreamId(stream), since, lasted: (now - since).max(Nanos::ZERO) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_call_of_a_worker_that_has_not_ended_is_told() {
        let (calls, cpus) = (Calls::new(3), [CpuId(4), CpuId(5), CpuId(6)]);
        let stuck = |now| calls.stuck(&cpus, Nanos(now));
        assert_eq!(stuck(1.0).and_then(|stuck| stuck.call), None);
        let call = |worker, stream, at| {
            let calling = calls.begin(CpuId(worker), Nanos(at));
            calling.next(StreamId(stream));
            calling
        };
        let (first, _second, _third) = (call(0, 7, 1e9), call(1, 0, 2e9), call(2, 8, 0.5e9));
        calls.worker_ended(2);
        let said = stuck(4e9).map(|stuck| stuck.to_string()).unwrap_or_default();
        for part in ["worker 0 on cpu 4", "stream 7", "1.00 s after", "3.00 s ago"] {
            assert!(said.contains(part), "{part}: {said}");
        }
        drop(first);
        assert_eq!(stuck(4e9).and_then(|stuck| stuck.call).map(|call| call.stream), Some(StreamId(0)));
        calls.worker_ended(1);
        assert!(!calls.all_ended());
        assert!(stuck(4e9).is_some_and(|stuck| stuck.worker == 0 && stuck.call.is_none()));
        calls.worker_ended(0);
        assert!(calls.all_ended() && stuck(4e9).is_none());
    }
}
