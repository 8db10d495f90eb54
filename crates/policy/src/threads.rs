//! Choosing a protocol thread (Salehi, Kurose & Towsley 1994, §2.3, "thread stack affinity").

use crate::Recency;
use alloc::boxed::Box;
use warmcore_units::{CpuId, ThreadId};

/// Which idle thread a global pool hands out next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// The thread that became idle last.
    MostRecent,
    /// The thread that has been idle longest.
    LeastRecent,
}

/// The idle protocol threads. There are as many threads as processors.
#[derive(Clone, Debug)]
pub enum ThreadPool {
    /// Each processor has a thread of its own: stacks never migrate.
    PerProcessor,
    /// All processors share one list: stacks tend to migrate.
    Global(Box<GlobalPool>),
}

/// The idle threads of a global pool.
#[derive(Clone, Debug)]
pub struct GlobalPool {
    idle: Recency,
    order: Order,
}

impl ThreadPool {
    /// A global pool of `threads` idle threads.
    #[must_use]
    pub fn global(threads: u32, order: Order) -> Self {
        Self::Global(Box::new(GlobalPool { idle: Recency::filled(threads), order }))
    }

    /// Takes the thread that will run on `cpu` from the idle ones.
    ///
    /// # Panics
    /// If every thread is running, which cannot be while `cpu` runs none.
    #[inline]
    pub fn take(&mut self, cpu: CpuId) -> ThreadId {
        match self {
            Self::PerProcessor => ThreadId(cpu.0),
            Self::Global(pool) => pool.take(),
        }
    }

    /// Returns `thread` to the idle ones.
    #[inline]
    pub fn give_back(&mut self, thread: ThreadId) {
        if let Self::Global(pool) = self {
            pool.idle.push(thread.0);
        }
    }
}

impl GlobalPool {
    fn take(&mut self) -> ThreadId {
        let thread = match self.order {
            Order::MostRecent => self.idle.newest(),
            Order::LeastRecent => self.idle.oldest(),
        };
        let thread = thread.expect("as many threads as processors");
        self.idle.remove(thread);
        ThreadId(thread)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_processors_own_thread_stays_with_it() {
        let mut pool = ThreadPool::PerProcessor;
        assert_eq!(pool.take(CpuId(3)), ThreadId(3));
    }

    #[test]
    fn a_global_pool_hands_out_threads_in_its_order() {
        for (order, next) in [(Order::MostRecent, 1), (Order::LeastRecent, 2)] {
            let mut pool = ThreadPool::global(3, order);
            (0..3).for_each(|cpu| assert!(pool.take(CpuId(cpu)).0 < 3));
            pool.give_back(ThreadId(2));
            pool.give_back(ThreadId(1));
            assert_eq!(pool.take(CpuId(0)), ThreadId(next));
        }
    }
}
