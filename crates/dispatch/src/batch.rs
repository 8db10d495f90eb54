//! Dispatching many events at once.

use crate::error::{DispatchError, Refusals};
use crate::handle::Handle;
use crate::label::Tagged;
use core::hash::Hash;

/// Events on their way, collected by queue, that are put in together: cheaper by far than one by one.
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
    /// By queue.
    parts: Box<[Part<K, E>]>,
    /// Events that are put into a queue together.
    size: usize,
}

/// Events for one queue, with their keys and what these are tagged with.
pub(crate) type Part<K, E> = Vec<(u32, K, E)>;

impl<'a, K: Eq + Hash + Clone, E> Batch<'a, K, E> {
    pub(crate) fn new(handle: &'a Handle<K, E>, size: usize) -> Self {
        let size = size.max(1);
        let parts = handle.0.queues.iter().map(|_| Vec::with_capacity(size)).collect();
        Self { handle, parts, size }
    }

    /// Dispatches `event`, which touches what `key` stands for: it is put in when as many as the batch's
    /// size are there for the same queue.
    ///
    /// # Errors
    /// As [`Handle::dispatch`], with all events that were to be put in now and could not.
    #[inline]
    pub fn dispatch(&mut self, key: K, event: E) -> Result<(), DispatchError<Vec<E>>> {
        let (Tagged { tag, key, .. }, queue) = self.handle.0.tagged(key);
        let part = &mut self.parts[queue];
        part.push((tag, key, event));
        if part.len() < self.size {
            return Ok(());
        }
        let mut refused = Refusals::none();
        self.handle.0.put_part(queue, part, &mut refused);
        refused.result()
    }

    /// Puts in all that is left.
    ///
    /// # Errors
    /// As [`Handle::dispatch`], with all events that could not be put in.
    pub fn flush(&mut self) -> Result<(), DispatchError<Vec<E>>> {
        let mut refused = Refusals::none();
        for (queue, part) in self.parts.iter_mut().enumerate() {
            self.handle.0.put_part(queue, part, &mut refused);
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
