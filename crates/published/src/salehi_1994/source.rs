//! Salehi 1994 as data, and the evidence for its claims in a report.

use crate::salehi_1994::claims::{self, LOW};
use crate::salehi_1994::figures::FIGURES;
use crate::salehi_1994::simulations::{above, extremes};
use crate::salehi_1994::{CurveSetting, FigureName, Simulations, charts, columns};
use crate::{Conclusion, Evidence, Source, Value};
use warmcore_record::columns::ColumnsError;
use warmcore_record::document::KeyFigure;
use warmcore_record::{Block, Columns};
use warmcore_scenario::Parallelism::{self, Ips, Locking};
use warmcore_scenario::ProcessorPolicy::{Lru, Mru};
use warmcore_units::Estimate;

/// Salehi, Kurose & Towsley 1994.
#[must_use]
pub fn source() -> Source<Simulations> {
    Source {
        name: "salehi-1994",
        short: "Salehi 1994",
        subject: "scheduling for cache affinity",
        citation: "James D. Salehi, James F. Kurose and Don Towsley, \"Scheduling for Cache Affinity in Parallelized \
                   Communication Protocols\", University of Massachusetts, CMPSCI Technical Report 94-75, October 1994",
        story: &STORY,
        figures: FIGURES.to_vec(),
        claims: claims::all(),
        conclusions: &CONCLUSIONS,
        choices: &CHOICES,
        glossary: &GLOSSARY,
    }
}

const STORY: [&str; 2] = [
    "Receiving a network packet takes little time: 57 to 284 µs on the machine of Salehi 1994. How long it takes depends \
    on what the processor finds in its caches. If another packet has just been processed there, the protocol's code and \
    data are still there. If other work has run since, or another processor has written the lines last, they must be \
    fetched first. So it matters on which processor a packet is processed. Salehi, Kurose and Towsley measured these \
    times on an eight-processor SGI Challenge XL and simulated how several ways of scheduling perform with them.",
    "This report repeats their simulation and compares the results with what the text says. With the published times \
    (their Table 2 and section 5) every claim is judged. With those of another machine the figures are redrawn and \
    nothing is judged, since the claims are about their machine. No constant was fitted to their results. Of their curves \
    only the captions survive, so our values are compared with the text.",
];

const CONCLUSIONS: [Conclusion; 6] = [
    Conclusion {
        text: "Under Locking, the most recently used processor is the best choice, until the load is \
               high; then streams should be wired to processors.",
        claims: &["locking-mru-best", "locking-mru-25", "locking-wired-capacity", "locking-mru-except-high"],
    },
    Conclusion {
        text: "Under independent stacks, stacks should be wired to processors, except when the load is low.",
        claims: &["ips-wired-best", "ips-mru-best-when-idle", "ips-capacities-equal"],
    },
    Conclusion {
        text: "Threads and free memory should be kept per processor.",
        // The claims about single gains have ranges of their own. That pools should be per processor follows
        // from there being any gain.
        claims: &["pools-per-processor"],
    },
    Conclusion {
        text: "Independent stacks halve the delay of Locking and double its capacity, as long as packets \
               come one at a time.",
        claims: &["ips-delay-50", "ips-capacity-wired", "ips-capacity-mru", "ips-better-unbatched"],
    },
    Conclusion {
        text: "Bursts within a stream, and a single stream, are where Locking beats independent stacks.",
        claims: &[
            "batches-locking-robust",
            "batches-locking-robust-geometric",
            "batches-ips-capacity",
            "stream-locking-over-ips",
        ],
    },
    Conclusion {
        text: "Where packets do not depend on each other, streams open in all stacks (the Hybrid) have \
               the best of both.",
        claims: &["hybrid-capacity", "hybrid-response", "hybrid-best", "stream-hybrid-best"],
    },
];

/// What the text leaves open, and what is assumed instead.
const CHOICES: [&str; 12] = [
    "The logarithms of the footprint function are to base 10. With other bases the delay does not tend to \
    fully cold caches, or the footprint shrinks as time passes.",
    "Other work makes one memory reference in five cycles: 20 per microsecond at 100 MHz.",
    "A processor's caches are displaced from the moment it last ended protocol work; a thread that continues \
    with another packet finds them unchanged.",
    "The last writer of a session's lines is set when service starts. This gives the 125 µs that the text \
     states at high load.",
    "The active maps' history lines are one set under Locking and one set per stack otherwise. They are \
    written if the packet's stream differs from that of the packet before.",
    "Figures 7(a) to 10(a) keep threads and memory per processor; figures 7(b) to 10(b) use MRU, \
    with LRU as an alternative.",
    "A global thread pool hands out threads in the opposite order to the processors, so that they do \
    migrate.",
    "A global memory pool charges a packet that acquires memory after another processor used the pool, and charges \
    it again if it releases memory after another processor did.",
    "All packets of a batch belong to one stream, and each of them asks for a processor.",
    "A geometric batch has one packet or more, b on average.",
    "Under the Hybrid stack i is bound to processor i, packets wait in one queue, and there is a copy of \
     the session for each stream and stack.",
    "Figure 11 compares the better of MRU and Wired-Streams, pools per processor, with LRU, global pools.",
];

/// The terms of the field.
const GLOSSARY: [(&str, &str); 11] = [
    ("Locking", "One protocol stack for all processors; locks protect each table and each session."),
    (
        "IPS",
        "Independent Protocol Stacks: each works on one packet at a time, and each stream belongs to \
         one of them.",
    ),
    ("Hybrid", "A stack for each processor, and streams that are open in all of them."),
    ("MRU", "Of the idle processors, the one that worked on packets most recently."),
    ("LRU", "Of the idle processors, the one that worked on packets least recently."),
    ("Wired-Streams", "Each stream has a fixed processor, and its packets wait for it."),
    ("Affinity", "Work has affinity for the processor whose cache holds what it needs."),
    ("Capacity", "The highest rate that the host keeps up with. At higher rates queues grow without end."),
    (
        "Service time",
        "The time for which a processor works on a packet. The delay is the waiting time plus the service.",
    ),
    ("Work-conserving", "No processor is idle while a packet waits."),
    ("Half-width", "With 95 % confidence the true value is within this distance of the value shown."),
];
const CAVEATS: [&str; 3] = [
    "Waiting for a lock that another processor holds is neither part of the model of Salehi 1994 nor of this one.",
    "The times of Salehi 1994 are published without intervals; ours are those of the simulation alone.",
    "Low rates are taken as 1 to 25 % of the capacity, a broad range as 1 to 90 %, and high rates as 75 to 90 %. \
    Intervals of differences and ratios are computed as if their parts were independent. The parts share their \
    arrivals, so the true intervals are narrower.",
];

impl Evidence for Simulations {
    fn machine(&self) -> String {
        self.options.profile.name.clone()
    }

    fn is_comparable(&self) -> bool {
        self.is_published_machine()
    }

    fn key_figures(&self) -> Vec<KeyFigure> {
        let saved = |approach: Parallelism| {
            let [mru, lru] = [Mru, Lru].map(|policy| CurveSetting::new(approach, policy));
            let (_, most) = extremes(&self.reduction(mru, lru, LOW))?;
            let meaning =
                format!("largest change of mean delay at light load, {approach}: MRU instead of LRU");
            Some(key_figure("−", most.value, meaning))
        };
        let gained = || {
            let [locking, ips] =
                [Locking, Ips].map(|approach| self.capacity(CurveSetting::new(approach, Mru)));
            let meaning = "capacity of eight processors, IPS instead of Locking (MRU)";
            Some(key_figure("+", above(ips?, locking?), meaning.to_owned()))
        };
        [saved(Locking), saved(Ips), gained()].into_iter().flatten().collect()
    }

    fn blocks(&self, figure: &str) -> Vec<Block> {
        let block = match FigureName::named(figure) {
            None => None,
            Some(FigureName::Table2) => Some(Block::Table(charts::table_2(&self.options.profile))),
            Some(figure) => charts::chart(self, figure).map(Block::Chart),
        };
        block.into_iter().collect()
    }

    fn notes(&self) -> Vec<String> {
        let caveats = CAVEATS.map(str::to_owned).into_iter();
        caveats.chain([precision(self)]).chain(self.options.profile.provenance.notes.clone()).collect()
    }

    fn results(&self) -> Result<Columns, ColumnsError> {
        columns::points(self)
    }
}

fn key_figure(sign: &str, value: Estimate<f64>, meaning: String) -> KeyFigure {
    let Value { mean, low, high } = value.into();
    let half_width = format!("± {:.1}\u{202f}%", (high - low) / 2.0);
    KeyFigure { value: format!("{sign}{mean:.0}\u{202f}%"), half_width, meaning }
}

/// The precision of the points.
fn precision(simulations: &Simulations) -> String {
    let asked = 100.0 * simulations.options.precision;
    let points: Vec<String> = simulations
        .unsettled()
        .map(|(setting, point)| format!("{} at {} packets/s", setting.scheduling, point.rate.0))
        .collect();
    match points.len() {
        0 => format!("Every mean delay below 90 % of capacity has a half-width of at most {asked} %."),
        many => format!(
            "{many} points below 90 % of capacity did not reach a half-width of {asked} %, or no steady \
             state was found there: {}.",
            points.join("; ")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_can_be_simulated() {
        assert!(source().figures.iter().all(|figure| FigureName::named(figure.name).is_some()));
    }
}
