//! An executor for plans whose events futures handle. It polls all it has in turn, and drops some before that.

use crate::Task;
use crate::sync::{Arc, Condvar, JoinHandle, Mutex, spawn};
use core::future::poll_fn;
use core::task::{Context, Poll, Waker};
use std::collections::VecDeque;

/// One future in so many is dropped.
const DROPPED: u64 = 16;

pub(super) struct Executor {
    tasks: Arc<Tasks>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Default)]
struct Tasks {
    queue: Mutex<Queue>,
    more: Condvar,
}

#[derive(Default)]
struct Queue {
    tasks: VecDeque<Task>,
    spawned: u64,
    is_over: bool,
}

impl Executor {
    pub(super) fn start() -> Self {
        let tasks = Arc::new(Tasks::default());
        let threads = (0..2).map(|thread| {
            let tasks = tasks.clone();
            spawn(format!("executor-{thread}"), move || tasks.run()).expect("a thread")
        });
        let threads = threads.collect();
        Self { tasks, threads }
    }

    pub(super) fn spawn(&self) -> impl Fn(Task) + Send + Sync + use<> {
        let tasks = self.tasks.clone();
        move |task| tasks.add(task)
    }

    pub(super) fn stop(self) {
        crate::lock(&self.tasks.queue).is_over = true;
        self.tasks.more.notify_all();
        self.threads.into_iter().for_each(|thread| thread.join().expect("futures' panics are caught"));
    }
}

impl Tasks {
    fn add(&self, task: Task) {
        let mut queue = crate::lock(&self.queue);
        queue.spawned += 1;
        if queue.spawned.is_multiple_of(DROPPED) {
            drop(queue);
            drop(task);
            return;
        }
        queue.tasks.push_back(task);
        drop(queue);
        self.more.notify_one();
    }

    fn run(&self) {
        while let Some(mut task) = self.next() {
            if task.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending() {
                crate::lock(&self.queue).tasks.push_back(task);
            }
        }
    }

    fn next(&self) -> Option<Task> {
        let mut queue = crate::lock(&self.queue);
        loop {
            if let Some(task) = queue.tasks.pop_front() {
                return Some(task);
            }
            if queue.is_over {
                return None;
            }
            queue = self.more.wait(queue).expect("nobody panics there");
        }
    }
}

/// Lets others go first.
pub(super) async fn yield_once() {
    let mut yields = true;
    poll_fn(|_| if core::mem::take(&mut yields) { Poll::Pending } else { Poll::Ready(()) }).await;
}
