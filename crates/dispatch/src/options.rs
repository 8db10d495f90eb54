//! What a user chooses.

/// How events come to queues and queues to workers (Falsafi 1998, §2.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    /// Static demultiplexing, static binding: a queue for each worker, which no other worker ever
    /// serves. Keys never move.
    Sharded,
    /// Static demultiplexing, dynamic binding: so many queues for each worker. A worker binds to
    /// one that is not empty, its own first, and stays while it is warm; while it does, nobody else
    /// takes from that queue.
    Bound {
        /// Queues for each worker.
        queues: usize,
    },
    /// Dynamic demultiplexing: one queue, in whose first `window` events all workers search for those
    /// that may run.
    Window {
        /// Events that are searched.
        window: usize,
    },
    /// Queues as in [`Bound`](Self::Bound), with one difference: a worker that finds nothing else to
    /// do searches the first `window` events of queues that others serve, so that no key waits long
    /// for another because they share a queue. It does so at once where events take half a microsecond
    /// or more, and otherwise where nothing has left the queue for a while: short events
    /// are done sooner by one worker alone.
    Elastic {
        /// Queues for each worker.
        queues: usize,
        /// Events that are searched.
        window: usize,
    },
}

impl Default for Rule {
    fn default() -> Self {
        Self::Elastic { queues: 4, window: 256 }
    }
}

impl Rule {
    /// Queues, for so many workers.
    pub(crate) fn queues(self, workers: usize) -> usize {
        match self {
            Self::Sharded => workers,
            Self::Bound { queues } | Self::Elastic { queues, .. } => workers * queues.max(1),
            Self::Window { .. } => 1,
        }
    }

    /// Events that are searched in a queue.
    pub(crate) fn window(self) -> Option<usize> {
        match self {
            Self::Sharded | Self::Bound { .. } => None,
            Self::Window { window } | Self::Elastic { window, .. } => Some(window.max(1)),
        }
    }

    /// Whether workers serve queues that are not theirs.
    pub(crate) fn moves(self) -> bool {
        self != Self::Sharded
    }

    /// Whether several workers may serve a queue at once.
    pub(crate) fn shares(self) -> bool {
        self.window().is_some()
    }
}

/// What happens to an event for which there is no room.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Overload {
    /// Whoever dispatches it waits. Where that is a handler, which must not wait for other handlers,
    /// the event is kept aside by its worker, in order.
    #[default]
    Block,
    /// Whoever dispatches it gets it back.
    Reject,
    /// It is dropped, and counted.
    Shed,
}

/// What follows when a handler panics. The event is lost in any case, and the panic reported.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum OnPanic {
    /// Nothing more.
    #[default]
    Skip,
    /// Later events that touch the same keys are not handled, but counted.
    Poison,
    /// The dispatcher stops, as by [`abort`](crate::Dispatcher::abort).
    Stop,
}

/// What a worker does that finds nothing to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Idle {
    /// It looks a little longer, and sleeps until it is woken: protocol work is multiplexed with
    /// other work on its processor (Falsafi 1998, ch. 3).
    #[default]
    Sleep,
    /// It goes on looking: its processor is dedicated. Now and then it gives way to whoever else waits for it.
    Spin,
}
