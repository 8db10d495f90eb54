//! Where requests and workers wait.

use crate::server::worker::Request;
use std::collections::VecDeque;
use warmcore_scenario::ServerPolicy;

/// The queues of requests, one for each worker or one for all, and the workers that sleep at the queue of all.
#[derive(Clone, Debug)]
pub(super) struct Queues {
    policy: ServerPolicy,
    queues: Vec<VecDeque<Request>>,
    /// In the order in which they fell asleep.
    sleepers: VecDeque<u32>,
    /// Requests in all queues.
    pub(super) requests: usize,
}

impl Queues {
    /// Empty queues of workers that all sleep.
    pub(super) fn new(policy: ServerPolicy, workers: u32) -> Self {
        let is_shared = is_shared(policy);
        let queues = if is_shared { 1 } else { workers as usize };
        let sleepers = if is_shared { (0..workers).collect() } else { VecDeque::new() };
        Self { policy, queues: vec![VecDeque::with_capacity(1024); queues], sleepers, requests: 0 }
    }

    pub(super) fn count(&self) -> usize {
        self.queues.len()
    }

    /// The queue of a worker.
    #[inline]
    pub(super) fn of_worker(&self, worker: u32) -> usize {
        if self.queues.len() == 1 { 0 } else { worker as usize }
    }

    /// Requests in a queue.
    #[cfg(test)]
    pub(super) fn length(&self, queue: usize) -> usize {
        self.queues[queue].len()
    }

    #[inline]
    pub(super) fn push(&mut self, queue: usize, request: Request) {
        self.queues[queue].push_back(request);
        self.requests += 1;
    }

    #[inline]
    pub(super) fn pop(&mut self, queue: usize) -> Option<Request> {
        let request = self.queues[queue].pop_front();
        self.requests -= usize::from(request.is_some());
        request
    }

    /// Enters a worker that sleeps at the queue of all.
    #[inline]
    pub(super) fn sleeps(&mut self, worker: u32) {
        self.sleepers.push_back(worker);
    }

    /// Takes the sleeper that is to be woken: the first or the last to fall asleep.
    #[inline]
    pub(super) fn next_sleeper(&mut self) -> Option<u32> {
        match self.policy {
            ServerPolicy::SharedLifo => self.sleepers.pop_back(),
            _ => self.sleepers.pop_front(),
        }
    }

    /// Wakes all.
    pub(super) fn clear_sleepers(&mut self) {
        self.sleepers.clear();
    }
}

/// Whether all workers receive from one queue.
#[inline]
pub(super) const fn is_shared(policy: ServerPolicy) -> bool {
    matches!(policy, ServerPolicy::SharedLifo | ServerPolicy::SharedFifo)
}
