//! What a user chooses.

/// Which worker may handle the events of a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Binding {
    /// Any worker: a strand's home worker by preference, and another one that has nothing else to do.
    #[default]
    Dynamic,
    /// Always the same worker, that of the key's strand. What handlers keep can belong to the worker
    /// ([`Turn::worker`](crate::Turn::worker)); idle workers help nobody, so a long event delays all keys of its worker.
    Static,
}

/// What happens to an event for which there is no room.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Overload {
    /// The dispatching thread waits for room. A handler never does, of whichever dispatcher: what it dispatches comes in
    /// beyond the capacity and the limit of its key, up to [`Builder::follow_ups`](crate::Builder::follow_ups).
    #[default]
    Block,
    /// The event is given back in [`DispatchError::Full`](crate::DispatchError::Full).
    Reject,
    /// The event is dropped and counted.
    Shed,
}

/// What follows when a handler panics. The event is lost in any case, and the panic is reported.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum OnPanic {
    /// Nothing more.
    #[default]
    Skip,
    /// Later events that touch the same keys are counted, not handled.
    Poison,
    /// The dispatcher stops, as by [`abort`](crate::Handle::abort).
    Stop,
}

/// What a worker does that finds nothing to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Idle {
    /// It looks a little longer, then sleeps until it is woken: the processor has other work too
    /// (Falsafi 1998, ch. 3).
    #[default]
    Sleep,
    /// It goes on looking: its processor is dedicated. It yields now and then.
    Spin,
}
