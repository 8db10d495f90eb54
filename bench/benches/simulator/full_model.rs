//! The packet model with the published costs: its rate relative to the peers' in the same round, and how the
//! time per packet grows with processors and streams.

use crate::comparison::QueueResults;
use crate::ours::LoadedHost;
use crate::queue::{SERVERS, Service};
use serde::Serialize;
use warmcore_scenario::{Parallelism, ProcessorPolicy};
use warmcore_stats::Spread;

const APPROACHES: [Parallelism; 2] = [Parallelism::Locking, Parallelism::Ips];
const LOADS: [f64; 2] = [0.8, 0.5];
const PACKETS: u64 = 2_000_000;
/// Enough that setting up a million streams takes a small part of the run.
const PACKETS_OF_SWEEP: u64 = 4_000_000;

/// The least rate relative to the plain event loop: 25 million packets per second on a machine where the loop
/// simulates 15 million customers of M/M/8.
const MIN_RATIO: f64 = 25.0 / 15.0;

/// Numbers of processors and streams in the sweep.
const SIZES: [(u32, u32); 9] = [
    (1, 1),
    (8, 8),
    (64, 64),
    (8, 1_000),
    (64, 1_000),
    (1024, 1024),
    (8, 1_000_000),
    (64, 1_000_000),
    (1024, 1_000_000),
];

/// One host at one load, and its rates so far.
pub(crate) struct Point {
    host: LoadedHost,
    approach: Parallelism,
    policy: ProcessorPolicy,
    processors: u32,
    streams: u32,
    load: f64,
    packets: u64,
    rates: Vec<f64>,
}

/// The result of a [`Point`].
#[derive(Serialize)]
pub(crate) struct PointResult {
    approach: String,
    policy: String,
    processors: u32,
    streams: u32,
    load: f64,
    packets: u64,
    /// Packets per second.
    rate: Spread,
    /// The rate relative to that of each peer on M/M/8 under the same load.
    ratios: Vec<(String, Spread)>,
}

/// Locking and IPS under MRU and Wired-Streams, on eight processors at each load.
pub(crate) fn published() -> Vec<Point> {
    let mut points = Vec::new();
    for load in LOADS {
        for approach in APPROACHES {
            for policy in [ProcessorPolicy::Mru, ProcessorPolicy::WiredStreams] {
                points.push(Point::new(approach, policy, (SERVERS, SERVERS), load, PACKETS));
            }
        }
    }
    points
}

/// MRU on hosts from one processor to 1,024, and with up to a million streams.
pub(crate) fn sweep() -> Vec<Point> {
    let sizes = |approach| {
        SIZES.map(move |size| Point::new(approach, ProcessorPolicy::Mru, size, 0.8, PACKETS_OF_SWEEP))
    };
    APPROACHES.into_iter().flat_map(sizes).collect()
}

impl Point {
    fn new(
        approach: Parallelism,
        policy: ProcessorPolicy,
        size: (u32, u32),
        load: f64,
        packets: u64,
    ) -> Self {
        let (processors, streams) = size;
        let host = LoadedHost::published(approach, policy, processors, streams);
        Self { host, approach, policy, processors, streams, load, packets, rates: Vec::new() }
    }

    /// Runs the simulation once and records its rate.
    pub(crate) fn round(&mut self, round: u64) {
        let (seconds, _) = self.host.simulate(self.load, self.packets, round);
        self.rates.push(self.packets as f64 / seconds);
    }

    /// The result, with ratios to the peers where `results` has the same load.
    pub(crate) fn result(&self, results: &[QueueResults]) -> PointResult {
        let rate = Spread(self.rates.clone());
        let same = |results: &&QueueResults| {
            results.queue.service == Service::Exponential && results.queue.load == self.load
        };
        let peers = results.iter().find(same).map(|results| &results.peers);
        let ratios = peers.into_iter().flatten().map(|result| (result.peer.clone(), rate.over(&result.rate)));
        PointResult {
            approach: self.approach.to_string(),
            policy: self.policy.to_string(),
            processors: self.processors,
            streams: self.streams,
            load: self.load,
            packets: self.packets,
            ratios: ratios.collect(),
            rate,
        }
    }
}

/// Prints the rate of each point of [`published`] and whether the goal is reached.
pub(crate) fn print_published(points: &[PointResult]) {
    println!("full packet model with the published costs on {SERVERS} processors");
    println!("rates, and their ratios to that of each peer on M/M/{SERVERS} under the same load:");
    for PointResult { approach, policy, load, rate, ratios, .. } in points {
        println!(
            "  {approach}, {policy} at {:.0}%: {:.3} M packets/s",
            load * 100.0,
            rate.map(|rate| rate / 1e6)
        );
        for (peer, ratio) in ratios {
            println!("    {peer:<34} {:>24}", format!("{ratio:.2}"));
        }
    }
    let baselines = points.iter().filter_map(|point| point.ratios.first());
    let least = baselines.map(|(_, ratio)| ratio.median()).fold(f64::INFINITY, f64::min);
    let verdict = if least >= MIN_RATIO { "reached" } else { "missed" };
    println!(
        "  goal {verdict}: at least {MIN_RATIO:.2} times the loop's rate; the slowest point is {least:.2} times\n"
    );
}

/// Prints the time per packet at each point of [`sweep`].
pub(crate) fn print_sweep(points: &[PointResult]) {
    println!("time per packet under MRU at 80% load, including set-up; IPS has one stack per stream");
    for PointResult { approach, processors, streams, rate, .. } in points {
        let nanos = format!("{:.1}", rate.map(|rate| 1e9 / rate));
        println!("  {approach:<8} {processors:>5} processors {streams:>8} streams {nanos:>24} ns");
    }
    println!();
}
