//! What a server counts.

use core::ops::AddAssign;
use core::sync::atomic::{AtomicU64, Ordering};

/// Declares the counts once: as plain numbers, and as atomics that another thread may read.
macro_rules! counts {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// What a server has counted since it started.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
        pub struct Counts {
            $($(#[$doc])* pub $name: u64,)*
        }

        /// The counts of a worker, written by it alone once a batch.
        #[derive(Default, Debug)]
        pub(super) struct Published {
            $($name: AtomicU64,)*
        }

        impl Published {
            pub(super) fn set(&self, counts: &Counts) {
                $(self.$name.store(counts.$name, Ordering::Relaxed);)*
            }

            pub(super) fn get(&self) -> Counts {
                Counts { $($name: self.$name.load(Ordering::Relaxed),)* }
            }
        }

        impl AddAssign for Counts {
            fn add_assign(&mut self, other: Self) {
                $(self.$name += other.$name;)*
            }
        }
    };
}

counts! {
    /// Requests that a handler was called for, panicked ones included.
    requests,
    /// Datagrams, or replies on connections, that the kernel took to send.
    replies,
    /// Those that it refused to send, or whose connection ended before.
    unsent,
    /// Timers that came.
    timers,
    /// Calls of the handler that panicked.
    panics,
    /// Flows opened.
    opened,
    /// Flows that ended because they were idle.
    expired,
    /// Flows that ended because there were too many.
    evicted,
    /// Flows that ended otherwise: by the handler or its panic, or by their peer.
    closed,
    /// Requests that were lost because too many of their flow waited for a slow handler.
    overflowed,
    /// Requests that were received but not handled, because the time to stop was over.
    abandoned,
    /// Connections whose peer sent what is no request.
    invalid,
    /// Connections whose peer sent a longer request than allowed.
    too_long,
    /// How often no connection could be accepted, because the process or the machine had no descriptors left.
    unaccepted,
}
