//! Executes a run, and keeps of it what figures and claims need.

use super::setup::Setup;
use super::system::System;
use super::work::Work;
use serde::{Deserialize, Serialize};
use warmcore_sim::cluster::exchange::Exchange;
use warmcore_sim::cluster::microbenchmarks::RemoteReads;
use warmcore_sim::cluster::requests::RequestLoop;
use warmcore_sim::cluster::tally::{Breakdown, DeviceTally};
use warmcore_sim::cluster::{self, Error, Outcome};
use warmcore_workload::programs::{AnyProgram, Size};

/// Blocks that a reader of the bandwidth microbenchmarks reads in a round: more than the block buffers hold, so that these are
/// written back all the time, as §5.3.3 says they are.
const BLOCKS: u64 = 256;
/// Blocks of the remote read: fewer than a block buffer holds, so that none is written back meanwhile.
const FEW_BLOCKS: u64 = 8;
/// Requests of a node in chapter 4's microbenchmarks, shared among its compute processors, of which there may be one to six.
const REQUESTS: u32 = 6_000;
/// Cycles of computing between two loads from the private segment. The text does not say how often it is accessed.
const LOAD_EVERY: u32 = 100;
/// Names the random numbers of these.
const SEED: u64 = 1;
/// After how many cycles a microbenchmark is given up: more than ten times what the longest takes.
const LIMIT: u64 = 4_000_000_000;
/// A program is given up after so many times its [weight](Setup::weight) in millions of cycles, which is about what it takes on one
/// processor.
const LIMIT_FACTOR: u64 = 4;
/// Scaled inputs have less than this part of the work.
const SCALED: u64 = 8;

/// What is kept of a run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Measured {
    /// When the last processor left the program, in cycles of 400 MHz; in chapter 4's microbenchmarks from when caches were warm.
    pub cycles: u64,
    /// Loads and stores of shared data.
    pub references: u64,
    /// Percent of the compute processors' time in which they wait neither for a remote block nor for each other, nor execute the
    /// protocol.
    pub computing: f64,
    /// Cycles of a remote read or request with nothing in its way.
    pub round_trip: Option<f64>,
    /// Bytes read in a cycle.
    pub bandwidth: Option<f64>,
    /// Remote misses.
    pub remote_misses: u64,
    /// Interrupts.
    pub interrupts: u64,
    /// Messages.
    pub messages: u64,
    /// Handlers on all nodes.
    pub handlers: u64,
    /// Mean cycles that an event waited for a protocol thread.
    pub waited: f64,
    /// Mean cycles of a handler on the first node, which is the one that asks in the remote read and in the request bandwidth.
    pub occupancy: f64,
    /// Mean cycles of a protocol thread's miss on the protocol's data; 0 without any.
    pub state_miss: f64,
}

/// What came of a run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Obtained {
    /// Its figures.
    Measured(Measured),
    /// Why there are none.
    Failed(String),
}

impl Obtained {
    /// Executes `setup` with inputs of this `size`.
    #[must_use]
    pub fn by(setup: &Setup, size: Size) -> Self {
        execute(setup, size).map_or_else(Self::Failed, Self::Measured)
    }
}

fn execute(setup: &Setup, size: Size) -> Result<Measured, String> {
    let Setup { processors, block_bytes, .. } = *setup;
    match setup.work {
        Work::Program(app) => {
            let program = AnyProgram::from_name(app.name(), size).map_err(|fault| fault.to_string())?;
            let machine = setup.machine();
            let options = cluster::Options { limit: limit(setup, size), ..Default::default() };
            cluster::run(&machine, &program, &options).map(|outcome| measured(&outcome)).map_err(in_words)
        }
        Work::RemoteRead => remote_read(setup),
        Work::ReplyBandwidth(requesters) => {
            bandwidth(setup, &RemoteReads::reply_bandwidth(requesters, processors, BLOCKS, block_bytes))
        }
        Work::RequestBandwidth(requesters) => {
            bandwidth(setup, &RemoteReads::request_bandwidth(requesters, processors, BLOCKS, block_bytes))
        }
        Work::NullHandler(percent) => requests(setup, Exchange::NullHandler, percent),
        Work::FetchBlock(percent) => requests(setup, Exchange::FetchBlock, percent),
    }
}

/// After how many cycles a program is given up.
fn limit(setup: &Setup, size: Size) -> u64 {
    let full = LIMIT_FACTOR * setup.weight() * 1_000_000;
    match size {
        Size::Published => full,
        Size::Quick => full / SCALED,
    }
}

fn bandwidth(setup: &Setup, reads: &RemoteReads) -> Result<Measured, String> {
    let outcome = outcome(setup, reads)?;
    Ok(Measured { bandwidth: reads.bytes_per_cycle(&outcome), ..measured(&outcome) })
}

/// Remote reads when the protocol's data are in the caches of who needs them: those of the second round, which are what two rounds
/// have more than one.
fn remote_read(setup: &Setup) -> Result<Measured, String> {
    let twice = RemoteReads::remote_read(setup.processors, FEW_BLOCKS, setup.block_bytes);
    let once = RemoteReads { rounds: 1, ..twice.clone() };
    let [first, both] = [outcome(setup, &once)?, outcome(setup, &twice)?];
    let [fewer, all] = [&first, &both].map(|outcome| outcome.processors.first().map(|one| one.remote_misses));
    let (fewer, all) = fewer.zip(all).ok_or("there is no processor")?;
    let reads = all.times.saturating_sub(fewer.times).max(1);
    let round_trip = all.cycles.saturating_sub(fewer.cycles) as f64 / reads as f64;
    Ok(Measured { round_trip: Some(round_trip), ..measured(&both) })
}

/// Requests with computing in between, of which `percent` is U = C / (C + Lmin): C is the mean time of computing, Lmin that of a round
/// trip under Fixed (§4.3.2).
fn requests(setup: &Setup, exchange: Exchange, percent: u32) -> Result<Measured, String> {
    let fixed = Setup { system: System::Fixed, processors: 1, ..*setup };
    let round_trip = RequestLoop::round_trip(exchange, &fixed.machine()).map_err(in_words)?.0 as f64;
    let compute = f64::from(percent) / f64::from(100 - percent) * round_trip;
    let iterations = REQUESTS / setup.processors;
    let load_every = Some(LOAD_EVERY);
    let loops = RequestLoop { exchange, compute, load_every, iterations, alone: false, seed: SEED };
    let outcome = loops
        .run(&setup.machine(), &cluster::Options { limit: LIMIT, ..Default::default() })
        .map_err(in_words)?;
    let warm = outcome.episodes.first().map_or(0, |barrier| barrier.cycles);
    let all = measured(&outcome);
    Ok(Measured { cycles: outcome.cycles - warm, round_trip: Some(round_trip), ..all })
}

fn outcome(setup: &Setup, reads: &RemoteReads) -> Result<Outcome, String> {
    cluster::run(&setup.machine(), reads, &cluster::Options { limit: LIMIT, ..Default::default() })
        .map_err(in_words)
}

fn in_words(error: Error) -> String {
    error.to_string()
}

fn measured(outcome: &Outcome) -> Measured {
    let of_processors = |of: fn(&Breakdown) -> u64| outcome.processors.iter().map(of).sum::<u64>();
    let devices = || outcome.nodes.iter().map(|node| &node.device);
    let handlers = |device: &DeviceTally| {
        let counts = device.handlers.values().chain([&device.exchanges]);
        counts.fold((0, 0), |(times, cycles), count| (times + count.times, cycles + count.cycles))
    };
    let all = devices().map(|device| handlers(device).0).sum();
    let (times, cycles) = devices().next().map(handlers).unwrap_or_default();
    let (misses, missed) = devices().fold((0, 0), |(times, cycles), device| {
        (times + device.state_misses.times, cycles + device.state_misses.cycles)
    });
    let lifetime = of_processors(|one| one.end);
    let busy = of_processors(Breakdown::computing) + of_processors(|one| one.cache_misses.cycles);
    Measured {
        cycles: outcome.cycles,
        references: outcome.references(),
        computing: 100.0 * ratio(busy, lifetime),
        round_trip: None,
        bandwidth: None,
        remote_misses: of_processors(|one| one.remote_misses.times),
        interrupts: of_processors(|one| one.interrupts.times),
        messages: outcome.network.messages.values().sum(),
        handlers: all,
        waited: ratio(devices().map(|device| device.waited).sum(), all),
        occupancy: ratio(cycles, times),
        state_miss: ratio(missed, misses),
    }
}

/// `part / whole`; 0 if there is nothing.
fn ratio(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64
}
