//! The machine that a user's scenario describes, and its run.

use super::error::Error;
use super::exchange::Exchange;
use super::machine::Machine;
use super::microbenchmarks::RemoteReads;
use super::outcome::Outcome;
use super::requests::RequestLoop;
use super::run::{Options, run};
use super::timing::Timing;
use warmcore_scenario::ClusterScenario;
use warmcore_scenario::cluster::{ClusterMachine, Microbenchmark, Requests, Work};
use warmcore_units::Fault;
use warmcore_workload::programs::{Image, Program};

impl TryFrom<&ClusterScenario> for Machine {
    type Error = Fault;

    /// The machine of `scenario`, checked.
    ///
    /// # Errors
    /// The first field of the scenario that cannot be.
    fn try_from(scenario: &ClusterScenario) -> Result<Self, Fault> {
        let ClusterMachine { nodes, processors, .. } = scenario.machine;
        let base = Self::chapter_5(nodes, processors, scenario.device);
        let given = &scenario.machine;
        let machine = Self {
            block_bytes: given.block_bytes,
            cache_bytes: given.cache_bytes,
            line_bytes: given.line_bytes,
            block_buffer_bytes: given.block_buffer_bytes,
            page_cache_pages: given.page_cache_pages,
            dispatch: scenario.dispatch.map(|dispatch| dispatch.design()).transpose()?,
            memory: given.memory,
            timing: Timing {
                network: given.network_cycles,
                interrupt: given.interrupt_cycles,
                trap: given.trap_cycles,
                ..base.timing
            },
            run_ahead: given.run_ahead,
            ..base
        };
        machine.check().map_err(|fault| of_machine(scenario, fault))?;
        if given.limit_cycles > MOST_CYCLES {
            let expected = format!("at most {MOST_CYCLES}, a month");
            return Err(Fault::new("machine.limit_cycles", given.limit_cycles, expected));
        }
        Ok(machine)
    }
}

/// The most cycles of a run: sums over all processors can be counted.
const MOST_CYCLES: u64 = 1 << 50;

/// The most bytes that a microbenchmark may read, or keep of its own.
const MOST_BYTES: u64 = 1 << 33;

/// The fault of a machine, as that of its scenario.
fn of_machine(scenario: &ClusterScenario, fault: Fault) -> Fault {
    let names_table = ["device", "dispatch"].contains(&fault.field.split('.').next().unwrap_or_default());
    match (&fault.field[..], scenario.dispatch) {
        ("dispatch", Some(dispatch)) => {
            Fault { field: "dispatch.design".to_owned(), found: dispatch.design.to_string(), ..fault }
        }
        _ if names_table => fault,
        _ => Fault { field: format!("machine.{}", fault.field), ..fault },
    }
}

/// The fault of a program's or a microbenchmark's size, as that of its scenario.
fn of_work(scenario: &ClusterScenario, table: &str, fault: Fault) -> Fault {
    let ClusterMachine { nodes, processors, .. } = scenario.machine;
    match &fault.field[..] {
        "processors" => Fault {
            field: "machine.processors".to_owned(),
            found: format!("{processors} on each of {nodes} nodes"),
            expected: format!("{} on all nodes together", fault.expected),
        },
        field @ ("nodes" | "cache_bytes") => Fault { field: format!("machine.{field}"), ..fault },
        _ => Fault { field: format!("{table}.{}", fault.field), ..fault },
    }
}

impl From<&ClusterScenario> for Options<'_> {
    fn from(scenario: &ClusterScenario) -> Self {
        Self { limit: scenario.machine.limit_cycles, ..Self::default() }
    }
}

/// The run of a scenario.
#[derive(Clone, PartialEq, Debug)]
pub struct Simulated {
    /// What the run came to.
    pub outcome: Outcome,
    /// What a microbenchmark is about; nothing of a program.
    pub figure: Option<Figure>,
}

/// What a microbenchmark is about.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Figure {
    /// Cycles of 400 MHz that a remote read takes.
    RemoteRead(f64),
    /// Bytes that readers get in a cycle of 400 MHz, all together.
    Bandwidth(f64),
    /// Cycles of 400 MHz from a request to its handled reply.
    RoundTrip(f64),
}

impl Simulated {
    /// What it took, to be compared with others: cycles of the program, of the operation, or for each byte.
    #[must_use]
    pub fn cost(&self) -> f64 {
        match self.figure {
            None => self.outcome.cycles as f64,
            Some(Figure::RemoteRead(cycles) | Figure::RoundTrip(cycles)) => cycles,
            Some(Figure::Bandwidth(bytes)) => 1.0 / bytes,
        }
    }
}

/// Whether `scenario` can run, as far as its machine and the program's input say.
///
/// # Errors
/// The first field of the scenario that cannot be.
pub fn check(scenario: &ClusterScenario) -> Result<(), Fault> {
    let machine = Machine::try_from(scenario)?;
    match scenario.work()? {
        Work::Program(program) => {
            let prepared = program.prepare(&mut Image::new(), machine.compute_processors());
            prepared.map(|_| ()).map_err(|fault| of_work(scenario, "program", fault))
        }
        Work::Microbenchmark(_) => Ok(()),
    }
}

/// Runs what `scenario` says on its machine.
///
/// # Errors
/// As [`run()`] says. An impossible value is named by its field of the scenario.
pub fn simulate(scenario: &ClusterScenario, options: &Options<'_>) -> Result<Simulated, Error> {
    let machine = Machine::try_from(scenario)?;
    let (table, simulated) = match scenario.work()? {
        Work::Program(program) => {
            let outcome = run(&machine, program, options);
            ("program", outcome.map(|outcome| Simulated { outcome, figure: None }))
        }
        Work::Microbenchmark(microbenchmark) => {
            ("microbenchmark", measure(&machine, microbenchmark, options))
        }
    };
    simulated.map_err(|error| match error {
        Error::Impossible(fault) => Error::Impossible(of_work(scenario, table, fault)),
        error => error,
    })
}

fn measure(
    machine: &Machine,
    microbenchmark: &Microbenchmark,
    options: &Options<'_>,
) -> Result<Simulated, Error> {
    let Machine { nodes, processors, block_bytes, .. } = *machine;
    let needs = |least: u32, why: &str| {
        let fault = || Fault::new("nodes", nodes, format!("{least} or more, {why}"));
        if nodes >= least { Ok(()) } else { Err(Error::Impossible(fault())) }
    };
    let fits = |field: &str, number: u64, bytes_each: u64| {
        let most = MOST_BYTES / bytes_each;
        let fault = || {
            Fault::new(
                field,
                number,
                format!("at most {most}: all that is read must fit into {MOST_BYTES} bytes"),
            )
        };
        if number <= most { Ok(()) } else { Err(Error::Impossible(fault())) }
    };
    match microbenchmark {
        Microbenchmark::RemoteRead {} => {
            needs(2, "since a block of another node is read")?;
            let (cycles, outcome) = RemoteReads::round_trip(machine, options)?;
            Ok(Simulated { outcome, figure: Some(Figure::RemoteRead(cycles)) })
        }
        Microbenchmark::ReplyBandwidth(of) => {
            needs(2, "since other nodes read blocks of the first")?;
            fits("blocks", of.blocks, block_bytes * u64::from(nodes))?;
            let reads = RemoteReads::reply_bandwidth(nodes - 1, processors, of.blocks, block_bytes);
            read(machine, &reads, options)
        }
        Microbenchmark::RequestBandwidth(of) => {
            needs(processors + 1, "one more than processors, each of which reads of another")?;
            fits("blocks", of.blocks, block_bytes * u64::from(processors))?;
            let reads = RemoteReads::request_bandwidth(processors, processors, of.blocks, block_bytes);
            read(machine, &reads, options)
        }
        Microbenchmark::NullHandler(of) | Microbenchmark::FetchBlock(of) => {
            // Each processor has a segment as large as its cache.
            fits("cache_bytes", machine.cache_bytes, u64::from(machine.compute_processors()))?;
            let exchange = match microbenchmark {
                Microbenchmark::NullHandler(_) => Exchange::NullHandler,
                _ => Exchange::FetchBlock,
            };
            request(machine, exchange, of, options)
        }
    }
}

fn read(machine: &Machine, reads: &RemoteReads, options: &Options<'_>) -> Result<Simulated, Error> {
    let outcome = run(machine, reads, options)?;
    let figure = reads.bytes_per_cycle(&outcome).map(Figure::Bandwidth);
    Ok(Simulated { outcome, figure })
}

fn request(
    machine: &Machine,
    exchange: Exchange,
    of: &Requests,
    options: &Options<'_>,
) -> Result<Simulated, Error> {
    let &Requests { compute_cycles: compute, load_every, requests: iterations, seed } = of;
    let loops = RequestLoop { exchange, compute, load_every, iterations, alone: false, seed };
    let outcome = loops.run(machine, options)?;
    let requests = outcome.processors.iter().map(|processor| processor.remote_misses);
    let (times, cycles) =
        requests.fold((0, 0), |(times, cycles), one| (times + one.times, cycles + one.cycles));
    Ok(Simulated { figure: Some(Figure::RoundTrip(cycles as f64 / times as f64)), outcome })
}
