//! Everything that was measured.

use crate::WORKERS;
use crate::affinity::Moves;
use crate::barriers::Barriers;
use crate::canary::Drift;
use crate::installed::Absent;
use crate::latency::Waits;
use crate::programs::Timed;
use crate::table::Table;
use crate::verdict::{MARGIN, Verdict};
use serde::Serialize;
use warmcore_bench::Provenance;

#[derive(Serialize)]
pub(crate) struct Findings {
    pub(crate) provenance: Provenance,
    pub(crate) workers: usize,
    pub(crate) rounds: usize,
    /// The least distance of a ratio from one that counts.
    pub(crate) margin: f64,
    pub(crate) absent: Vec<Absent>,
    /// How long the work of handlers takes here and in other processes.
    pub(crate) work: Vec<Timed>,
    pub(crate) tables: Vec<Table>,
    #[serde(flatten)]
    pub(crate) beyond: Option<Beyond>,
    pub(crate) drift: Drift,
    pub(crate) runs_repeated: usize,
}

/// What is measured beside throughput.
#[derive(Serialize)]
pub(crate) struct Beyond {
    pub(crate) barriers: Barriers,
    pub(crate) moves: Vec<Moves>,
    pub(crate) waits: Vec<Waits>,
}

impl Findings {
    /// Prints all but the tables, which were printed as they were made.
    pub(crate) fn print(&self) {
        if let Some(beyond) = &self.beyond {
            beyond.print();
        }
        self.print_verdicts();
        for Timed { who, handler, turns, nanos } in &self.work {
            println!("in {who}, `{handler}` is {turns} turns of work, which take {nanos:.1} ns");
        }
        for Absent { name, reason } in &self.absent {
            println!("NOT MEASURED: {name}: {reason}");
        }
        self.drift.print();
        println!("{} runs were repeated because other programs disturbed them", self.runs_repeated);
        self.provenance.print();
        println!("{WORKERS} workers; {} interleaved rounds; median [least, greatest]", self.rounds);
    }

    fn print_verdicts(&self) {
        let all: Vec<(Verdict, String)> = self.tables.iter().flat_map(Table::verdicts).collect();
        let count = |wanted| all.iter().filter(|(verdict, _)| *verdict == wanted).count();
        println!(
            "ours against its peers, by {:.0}% at least: {} won, {} drawn, {} lost, {} void",
            MARGIN * 100.0,
            count(Verdict::Won),
            count(Verdict::Drawn),
            count(Verdict::Lost),
            count(Verdict::Void),
        );
        let lost = all.iter().filter(|(verdict, _)| *verdict == Verdict::Lost);
        lost.for_each(|(_, about)| println!("  lost: {about}"));
    }
}

impl Beyond {
    fn print(&self) {
        println!("{}\n", self.barriers);
        println!("64 KiB of state for each of 64 keys:");
        self.moves.iter().for_each(|moves| println!("{moves}"));
        println!("\nfrom dispatch to handler, 1 µs to do, by a thread that does nothing else:");
        self.waits.iter().for_each(|waits| println!("{waits}"));
        println!();
    }
}
