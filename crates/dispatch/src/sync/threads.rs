//! How threads are started.

use std::io;
use std::thread::Builder;
pub(crate) use std::thread::{JoinHandle, Scope, scope};

/// Starts a thread that is called `name`.
///
/// # Errors
/// If the system has none to give.
pub(crate) fn spawn(name: String, run: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    Builder::new().name(name).spawn(run)
}

/// The same of one that ends with `scope`.
pub(crate) fn spawn_scoped<'scope>(
    scope: &'scope Scope<'scope, '_>,
    name: String,
    run: impl FnOnce() + Send + 'scope,
) -> io::Result<()> {
    Builder::new().name(name).spawn_scoped(scope, run).map(drop)
}
