//! The microbenchmark of chapter 4: processors that compute and send requests in turn (Falsafi 1998, §4.3.2).
//!
//! Computing times are exponential. Computing is interleaved with uniformly random loads from a private segment as large as
//! the cache, at a rate that is not stated. The caches are warm when it begins.

use super::error::Error;
use super::exchange::{ActiveMessage, Exchange, Stage};
use super::machine::Machine;
use super::outcome::Outcome;
use super::processor::{Processor, Yield};
use super::run::{Options, build, outcome};
use rand::RngExt;
use rand_distr::{Distribution, Exp};
use std::rc::Rc;
use warmcore_units::{Cycles, Fault};
use warmcore_workload::programs::{Address, BarrierId, Home, Image, SharedMemory};
use warmcore_workload::random::{Key, Purpose};

/// Processors that compute and send requests in turn.
#[derive(Clone, PartialEq, Debug)]
pub struct RequestLoop {
    /// What the handlers do.
    pub exchange: Exchange,
    /// Mean cycles of computing between requests.
    pub compute: f64,
    /// Cycles of computing between loads from the private segment; `None`: no loads.
    pub load_every: Option<u32>,
    /// Requests that each processor sends.
    pub iterations: u32,
    /// Whether only the first processor sends requests, so that none meets another.
    pub alone: bool,
    /// Names the random numbers.
    pub seed: u64,
}

impl RequestLoop {
    /// Runs the loop on `machine`.
    ///
    /// # Errors
    /// If the machine or the loop is impossible.
    pub fn run(&self, machine: &Machine, options: &Options<'_>) -> Result<Outcome, Error> {
        machine.check()?;
        if machine.nodes < 2 {
            return Err(
                Fault::new("nodes", machine.nodes, "at least 2, since requests go to other nodes").into()
            );
        }
        let Ok(computing) = Exp::new(1.0 / self.compute.max(f64::MIN_POSITIVE)) else {
            return Err(Fault::new("compute", self.compute, "a number of cycles").into());
        };
        let mut image = Image::new();
        let segment = |processor| image.allocate(machine.cache_bytes, Home::Processor(processor));
        let segments: Vec<Address> = (0..machine.compute_processors()).map(segment).collect();
        let buffer = |processor| image.allocate(machine.block_bytes, Home::Processor(processor));
        let buffers: Vec<Address> = (0..machine.compute_processors()).map(buffer).collect();
        let body = Body { loops: self.clone(), machine: machine.clone(), computing, segments, buffers };
        let mut system =
            build(machine, image, &Rc::new(move |processor: &Processor<'_>| body.run(processor)))?;
        system.run(options)?;
        Ok(outcome(&system, 0))
    }

    /// Mean cycles of a request and its reply, with the load of a fetched block, when nothing else happens on a machine of
    /// two nodes or more.
    ///
    /// # Errors
    /// If the machine is impossible.
    pub fn round_trip(exchange: Exchange, machine: &Machine) -> Result<Cycles, Error> {
        const REQUESTS: u64 = 200;
        let loops =
            |iterations| Self { exchange, compute: 0.0, load_every: None, iterations, alone: true, seed: 1 };
        let cycles = |requests: u64| {
            let outcome = loops(requests as u32).run(machine, &Options::default())?;
            Ok::<u64, Error>(outcome.processors[0].end)
        };
        Ok(Cycles((cycles(2 * REQUESTS)? - cycles(REQUESTS)?) / REQUESTS))
    }
}

/// What each processor executes.
struct Body {
    loops: RequestLoop,
    machine: Machine,
    computing: Exp<f64>,
    segments: Vec<Address>,
    buffers: Vec<Address>,
}

impl Body {
    fn run(&self, processor: &Processor<'_>) {
        let me = processor.processor();
        let mut random =
            Key { seed: self.loops.seed, point: u64::from(me), replication: 0 }.stream(Purpose::Process);
        let mine = self.segments[me as usize];
        let words = self.machine.cache_bytes / 8;
        let line_words = self.machine.line_bytes / 8;
        (0..words).step_by(line_words as usize).for_each(|word| {
            processor.load(mine.word(word));
        });
        processor.barrier(BarrierId(0));
        if self.loops.alone && me > 0 {
            return;
        }
        for _ in 0..self.loops.iterations {
            let mut left =
                if self.loops.compute > 0.0 { self.computing.sample(&mut random) as u32 } else { 0 };
            while let Some(every) = self.loops.load_every.filter(|&every| every <= left) {
                processor.compute(every);
                processor.load(mine.word(random.random_range(0..words)));
                left -= every.max(1);
            }
            processor.compute(left);
            self.request(processor, &mut random);
        }
    }

    fn request(&self, processor: &Processor<'_>, random: &mut impl RngExt) {
        let me = processor.processor();
        let (node, per_node) = (me / self.machine.processors, self.machine.processors);
        let to = (node + random.random_range(1..self.machine.nodes)) % self.machine.nodes;
        let whose = to * per_node + random.random_range(0..per_node);
        let number = random.random_range(0..self.machine.cache_bytes / self.machine.block_bytes);
        let block = |at: Address| (at.0 / self.machine.block_bytes) as u32;
        let into = self.buffers[me as usize];
        processor.suspend(Yield::Exchange(ActiveMessage {
            exchange: self.loops.exchange,
            stage: Stage::Submit,
            node,
            cpu: me % per_node,
            to,
            block: block(self.segments[whose as usize]) + number as u32,
            into: block(into),
        }));
        if self.loops.exchange == Exchange::FetchBlock {
            (0..self.machine.block_bytes).step_by(self.machine.line_bytes as usize).for_each(|byte| {
                processor.load(Address(into.0 + byte));
            });
        }
    }
}
