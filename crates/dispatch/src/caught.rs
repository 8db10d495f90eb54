//! Calling users' code that may panic.

use core::any::Any;
use core::mem::needs_drop;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Calls `work`.
///
/// # Errors
/// With the payload, if it panics.
#[inline]
pub(crate) fn caught<R>(work: impl FnOnce() -> R) -> Result<R, Box<dyn Any + Send>> {
    catch_unwind(AssertUnwindSafe(work))
}

/// Drops `value`, whose drop may panic. A payload whose drop panics too is leaked.
pub(crate) fn drop_caught<T>(value: T) {
    if let Err(payload) = caught(|| drop(value))
        && let Err(again) = caught(|| drop(payload))
    {
        core::mem::forget(again);
    }
}

/// The same of a key, or of whatever else most often needs no drop.
#[inline]
pub(crate) fn drop_key<K>(key: K) {
    if needs_drop::<K>() {
        drop_caught(key);
    }
}
