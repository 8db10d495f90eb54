//! The shards of `grommet`: a thread for each worker, to which keys are bound, and in it a queue for each
//! key. Without the part of it that reads the machine and pins threads: nobody else is pinned.
//!
//! A sender that waits for room in a mailbox may wait for ever (version 0.1.4 wakes it for room which it
//! has used already, and then no more): here each mailbox has room for all that may wait.

use crate::case::{Case, Event};
use crate::room::{Room, STEP};
use crate::{ROOM, WORKERS};
use grommet::{ClassId, Disposition, IO, PinPolicy, Processor, Router, Scheduler, ShardContext, Work};
use std::convert::Infallible;
use std::rc::Rc;
use std::sync::Arc;

/// Events of either class that a shard may have begun, as in the crate's own example.
const BEGUN: [usize; 2] = [2048, 64];

impl Work for Event {
    type Key = u32;
    type Id = ();

    fn key(&self) -> u32 {
        self.key
    }

    fn class(&self) -> ClassId {
        IO
    }
}

/// Handles the events of a shard.
#[derive(Clone)]
struct Shard {
    // Cloned for every event, and so not by what other threads count with.
    shop: Rc<(Arc<Case>, Arc<Room>)>,
}

impl Processor for Shard {
    type Work = Event;
    type State = ();
    type Error = Infallible;

    async fn process(&self, _: u32, _: Option<()>, event: Event) -> Result<Disposition<()>, Infallible> {
        let (case, room) = &*self.shop;
        case.handle(event);
        room.leave(1);
        Ok(Disposition::Drop)
    }
}

pub(crate) fn by_event(case: &Arc<Case>) {
    send(case, async |router, events| {
        for &event in events {
            router.submit(event).await.expect("the shards run");
        }
    });
}

pub(crate) fn in_batches(case: &Arc<Case>) {
    send(case, async |router, events| {
        router.submit_batch(events.iter().copied()).await.expect("the shards run");
    });
}

/// Starts the shards, sends them as many events at a time as there must be room for, and drains them.
fn send(case: &Arc<Case>, some: impl AsyncFn(&Router<Event>, &[Event])) {
    let room = Arc::new(Room::new(ROOM));
    let shop = (Arc::clone(case), Arc::clone(&room));
    let scheduler = Scheduler::builder(WORKERS, BEGUN).pin(PinPolicy::Disabled).stamp_arrival(false);
    let shard = move |_: &ShardContext| Shard { shop: Rc::new(shop.clone()) };
    let scheduler: Scheduler<Shard> = scheduler.mailbox(ROOM).spawn(shard).expect("shards can be started");
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("it needs no driver");
    runtime.block_on(async {
        for events in case.events().chunks(STEP) {
            room.enter();
            some(scheduler.router(), events).await;
        }
    });
}
