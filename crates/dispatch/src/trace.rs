//! What the `tracing` feature tells: a span for each event that is handled, and events for what is rare. Without the
//! feature, there is nothing of it.

#[cfg(feature = "tracing")]
use core::sync::atomic::{AtomicBool, Ordering};

/// Tells something rare.
macro_rules! tell {
    ($level:ident, $($about:tt)*) => {{
        #[cfg(feature = "tracing")]
        tracing::event!(target: "warmcore_dispatch", tracing::Level::$level, $($about)*);
    }};
}
pub(crate) use tell;

/// Whether somebody is told of each event.
#[inline]
pub(crate) fn wants_spans() -> bool {
    #[cfg(feature = "tracing")]
    return tracing::enabled!(target: "warmcore_dispatch", tracing::Level::TRACE);
    #[cfg(not(feature = "tracing"))]
    false
}

/// The handling of events, from the claim to the end.
pub(crate) struct Span(#[cfg(feature = "tracing")] tracing::Span);

impl Span {
    /// Of an event on `worker`, which is `about` to handle it: in which strand, if it is in one, and for how many nanoseconds
    /// it waited, if it is of the sample.
    #[inline]
    #[cfg_attr(not(feature = "tracing"), allow(unused_variables))]
    pub(crate) fn new(worker: usize, about: impl Fn() -> (Option<usize>, Option<u64>)) -> Self {
        #[cfg(feature = "tracing")]
        if wants_spans() {
            let (strand, wait_ns) = about();
            return Self(
                tracing::trace_span!(target: "warmcore_dispatch", "handle", worker, strand, wait_ns),
            );
        }
        Self(
            #[cfg(feature = "tracing")]
            tracing::Span::none(),
        )
    }

    /// As long as the result lives, the thread is in the span.
    #[inline]
    pub(crate) fn enter(&self) -> impl Sized + '_ {
        #[cfg(feature = "tracing")]
        self.0.enter()
    }
}

/// Whether there was no room lately. An overload ends when a worker finds nothing to do.
#[derive(Default)]
pub(crate) struct Overloaded(#[cfg(feature = "tracing")] AtomicBool);

impl Overloaded {
    /// There is no room.
    pub(crate) fn begin(&self) {
        #[cfg(feature = "tracing")]
        if !self.0.swap(true, Ordering::Relaxed) {
            tell!(WARN, "there is no room for an event: an overload begins");
        }
    }

    #[inline]
    pub(crate) fn end(&self) {
        #[cfg(feature = "tracing")]
        if self.0.load(Ordering::Relaxed) {
            self.0.store(false, Ordering::Relaxed);
        }
    }
}
