//! Building a dispatcher that keeps the state of each key.

use super::{States, WithStates};
use crate::builder::Builder;
use crate::dispatcher::Dispatcher;
use crate::error::BuildError;
use crate::handle::Handle;
use crate::handler::Turn;
use crate::sync::Arc;
use core::fmt;
use core::hash::Hash;
use core::marker::PhantomData;
use core::ops::Deref;
use std::collections::HashMap;

/// How a dispatcher is to be that keeps the state of each key: see [`Builder::state`].
pub struct StateBuilder<K, S, N> {
    builder: Builder,
    new: N,
    state: PhantomData<fn(&K) -> S>,
}

impl<K, S, N> fmt::Debug for StateBuilder<K, S, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StateBuilder").field("builder", &self.builder).finish_non_exhaustive()
    }
}

/// A [`Dispatcher`] that keeps the state of each key.
pub struct StatefulDispatcher<K, E, S> {
    dispatcher: Dispatcher<K, E>,
    states: Arc<States<K, S>>,
}

impl<K, E, S> fmt::Debug for StatefulDispatcher<K, E, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.dispatcher.fmt(f)
    }
}

impl Builder {
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
    ///     .state(|_: &u32| Account::default())
    ///     .build(|account: &mut Account, amount: i64| account.balance += amount)?;
    /// for amount in 0..1_000 {
    ///     bank.dispatch(amount as u32 % 10, amount).unwrap();
    /// }
    /// let accounts = bank.into_states();
    /// assert_eq!(accounts[&3].balance, (0..100).map(|n| 10 * n + 3).sum());
    /// # Ok::<(), warmcore_dispatch::BuildError>(())
    /// ```
    #[must_use]
    pub fn state<K, S, N: Fn(&K) -> S>(self, new: N) -> StateBuilder<K, S, N> {
        StateBuilder { builder: self, new, state: PhantomData }
    }
}

impl<K, S, N> StateBuilder<K, S, N>
where
    K: Eq + Hash + Clone + Send + Sync,
    S: Send,
    N: Fn(&K) -> S + Send + Sync,
{
    /// Starts the workers, which call `handler` with the state of the event's key. An event with several keys or none
    /// panics, as a handler does: [`build_with`](Self::build_with) takes those.
    ///
    /// # Errors
    /// As [`Builder::build`].
    pub fn build<E, F>(self, handler: F) -> Result<StatefulDispatcher<K, E, S>, BuildError>
    where
        K: 'static,
        S: 'static,
        N: 'static,
        E: Send + 'static,
        F: Fn(&mut S, E) + Send + Sync + 'static,
    {
        self.build_with(of_one_key(handler))
    }

    /// Starts the workers, which call `handler` with a state for each key of the event, in the order in which the keys
    /// were given; with none, if the event has no key.
    ///
    /// ```
    /// use warmcore_dispatch::{Dispatcher, Turn};
    ///
    /// let transfer = |_: &Turn<'_, u32, i64>, accounts: &mut [Box<i64>], amount: i64| {
    ///     if let [from, to] = accounts {
    ///         **from -= amount;
    ///         **to += amount;
    ///     }
    /// };
    /// let bank = Dispatcher::<u32, i64>::builder().state(|_: &u32| 100).build_with(transfer)?;
    /// bank.dispatch_keys([1, 2], 30).unwrap();
    /// let accounts = bank.into_states();
    /// assert_eq!((accounts[&1], accounts[&2]), (70, 130));
    /// # Ok::<(), warmcore_dispatch::BuildError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Builder::build`].
    pub fn build_with<E, F>(self, handler: F) -> Result<StatefulDispatcher<K, E, S>, BuildError>
    where
        K: 'static,
        S: 'static,
        N: 'static,
        E: Send + 'static,
        F: Fn(&Turn<'_, K, E>, &mut [Box<S>], E) + Send + Sync + 'static,
    {
        let states = Arc::new(States::new());
        let handler = WithStates { states: states.clone(), new: self.new, handle: handler };
        Ok(StatefulDispatcher { dispatcher: self.builder.build(handler)?, states })
    }

    /// Calls `body` with a dispatcher whose events, states and handler may borrow from around, waits until everything that
    /// was dispatched has been handled, and returns the states with what `body` did. The handler is one of
    /// [`build_with`](Self::build_with).
    ///
    /// # Errors
    /// As [`Builder::build`].
    pub fn scope_with<E, F, R>(
        self,
        handler: F,
        body: impl FnOnce(&Handle<K, E>) -> R,
    ) -> Result<(R, HashMap<K, S>), BuildError>
    where
        E: Send,
        F: Fn(&Turn<'_, K, E>, &mut [Box<S>], E) + Sync,
    {
        let states = Arc::new(States::new());
        let handler = WithStates { states: states.clone(), new: self.new, handle: handler };
        let result = self.builder.scope(handler, body)?;
        Ok((result, states.take_all()))
    }

    /// The same with a handler of the state of one key, as [`build`](Self::build) takes it.
    ///
    /// # Errors
    /// As [`Builder::build`].
    pub fn scope<E, F, R>(
        self,
        handler: F,
        body: impl FnOnce(&Handle<K, E>) -> R,
    ) -> Result<(R, HashMap<K, S>), BuildError>
    where
        E: Send,
        F: Fn(&mut S, E) + Sync,
    {
        self.scope_with(of_one_key(handler), body)
    }
}

/// A handler of states, from one of a single state.
fn of_one_key<K, E, S>(handler: impl Fn(&mut S, E)) -> impl Fn(&Turn<'_, K, E>, &mut [Box<S>], E) {
    move |_, states, event| match states {
        [state] => handler(state, event),
        _ => panic!(
            "an event with {} keys; expected one key, or a dispatcher built by `build_with`",
            states.len()
        ),
    }
}

impl<K, E, S> StatefulDispatcher<K, E, S> {
    /// Closes, waits until everything has been handled, and returns the state of every key.
    ///
    /// A key whose state could not be made, as its constructor panicked, is not among them.
    #[must_use]
    pub fn into_states(self) -> HashMap<K, S>
    where
        K: Eq + Hash,
    {
        drop(self.dispatcher);
        self.states.take_all()
    }
}

impl<K, E, S> Deref for StatefulDispatcher<K, E, S> {
    type Target = Dispatcher<K, E>;

    #[inline]
    fn deref(&self) -> &Dispatcher<K, E> {
        &self.dispatcher
    }
}
