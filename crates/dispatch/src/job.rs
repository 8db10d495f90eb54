//! Closures as events.

use crate::completion::Completion;
use crate::error::DispatchError;
use crate::handle::Handle;
use crate::handler::Turn;
use core::fmt;
use core::hash::Hash;

/// A closure as an event, for dispatchers that are to run whatever comes. Each is a box: where all
/// events are of a kind, a handler that is given once needs none.
///
/// ```
/// use warmcore_dispatch::{Dispatcher, Job};
///
/// let dispatcher = Dispatcher::<&str, Job<'_, &str>>::builder().workers(2).build(Job::run)?;
/// dispatcher.execute("greetings", |_| println!("hello")).unwrap();
/// let answer = dispatcher.submit("sums", |_| 40 + 2).unwrap();
/// assert_eq!(answer.wait(), Ok(42));
/// # Ok::<(), warmcore_dispatch::BuildError>(())
/// ```
pub struct Job<'a, K>(Box<Work<'a, K>>);

type Work<'a, K> = dyn FnOnce(&Turn<'_, K, Job<'a, K>>) + Send + 'a;

impl<K> fmt::Debug for Job<'_, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a closure")
    }
}

impl<'a, K> Job<'a, K> {
    /// An event that is handled by calling `work`.
    pub fn new(work: impl FnOnce(&Turn<'_, K, Self>) + Send + 'a) -> Self {
        Self(Box::new(work))
    }

    /// Handles `job`: the handler of a dispatcher of jobs.
    pub fn run(turn: &Turn<'_, K, Self>, job: Self) {
        (job.0)(turn);
    }
}

impl<'a, K: Eq + Hash + Clone> Handle<K, Job<'a, K>> {
    /// Dispatches `work`, which touches what `key` stands for.
    ///
    /// # Errors
    /// As [`dispatch`](Self::dispatch).
    pub fn execute(
        &self,
        key: K,
        work: impl FnOnce(&Turn<'_, K, Job<'a, K>>) + Send + 'a,
    ) -> Result<(), DispatchError<Job<'a, K>>> {
        self.dispatch(key, Job::new(work))
    }

    /// The same of `work` that has a result.
    ///
    /// # Errors
    /// As [`dispatch`](Self::dispatch).
    pub fn submit<R: Send + 'a>(
        &self,
        key: K,
        work: impl FnOnce(&Turn<'_, K, Job<'a, K>>) -> R + Send + 'a,
    ) -> Result<Completion<R>, DispatchError<Job<'a, K>>> {
        let (sender, result) = Completion::new();
        sender.note(Some(self.0.place_of_key(&key)));
        self.execute(key, move |turn| sender.send(work(turn)))?;
        Ok(result)
    }
}
