//! The end of a worker: what has arrived is answered.

use super::Connections;
use crate::server::flows::Id;
use crate::server::handler::Handler;
use crate::server::service::{Local, Service};
use crate::server::transport::Outgoing;
use core::sync::atomic::Ordering;
use core::time::Duration;
use warmcore_linux::net::connections::{Events, Poller, Ready};

/// How long a peer may pause in the middle of a request, or of reading its replies, in nanoseconds.
const PATIENCE: u64 = 1_000_000_000;
/// The time between looks at connections that are not done.
const LOOK: Duration = Duration::from_millis(1);

/// Accepts what waits, gives each connection a last turn, and waits for those that are in the middle of a request or have not
/// read their replies.
pub(super) fn close<S, W, H: Handler<S, W>>(
    service: &Service<S, H, Connections>,
    local: &mut Local<W, Connections>,
    poller: &Poller,
) -> Result<(), String> {
    let control = &service.control;
    local.out.closing = true;
    accept_rest(service, local, poller)?;
    poller.end_listening();
    let shards =
        if service.flows.are_by_worker() { local.number..local.number + 1 } else { service.flows.numbers() };
    for shard in shards.clone() {
        let all = service.flows.lock(shard).all();
        for (number, generation) in all {
            if !is_abandoned(service) {
                service.turn(local, Id { shard, number, generation }, true, control.now());
            }
        }
    }
    let mut events = Events::new(64);
    let mut moved = control.now();
    loop {
        let now = control.now();
        local.out.tend(now);
        local.finish_batch(control);
        let is_done = shards.clone().all(|shard| service.flows.lock(shard).len() == 0);
        if (is_done && local.out.leaving.is_empty()) || is_abandoned(service) || now - moved > PATIENCE {
            return Ok(());
        }
        poller.wait(&mut events, Some(Duration::ZERO)).map_err(|error| format!("cannot wait: {error}"))?;
        let mut idle = true;
        for ready in events.iter() {
            if let Ready::Connection { number, receive } = ready
                && !is_abandoned(service)
            {
                idle = false;
                if service.turn(local, Id::from_word(number), receive, control.now()) {
                    moved = control.now();
                }
            }
        }
        if idle {
            std::thread::sleep(LOOK);
        }
    }
}

/// Accepts all connections that wait.
fn accept_rest<S, W, H: Handler<S, W>>(
    service: &Service<S, H, Connections>,
    local: &mut Local<W, Connections>,
    poller: &Poller,
) -> Result<(), String> {
    loop {
        let before = local.counts.opened;
        let pause = service.accept(local, poller, service.control.now())?;
        if pause.is_some() || local.counts.opened == before || is_abandoned(service) {
            return Ok(());
        }
    }
}

fn is_abandoned<S, H>(service: &Service<S, H, Connections>) -> bool {
    service.control.abandon.load(Ordering::Relaxed)
}
