//! How fast clusters are simulated: shared references per second on fft, beside the same program on plain memory.
//!
//! Plain memory is the limit: no machine is simulated there, and every reference is a load or store of the processor that
//! executes the program. The rate counts what happens between the first and the last simulated cycle: neither the making of the
//! input nor the check of the result. Run with `make bench-cluster`. Results are printed and written to
//! `target/bench/cluster.json`.

use core::cell::Cell;
use core::hint::black_box;
use core::ops::ControlFlow;
use serde::Serialize;
use std::error::Error;
use std::process::ExitCode;
use std::time::Instant;
use warmcore_bench::{Provenance, results};
use warmcore_sim::cluster::{Device, Machine, Moment, Options, run};
use warmcore_stats::Spread;
use warmcore_workload::programs::cost::Pace;
use warmcore_workload::programs::{Address, BarrierId, Fft, Image, LockId, Prepared, Program, SharedMemory};

const ROUNDS: usize = 7;
/// References per second that the simulator is to reach with this run-ahead.
const GOALS: [(u64, f64); 2] = [(0, 20e6), (100, 100e6)];

/// A machine to simulate.
struct Subject {
    name: String,
    machine: Machine,
    program: Fft,
    rates: Vec<f64>,
}

/// What was measured of one machine, in references per second.
#[derive(Serialize)]
struct Rates {
    name: String,
    rate: Spread,
    /// Part of the rate on plain memory.
    of_plain: Spread,
    goal: Option<f64>,
}

#[derive(Serialize)]
struct Results {
    provenance: Provenance,
    rounds: usize,
    plain: Spread,
    simulated: Vec<Rates>,
}

fn main() -> ExitCode {
    // Without this argument it runs as a test: one round, only to show that it works.
    let full = std::env::args().any(|argument| argument == "--bench");
    match measure(if full { ROUNDS } else { 1 }, if full { 1 << 20 } else { 1 << 12 }) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn measure(rounds: usize, points: u64) -> Result<(), Box<dyn Error>> {
    let mut provenance = Provenance::read(&["warmcore-sim"]);
    let mut subjects = subjects(points);
    let mut plain = Vec::new();
    for _ in 0..rounds {
        plain.push(plain_rate(&subjects[0].program)?);
        for subject in &mut subjects {
            subject.rates.push(simulated_rate(&subject.machine, &subject.program)?);
        }
    }
    provenance.finish();
    let plain = Spread(plain);
    let simulated = subjects.into_iter().map(|subject| {
        let rate = Spread(subject.rates);
        let is_full = subject.machine.nodes > 1;
        let goal = GOALS.iter().find(|(ahead, _)| is_full && *ahead == subject.machine.run_ahead);
        Rates { of_plain: rate.over(&plain), name: subject.name, rate, goal: goal.map(|(_, rate)| *rate) }
    });
    let results = Results { provenance, rounds, simulated: simulated.collect(), plain };
    results.print();
    Ok(results::write("cluster", &results)?)
}

/// A run-ahead with which a processor is left only where a reference misses or waits.
const UNBOUNDED: u64 = 100_000;

fn subjects(points: u64) -> Vec<Subject> {
    let published = Fft { points, ..Fft::default() };
    let bare = Fft { pace: Pace::new(1.0), ..published.clone() };
    let paces = [("the thesis's pace", &published), ("pace 1", &bare)];
    let mut subjects = Vec::new();
    for (nodes, processors) in [(1, 1), (1, 8), (8, 8)] {
        for run_ahead in [0, 100, UNBOUNDED] {
            for (pace, program) in paces {
                let machine =
                    Machine { run_ahead, ..Machine::chapter_5(nodes, processors, Device::SComa {}) };
                let name = format!("{nodes} x {processors}, run-ahead {run_ahead}, {pace}");
                subjects.push(Subject { name, machine, program: program.clone(), rates: Vec::new() });
            }
        }
    }
    subjects
}

/// References per second of the simulation, from its first cycle to its last.
fn simulated_rate(machine: &Machine, program: &Fft) -> Result<f64, Box<dyn Error>> {
    let began = Cell::new(None);
    let ended = Cell::new((0, Instant::now()));
    let watch = |moment: Moment| {
        if began.get().is_none() {
            began.set(Some(Instant::now()));
        }
        ended.set((moment.references, Instant::now()));
        ControlFlow::Continue(())
    };
    run(machine, program, &Options { watch: &watch, ..Options::default() })?;
    let (references, end) = ended.get();
    let seconds = began.get().map_or(f64::NAN, |began| end.duration_since(began).as_secs_f64());
    Ok(references as f64 / seconds)
}

/// The same program on plain memory.
fn plain_rate(program: &Fft) -> Result<f64, Box<dyn Error>> {
    let mut image = Image::new();
    let prepared = program.prepare(&mut image, 1)?;
    let words = image.words().iter().map(|&word| Cell::new(word)).collect();
    let memory = Plain { words, references: Cell::new(0) };
    let start = Instant::now();
    prepared.run(black_box(&memory));
    Ok(memory.references.get() as f64 / start.elapsed().as_secs_f64())
}

/// Memory of one processor, and nothing else.
struct Plain {
    words: Vec<Cell<u64>>,
    references: Cell<u64>,
}

impl Plain {
    #[inline(always)]
    fn word(&self, at: Address) -> &Cell<u64> {
        self.references.set(self.references.get() + 1);
        &self.words[(at.0 / 8) as usize]
    }
}

impl SharedMemory for Plain {
    fn processor(&self) -> u32 {
        0
    }

    fn processors(&self) -> u32 {
        1
    }

    #[inline(always)]
    fn load(&self, at: Address) -> u64 {
        self.word(at).get()
    }

    #[inline(always)]
    fn store(&self, at: Address, value: u64) {
        self.word(at).set(value);
    }

    fn load_half(&self, at: Address) -> u32 {
        (self.load(at) >> (8 * (at.0 % 8))) as u32
    }

    fn store_half(&self, at: Address, value: u32) {
        let shift = 8 * (at.0 % 8);
        let others = self.load(at) & !(u64::from(u32::MAX) << shift);
        self.store(at, others | u64::from(value) << shift);
    }

    #[inline(always)]
    fn compute(&self, _: u32) {}

    fn acquire(&self, _: LockId) {}

    fn release(&self, _: LockId) {}

    fn barrier(&self, _: BarrierId) {}
}

impl Results {
    fn print(&self) {
        self.provenance.print();
        println!(
            "{} interleaved rounds; median [least, greatest]; million references a second\n",
            self.rounds
        );
        println!("  {:44} {:.0}", "plain memory, one processor", self.plain.map(|rate| rate / 1e6));
        for Rates { name, rate, of_plain, goal } in &self.simulated {
            let goal = goal.map_or(String::new(), |goal| {
                let verdict = if rate.median() >= goal { "reached" } else { "missed" };
                format!("; goal {verdict}: {:.0}", goal / 1e6)
            });
            let part = of_plain.map(|part| 100.0 * part);
            println!("  {name:44} {:.1}, {part:.1} % of plain memory{goal}", rate.map(|rate| rate / 1e6));
        }
    }
}
