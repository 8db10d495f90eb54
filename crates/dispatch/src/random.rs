//! Mixes of everything that a dispatcher does, drawn at random, and what must hold of all of them.
//!
//! A [`Plan`] says which events are dispatched, by whom, and how it ends. A [`Ledger`] is told what happens
//! to each event, and finds fault with what must not. The same plans run on real threads
//! ([`properties`], [`soak`]), where the system decides who comes first, and under shuttle
//! ([`schedules`]), which draws that too.
//!
//! It is here and not with the other tests as it counts to the last event, also after an abort, when users
//! have no dispatcher any more to ask.

mod executor;
mod ledger;
mod plan;
#[cfg(not(shuttle))]
mod properties;
#[cfg(shuttle)]
mod schedules;
#[cfg(not(any(shuttle, miri)))]
mod soak;
#[cfg(not(shuttle))]
mod watchdog;

use crate::sync::{Arc, Thread, current, park, spawn};
use crate::{AsyncTurn, Binding, DispatchError, Dispatcher, Handle, Handler, Turn};
use core::hash::BuildHasher;
use core::pin::pin;
use core::task::{Context, Poll};
use executor::{Executor, yield_once};
use ledger::{Event, Fate, Ledger, Totals};
use plan::{End, Plan, Step, Touches, is_patient};
use std::task::Wake;

/// A handler that tells the ledger.
struct Visitor(Arc<Ledger>);

impl Handler<u64, Event> for Visitor {
    fn handle(&self, turn: &Turn<'_, u64, Event>, event: Event) {
        let ledger = &self.0;
        let visit = ledger.enter(&event, turn.keys().copied(), Some(turn.worker()));
        let planned = ledger.planned(&event);
        planned.follows.iter().for_each(|&follow| dispatch(turn, ledger, follow));
        ledger.leave(&visit);
        if planned.panics {
            event.settle(Fate::Panicked);
            // Quietly: a hook that tells of panics tells of those that are faults.
            std::panic::resume_unwind(Box::new("as planned"));
        }
        event.settle(Fate::Handled);
    }
}

/// The same, asynchronously.
async fn visit(ledger: Arc<Ledger>, turn: AsyncTurn<u64, Event>, event: Event) {
    let visit = ledger.enter(&event, turn.keys().copied(), None);
    let planned = ledger.planned(&event);
    planned.follows.iter().for_each(|&follow| dispatch(&turn, &ledger, follow));
    yield_once().await;
    ledger.leave(&visit);
    if planned.panics {
        event.settle(Fate::Panicked);
        std::panic::resume_unwind(Box::new("as planned"));
    }
    event.settle(Fate::Handled);
}

/// Runs `plan` to its end, and checks what has become of every event. What has, and what the dispatcher says of it.
///
/// # Panics
/// If something is wrong.
fn run(plan: Plan) -> (Arc<Ledger>, Totals) {
    let ledger = Arc::new(Ledger::new(plan));
    let builder = ledger.plan().builder();
    let executor = ledger.plan().asynchronous.then(Executor::start);
    let dispatcher = if let Some(executor) = &executor {
        let visitor = ledger.clone();
        builder.build_async(executor.spawn(), move |turn, event| visit(visitor.clone(), turn, event))
    } else {
        builder.build(Visitor(ledger.clone()))
    };
    let dispatcher = dispatcher.expect("what is planned is possible");
    let handle = dispatcher.handle();
    produce(&handle, &ledger);
    let said = end(dispatcher, &ledger);
    executor.into_iter().for_each(Executor::stop);
    let (stats, reports) = (handle.stats(), handle.panics().len());
    let discarded = stats.discarded;
    ledger.demand(said <= discarded, || format!("{said} were dropped, it was said, and {discarded} counted"));
    let homes = homes(&handle, ledger.plan());
    let totals = Totals { stats, reports, discarded, aborted: is_aborted(&handle), homes };
    ledger.close_the_books(&totals);
    (ledger, totals)
}

/// The worker that each key is bound to, if keys are.
fn homes(handle: &Handle<u64, Event>, plan: &Plan) -> Vec<usize> {
    let shared = &handle.0;
    let home = |key: u64| shared.ready.home(shared.strand_of(shared.hasher.hash_one(key)));
    if plan.binding == Binding::Static { (0..plan.keys).map(home).collect() } else { Vec::new() }
}

/// Lets all producers dispatch what they are to, and waits for them.
fn produce(handle: &Handle<u64, Event>, ledger: &Arc<Ledger>) {
    let start = |source| {
        let (handle, ledger) = (handle.clone(), ledger.clone());
        spawn(format!("producer-{source}"), move || follow(&handle, &ledger, source))
    };
    let others = (1..ledger.plan().producers).map(|source| start(source).expect("a thread"));
    let others: Vec<_> = others.collect();
    follow(handle, ledger, 0);
    others.into_iter().for_each(|other| other.join().expect("producers do not panic"));
}

/// Ends a dispatcher as it is planned; how many events it says it has dropped.
fn end(dispatcher: Dispatcher<u64, Event>, ledger: &Ledger) -> u64 {
    match ledger.plan().end {
        End::Drop => {}
        End::Abort => {
            dispatcher.abort();
            dispatcher.wait_idle().expect("it is no handler");
            return dispatcher.stats().discarded;
        }
        End::Drain(longest) => {
            let left = dispatcher.drain(longest).expect("it is no handler").left;
            let is_so = left == 0 || !is_patient(longest);
            ledger.demand(is_so, || format!("{left} are left by a patient drain"));
        }
    }
    0
}

fn is_aborted(handle: &Handle<u64, Event>) -> bool {
    handle.0.has(crate::shared::ABORTED)
}

/// Does what is planned of `source`.
fn follow(handle: &Handle<u64, Event>, ledger: &Arc<Ledger>, source: usize) {
    for step in &ledger.plan().scripts[source] {
        match step {
            Step::One(id) => dispatch(handle, ledger, *id),
            Step::Batch { size, ids } => dispatch_batch(handle, ledger, *size, ids),
            Step::WaitIdle => {
                handle.wait_idle().expect("it is no handler");
                ledger.demand_that_all_is_settled(source);
            }
            Step::Close => handle.close(),
            Step::Drain(longest) => {
                let _ = handle.drain(*longest).expect("it is no handler");
                if is_patient(*longest) {
                    ledger.demand_that_all_is_settled(source);
                }
            }
        }
    }
}

fn dispatch(handle: &Handle<u64, Event>, ledger: &Arc<Ledger>, id: usize) {
    let event = Event::new(ledger, id);
    let planned = ledger.planned(&event);
    let dispatched = match &planned.touches {
        Touches::Key(key) if planned.awaits => block_on(handle.dispatch_async(*key, event)),
        Touches::Key(key) => handle.dispatch(*key, event),
        Touches::Freshest(key) => handle.dispatch_freshest(*key, event),
        Touches::Keys(keys) => handle.dispatch_keys(keys.iter().copied(), event),
        Touches::Nothing => handle.dispatch_unordered(event),
        Touches::All => handle.dispatch_sequential(event),
    };
    ledger.dispatched(&[id]);
    if let Err(refused) = dispatched {
        refused.into_event().settle(Fate::GivenBack);
    }
}

fn dispatch_batch(handle: &Handle<u64, Event>, ledger: &Arc<Ledger>, size: usize, ids: &[usize]) {
    let give_back = |refused: DispatchError<Vec<Event>>| {
        refused.into_event().into_iter().for_each(|event| event.settle(Fate::GivenBack));
    };
    let mut batch = handle.batch(size);
    for &id in ids {
        let event = Event::new(ledger, id);
        let Touches::Key(key) = ledger.planned(&event).touches else { unreachable!("batches are of keys") };
        batch.dispatch(key, event).unwrap_or_else(give_back);
    }
    batch.flush().unwrap_or_else(give_back);
    ledger.dispatched(ids);
}

/// Waits for a task, blocking the thread.
fn block_on<F: Future>(task: F) -> F::Output {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: std::sync::Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = std::sync::Arc::new(Unpark(current())).into();
    let mut task = pin!(task);
    loop {
        match task.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => park(),
        }
    }
}
