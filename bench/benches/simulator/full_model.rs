//! The packet model with the published costs: its own rate, beside the peers' in the same round,
//! and how a packet's cost grows with processors and streams.

use crate::contest::Standing;
use crate::ours::LoadedHost;
use crate::queue::{SERVERS, Service};
use serde::Serialize;
use warmcore_scenario::{Parallelism, ProcessorPolicy};
use warmcore_stats::Spread;

const APPROACHES: [Parallelism; 2] = [Parallelism::Locking, Parallelism::Ips];
const LOADS: [f64; 2] = [0.8, 0.5];
const PACKETS: u64 = 2_000_000;
/// So many that setting up a million streams weighs little.
const PACKETS_OF_SWEEP: u64 = 4_000_000;

/// The least ratio to the plain event loop: 25 million packets per second where it does
/// 15 million customers of M/M/8.
const GOAL: f64 = 25.0 / 15.0;

/// Processors and streams of the sweep.
const SIZES: [(u32, u32); 7] =
    [(1, 1), (8, 8), (64, 64), (1024, 1024), (8, 1_000_000), (64, 1_000_000), (1024, 1_000_000)];

/// One host at one load, in every round.
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

/// What has come of a [`Point`].
#[derive(Serialize)]
pub(crate) struct Measured {
    approach: String,
    policy: String,
    processors: u32,
    streams: u32,
    load: f64,
    packets: u64,
    /// Packets per second.
    rate: Spread,
    /// How many times the rate of each peer at M/M/8 under the same load.
    times: Vec<(String, Spread)>,
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

    /// Simulates it once more.
    pub(crate) fn round(&mut self, round: u64) {
        let (seconds, _) = self.host.simulate(self.load, self.packets, round);
        self.rates.push(self.packets as f64 / seconds);
    }

    /// What has come out, beside the peers' results where there are any.
    pub(crate) fn measured(&self, standings: &[Standing]) -> Measured {
        let rate = Spread(self.rates.clone());
        let same = |standing: &&Standing| {
            standing.queue.service == Service::Exponential && standing.queue.load == self.load
        };
        let peers = standings.iter().find(same).map(|standing| &standing.entries);
        let times = peers.into_iter().flatten().map(|entry| (entry.peer.clone(), rate.over(&entry.rate)));
        Measured {
            approach: self.approach.to_string(),
            policy: self.policy.to_string(),
            processors: self.processors,
            streams: self.streams,
            load: self.load,
            packets: self.packets,
            times: times.collect(),
            rate,
        }
    }
}

/// Prints the rate of each point of [`published`], and whether the goal is reached.
pub(crate) fn print_published(points: &[Measured]) {
    println!("full packet model with the published costs on {SERVERS} processors");
    println!("how many times the rate of each peer at M/M/{SERVERS} under the same load:");
    for Measured { approach, policy, load, rate, times, .. } in points {
        println!(
            "  {approach}, {policy} at {:.0}%: {:.3} M packets/s",
            load * 100.0,
            rate.map(|rate| rate / 1e6)
        );
        for (peer, times) in times {
            println!("    {peer:<34} {:>24}", format!("{times:.2}"));
        }
    }
    let yardsticks = points.iter().filter_map(|point| point.times.first());
    let least = yardsticks.map(|(_, times)| times.median()).fold(f64::INFINITY, f64::min);
    let verdict = if least >= GOAL { "reached" } else { "missed" };
    println!("  goal {verdict}: at least {GOAL:.2} times the loop; the slowest point is {least:.2} times\n");
}

/// Prints what a packet costs at each point of [`sweep`].
pub(crate) fn print_sweep(points: &[Measured]) {
    println!("cost of a packet under MRU at 80%, setting up included; IPS has a stack for each stream");
    for Measured { approach, processors, streams, rate, .. } in points {
        let nanos = format!("{:.1}", rate.map(|rate| 1e9 / rate));
        println!("  {approach:<8} {processors:>5} processors {streams:>8} streams {nanos:>24} ns");
    }
    println!();
}
