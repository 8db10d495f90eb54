//! How many packets per second the packet model simulates, beside other simulators.
//!
//! | module | holds |
//! |---|---|
//! | [`contest`] | all peers on the same queues; a peer whose answer is not that of theory fails the run |
//! | [`heap_loop`], [`nexosim_bank`], [`python`], [`ours`] | the peers |
//! | [`full_model`] | the model with the published costs, and its cost by processors and streams |
//! | [`parallel`] | replications on one thread and on two |
//!
//! Everything runs in interleaved rounds, so that a disturbance of the machine meets all alike;
//! ratios are taken within each round. Run with `make bench-sim`, which installs the peers that
//! are not written in Rust. Figures are printed, and written to `target/bench/packet.json`.

mod contest;
mod draws;
mod full_model;
mod heap_loop;
mod nexosim_bank;
mod ours;
mod parallel;
mod peer;
mod python;
mod queue;

use contest::{Contest, Standing};
use full_model::Measured;
use parallel::{Parallel, Scaling};
use serde::Serialize;
use std::error::Error;
use std::process::ExitCode;
use warmcore_bench::{Provenance, results};

const ROUNDS: u64 = 15;
/// How many of them take the sweep in, which takes long and decides nothing narrowly.
const ROUNDS_OF_SWEEP: u64 = 3;

/// Everything that was measured.
#[derive(Serialize)]
struct Results {
    provenance: Provenance,
    rounds: u64,
    queues: Vec<Standing>,
    full_model: Vec<Measured>,
    sweep: Vec<Measured>,
    parallel: Scaling,
}

fn main() -> ExitCode {
    // Without this argument the program runs as a test, which shows only that it works.
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
    let mut contest = Contest::new()?;
    let (mut published, mut sweep, mut parallel) =
        (full_model::published(), full_model::sweep(), Parallel::new());
    for round in 0..rounds {
        contest.round(round)?;
        published.iter_mut().for_each(|point| point.round(round));
        if round < ROUNDS_OF_SWEEP {
            sweep.iter_mut().for_each(|point| point.round(round));
        }
        parallel.round();
    }
    provenance.finish();
    let queues = contest.standings()?;
    let full_model = published.iter().map(|point| point.measured(&queues)).collect();
    let sweep = sweep.iter().map(|point| point.measured(&[])).collect();
    Ok(Results { provenance, rounds, queues, full_model, sweep, parallel: parallel.scaling() })
}

/// Prints the results, and writes them to a file.
fn report(results: &Results) -> Result<(), Box<dyn Error>> {
    results.provenance.print();
    println!(
        "{} interleaved rounds ({ROUNDS_OF_SWEEP} of the sweep); median [least, greatest] of the rounds\n",
        results.rounds
    );
    results.queues.iter().for_each(Standing::print);
    full_model::print_published(&results.full_model);
    full_model::print_sweep(&results.sweep);
    results.parallel.print();
    Ok(results::write("packet", results)?)
}
