//! Handlers that are given the states of their event's keys.

use super::States;
use super::table::Removed;
use crate::caught::{caught, drop_caught};
use crate::handler::{Handler, Turn};
use crate::sync::Arc;
use core::hash::{BuildHasher, Hash};
use core::slice::from_ref;
use std::panic::resume_unwind;

/// Idle states that an event drops at most, for each of its keys: more than it can make, or they would pile up.
const MOST_DROPPED: usize = 2;

/// What becomes of a key's state when a handler has returned. Handlers that return nothing keep it.
///
/// ```
/// use warmcore_dispatch::{Dispatcher, Then};
///
/// enum Event {
///     Line(&'static str),
///     Bye,
/// }
///
/// let sessions = Dispatcher::<u32, Event>::builder()
///     .state(|_| Vec::new())
///     .on_drop(|client, lines| println!("{client} said {lines:?}"))
///     .build(|lines: &mut Vec<&str>, event| match event {
///         Event::Line(line) => {
///             lines.push(line);
///             Then::Keep
///         }
///         Event::Bye => Then::Drop,
///     })?;
/// sessions.dispatch(7, Event::Line("hello")).unwrap();
/// sessions.dispatch(7, Event::Bye).unwrap();
/// assert!(sessions.into_states().is_empty());
/// # Ok::<(), warmcore_dispatch::BuildError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Then {
    /// The key's next event finds it.
    Keep,
    /// It is dropped before any other event of the key is handled; those of all keys, if the event has several.
    Drop,
}

impl From<()> for Then {
    fn from((): ()) -> Self {
        Self::Keep
    }
}

/// Handles events with the states of their keys. Closures of the state of one key and an event are such handlers, and
/// [`Several`]. They return nothing, or [`Then`].
pub trait StateHandler<K, E, S>: Sync {
    /// Handles `event`. There is a state for each of its keys, in the order in which the keys were given; a key that was
    /// given twice counts once. Unordered and sequential events have no keys, and so no states.
    fn handle(&self, turn: &Turn<'_, K, E>, states: &mut [&mut S], event: E) -> Then;
}

impl<K, E, S, R: Into<Then>, F: Fn(&mut S, E) -> R + Sync> StateHandler<K, E, S> for F {
    #[inline]
    fn handle(&self, _: &Turn<'_, K, E>, states: &mut [&mut S], event: E) -> Then {
        match states {
            [state] => self(state, event).into(),
            _ => panic!("an event with {} keys; expected one key, or a handler in `Several`", states.len()),
        }
    }
}

/// A handler of a turn, a state for each key of the event, and the event. It takes events with any number of keys, and can
/// dispatch others by its turn.
///
/// ```
/// use warmcore_dispatch::{Dispatcher, Several, Turn};
///
/// let transfer = Several(|_: &Turn<'_, u32, i64>, accounts: &mut [&mut i64], amount: i64| {
///     if let [from, to] = accounts {
///         **from -= amount;
///         **to += amount;
///     }
/// });
/// let bank = Dispatcher::<u32, i64>::builder().state(|_| 100).build(transfer)?;
/// bank.dispatch_keys([1, 2], 30).unwrap();
/// let accounts = bank.into_states();
/// assert_eq!((accounts[&1], accounts[&2]), (70, 130));
/// # Ok::<(), warmcore_dispatch::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Several<F>(
    /// Handles an event.
    pub F,
);

impl<K, E, S, R, F> StateHandler<K, E, S> for Several<F>
where
    R: Into<Then>,
    F: Fn(&Turn<'_, K, E>, &mut [&mut S], E) -> R + Sync,
{
    #[inline]
    fn handle(&self, turn: &Turn<'_, K, E>, states: &mut [&mut S], event: E) -> Then {
        (self.0)(turn, states, event).into()
    }
}

/// A handler of events that lends it the states of their keys.
pub(super) struct WithStates<K, S, N, D, H> {
    pub(super) states: Arc<States<K, S>>,
    /// Makes the state of a key.
    pub(super) new: N,
    pub(super) on_drop: std::sync::Arc<D>,
    pub(super) handler: H,
}

/// A state that a handler has.
struct Taken<S> {
    hash: u64,
    /// The number of its last use.
    used: u64,
    state: Box<S>,
    is_new: bool,
}

impl<K, E, S, N, D, H> Handler<K, E> for WithStates<K, S, N, D, H>
where
    K: Eq + Hash + Clone + Send,
    S: Send,
    N: Fn(&K) -> S + Sync,
    D: Fn(&K, S) + Send + Sync,
    H: StateHandler<K, E, S>,
{
    fn handle(&self, turn: &Turn<'_, K, E>, event: E) {
        let handled = if let [key] = turn.keys {
            let mut taken = self.take(turn, key);
            let handled = caught(|| self.handler.handle(turn, &mut [&mut *taken.state], event));
            self.end(turn, taken, handled.as_ref());
            handled
        } else {
            let mut all = Vec::with_capacity(turn.keys.len());
            let handled = caught(|| {
                turn.keys.iter().for_each(|key| all.push(self.take(turn, key)));
                let mut states: Vec<&mut S> = all.iter_mut().map(|taken| &mut *taken.state).collect();
                self.handler.handle(turn, &mut states, event)
            });
            all.into_iter().for_each(|taken| self.end(turn, taken, handled.as_ref()));
            handled
        };
        if let Err(panic) = handled {
            resume_unwind(panic);
        }
    }
}

impl<K, S, N, D, H> WithStates<K, S, N, D, H>
where
    K: Eq + Hash + Clone,
    N: Fn(&K) -> S,
    D: Fn(&K, S),
{
    /// Takes the state of `key`, or makes one. Nothing has changed if that panics.
    #[inline]
    fn take<E>(&self, turn: &Turn<'_, K, E>, key: &K) -> Taken<S> {
        let hash = turn.handle.0.hasher.hash_one(key);
        let taken = self.states.table(hash).lock().take(hash, key);
        match taken {
            Some((used, state)) => Taken { hash, used, state, is_new: false },
            None => self.make(hash, key),
        }
    }

    #[cold]
    fn make(&self, hash: u64, key: &K) -> Taken<S> {
        self.states.wait_until_dropped(hash);
        let (state, key) = (Box::new((self.new)(key)), key.clone());
        let used = self.states.insert(hash, key);
        Taken { hash, used, state, is_new: true }
    }

    /// Puts back the state of an event that was `handled`, or drops it, and drops others if it is time.
    #[inline]
    fn end<E, P>(&self, turn: &Turn<'_, K, E>, taken: Taken<S>, handled: Result<&Then, &P>) {
        let Taken { hash, used, state, is_new } = taken;
        if matches!(handled, Ok(Then::Drop)) {
            if let Some(removed) = self.states.remove_taken(hash, used, state) {
                self.drop_removed(turn, removed);
            }
            if self.states.limits.epoch.is_some() && self.states.is_time_to_look(used) {
                self.drop_idle(turn);
            }
            return;
        }
        let states = &*self.states;
        let back = states.table(hash).lock().put_back(hash, used, states.epochs.now(), state);
        match back {
            Ok(used) => {
                if states.has_excess() {
                    self.drop_excess(turn);
                }
                if states.limits.epoch.is_some() && (is_new || states.is_time_to_look(used)) {
                    self.drop_idle(turn);
                }
            }
            // The dispatcher was taken apart by a handler.
            Err(state) => drop_caught(state),
        }
    }

    #[cold]
    fn drop_excess<E>(&self, turn: &Turn<'_, K, E>) {
        while let Some(removed) = self.states.remove_excess() {
            self.drop_removed(turn, removed);
        }
    }

    /// Drops some states that are idle.
    #[cold]
    fn drop_idle<E>(&self, turn: &Turn<'_, K, E>) {
        self.states.look_at(&turn.handle.0.clock);
        for _ in 0..MOST_DROPPED {
            let Some(removed) = self.states.remove_idle() else { break };
            self.drop_removed(turn, removed);
        }
    }

    /// Drops a state of another key. Events of that key wait meanwhile.
    fn drop_removed<E>(&self, turn: &Turn<'_, K, E>, removed: Removed<K, S>) {
        let Removed { hash, key, state } = removed;
        self.drop_state(turn, key, state);
        self.states.dropped(hash);
    }

    fn drop_state<E>(&self, turn: &Turn<'_, K, E>, key: K, state: Box<S>) {
        if let Err(panic) = caught(|| (self.on_drop)(&key, *state)) {
            turn.handle.0.panicked(turn.worker, from_ref(&key), panic);
        }
        drop_caught(key);
    }
}
