//! Compares the runtime with its peers: processor time per packet at saturation, and packet delay at
//! equal load.
//!
//! | module | holds |
//! |---|---|
//! | [`contender`] | the interface of a benchmarked system, and how its processor time is measured |
//! | [`fixture`] | the frames, streams, stacks and arrival times, identical for all contenders |
//! | [`bare`], [`ours`] | the stack without a runtime, and with Warmcore's |
//! | [`channels`], [`tasks`], [`sockets`] | the peers |
//! | [`comparison`], [`goals`] | the tables, and whether the goals are reached |
//!
//! Contenders run in interleaved rounds, so that a disturbance of the machine affects all of them alike.
//! Ratios are taken within each round.
//!
//! **Processor time.** One thread controls each trial. With a peer it is also the sender, and its
//! processor time is reported separately from the workers'. Warmcore's memory driver needs no sender:
//! its workers take packets in themselves, and their time includes it. This favours the peers in three
//! ways. Their worker time excludes sending. At saturation, the prefilled ones also run without a sender
//! beside them. And only Warmcore reads a clock at saturation, once for the
//! packets of a span; below it every contender does, for each packet.
//!
//! **Delay** is the time from the scheduled arrival to the return of the handler, over all packets of a
//! run. It includes the time during which another program held the processor. Delays are therefore
//! judged only in rounds in which other programs used little of the processors; the tables show how
//! much they used.
//!
//! Run with `make bench-runtime`. Results are printed and written to `target/bench/runtime.json`.
//! Arguments are words: cases whose description lacks one of them are skipped, and no file is written:
//! `cargo bench -p warmcore-bench --bench runtime -- warmcore saturation`.

mod bare;
mod channels;
mod comparison;
mod contender;
mod fixture;
mod goals;
mod ours;
mod sockets;
mod tasks;

use comparison::{Comparison, TrialResults};
use goals::{Goal, goals};
use serde::Serialize;
use std::error::Error;
use std::process::ExitCode;
use warmcore_bench::{Provenance, results};

const ROUNDS: u64 = 7;

/// Everything that was measured.
#[derive(Serialize)]
struct Results {
    provenance: Provenance,
    rounds: u64,
    trials: Vec<TrialResults>,
    goals: Vec<Goal>,
}

fn main() -> ExitCode {
    // Without this argument it runs as a test: one round, only to show that it works.
    let rounds = if std::env::args().any(|argument| argument == "--bench") { ROUNDS } else { 1 };
    let words: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let outcome = measure(rounds, &words).and_then(|results| {
        report(&results);
        // Partial results do not overwrite the full ones.
        if words.is_empty() { Ok(results::write("runtime", &results)?) } else { Ok(()) }
    });
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn measure(rounds: u64, words: &[String]) -> Result<Results, Box<dyn Error>> {
    let mut provenance = Provenance::read(&["warmcore-runtime", "crossbeam-channel", "tokio", "socket2"]);
    let mut comparison = Comparison::new(words.to_vec())?;
    (0..rounds).try_for_each(|_| comparison.round())?;
    provenance.finish();
    let trials = comparison.results();
    let goals = goals(&trials);
    Ok(Results { provenance, rounds, trials, goals })
}

/// Prints the results.
fn report(results: &Results) {
    results.provenance.print();
    let (streams, payload) = (fixture::STREAMS, fixture::PAYLOAD);
    println!("{streams} streams, {payload} bytes of data in a packet, UDP checksum not verified");
    println!("{} interleaved rounds; median [least, greatest] of the rounds\n", results.rounds);
    results.trials.iter().for_each(TrialResults::print);
    println!("goals, by the median of the rounds:");
    results.goals.iter().for_each(Goal::print);
}
