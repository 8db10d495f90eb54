//! A source: a thread of real-time priority that takes its processor to send what is due, as an interrupt does.

use crate::server::arrivals::Next;
use crate::server::curve::Idle;
use crate::server::worker::Request;

/// What a source does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stage {
    /// It sleeps until its next request is due.
    Asleep,
    /// A request is due, and the worker of its processor is in the kernel, where it cannot be preempted.
    Pending,
    /// It takes the processor.
    Beginning,
    /// It is in a call.
    Calling,
}

#[derive(Clone, Debug)]
pub(super) struct Source {
    pub(super) stage: Stage,
    pub(super) next: Next,
    /// How long its processor was idle before it woke up.
    pub(super) idle: Idle,
    /// Whether nothing else can run on its processor.
    pub(super) has_cpu: bool,
    /// The request of its call.
    pub(super) request: Request,
    /// When its call began.
    pub(super) began: f64,
    /// The worker that its call wakes.
    pub(super) wakes: Option<u32>,
    /// Whether it has woken the worker of its processor, which follows it.
    pub(super) has_woken_own: bool,
    /// What it takes from the worker of its processor after its last call.
    pub(super) exit: f64,
    /// Whether its call is the first since it woke up.
    pub(super) is_first: bool,
}

impl Source {
    pub(super) fn new(next: Next) -> Self {
        let request = Request { due: 0.0, call: 0.0, flow: 0, source: 0, woke: false, moved: false };
        Self {
            stage: Stage::Asleep,
            next,
            idle: Idle::NONE,
            has_cpu: false,
            request,
            began: 0.0,
            wakes: None,
            has_woken_own: false,
            exit: 0.0,
            is_first: true,
        }
    }
}
