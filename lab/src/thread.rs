//! Threads that block without a stack (§2.2.1): what a thread does when it goes on is a continuation, and a stack is
//! attached to it only then, the one that was used last.

use alloc::vec::Vec;
use core::cell::RefCell;
use core::hint::cold_path;

/// Something that threads wait for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Condition(pub u32);

#[derive(Clone, Copy)]
struct Thread {
    waits_for: Option<Condition>,
    stack: Option<u32>,
}

/// The threads of a host.
pub struct Threads(RefCell<Inner>);

struct Inner {
    threads: Vec<Thread>,
    /// Threads that may go on, the first first.
    ready: Vec<u32>,
    /// Stacks that nobody has, the one used last at the end.
    stacks: Vec<u32>,
    running: Option<u32>,
}

impl Threads {
    /// `count` threads, with a stack for each, of which the first runs.
    #[must_use]
    pub fn new(count: u32) -> Self {
        let thread = |index| Thread { waits_for: None, stack: (index == 0).then_some(0) };
        Self(RefCell::new(Inner {
            threads: (0..count).map(thread).collect(),
            ready: Vec::with_capacity(count as usize),
            stacks: (1..count).collect(),
            running: Some(0),
        }))
    }

    /// The running thread waits for `condition`, and gives its stack back.
    #[inline(never)]
    pub fn block(&self, condition: Condition) {
        let inner = &mut *self.0.borrow_mut();
        let Some(running) = inner.running.take() else {
            cold_path();
            return;
        };
        let thread = &mut inner.threads[running as usize];
        thread.waits_for = Some(condition);
        if let Some(stack) = thread.stack.take() {
            inner.stacks.push(stack);
        }
    }

    /// `condition` holds: whoever waits for it may go on.
    #[inline(never)]
    pub fn signal(&self, condition: Condition) {
        let inner = &mut *self.0.borrow_mut();
        for (index, thread) in inner.threads.iter_mut().enumerate() {
            if thread.waits_for == Some(condition) {
                inner.ready.push(index as u32);
                return;
            }
        }
        cold_path();
    }

    /// The next thread that may go on runs: what it had waited for.
    #[inline(never)]
    pub fn dispatch(&self) -> Option<Condition> {
        let inner = &mut *self.0.borrow_mut();
        if inner.running.is_some() || inner.ready.is_empty() {
            cold_path();
            return None;
        }
        let next = inner.ready.remove(0);
        let thread = &mut inner.threads[next as usize];
        thread.stack = inner.stacks.pop();
        inner.running = Some(next);
        thread.waits_for.take()
    }
}
