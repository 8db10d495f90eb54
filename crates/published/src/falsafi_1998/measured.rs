//! Executes a run, and reads off it what figures and claims need.

use super::preliminaries::Preliminaries;
use super::setup::Setup;
use super::totals::Totals;
use super::work::Work;
use core::ops::ControlFlow;
use serde::{Deserialize, Serialize};
use warmcore_sim::cluster::exchange::Exchange;
use warmcore_sim::cluster::microbenchmarks::RemoteReads;
use warmcore_sim::cluster::requests::RequestLoop;
use warmcore_sim::cluster::{self, Error, Moment};
use warmcore_workload::programs::{AnyProgram, Size};

/// Blocks that a reader of the bandwidth microbenchmarks reads in a round: more than the block buffers hold, so that these are
/// written back all the time, as §5.3.3 says they are.
const BLOCKS: u64 = 256;
/// Requests of a node in chapter 4's microbenchmarks, shared among its compute processors, of which there may be one to six.
const REQUESTS: u32 = 6_000;
/// Cycles of computing between two loads from the private segment. The text does not say how often it is accessed.
const LOAD_EVERY: u32 = 100;
/// After how many cycles a microbenchmark is given up: more than ten times what the longest takes.
pub(super) const LIMITED: cluster::Options<'static> = cluster::Options::within(4_000_000_000);
/// A program is given up after so many times its [weight](Setup::weight) in millions of cycles, which is about what it takes on one
/// processor.
const LIMIT_FACTOR: u64 = 4;
/// Scaled inputs have less than this part of the work.
const SCALED: u64 = 8;

/// The figures of a run; in chapter 4's microbenchmarks from when caches were warm.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Measured {
    /// Until the last processor left the program, in cycles of 400 MHz.
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

impl Measured {
    /// The same of a run that takes `factor` times as long, in which as much is computed.
    #[must_use]
    pub fn lengthened(self, factor: f64) -> Self {
        let cycles = (self.cycles as f64 * factor).round() as u64;
        Self { cycles, computing: self.computing / factor, ..self }
    }
}

impl Obtained {
    /// Executes `setup` with inputs of this `size`; what it has in common with other runs is taken from `preliminaries`.
    /// `watch` is told how far a program is, and may stop it.
    #[must_use]
    pub fn by(
        setup: &Setup,
        size: Size,
        preliminaries: &Preliminaries,
        watch: &dyn Fn(Moment) -> ControlFlow<()>,
    ) -> Self {
        execute(setup, size, preliminaries, watch).map_or_else(Self::Failed, Self::Measured)
    }
}

fn execute(
    setup: &Setup,
    size: Size,
    preliminaries: &Preliminaries,
    watch: &dyn Fn(Moment) -> ControlFlow<()>,
) -> Result<Measured, String> {
    let Setup { processors, block_bytes, .. } = *setup;
    match setup.work {
        Work::Program(app) => {
            let program = AnyProgram::from_name(app.name(), size).map_err(|fault| fault.to_string())?;
            let options = cluster::Options { limit: limit(setup, size), watch };
            let outcome = cluster::run(&setup.machine(), &program, &options).map_err(in_words)?;
            Ok(Totals::new(&outcome).measured(outcome.cycles))
        }
        Work::RemoteRead => {
            let (cycles, outcome) = RemoteReads::round_trip(&setup.machine(), &LIMITED).map_err(in_words)?;
            let measured = Totals::new(&outcome).measured(outcome.cycles);
            Ok(Measured { round_trip: Some(cycles), ..measured })
        }
        Work::ReplyBandwidth(requesters) => {
            bandwidth(setup, &RemoteReads::reply_bandwidth(requesters, processors, BLOCKS, block_bytes))
        }
        Work::RequestBandwidth(requesters) => {
            bandwidth(setup, &RemoteReads::request_bandwidth(requesters, processors, BLOCKS, block_bytes))
        }
        Work::NullHandler(percent) => requests(setup, Exchange::NullHandler, percent, preliminaries),
        Work::FetchBlock(percent) => requests(setup, Exchange::FetchBlock, percent, preliminaries),
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
    let outcome = cluster::run(&setup.machine(), reads, &LIMITED).map_err(in_words)?;
    let measured = Totals::new(&outcome).measured(outcome.cycles);
    Ok(Measured { bandwidth: reads.bytes_per_cycle(&outcome), ..measured })
}

/// Requests with computing in between, of which `percent` is U = C / (C + Lmin): C is the mean time of computing, Lmin that of a round
/// trip under Fixed (§4.3.2). What the warm-up counted is taken off.
fn requests(
    setup: &Setup,
    exchange: Exchange,
    percent: u32,
    preliminaries: &Preliminaries,
) -> Result<Measured, String> {
    let round_trip = preliminaries.round_trip(setup, exchange)?;
    let compute = f64::from(percent) / f64::from(100 - percent) * round_trip;
    let loops = request_loop(exchange, compute, REQUESTS / setup.processors, setup.seed);
    let outcome = loops.run(&setup.machine(), &LIMITED).map_err(in_words)?;
    let warm = outcome.episodes.first().map_or(0, |barrier| barrier.cycles);
    let totals = Totals::new(&outcome).since(&preliminaries.warm_up(setup)?);
    Ok(Measured { round_trip: Some(round_trip), ..totals.measured(outcome.cycles - warm) })
}

/// Each processor warms its cache, then sends `iterations` requests.
pub(super) const fn request_loop(
    exchange: Exchange,
    compute: f64,
    iterations: u32,
    seed: u64,
) -> RequestLoop {
    RequestLoop { exchange, compute, load_every: Some(LOAD_EVERY), iterations, alone: false, seed }
}

pub(super) fn in_words(error: Error) -> String {
    error.to_string()
}
