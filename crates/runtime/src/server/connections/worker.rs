//! The loop of a worker.

use super::accepting::PAUSE;
use super::{Connections, closing};
use crate::server::flows::{Id, NEVER};
use crate::server::handler::Handler;
use crate::server::service::{Local, Service};
use crate::server::transport::Outgoing;
use core::time::Duration;
use warmcore_linux::net::connections::{Events, Poller, Ready};

/// Events that a worker with connections of its own is told at once. Under a shared policy it is told one, and the next
/// goes to another worker.
const EVENTS: usize = 64;

/// Accepts connections and gives them their turns, until the port is closed and what has arrived is handled.
///
/// # Errors
/// The error of the kernel that made going on impossible.
pub(super) fn work<S, W, H: Handler<S, W>>(
    service: &Service<S, H, Connections>,
    mut local: Local<W, Connections>,
    poller: Poller,
) -> Result<(), String> {
    let (control, shard) = (&service.control, local.number);
    let by_worker = service.flows.are_by_worker();
    let mut events = Events::new(if by_worker { EVENTS } else { 1 });
    let mut leaving = NEVER;
    // Until when no connection is accepted.
    let mut pause = None;
    while !poller.is_closed() {
        let timers = if by_worker { service.flows.lock(shard).next_time() } else { NEVER };
        let next = timers.min(leaving).min(pause.unwrap_or(NEVER));
        let timeout = (next != NEVER).then(|| Duration::from_nanos(next.saturating_sub(control.now())));
        poller.wait(&mut events, timeout).map_err(|error| format!("cannot wait: {error}"))?;
        let now = control.now();
        for ready in events.iter() {
            match ready {
                Ready::Connection { number, receive } => {
                    service.turn(&mut local, Id::from_word(number), receive, control.now());
                }
                Ready::Listener => pause = service.accept(&mut local, &poller, now)?,
                Ready::Closed => {}
            }
        }
        if by_worker {
            service.keep_time(&mut local, shard, now);
        }
        if pause.is_some_and(|until| until <= now) {
            pause = poller.resume_accepting().is_err().then_some(now + PAUSE);
        }
        leaving = local.out.tend(now);
        local.finish_batch(control);
    }
    closing::close(service, &mut local, &poller)?;
    if by_worker {
        service.close_all(&mut local, shard);
    }
    local.finish_batch(control);
    Ok(())
}
