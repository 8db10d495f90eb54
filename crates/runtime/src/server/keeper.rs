//! The thread that calls the timers of flows that have no worker.

use super::flows::{NEVER, nanos};
use super::gathering::Gathering;
use super::handler::Handler;
use super::service::{Local, Service};
use super::transport::{Outgoing, Transport};

/// Calls timers and ends idle flows, and decides how many workers have flows, until the alarm ends it.
pub(super) fn keep_time<S, W, H: Handler<S, W>, T: Transport>(
    service: &Service<S, H, T>,
    mut local: Local<W, T>,
    mut gathering: Option<Gathering>,
) {
    let control = &service.control;
    loop {
        control.alarm.looking();
        let (now, mut next) = (control.now(), NEVER);
        for shard in service.flows.numbers() {
            service.keep_time(&mut local, shard, now);
            next = next.min(service.flows.lock(shard).next_time());
        }
        local.finish_batch(control);
        next = next.min(local.out.tend(now));
        if let Some(gathering) = &mut gathering {
            next = next.min(control.now() + nanos(gathering.look(control)));
        }
        if !control.alarm.sleep(next, control.now()) {
            break;
        }
    }
    service.flows.numbers().for_each(|shard| service.close_all(&mut local, shard));
    local.finish_batch(control);
}
