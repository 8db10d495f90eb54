//! Dispatching many events at once.

use crate::error::DispatchError;
use crate::handle::Handle;
use core::hash::Hash;
use std::collections::VecDeque;

/// Collects events that are put in together.
///
/// Those of a key stay in order. Until it is [flushed](Self::flush), events may be in or not; what the same
/// thread dispatches otherwise goes before those that are not. One that is dropped is flushed, and what
/// cannot come in then is lost: flush it where events may be refused.
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering};
/// use warmcore_dispatch::{Dispatcher, Turn};
///
/// let sum = AtomicU64::new(0);
/// let add = |_: &Turn<'_, u32, u64>, number: u64| drop(sum.fetch_add(number, Ordering::Relaxed));
/// Dispatcher::<u32, u64>::builder().scope(add, |dispatcher| {
///     let mut batch = dispatcher.batch(32);
///     (0..100).for_each(|number| batch.dispatch(number as u32 % 8, number).unwrap());
///     batch.flush().unwrap();
/// })?;
/// assert_eq!(sum.into_inner(), 4950);
/// # Ok::<(), warmcore_dispatch::BuildError>(())
/// ```
#[must_use = "events in it go nowhere until it is full or flushed"]
pub struct Batch<'a, K: Eq + Hash + Clone, E> {
    handle: &'a Handle<K, E>,
    events: VecDeque<(K, E)>,
    size: usize,
}

impl<K: Eq + Hash + Clone, E> core::fmt::Debug for Batch<'_, K, E> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Batch").field("events", &self.events.len()).finish_non_exhaustive()
    }
}

impl<'a, K: Eq + Hash + Clone, E> Batch<'a, K, E> {
    pub(crate) fn new(handle: &'a Handle<K, E>, size: usize) -> Self {
        Self { handle, events: VecDeque::new(), size: size.max(1) }
    }

    /// Adds `event`, which touches what `key` stands for. When the batch has its size, all of it is put in.
    ///
    /// # Errors
    /// As [`Handle::dispatch`], with all events that were to be put in now and could not.
    #[inline]
    pub fn dispatch(&mut self, key: K, event: E) -> Result<(), DispatchError<Vec<E>>> {
        self.events.push_back((key, event));
        if self.events.len() < self.size { Ok(()) } else { self.flush() }
    }

    /// Puts in all that is left.
    ///
    /// # Errors
    /// As [`Handle::dispatch`], with all events that could not be put in.
    pub fn flush(&mut self) -> Result<(), DispatchError<Vec<E>>> {
        let mut refused = Refusals::none();
        // One by one: a key that panics takes no other event with it.
        while let Some((key, event)) = self.events.pop_front() {
            if let Err(error) = self.handle.dispatch(key, event) {
                refused.add(error);
            }
        }
        refused.result()
    }
}

impl<K: Eq + Hash + Clone, E> Drop for Batch<'_, K, E> {
    fn drop(&mut self) {
        // What is refused can be given back to nobody.
        let _ = self.flush();
    }
}

/// Events that were not taken in, and why the last of them was not.
struct Refusals<E> {
    events: Vec<E>,
    why: Option<DispatchError<()>>,
}

impl<E> Refusals<E> {
    const fn none() -> Self {
        Self { events: Vec::new(), why: None }
    }

    fn add(&mut self, error: DispatchError<E>) {
        self.why = Some(error.map(|event| self.events.push(event)));
    }

    /// All of them.
    fn result(self) -> Result<(), DispatchError<Vec<E>>> {
        self.why.map_or(Ok(()), |why| Err(why.map(|()| self.events)))
    }
}
