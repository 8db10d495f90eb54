//! What is told of handlers that panicked.

use crate::caught::drop_caught;
use crate::sync::Mutex;
use std::collections::VecDeque;

/// Reports that are kept.
const KEPT: usize = 64;

/// A handler has panicked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PanicReport<K> {
    /// The keys of the event that it handled.
    pub keys: Vec<K>,
    /// What the panic said.
    pub message: String,
}

impl<K> PanicReport<K> {
    /// What `panic` says.
    pub(crate) fn message_of(panic: &(dyn core::any::Any + Send)) -> String {
        let said = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let said = said.or_else(|| panic.downcast_ref::<String>().cloned());
        said.unwrap_or_else(|| "a panic without a message".to_owned())
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
        drop_caught(oldest);
    }

    pub(crate) fn take(&self) -> Vec<PanicReport<K>> {
        crate::lock(&self.0).drain(..).collect()
    }
}
