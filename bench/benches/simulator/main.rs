//! Compares the packet model with other simulators: packets simulated per second.
//!
//! | module | holds |
//! |---|---|
//! | [`comparison`] | all peers on the same queues; the benchmark fails if a peer's mean disagrees with theory |
//! | [`heap_loop`], [`nexosim_bank`], [`python`], [`ours`] | the peers |
//! | [`full_model`] | the packet model with the published costs; how its speed scales with processors and streams |
//! | [`parallel`] | replications on one thread and on two |
//!
//! Peers run in interleaved rounds, so that a disturbance of the machine affects all of them alike. Ratios
//! are taken within each round. Run with `make bench-sim`, which installs the peers that are not written in
//! Rust. Results are printed and written to `target/bench/packet.json`.

mod comparison;
mod draws;
mod full_model;
mod heap_loop;
mod nexosim_bank;
mod ours;
mod parallel;
mod peer;
mod python;
mod queue;

use comparison::{Comparison, QueueResults};
use full_model::PointResult;
use parallel::{Parallel, Scaling};
use serde::Serialize;
use std::error::Error;
use std::process::ExitCode;
use warmcore_bench::{Provenance, results};

const ROUNDS: u64 = 15;
/// Rounds that include the sweep: few, because it takes long and no goal depends on it.
const ROUNDS_OF_SWEEP: u64 = 3;

/// Everything that was measured.
#[derive(Serialize)]
struct Results {
    provenance: Provenance,
    rounds: u64,
    queues: Vec<QueueResults>,
    full_model: Vec<PointResult>,
    sweep: Vec<PointResult>,
    parallel: Scaling,
}

fn main() -> ExitCode {
    // Without this argument it runs as a test: one round, only to show that it works.
    let rounds = if std::env::args().any(|argument| argument == "--bench") { ROUNDS } else { 1 };
    match measure(rounds).and_then(|results| report(&results)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn measure(rounds: u64) -> Result<Results, Box<dyn Error>> {
    let mut provenance = Provenance::read(&["warmcore-sim", "nexosim"]);
    let mut comparison = Comparison::new()?;
    let (mut published, mut sweep, mut parallel) =
        (full_model::published(), full_model::sweep(), Parallel::new());
    for round in 0..rounds {
        comparison.round(round)?;
        published.iter_mut().for_each(|point| point.round(round));
        if round < ROUNDS_OF_SWEEP {
            sweep.iter_mut().for_each(|point| point.round(round));
        }
        parallel.round();
    }
    provenance.finish();
    let queues = comparison.results()?;
    let full_model = published.iter().map(|point| point.result(&queues)).collect();
    let sweep = sweep.iter().map(|point| point.result(&[])).collect();
    Ok(Results { provenance, rounds, queues, full_model, sweep, parallel: parallel.scaling() })
}

/// Prints the results and writes them to a file.
fn report(results: &Results) -> Result<(), Box<dyn Error>> {
    results.provenance.print();
    println!(
        "{} interleaved rounds ({ROUNDS_OF_SWEEP} of the sweep); median [least, greatest] of the rounds\n",
        results.rounds
    );
    results.queues.iter().for_each(QueueResults::print);
    full_model::print_published(&results.full_model);
    full_model::print_sweep(&results.sweep);
    results.parallel.print();
    Ok(results::write("packet", results)?)
}
