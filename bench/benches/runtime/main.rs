//! The runtime beside its peers: what processing a packet costs at saturation, and what delay a
//! packet has at equal load.
//!
//! | module | holds |
//! |---|---|
//! | [`trial`] | what is asked of everybody, and how processor time is taken |
//! | [`material`] | the frames, streams, stacks and arrival times that are the same for all |
//! | [`bare`], [`ours`] | the stack without a runtime, and with ours |
//! | [`channels`], [`tasks`], [`sockets`] | the peers |
//! | [`contest`], [`goals`] | the tables, and what they say of the goals |
//!
//! Everything runs in interleaved rounds, so that a disturbance of the machine meets all alike;
//! ratios are taken within each round.
//!
//! **Processor time.** Each trial is steered by one thread. With peers it is the sender too, and
//! its time is told apart from that of all others, the workers. Our memory driver needs no sender:
//! its workers take packets in themselves, and that is in their time. So peers are spared what
//! sending costs, at saturation also the interference of a sender where their channels are filled
//! before the clock starts, and clocks: below saturation everybody reads one, at saturation ours alone.
//!
//! **Delay** counts from the scheduled arrival to the return of the handler, all packets of a run
//! included. Where another program takes a processor away, that is what it shows: delays are judged
//! in rounds in which others had little of the processors, and the tables say what they had.
//!
//! Run with `make bench-runtime`. Figures are printed, and written to `target/bench/runtime.json`.
//! Arguments are words: only what has all of them in its description is measured, and no file written:
//! `cargo bench -p warmcore-bench --bench runtime -- warmcore saturation`.

mod bare;
mod channels;
mod contest;
mod goals;
mod material;
mod ours;
mod sockets;
mod tasks;
mod trial;

use contest::{Contest, Standing};
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
    standings: Vec<Standing>,
    goals: Vec<Goal>,
}

fn main() -> ExitCode {
    // Without this argument the program runs as a test, which shows only that it works.
    let rounds = if std::env::args().any(|argument| argument == "--bench") { ROUNDS } else { 1 };
    let words: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let outcome = measure(rounds, &words).and_then(|results| {
        report(&results);
        // A part of the figures does not replace all of them.
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
    let mut contest = Contest::new(words.to_vec())?;
    (0..rounds).try_for_each(|_| contest.round())?;
    provenance.finish();
    let standings = contest.standings();
    let goals = goals(&standings);
    Ok(Results { provenance, rounds, standings, goals })
}

/// Prints the results.
fn report(results: &Results) {
    results.provenance.print();
    let (streams, payload) = (material::STREAMS, material::PAYLOAD);
    println!("{streams} streams, {payload} bytes of data in a packet, UDP checksum not verified");
    println!("{} interleaved rounds; median [least, greatest] of the rounds\n", results.rounds);
    results.standings.iter().for_each(Standing::print);
    println!("goals, by the median of the rounds:");
    results.goals.iter().for_each(Goal::print);
}
