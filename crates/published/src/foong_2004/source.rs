//! Foong 2004 as data, and the evidence for its claims in a report.

use super::points::{Affinity, Measurements, Point, Quantity, Runs};
use super::{charts, claims};
use crate::{Conclusion, Evidence, PublishedFigure, Source};
use warmcore_record::columns::ColumnsError;
use warmcore_record::{Block, Column, Columns};

/// Foong, Fung & Newell 2004.
#[must_use]
pub fn source() -> Source<Measurements> {
    Source {
        name: "foong-2004",
        short: "Foong 2004",
        subject: "bulk transfers under user-directed affinity",
        citation: "Annie Foong, Jason Fung and Don Newell, \"Improved Linux SMP Scaling: User-directed Processor \
                   Affinity\", Intel, 2004",
        story: &STORY,
        figures: FIGURES.to_vec(),
        claims: claims::all(),
        conclusions: &CONCLUSIONS,
        choices: &CHOICES,
        glossary: &[],
    }
}

const STORY: [&str; 2] = [
    "A packet is processed on the cpu to which its interrupt goes, and the program that reads it runs on the cpu where \
    the scheduler puts it. If these differ, the data that one has touched are not in the cache of the other. In 2004 \
    Foong, Fung and Newell measured what is gained by directing both: bulk transfers by eight ttcp processes over \
    eight network cards, under four models of affinity.",
    "This report repeats the transfers between two network namespaces of this machine. Each connection has its own virtual \
    wire, and the softirq mask of the wire's receive queues decides on which cpu its packets are processed, as the \
    interrupt mask does for a network card.",
];

const FIGURES: [PublishedFigure; 3] = [
    PublishedFigure {
        name: "2",
        label: "figure 2",
        title: "cpu use and throughput",
        about: "Cpu use and throughput over the size of a transaction, for each model of affinity.",
        states: "process affinity alone does not change much; interrupt affinity gains up to 25 %, both together up to 29 %.",
    },
    PublishedFigure {
        name: "3",
        label: "figure 3",
        title: "processing costs",
        about: "Cycles for each bit (GHz/Gbps): cpu use and throughput in one. Both ends work on this machine, so it is \
                the cost of sending and receiving together.",
        states: "with full affinity the cost is reduced by up to 24 %.",
    },
    PublishedFigure {
        name: "5",
        label: "figure 5",
        title: "reductions from no to full affinity",
        about: "The reduction in time beside those in L2 and L3 misses, from no to full affinity, per unit of work.",
        states: "the improvement in time comes with fewer cache misses, of which those of L3 cost more.",
    },
];

const CONCLUSIONS: [Conclusion; 3] = [
    Conclusion {
        text: "Directing programs and interrupts to the same processor gains throughput, and more than directing \
               interrupts alone.",
        claims: &["full-29", "full-best", "interrupt-25"],
    },
    Conclusion { text: "Directing programs alone gains nothing.", claims: &["process-no-impact"] },
    Conclusion {
        text: "The gain comes from fewer cache misses per bit.",
        claims: &["cost-24", "misses-l2", "misses-l3"],
    },
];

const CHOICES: [&str; 4] = [
    "No affinity is that of Foong 2004: all packets go to the first cpu, as all interrupts did on its kernel, and the \
    scheduler places programs. Process affinity does the same with packets, but pins programs. A veth without steering \
    processes packets on the sender's cpu, which is nearly aligned by itself; that is the model \"no steering\".",
    "A size is the size of each write of the sender. In both directions, receivers read all available data at once.",
    "In Foong 2004 the machine under test did one side of a transfer. Here both sides share the cpus, so sending and \
    receiving differ only in which side made the connection: TX and RX are two measurements of nearly the same.",
    "Foong 2004 has eight cards and gigabit wires; virtual wires are as fast as the cpus copy.",
];

const CAVEATS: [&str; 2] = [
    "No affinity is run twice in every block. A point at which the two runs differ says nothing and is left out. Elsewhere \
    every interval is at least as wide as the difference they may have.",
    "\"Up to\" is the greatest value of all sizes and directions. Its interval reaches from the greatest lower end to the \
    greatest upper end of theirs, so a single imprecise point can leave it open.",
];

impl Evidence for Measurements {
    fn machine(&self) -> String {
        self.machine.clone()
    }

    fn blocks(&self, figure: &str) -> Vec<Block> {
        match figure {
            "2" => charts::figure_2(&self.points),
            "3" => charts::figure_3(&self.points),
            "5" => charts::figure_5(&self.points),
            _ => Vec::new(),
        }
    }

    fn notes(&self) -> Vec<String> {
        CAVEATS.map(str::to_owned).to_vec()
    }

    /// One row per run: direction, size, model, block. The second run of no affinity is `control`.
    fn results(&self) -> Result<Columns, ColumnsError> {
        let rows: Vec<Row> = self.points.iter().flat_map(rows).collect();
        let text =
            |name: &str, of: fn(&Row) -> String| Column::texts(name, rows.iter().map(|row| Some(of(row))));
        let count = |name: &str, of: fn(&Row) -> u64| {
            Column::integers(name, rows.iter().map(|row| i64::try_from(of(row)).ok()))
        };
        let float = |name: &str, unit: &str, quantity: Quantity| {
            Column::floats(name, unit, rows.iter().map(|row| row.runs.get(quantity).get(row.block).copied()))
        };
        Columns::new(vec![
            text("direction", |row| row.point.direction.to_string()),
            count("size", |row| row.point.size),
            text("model", |row| row.model.map_or_else(|| "control".to_owned(), |model| model.to_string())),
            count("block", |row| row.block as u64),
            float("throughput", "bit/s", Quantity::Throughput),
            float("cpu_use", "", Quantity::CpuUse),
            float("cost", "cycles/bit", Quantity::Cost),
            float("l2_misses", "1/bit", Quantity::L2Misses),
            float("l3_misses", "1/bit", Quantity::L3Misses),
        ])
    }
}

/// One run of one model, or of the control.
struct Row<'a> {
    point: &'a Point,
    model: Option<Affinity>,
    runs: &'a Runs,
    block: usize,
}

fn rows(point: &Point) -> Vec<Row<'_>> {
    let models = point.runs.iter().map(|(model, runs)| (Some(*model), runs));
    let all = models.chain([(None, &point.control)]);
    all.flat_map(|(model, runs)| {
        (0..runs.throughput.len()).map(move |block| Row { point, model, runs, block })
    })
    .collect()
}
