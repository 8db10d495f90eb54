//! What is told of handlers that panicked.

use crate::caught::{caught, drop_caught};
use crate::options::OnPanic;
use crate::shared::Shared;
use crate::sync::Mutex;
use crate::trace::tell;
use core::any::Any;
use core::hash::Hash;
use std::collections::VecDeque;

/// Reports that are kept.
const KEPT: usize = 64;

/// A handler has panicked, or its future was dropped before it had ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PanicReport<K> {
    /// The keys of the event that it handled.
    pub keys: Vec<K>,
    /// What the panic said, or what else has happened.
    pub message: String,
}

/// What a panic with this `payload` says.
pub(crate) fn message_of(payload: Box<dyn Any + Send>) -> String {
    let said = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let said = said.or_else(|| payload.downcast_ref::<String>().cloned());
    drop_caught(payload);
    said.unwrap_or_else(|| "a panic without a message".to_owned())
}

impl<K: Eq + Hash + Clone, E> Shared<K, E> {
    /// A handler of `keys`, which `worker` called, has panicked.
    #[cold]
    pub(crate) fn panicked(&self, worker: usize, keys: &[K], panic: Box<dyn Any + Send>) {
        self.counters[worker].panicked();
        self.handler_panicked(keys, panic);
    }

    /// A handler has panicked: reports it, and does what is to follow.
    pub(crate) fn handler_panicked(&self, keys: &[K], panic: Box<dyn Any + Send>) {
        let message = message_of(panic);
        tell!(ERROR, message = %message, "a handler has panicked");
        self.report(keys, message);
        match self.settings.on_panic {
            OnPanic::Skip => {}
            OnPanic::Poison => drop_caught(caught(|| self.poison(keys))),
            OnPanic::Stop => self.abort(),
        }
    }

    /// Reports what became of an event that touches `keys`.
    pub(crate) fn report(&self, keys: &[K], message: String) {
        // To clone a key may panic.
        let keys = caught(|| keys.to_vec()).unwrap_or_else(|panic| {
            drop_caught(panic);
            Vec::new()
        });
        self.reports.add(PanicReport { keys, message });
    }
}

/// The last of them.
pub(crate) struct Reports<K>(Mutex<VecDeque<PanicReport<K>>>);

impl<K> Reports<K> {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(VecDeque::new()))
    }

    pub(crate) fn add(&self, report: PanicReport<K>) {
        let mut reports = crate::lock(&self.0);
        let oldest = if reports.len() == KEPT { reports.pop_front() } else { None };
        reports.push_back(report);
        drop(reports);
        oldest.into_iter().flat_map(|report| report.keys).for_each(drop_caught);
    }

    pub(crate) fn take(&self) -> Vec<PanicReport<K>> {
        crate::lock(&self.0).drain(..).collect()
    }
}
