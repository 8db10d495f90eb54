//! A dispatcher that owns its workers.

use crate::builder::Builder;
use crate::handle::Handle;
use crate::slow::SlowWait;
use crate::sync::JoinHandle;
use core::ops::Deref;

/// Dispatches events with keys of type `K` to handlers: those with the same key one after the other,
/// in order, and all others in parallel. See the [crate's documentation](crate), and [`Handle`] for
/// what it does.
///
/// Events that one thread dispatches, or that are dispatched one after the other, are in that order.
///
/// When it is dropped, it is [closed](Handle::close), and what was dispatched before is handled. A handler may drop it
/// too: then nobody waits for that.
pub struct Dispatcher<K, E> {
    pub(crate) handle: Handle<K, E>,
    pub(crate) threads: Vec<JoinHandle<()>>,
}

impl<K, E> core::fmt::Debug for Dispatcher<K, E> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.handle.fmt(f)
    }
}

impl<K, E> Dispatcher<K, E> {
    /// What a dispatcher is built with.
    #[must_use]
    pub fn builder() -> Builder<K, E> {
        Builder::default()
    }

    /// A handle to dispatch from elsewhere.
    #[must_use]
    pub fn handle(&self) -> Handle<K, E> {
        self.handle.clone()
    }

    fn join(&mut self) {
        let shared = &self.handle.0;
        if shared.handles_here() {
            return;
        }
        let slow = SlowWait::begin(Some(&shared.waits), || shared.describe_end());
        for thread in self.threads.drain(..) {
            slow.join(thread);
        }
        // Futures that handle events may run on when the workers were told to end.
        shared.quiet.wait(|| slow.until(shared.is_quiet()));
    }
}

impl<K, E> Deref for Dispatcher<K, E> {
    type Target = Handle<K, E>;

    #[inline]
    fn deref(&self) -> &Handle<K, E> {
        &self.handle
    }
}

impl<K, E> Drop for Dispatcher<K, E> {
    fn drop(&mut self) {
        self.handle.close();
        self.join();
    }
}
