//! The dispatch queue beside what is otherwise used for events with keys, on the same events in the
//! same run: `make bench-dispatch`.
//!
//! | module | holds |
//! |---|---|
//! | [`mix`], [`traffic`] | whose events come; the same keys for all, for other processes in a file |
//! | [`work`], [`handler`], [`case`] | what is done with an event, and the check of the order |
//! | [`contestant`] | what is asked of everybody who takes part |
//! | [`ours`] | this crate |
//! | [`bare`] | no queue: what others add to |
//! | [`channels`], [`locks`], [`pools`], [`shards`], [`tasks`] | peers in this process |
//! | [`programs`], [`installed`] | peers in others: cowns, Asio, BookKeeper |
//! | [`room`] | a bound for those who have none |
//! | [`contest`], [`canary`], [`table`], [`verdict`] | rounds, the machine's state, and what came out |
//! | [`barriers`], [`affinity`], [`latency`] | sequential events, moves of keys, and waits |
//! | [`extent`], [`findings`] | what was asked for, and everything that was measured |
//!
//! Everybody is run in turn, round after round, so that what disturbs the machine meets all alike, and
//! ratios are taken within rounds. A run during which other programs had the processors is repeated; a
//! round begins when an inline loop is as fast as it was. There are two workers, and the thread that
//! sends; memory for events that wait is bounded for all. Each handler counts how often an event is not
//! the next of its key.
//!
//! Figures are printed, and written to `target/bench/dispatch.json`. With `--quick`, fewer events, rounds
//! and handlers. Other arguments are words: only tables that have all of them in their title are made,
//! nothing else is measured and no file written: `cargo bench -p warmcore-bench --bench dispatch -- Zipf`.

mod affinity;
mod bare;
mod barriers;
mod canary;
mod case;
mod channels;
mod contest;
mod contestant;
mod extent;
mod findings;
mod handler;
mod installed;
mod latency;
mod locks;
mod mix;
mod ours;
mod pools;
mod programs;
mod random;
mod room;
mod shards;
mod table;
mod tasks;
mod traffic;
mod verdict;
mod work;

use canary::Canary;
use contest::Contest;
use extent::Extent;
use findings::{Beyond, Findings};
use handler::Handler;
use installed::Installed;
use mix::Mix;
use programs::Timed;
use std::error::Error;
use std::io;
use std::process::ExitCode;
use table::Table;
use traffic::Traffic;
use warmcore_bench::{Provenance, results};
use warmcore_linux::affinity::mask;

/// Threads that handle events.
const WORKERS: usize = 2;
/// Messages that a channel holds.
const BOUND: usize = 1024;
/// Events in a message, where they are sent in batches.
const BATCH: usize = 64;
/// Events that wait at most where there is one bound for all, and that are grouped by key at once.
const ROOM: usize = 8_192;
/// Events that warm up a program.
const WARM_UP: usize = 1_000_000;

fn main() -> ExitCode {
    let extent = Extent::asked_for();
    let outcome = measure(&extent).and_then(|findings| {
        findings.print();
        if extent.is_kept() { Ok(results::write("dispatch", &findings)?) } else { Ok(()) }
    });
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn measure(extent: &Extent) -> Result<Findings, Box<dyn Error>> {
    let mut provenance =
        Provenance::read(&["warmcore-dispatch", "crossbeam-channel", "rayon", "tokio", "grommet"]);
    let handlers: Vec<Handler> =
        extent.handlers.iter().map(|(nanos, _)| Handler::calibrated(*nanos)).collect();
    let short = Handler::calibrated(100);
    let warm_up = Traffic::new(Mix::Uniform, extent.most_events().min(WARM_UP))?;
    let Installed { contestants, versions, timed, mut absent } = Installed::start(&handlers, &warm_up);
    versions.iter().for_each(|(name, version)| provenance.add(name, version));
    let all = contestant::here().into_iter().chain(contestants).collect();
    let mut contest = Contest::new(all, mask()?.iter().collect(), Canary::new(short));
    let tables = tables(extent, &handlers, &mut contest)?;
    let beyond = if extent.has_all() { Some(beyond(extent, short)?) } else { None };
    let (lost, drift, runs_repeated) = contest.finish();
    absent.extend(lost);
    provenance.finish();
    Ok(Findings {
        provenance,
        workers: WORKERS,
        rounds: extent.rounds,
        margin: verdict::MARGIN,
        absent,
        work: handlers.into_iter().map(Timed::here).chain(timed).collect(),
        tables,
        beyond,
        drift,
        runs_repeated,
    })
}

/// Every mix under every handler, if it is asked for.
fn tables(extent: &Extent, handlers: &[Handler], contest: &mut Contest) -> io::Result<Vec<Table>> {
    let mut tables = Vec::new();
    for mix in Mix::ALL {
        let all = handlers.iter().zip(&extent.handlers).map(|(&handler, &(_, events))| (handler, events));
        let asked: Vec<_> = all.filter(|(handler, _)| extent.contains(mix, *handler)).collect();
        if asked.is_empty() {
            continue;
        }
        let traffic = Traffic::new(mix, extent.most_events())?;
        for (handler, events) in asked {
            let table = contest.table(&traffic, handler, events, extent.rounds);
            println!("{table}");
            tables.push(table);
        }
    }
    Ok(tables)
}

fn beyond(extent: &Extent, handler: Handler) -> io::Result<Beyond> {
    let events = extent.most_events();
    let traffic = Traffic::new(Mix::Uniform, events)?;
    let barriers = barriers::measure(&traffic, handler, events, extent.rounds);
    Ok(Beyond { barriers, moves: affinity::measure(), waits: latency::measure(extent.rounds) })
}
