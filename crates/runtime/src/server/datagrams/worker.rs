//! The loop of a worker.

use super::Datagrams;
use super::source::Source;
use crate::server::BATCH_TIME;
use crate::server::control::Control;
use crate::server::flows::NEVER;
use crate::server::handler::Handler;
use crate::server::service::{Local, Service};
use core::sync::atomic::Ordering;
use core::time::Duration;
use warmcore_linux::net::sockets::{Batch, Datagram, Received};

/// Receives and handles requests until the port is closed and its queue is empty.
///
/// # Errors
/// Why nothing can be received any more.
pub(super) fn work<S, W, H: Handler<S, W>>(
    service: &Service<S, H, Datagrams>,
    mut local: Local<W, Datagrams>,
    mut source: impl Source,
) -> Result<(), String> {
    let (control, shard) = (&service.control, local.number);
    let by_worker = service.flows.are_by_worker();
    let several = source.capacity() > 1;
    let mut pace = Pace::default();
    loop {
        if by_worker {
            let next = service.flows.lock(shard).next_time();
            source.set_timeout(timeout(next, control))?;
        }
        let received = match source.receive()? {
            Received::Closed => break,
            Received::Nothing => 0,
            Received::Datagrams(count) => count,
        };
        let now = control.now();
        source.begin(pace.expected(received));
        let count = source.datagrams().map(|datagram| handle(service, &mut local, &datagram, now)).count();
        if by_worker {
            service.keep_time(&mut local, shard, now);
        }
        local.finish_batch(control);
        if several {
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
    service: &Service<S, H, Datagrams>,
    local: &mut Local<W, Datagrams>,
    datagram: &Datagram<'_>,
    now: u64,
) {
    if service.control.abandon.load(Ordering::Relaxed) {
        local.counts.abandoned += 1;
    } else {
        service.request(local, datagram, now);
    }
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
    /// How long a batch of `count` requests will take.
    fn expected(&self, count: usize) -> Duration {
        Duration::from_nanos(self.request * count as u64)
    }

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
