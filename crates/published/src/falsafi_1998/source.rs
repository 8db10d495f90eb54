//! Falsafi 1998 as data, and the evidence for its claims in a report.

use super::runs::{Runs, mean};
use super::scatter::ProgramOf;
use super::setup::Setup;
use super::system::{System, hurricane};
use super::work::App;
use super::{charts, claims, columns, draws, figures, plan, uncertainty};
use crate::verdict::Standing;
use crate::{Claim, Conclusion, Evidence, Finding, Source};
use warmcore_record::columns::ColumnsError;
use warmcore_record::document::KeyFigure;
use warmcore_record::{Block, Columns};
use warmcore_workload::programs::Size;

/// Falsafi 1998.
#[must_use]
pub fn source() -> Source<Runs> {
    Source {
        name: "falsafi-1998",
        short: "Falsafi 1998",
        subject: "protocol execution on clusters of SMPs",
        citation: "Babak Falsafi, \"Fine-Grain Protocol Execution Mechanisms & Scheduling Policies on SMP Clusters\", thesis, \
                   University of Wisconsin–Madison, 1998",
        story: &STORY,
        figures: figures::figures(),
        claims: claims::all(),
        conclusions: &CONCLUSIONS,
        choices: &CHOICES,
        glossary: &GLOSSARY,
    }
}

const STORY: [&str; 3] = [
    "A cluster of shared-memory multiprocessors (SMPs) can share memory across its nodes if software on each node fetches blocks from \
     others and keeps copies coherent. Who should execute that software: a processor that does nothing else, or one that happens to \
     be idle? It is the question of every thread that polls.",
    "Chapter 4 of the thesis compares a dedicated protocol processor (Fixed) with whichever is idle (Floating). Chapter 5 executes the \
     protocol in parallel, by a queue that dispatches events of different blocks to different processors, and compares embedded \
     processors (Hurricane) and processors of the SMP (Hurricane-1) with a finite-state machine (S-COMA).",
    "This report simulates those clusters again: programs compute real results on simulated caches, buses, devices and networks, through \
     the very protocol that a model checker explores. The figures of the thesis survive as captions only, so that the statements of its \
     text are what ours can be compared with.",
];

const CONCLUSIONS: [Conclusion; 10] = [
    Conclusion {
        text: "A dedicated protocol processor benefits light protocols much more than heavy ones.",
        claims: &["light-gains-more", "null-up-to", "fetch-at-most"],
    },
    Conclusion {
        text: "A dedicated protocol processor is generally advantageous with four or more processors per node.",
        claims: &["majority-fixed", "majority-floating", "average-break-even-256"],
    },
    Conclusion {
        text: "Slow interrupts hurt a node's only processor far more than nodes whose idle processors take the protocol.",
        claims: &["single-hurt-more", "floating-at-most-45"],
    },
    Conclusion {
        text: "The lowest cost over performance comes with a dedicated protocol processor if interrupts take much longer than the protocol.",
        claims: &["null-fixed-cheapest", "barnes-slow-interrupts-fixed-cheapest"],
    },
    Conclusion {
        text: "Smaller caches make Floating more competitive.",
        claims: &["small-caches-favour-floating", "small-caches-break-even"],
    },
    Conclusion {
        text: "A Hurricane system with four embedded processors outperforms S-COMA or is within 95 % of it.",
        claims: &["hurricane-4-at-least-95", "hurricane-4-average"],
    },
    Conclusion {
        text: "Hurricane-1 Mult, without any extra processor, is within 75 % of S-COMA on average.",
        claims: &["mult-average"],
    },
    Conclusion {
        text: "Greater nodes demand more of the protocol: parallel execution and Mult gain by them.",
        claims: &["parallel-gains-by-clustering", "mult-gains-by-clustering", "mult-16-way"],
    },
    Conclusion {
        text: "Greater blocks bring software closer to hardware, and make parallel execution worth more.",
        claims: &["greater-blocks-close-gap", "greater-blocks-parallel"],
    },
    Conclusion {
        text: "Several protocol processors are worth more than faster ones.",
        claims: &["reply-processors-over-clock", "bursty-prefer-processors"],
    },
];

const CHOICES: [&str; 14] = [
    "The programs are our own, written from the published algorithms, and cholesky's matrix is generated to resemble tk29.O. The \
     cycles that they compute between references are set by the uniprocessor times of Table 5.3. What a printed figure says of a program \
     therefore counts as reached within 15 %, a printed gain from half to one and a half times as much.",
    "Gains in bandwidth count as reached within a fifth, since they depend on parts of the machine that the text does not state: \
     the latency of memory, the bandwidth of network interfaces, the lines of caches. Ours follow from rows of Table 5.1, or are those of \
     the bus.",
    "Table 5.1 is for blocks of 64 bytes. For others, each 32 bytes of a fetch cost half of S-COMA's row.",
    "The steps of Typhoon-1 are not given. They are those of Hurricane-1, with two values set by the stated round trips of Stache. What \
     fetch-block takes to copy between cache and device is set by its own stated round trip.",
    "Messages without data are not in Table 5.1. They cost what a request costs.",
    "How often the microbenchmarks of chapter 4 access their private segment is not given: once in 100 cycles of computing. Each node \
     sends 6000 requests, and C is set by the round trip that is simulated. Several seeds of the computing times are averaged.",
    "With blocks of 32 bytes the caches' lines have 32 bytes; otherwise 64.",
    "Compute-utilization of a program is taken to be the part of the compute processors' time under Fixed with two processors per node in \
     which they wait neither for remote blocks nor for each other.",
    "The axes of figures 4-2 to 4-8 and 5-5 are not known. Utilizations are 5 to 90 %; nodes go up to six processors in figures 4-3 and \
     4-4, five in figures 4-5 to 4-7 and eight in figure 4-8; requesters go up to 16.",
    "S-COMA's reply bandwidth of 89 MB/s is half of what its occupancy in Table 5.1 allows. Bandwidths are compared as ratios.",
    "\"Within 24 %\" and \"within 53 %\" in chapter 6 are deficits, as the first agrees with the 32 % of section 5.3.4.1; elsewhere \
     \"within x %\" is the level that is reached. \"Up to 89 %\" in section 5.3.4.1 is a reduction.",
    "Averages over programs are arithmetic means of ratios.",
    "Not checked, since nothing here can decide it: statements about other systems (STiNG, Paragon, page-based memory, operating \
     systems), and that nodes of more than five processors saturate a single-threaded protocol, which figure 4-8 shows without a number.",
    "Whether em3d's 76K nodes are all or those of one side, the range of radix's keys, the steps of barnes, fmm and water-sp and the \
     placement of pages are not stated. Ours are in Tables 4.1 and 5.2 and in the book.",
];

const GLOSSARY: [(&str, &str); 19] = [
    ("SMP", "a node of several processors that share a memory over a bus"),
    (
        "protocol",
        "the rules by which nodes fetch blocks of each other's memory and keep copies coherent; executing it is the work that \
         somebody has to do",
    ),
    (
        "Stache",
        "the thesis's protocol: each block has a home, whose directory knows every copy and invalidates them before a write",
    ),
    ("handler", "the piece of protocol code that an event executes, such as a request that arrives"),
    ("Fixed", "one processor of each node executes the protocol, and does nothing else"),
    ("Floating", "the processor that waits executes the protocol; if none waits, one is interrupted"),
    ("Single", "a node with one processor, which computes and executes the protocol"),
    (
        "Typhoon-1",
        "chapter 4's machine: a device with fine-grain tags, and one protocol thread on a processor of the SMP",
    ),
    ("S-COMA", "a finite-state machine executes the protocol"),
    ("Hurricane", "embedded processors on the device execute the protocol, in parallel"),
    (
        "Hurricane-1",
        "processors of the SMP execute the protocol, in parallel: dedicated ones, or under Mult those that wait",
    ),
    ("Mult", "Hurricane-1 with no dedicated processor: whoever waits executes the protocol"),
    ("null handler", "a microbenchmark whose requests execute an empty handler: the lightest protocol"),
    ("fetch-block", "a microbenchmark whose requests fetch a block: a heavy protocol"),
    ("compute-utilization, U", "the part of its time in which a processor computes, and does not wait"),
    ("occupancy", "how long a protocol event keeps a protocol processor busy"),
    (
        "reply bandwidth, request bandwidth",
        "how fast one node answers the reads of all others, and how fast it can read from them",
    ),
    ("cost-performance", "the cost of a node over its speedup, both against a node with one processor"),
    ("break-even", "the smallest node, in processors, from which on Fixed is faster than Floating"),
];

/// How much results depend on the programs' inputs, as `warmcore simulate cluster` gave it for scenarios that differ in
/// `program.seed` alone.
const INPUTS: &str = "How much values depend on the inputs was measured apart from this run and on an earlier state of the simulated machine, with \
                     three seeds and scaled inputs. Cholesky, fft, \
                     water-sp, gauss and lu take the same cycles whatever the seed. The performance of the others relative to S-COMA differs \
                     between seeds by at most 3.8 points for barnes, 3.5 for em3d and fmm, and 0.6 for radix (three devices each); the \
                     speed of Floating relative to Fixed by at most 2.8 points for barnes and 4.8 for em3d. A verdict about them that \
                     hangs on less says nothing.";

/// Why a value that rests on these figures is likely to differ, as far as the text and the tables let one say.
fn likely_reason(needs: &[&str]) -> Option<&'static str> {
    match *needs.first()? {
        "5-5" | "5-6" | "5-7" => Some(
            "A likely reason: bandwidths follow from the latency of memory and the bandwidth of network interfaces, which the text does not \
             state.",
        ),
        "4-2" | "4-3" | "4-4" => Some(
            "A likely reason: what the microbenchmark does beside its requests, and the steps of Typhoon-1, are not stated.",
        ),
        "table-4-2" | "4-5" | "4-6" | "4-7" | "4-8" => Some(
            "A likely reason: the programs are our own, and are interrupted and fetch blocks at other times than those of the thesis.",
        ),
        "table-5-3" => Some(
            "Either our program fetches fewer blocks than that of the thesis, or a block cost more there than Table 5.1 says.",
        ),
        "5-8" | "5-9" | "5-10" | "5-11" | "5-12" | "5-13" => Some(
            "A likely reason: most of our programs speed up more than those of the thesis (Table 5.3), as they wait less for blocks; so what \
             executes the protocol weighs less.",
        ),
        _ => None,
    }
}

impl Evidence for Runs {
    fn machine(&self) -> String {
        "clusters of SMPs with 400-MHz processors (simulated)".to_owned()
    }

    fn find(&self, claim: &Claim<Self>) -> Option<Finding> {
        uncertainty::finding(self, claim)
    }

    fn explain(&self, claim: &Claim<Self>, finding: &Finding) -> String {
        let band = claim.reading.band();
        let stands = |standing| finding.found.iter().any(|at| Standing::new(at.value, band) == standing);
        let reads_programs = plan::read_by(claim.needs).iter().any(|setup| ProgramOf::new(setup).is_some());
        let scatter = reads_programs && self.size == Size::Published && stands(Standing::Undecided);
        let scatter = scatter.then_some("This is within the scatter of the programs' runs.");
        let likely = stands(Standing::Otherwise).then(|| likely_reason(claim.needs)).flatten();
        scatter.into_iter().chain(likely).collect::<Vec<_>>().join(" ")
    }

    fn key_figures(&self) -> Vec<KeyFigure> {
        let setups: Vec<Setup> = plan::read_by(&["5-8"]).into_iter().collect();
        let average = |system, meaning: &str| {
            let recipe =
                |runs: &Self| mean(App::CHAPTER_5.map(|app| runs.relative(system, app, |setup| setup)));
            let mean = self.estimate(&setups, recipe).ok()?;
            Some(KeyFigure {
                value: format!("{:.0} %", mean.mean),
                half_width: mean.half_width.map_or_else(String::new, |half| format!("± {half:.1} %")),
                meaning: meaning.to_owned(),
            })
        };
        [
            average(hurricane(4), "of S-COMA's performance with four embedded protocol processors"),
            average(System::Mult, "of S-COMA's performance with the idle processors of the SMP"),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    fn blocks(&self, figure: &str) -> Vec<Block> {
        charts::blocks(self, figure)
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = vec![
            format!(
                "A run always gives the same value, but accidents decide which. Each point of figures 4-2 to 4-4 is the mean of {} seeds, \
                 each of figures 5-5 to 5-7 that of {} network latencies ({} cycles), with a 95 % interval. Values of programs have the \
                 interval that the scatter of their runs gives: see \"what a cycle of latency changes\". No interval says how far this \
                 simulator and these programs are from those of the thesis.",
                draws::SEEDS,
                draws::LATENCIES.len(),
                draws::LATENCIES.map(|cycles| cycles.to_string()).join(", ")
            ),
            INPUTS.to_owned(),
        ];
        if self.size == Size::Quick && self.has_programs() {
            notes.push(
                "The programs had scaled inputs. Their values have no interval, and no claim about them is decided."
                    .to_owned(),
            );
        }
        let missing: Vec<String> =
            self.missing().map(|(setup, reason)| format!("No result of {setup}: {reason}.")).collect();
        const SHOWN: usize = 12;
        let more = missing.len().saturating_sub(SHOWN);
        notes.extend(missing.into_iter().take(SHOWN));
        if more > 0 {
            notes.push(format!("{more} further runs have no result, for reasons that are in results.csv."));
        }
        notes
    }

    fn results(&self) -> Result<Columns, ColumnsError> {
        columns::results(self)
    }
}
