//! The same replications on one thread and on two.

use crate::ours::LoadedHost;
use crate::queue::SERVERS;
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use serde::Serialize;
use std::time::Instant;
use warmcore_scenario::{Parallelism, ProcessorPolicy};
use warmcore_stats::Spread;

const REPLICATIONS: u64 = 16;
const PACKETS: u64 = 150_000;
const LOAD: f64 = 0.8;

/// The least rate on two threads, relative to that on one.
const MIN_SPEEDUP: f64 = 1.8;

/// Runs replications of one point on one thread and on two.
pub(crate) struct Parallel {
    host: LoadedHost,
    pools: [ThreadPool; 2],
    /// Packets per second, for each pool.
    rates: [Vec<f64>; 2],
}

/// The results of [`Parallel`].
#[derive(Serialize)]
pub(crate) struct Scaling {
    replications: u64,
    packets_each: u64,
    one_thread: Spread,
    two_threads: Spread,
    ratio: Spread,
}

impl Parallel {
    pub(crate) fn new() -> Self {
        let pool = |threads| {
            ThreadPoolBuilder::new().num_threads(threads).build().expect("two threads can be started")
        };
        let host = LoadedHost::published(Parallelism::Locking, ProcessorPolicy::Mru, SERVERS, SERVERS);
        Self { host, pools: [1, 2].map(pool), rates: [Vec::new(), Vec::new()] }
    }

    /// Runs all replications on one thread, then on two.
    pub(crate) fn round(&mut self) {
        let host = &self.host;
        for (pool, rates) in self.pools.iter().zip(&mut self.rates) {
            let start = Instant::now();
            pool.install(|| {
                (0..REPLICATIONS).into_par_iter().for_each(|replication| {
                    host.simulate(LOAD, PACKETS, replication);
                });
            });
            rates.push((REPLICATIONS * PACKETS) as f64 / start.elapsed().as_secs_f64());
        }
    }

    pub(crate) fn scaling(&self) -> Scaling {
        let [one_thread, two_threads] = self.rates.clone().map(Spread);
        let ratio = two_threads.over(&one_thread);
        Scaling { replications: REPLICATIONS, packets_each: PACKETS, one_thread, two_threads, ratio }
    }
}

impl Scaling {
    pub(crate) fn print(&self) {
        let verdict = if self.ratio.median() >= MIN_SPEEDUP { "reached" } else { "missed" };
        println!("{REPLICATIONS} replications of {PACKETS} packets, on two threads and on one");
        println!("  ratio {:.3}; goal {verdict}: at least {MIN_SPEEDUP}\n", self.ratio);
    }
}
