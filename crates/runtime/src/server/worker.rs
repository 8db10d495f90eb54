//! The threads of a server: workers, and the timekeeper of flows that have no worker.

use super::control::Control;
use super::counts::Counts;
use super::flows::NEVER;
use super::handler::Handler;
use super::reply::Out;
use super::service::{Local, Service};
use super::transport::{Destination, Source};
use core::sync::atomic::Ordering;
use core::time::Duration;
use warmcore_linux::net::sockets::{Batch, Datagram, Received};

/// What a batch may take, so that the first reply in it does not wait long for the last.
const BATCH_TIME: u64 = 100_000;

impl<W> Local<W> {
    pub(super) fn new(number: usize, worker: W, destination: Destination) -> Self {
        Self { number, worker, out: Out::new(destination), counts: Counts::default() }
    }

    /// Sends what is to be sent, and lets others read the counts.
    fn finish_batch(&mut self, control: &Control) {
        self.out.flush();
        self.counts.replies = self.out.sent.sent;
        self.counts.unsent = self.out.sent.refused;
        let record = &control.threads[self.number];
        record.published.set(&self.counts);
        record.set_current(None);
    }
}

/// Receives and handles requests until the port is closed and its queue is empty.
///
/// # Errors
/// Why nothing can be received any more.
pub(super) fn work<S, W, H: Handler<S, W>>(
    service: &Service<S, H>,
    mut local: Local<W>,
    mut source: impl Source,
) -> Result<(), String> {
    let (control, shard) = (&service.control, local.number);
    let by_worker = service.flows.are_by_worker();
    let mut pace = Pace::default();
    loop {
        if by_worker {
            let next = service.flows.lock(shard).next_time();
            source.set_timeout(timeout(next, control))?;
        }
        if source.receive()? == Received::Closed {
            break;
        }
        let now = control.now();
        let count = source.datagrams().map(|datagram| handle(service, &mut local, &datagram, now)).count();
        if by_worker {
            service.keep_time(&mut local, shard, now);
        }
        local.finish_batch(control);
        if by_worker {
            source.set_limit(pace.next_limit(count, control.now() - now));
        }
    }
    if by_worker {
        service.close_all(&mut local, shard);
    }
    local.finish_batch(control);
    Ok(())
}

fn handle<S, W, H: Handler<S, W>>(
    service: &Service<S, H>,
    local: &mut Local<W>,
    datagram: &Datagram<'_>,
    now: u64,
) {
    if service.control.abandon.load(Ordering::Relaxed) {
        local.counts.abandoned += 1;
    } else {
        service.request(local, datagram, now);
    }
}

/// Calls timers and ends idle flows, until the alarm ends it.
pub(super) fn keep_time<S, W, H: Handler<S, W>>(service: &Service<S, H>, mut local: Local<W>) {
    let control = &service.control;
    loop {
        control.alarm.looking();
        let (now, mut next) = (control.now(), NEVER);
        for shard in service.flows.numbers() {
            service.keep_time(&mut local, shard, now);
            next = next.min(service.flows.lock(shard).next_time());
        }
        local.finish_batch(control);
        if !control.alarm.sleep(next, control.now()) {
            break;
        }
    }
    service.flows.numbers().for_each(|shard| service.close_all(&mut local, shard));
    local.finish_batch(control);
}

/// How long a worker may wait if something is due at `next`.
fn timeout(next: u64, control: &Control) -> Option<Duration> {
    (next != NEVER).then(|| Duration::from_nanos(next.saturating_sub(control.now())))
}

/// Follows how long requests take, to choose how many to receive at once.
#[derive(Default)]
struct Pace {
    /// Nanoseconds for a request, smoothed.
    request: u64,
}

impl Pace {
    /// The limit of the next batch, after one of `count` requests that took `time` nanoseconds.
    fn next_limit(&mut self, count: usize, time: u64) -> usize {
        if count > 0 {
            let now = time / count as u64;
            self.request = if self.request == 0 { now } else { (3 * self.request + now) / 4 };
        }
        (BATCH_TIME / self.request.max(1)).min(Batch::MOST as u64).max(1) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_requests_are_received_one_at_a_time_and_fast_ones_together() {
        let mut pace = Pace::default();
        assert_eq!(pace.next_limit(0, 100), Batch::MOST);
        assert_eq!(pace.next_limit(10, 10_000), Batch::MOST);
        assert_eq!(pace.next_limit(1, 10_000_000), 1);
        let limits: Vec<usize> = (0..60).map(|_| pace.next_limit(1, 1_000)).collect();
        assert!(limits.is_sorted() && limits[59] == Batch::MOST, "{limits:?}");
    }
}
