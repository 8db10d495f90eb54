//! Everything at once: rounds of random events under random settings, with keys that panic wherever they can.
//!
//! `WARMCORE_MIXED_EVENTS` says how many events there are to be at least, and `WARMCORE_MIXES_SEED` which round alone.

mod books;
mod fragile;

use books::{Books, Event, FRESHEST, Kind};
use core::future::Future;
use core::pin::pin;
use core::task::{Context, Waker};
use core::time::Duration;
use fragile::Key;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process::abort;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use warmcore_dispatch::{Binding, DispatchError, Dispatcher, Handle, Idle, OnPanic, Overload, Turn};

/// No round takes nearly so long.
const STUCK: Duration = Duration::from_secs(120);

/// What is drawn for a round.
#[derive(Clone, Copy, Debug)]
struct Round {
    keys: u64,
    /// Keys have the hash of their number modulo this.
    hashes: u64,
    is_fragile: bool,
    panics: bool,
    follows: bool,
    /// Of 1,000 events, so many have several keys, and so many run alone.
    several: u64,
    alone: u64,
    producers: usize,
    events: u64,
    /// The events after which everything is aborted.
    aborted_after: Option<u64>,
}

#[test]
fn no_event_is_lost_doubled_out_of_order_or_at_once_with_its_key() {
    let given = |name: &str| std::env::var(name).ok().map(|value| value.parse::<u64>().expect("a number"));
    let enough = given("WARMCORE_MIXED_EVENTS").unwrap_or(300_000);
    let (mut rounds, mut events) = (0, 0);
    while events < enough {
        let seed = given("WARMCORE_MIXES_SEED").unwrap_or_else(|| rand::rng().random());
        events += watched(seed, || run(seed));
        rounds += 1;
    }
    println!("{rounds} rounds, {events} events");
}

/// Ends the process if `round` hangs.
fn watched(seed: u64, round: impl FnOnce() -> u64) -> u64 {
    let (done, watch) = channel::<()>();
    let watchdog = thread::spawn(move || {
        if watch.recv_timeout(STUCK) == Err(RecvTimeoutError::Timeout) {
            eprintln!("WARMCORE_MIXES_SEED={seed} hangs");
            abort();
        }
    });
    let events = round();
    drop(done);
    watchdog.join().unwrap();
    events
}

/// Runs the round that `seed` stands for; how many events that were.
fn run(seed: u64) -> u64 {
    let random = &mut StdRng::seed_from_u64(seed);
    let round = Round {
        keys: *[1, 2, 8, 64, 1_000].choose(random).unwrap(),
        hashes: *[1, 3, u64::MAX, u64::MAX].choose(random).unwrap(),
        is_fragile: random.random_bool(0.4),
        panics: random.random(),
        follows: random.random(),
        several: *[0, 50, 500].choose(random).unwrap(),
        alone: *[0, 0, 2, 50].choose(random).unwrap(),
        producers: random.random_range(1..=4),
        events: random.random_range(1_000..20_000),
        aborted_after: random.random_bool(0.2).then(|| random.random_range(0..1_000)),
    };
    let mut builder = Dispatcher::builder()
        .workers(random.random_range(1..=5))
        .capacity(*[1, 2, 3, 16, 256, 8_192].choose(random).unwrap())
        .strands(*[1, 2, 16, 256].choose(random).unwrap())
        .follow_ups(*[0, 100, 65_536].choose(random).unwrap())
        .binding(if random.random_bool(0.2) { Binding::Static } else { Binding::Dynamic })
        .idle(if random.random_bool(0.1) { Idle::Spin } else { Idle::Sleep })
        .overload(
            *[Overload::Block, Overload::Block, Overload::Reject, Overload::Shed].choose(random).unwrap(),
        )
        .on_panic(*[OnPanic::Skip, OnPanic::Skip, OnPanic::Poison, OnPanic::Stop].choose(random).unwrap());
    if random.random_bool(0.2) {
        builder = builder.key_limit(random.random_range(1..20));
    }
    let settings = format!("WARMCORE_MIXES_SEED={seed}: {round:?} {builder:?}");

    let books = Arc::new(Books::new(round.producers, round.keys));
    let handler = move |turn: &Turn<'_, Key, Event>, event: Event| handle(round, turn, event);
    let dispatcher = builder.build(handler).unwrap();
    let handle = dispatcher.handle();
    thread::scope(|scope| {
        for producer in 0..round.producers {
            let (handle, books) = (&handle, &books);
            let random = StdRng::seed_from_u64(random.random());
            scope.spawn(move || produce(round, handle, books, producer, random));
        }
    });
    if random.random() {
        assert_eq!(dispatcher.drain(STUCK).unwrap().left, 0, "{settings}");
    }
    drop(dispatcher);
    let ended = books.close(&handle.stats(), round.is_fragile);
    // A key may panic as it is dropped with a report.
    drop(catch_unwind(AssertUnwindSafe(|| drop(handle))));
    ended.unwrap_or_else(|fault| panic!("{settings}: {fault}"))
}

fn handle(round: Round, turn: &Turn<'_, Key, Event>, event: Event) {
    let visit = event.enter();
    if round.follows
        && let Some(follow) = event.follow()
    {
        let key = Key::new(follow.key(), round.hashes, round.is_fragile);
        let books = follow.books.clone();
        let dispatched = if follow.key() % 8 == FRESHEST {
            turn.dispatch_freshest(key, follow)
        } else {
            turn.dispatch(key, follow)
        };
        books.put(dispatched.is_ok());
    }
    drop(visit);
    if round.panics && event.number.is_multiple_of(977) {
        resume_unwind(Box::new("as planned"));
    }
}

fn produce(
    round: Round,
    handle: &Handle<Key, Event>,
    books: &Arc<Books>,
    producer: usize,
    mut random: StdRng,
) {
    for number in 1..=round.events {
        if producer == 0 && round.aborted_after == Some(number) {
            handle.abort();
        }
        let dispatch = AssertUnwindSafe(|| dispatch(round, handle, books, producer, number, &mut random));
        // A panic is that of a key; the event has not come in, or not been counted.
        if matches!(catch_unwind(dispatch), Ok(Err(DispatchError::Closed(_)))) {
            return;
        }
    }
}

fn dispatch(
    round: Round,
    handle: &Handle<Key, Event>,
    books: &Arc<Books>,
    producer: usize,
    number: u64,
    random: &mut StdRng,
) -> Result<(), DispatchError<Event>> {
    let key = |id| Key::new(id, round.hashes, round.is_fragile);
    let id = random.random_range(0..round.keys);
    let event = |kind| Event::new(books, producer, number, kind);
    let dice = random.random_range(0..1_000);
    let dispatched = if dice < round.alone {
        handle.dispatch_sequential(event(Kind::Alone))
    } else if dice < round.alone + round.several {
        // Those of which the freshest counts may be overtaken.
        let mut ids = [id, random.random_range(0..round.keys), random.random_range(0..round.keys)];
        ids.iter_mut().filter(|id| **id % 8 == FRESHEST).for_each(|id| *id -= 1);
        handle.dispatch_keys(ids.map(key), event(Kind::Keys(ids)))
    } else if id % 8 == FRESHEST {
        handle.dispatch_freshest(key(id), event(Kind::Key(id)))
    } else {
        let event = event(if dice > 980 { Kind::Nothing } else { Kind::Key(id) });
        match dice {
            981.. => handle.dispatch_unordered(event),
            970.. => handle.try_dispatch(key(id), event),
            960.. => handle.dispatch_timeout(key(id), event, Duration::from_micros(100)),
            950.. => return cancel(handle.dispatch_async(key(id), event), books),
            _ => handle.dispatch(key(id), event),
        }
    };
    books.put(dispatched.is_ok());
    dispatched
}

/// Polls a dispatch once, and drops it.
fn cancel(
    dispatching: impl Future<Output = Result<(), DispatchError<Event>>>,
    books: &Books,
) -> Result<(), DispatchError<Event>> {
    let polled = pin!(dispatching).poll(&mut Context::from_waker(Waker::noop()));
    books.put(matches!(polled, core::task::Poll::Ready(Ok(()))));
    Ok(())
}
