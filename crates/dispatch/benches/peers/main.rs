//! The dispatch queue beside what is otherwise used for events with keys, on the same events in the
//! same run: `make bench-dispatch`.
//!
//! All implementations are run in turn, round after round, so that what disturbs the machine meets all
//! of them; the medians count. An inline loop on one thread is among them in every round: where it is
//! far from its median, the round was disturbed and is left out. Each implementation's order is
//! checked: a handler counts how often an event is not the next of its key.

mod affinity;
mod latency;
mod material;
mod ours;
mod peers;
mod table;

use material::{Case, Handler, Mix};
use std::sync::Arc;
use std::time::Instant;

/// Threads that handle events.
const WORKERS: usize = 2;
/// A round counts if the inline loop was no further from its median.
const DRIFT: f64 = 0.15;

/// Something that handles events in the order of their keys; events per second.
type Contestant = (&'static str, fn(&Arc<Case>));

const CONTESTANTS: [Contestant; 13] = [
    ("inline, one thread", peers::inline),
    ("split by key, no queue", peers::split),
    ("ours", ours::elastic),
    ("ours, sharded", ours::sharded),
    ("ours, bound", ours::bound),
    ("ours, one window", ours::window),
    ("crossbeam, by event", peers::crossbeam_by_event),
    ("crossbeam, 64 at once", peers::crossbeam_in_batches),
    ("std sync_channel", peers::sync_channel),
    ("rayon, 8192 at once", peers::rayon_in_batches),
    ("rayon strands", peers::rayon_strands),
    ("queue, mutex by key", peers::mutex_by_key),
    ("tokio, mpsc by key", peers::tokio_by_key),
];

fn main() {
    let quick = std::env::args().any(|argument| argument == "--quick");
    let rounds = if quick { 3 } else { 5 };
    let mut tables = Vec::new();
    for handler in [Handler::Nothing, Handler::Nanos(100), Handler::Nanos(1_000)] {
        for mix in Mix::ALL {
            if quick && handler != Handler::Nanos(100) {
                continue;
            }
            let events = if handler == Handler::Nanos(1_000) {
                1_000_000
            } else if quick {
                3_000_000
            } else {
                5_000_000
            };
            let mut case = Arc::new(Case::new(mix, handler, events));
            let mut rates = vec![Vec::new(); CONTESTANTS.len()];
            let mut violations = vec![0; CONTESTANTS.len()];
            for _ in 0..rounds {
                for (index, (_, run)) in CONTESTANTS.iter().enumerate() {
                    Arc::get_mut(&mut case).expect("all have ended").reset();
                    let begun = Instant::now();
                    run(&case);
                    rates[index].push(events as f64 / begun.elapsed().as_secs_f64());
                    violations[index] += case.violations();
                }
            }
            let names = CONTESTANTS.map(|(name, _)| name);
            let table = table::Table::new(mix, handler, events, &names, &rates, &violations, DRIFT);
            println!("{table}");
            tables.push(table);
        }
    }
    let barriers = barriers(rounds);
    println!("one event in a thousand runs alone, 100 ns to do: {barriers:.2} times the throughput without");
    let moves = affinity::measure();
    println!("64 KiB of state for each of 64 keys:");
    moves.iter().for_each(|moves| println!("{moves}"));
    let waits = latency::measure();
    println!("from dispatch to handler, 1 µs to do, by a thread that does nothing else:");
    waits.iter().for_each(|waits| println!("{waits}"));
    table::write(&table::All { tables, sequential_mix_ratio: barriers, moves, waits });
}

/// Throughput with one sequential event in a thousand, over that without.
fn barriers(rounds: usize) -> f64 {
    let mut case = Arc::new(Case::new(Mix::Uniform, Handler::Nanos(100), 2_000_000));
    let mut ratios: Vec<f64> = (0..rounds)
        .map(|_| {
            let mut time = |run: fn(&Arc<Case>)| {
                Arc::get_mut(&mut case).expect("all have ended").reset();
                let begun = Instant::now();
                run(&case);
                assert_eq!(case.violations(), 0, "out of order");
                begun.elapsed().as_secs_f64()
            };
            time(ours::elastic) / time(ours::with_sequential)
        })
        .collect();
    ratios.sort_by(f64::total_cmp);
    ratios[rounds / 2]
}
