//! Building a dispatcher that keeps the state of each key.

use super::handler::WithStates;
use super::limits::Limits;
use super::table::Removed;
use super::{StateHandler, States};
use crate::builder::Builder;
use crate::caught::{caught, drop_caught};
use crate::dispatcher::Dispatcher;
use crate::error::{BuildError, InUse};
use crate::handle::Handle;
use crate::sync::Arc;
use core::fmt;
use core::hash::{BuildHasher, Hash};
use core::marker::PhantomData;
use core::ops::Deref;
use core::time::Duration;
use std::collections::HashMap;

/// How a dispatcher is to be that keeps the state of each key: see [`Builder::state`].
pub struct StateBuilder<K, E, S, N, D> {
    builder: Builder<K, E>,
    new: N,
    on_drop: D,
    limits: Limits,
    state: PhantomData<fn(&K) -> S>,
}

impl<K, E, S, N, D> fmt::Debug for StateBuilder<K, E, S, N, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { builder, limits, .. } = self;
        f.debug_struct("StateBuilder")
            .field("builder", builder)
            .field("limits", limits)
            .finish_non_exhaustive()
    }
}

/// What is done with a state that is dropped; by default, nothing more.
type OnDrop<K, S> = dyn Fn(&K, S) + Send + Sync;
type Nothing<K, S> = fn(&K, S);
type Parts<K, E, S, N, D, H> = (Builder<K, E>, WithStates<K, S, N, D, H>);

/// A [`Dispatcher`] that keeps the state of each key.
pub struct StatefulDispatcher<K, E, S> {
    dispatcher: Dispatcher<K, E>,
    states: Arc<States<K, S>>,
    on_drop: std::sync::Arc<OnDrop<K, S>>,
}

impl<K, E, S> fmt::Debug for StatefulDispatcher<K, E, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.dispatcher.fmt(f)
    }
}

impl<K, E> Builder<K, E> {
    /// Keeps a state for each key, which `new` makes for its first event. A handler is given the state of its event's key
    /// to change: nobody else touches it meanwhile.
    ///
    /// ```
    /// use warmcore_dispatch::Dispatcher;
    ///
    /// #[derive(Default)]
    /// struct Account {
    ///     balance: i64,
    /// }
    ///
    /// let bank = Dispatcher::<u32, i64>::builder()
    ///     .state(|_| Account::default())
    ///     .build(|account: &mut Account, amount: i64| account.balance += amount)?;
    /// for amount in 0..1_000 {
    ///     bank.dispatch(amount as u32 % 10, amount).unwrap();
    /// }
    /// let accounts = bank.into_states();
    /// assert_eq!(accounts[&3].balance, (0..100).map(|n| 10 * n + 3).sum());
    /// # Ok::<(), warmcore_dispatch::BuildError>(())
    /// ```
    #[must_use]
    pub fn state<S, N: Fn(&K) -> S>(self, new: N) -> StateBuilder<K, E, S, N, Nothing<K, S>> {
        let limits = Limits::default();
        StateBuilder { builder: self, new, on_drop: |_, _| {}, limits, state: PhantomData }
    }
}

impl<K, E, S, N, D> StateBuilder<K, E, S, N, D> {
    /// Drops the state of a key that has had no event for so long, at the next events of whichever keys, or by a
    /// [`sweep`](StatefulDispatcher::sweep): a dispatcher at rest keeps its states otherwise.
    ///
    /// A state is never dropped sooner. It may be dropped later: by a quarter of the time, and by about as long as 20,000 events
    /// take, and three times as many as there are states. However long no event comes, that counts as a quarter of the time. An
    /// event drops two idle states at most for each of its keys.
    #[must_use]
    pub fn drop_idle(self, idle: Duration) -> Self {
        Self { limits: self.limits.idle(idle), ..self }
    }

    /// Keeps no more than so many states: when there is one more, one that was unused long is dropped. That is the one unused
    /// longest among 16 of them.
    ///
    /// States that handlers have are not dropped, and count: as long as handlers have them all, there may be more.
    #[must_use]
    pub fn at_most(self, states: u64) -> Self {
        Self { limits: Limits { most: Some(states), ..self.limits }, ..self }
    }

    /// What is done with each state that is dropped: [idle](Self::drop_idle), [too many](Self::at_most), or because its handler
    /// [says so](crate::Then). Not with what is left at the end, which [`into_states`](StatefulDispatcher::into_states) gives
    /// back, nor with what was [forgotten](StatefulDispatcher::forget).
    ///
    /// A worker calls it. No other event of the key is handled before it has returned, so a state that it writes somewhere
    /// can be read there when the key's next is made; an event of the key that comes to its turn meanwhile keeps its worker
    /// waiting. It must not wait for other events. If it panics, that is counted and reported as of a handler of the key.
    #[must_use]
    pub fn on_drop<F: Fn(&K, S)>(self, on_drop: F) -> StateBuilder<K, E, S, N, F> {
        let Self { builder, new, limits, state, .. } = self;
        StateBuilder { builder, new, on_drop, limits, state }
    }
}

impl<K, E, S, N, D> StateBuilder<K, E, S, N, D>
where
    K: Eq + Hash + Clone + Send + Sync,
    S: Send,
    N: Fn(&K) -> S + Send + Sync,
    D: Fn(&K, S) + Send + Sync,
{
    /// Starts the workers, which call `handler`: a closure of the state of the event's key, and the event; or
    /// [`Several`](crate::Several). To the closure, an event with several keys or none is a panic, as of a handler.
    ///
    /// # Errors
    /// As [`Builder::build`].
    pub fn build<H>(self, handler: H) -> Result<StatefulDispatcher<K, E, S>, BuildError>
    where
        K: 'static,
        S: 'static,
        N: 'static,
        D: 'static,
        E: Send + 'static,
        H: StateHandler<K, E, S> + Send + 'static,
    {
        let (builder, handler) = self.with(handler);
        let (states, on_drop) = (handler.states.clone(), handler.on_drop.clone());
        Ok(StatefulDispatcher { dispatcher: builder.build(handler)?, states, on_drop })
    }

    /// Calls `body` with a dispatcher whose events, states and handler may borrow from around, waits until everything that
    /// was dispatched has been handled, and returns what `body` did, and the states.
    ///
    /// # Errors
    /// As [`Builder::build`].
    pub fn scope<H, R>(
        self,
        handler: H,
        body: impl FnOnce(&Handle<K, E>) -> R,
    ) -> Result<(R, HashMap<K, S>), BuildError>
    where
        E: Send,
        H: StateHandler<K, E, S>,
    {
        let (builder, handler) = self.with(handler);
        let states = handler.states.clone();
        let result = builder.scope(handler, body)?;
        Ok((result, states.remove_all()))
    }

    fn with<H>(self, handler: H) -> Parts<K, E, S, N, D, H> {
        let Self { builder, new, on_drop, limits, .. } = self;
        (
            builder,
            WithStates {
                states: Arc::new(States::new(limits)),
                new,
                on_drop: std::sync::Arc::new(on_drop),
                handler,
            },
        )
    }
}

impl<K, E, S> StatefulDispatcher<K, E, S> {
    /// Takes out the state of `key`, if it has one. Events of the key that wait or come get a new one at once: what is then
    /// written somewhere is not seen by that. To write a state where the next one is read, return [`Then::Drop`](crate::Then)
    /// and write it in [`on_drop`](StateBuilder::on_drop).
    ///
    /// To drop a state after all events that were dispatched before, dispatch an event whose handler [drops](crate::Then) it.
    ///
    /// # Errors
    /// If a handler has the state at this moment, or it is being dropped: then nothing was changed.
    pub fn forget(&self, key: &K) -> Result<Option<S>, InUse>
    where
        K: Eq + Hash,
    {
        let hash = self.dispatcher.handle.0.hasher.hash_one(key);
        let removed = self.states.remove(hash, key).map_err(|()| InUse)?;
        Ok(removed.map(|Removed { key, state, .. }| {
            drop_caught(key);
            *state
        }))
    }

    /// Drops all states that are [idle](StateBuilder::drop_idle), on this thread; how many those are. Events do that only
    /// as they come: call this from a timer, four times in the idle time or oftener, and a dispatcher at rest drops its states
    /// after at most one and a half of the idle time.
    pub fn sweep(&self) -> u64
    where
        K: Eq + Hash + Clone,
    {
        let shared = &self.dispatcher.handle.0;
        self.states.look_at(&shared.clock);
        self.states.sweep(|key, state| {
            if let Err(panic) = caught(|| (self.on_drop)(&key, *state)) {
                crate::lock(&shared.outside).panicked();
                shared.handler_panicked(core::slice::from_ref(&key), panic);
            }
            drop_caught(key);
        })
    }

    /// How many keys have a state.
    #[must_use]
    pub fn state_count(&self) -> u64 {
        self.states.count.get()
    }

    /// Closes, waits until everything has been handled, and returns the states that are left, with their keys. If a handler
    /// of this dispatcher calls it, nobody waits, and states that handlers have then are missing.
    ///
    /// A key whose state could not be made, as its constructor panicked, is not among them.
    #[must_use]
    pub fn into_states(self) -> HashMap<K, S>
    where
        K: Eq + Hash,
    {
        drop(self.dispatcher);
        self.states.remove_all()
    }
}

impl<K, E, S> Deref for StatefulDispatcher<K, E, S> {
    type Target = Dispatcher<K, E>;

    #[inline]
    fn deref(&self) -> &Dispatcher<K, E> {
        &self.dispatcher
    }
}
