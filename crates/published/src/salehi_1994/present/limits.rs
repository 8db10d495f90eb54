//! The choices that the text leaves open, what to keep in mind, and the words of the field.

use crate::salehi_1994::Reproduction;
use warmcore_record::document::Term;
use warmcore_record::{Block, Section};

/// What the text does not say, and what we take instead.
const READINGS: [&str; 12] = [
    "The logarithms of the footprint function are to base 10: with others the delay does not tend to \
     fully cold caches, or the footprint shrinks as time passes.",
    "Other work makes one memory reference in five cycles: 20 per microsecond at 100 MHz.",
    "A processor's caches are displaced from the moment it last ended protocol work; a thread that goes \
     on with another packet finds them as they were.",
    "The last writer of a session's lines is set when service starts. This gives the 125 µs that the text \
     states at high load.",
    "The active maps' history lines are one set under Locking and one per stack otherwise; they are \
     written if the packet's stream is not that of the packet before.",
    "Figures 7(a) to 10(a) keep threads and memory per processor; figures 7(b) to 10(b) choose processors \
     MRU, with LRU beside it.",
    "A global thread pool hands out threads in the order opposite to the processors', so that they do \
     migrate.",
    "A global memory pool charges a packet that acquires from it after another processor, and again one \
     that releases to it after another.",
    "A batch is of one stream, and each of its packets tries for a processor.",
    "A geometric batch has one packet or more, b on average.",
    "Under the Hybrid stack i is bound to processor i, packets wait in one queue, and there is a copy of \
     the session for each stream and stack.",
    "Figure 11 compares the better of MRU and Wired-Streams, pools per processor, with LRU, global pools.",
];

const CAVEATS: [&str; 3] = [
    "Waiting for a lock that another processor holds is not part of the source's model, nor of this one.",
    "The source's times are published without intervals; ours are those of the simulation alone.",
    "Intervals of differences and ratios are computed as if their parts were independent. They share \
     their arrivals, so the true intervals are narrower.",
];

/// The section with the choices made.
#[must_use]
pub fn readings(reproduction: &Reproduction) -> Section {
    let notes = reproduction.options.profile.provenance.notes.iter().cloned();
    let caveats = CAVEATS.iter().map(|caveat| (*caveat).to_owned());
    let precision = std::iter::once(precision(reproduction));
    Section {
        heading: "Where the text leaves a choice".to_owned(),
        anchor: "readings".to_owned(),
        intro: std::iter::once("What the source does not say, and what is taken here:")
            .chain(READINGS)
            .map(str::to_owned)
            .collect(),
        blocks: caveats.chain(precision).chain(notes).map(Block::Note).collect(),
        folded: false,
    }
}

/// How precise the points are.
fn precision(reproduction: &Reproduction) -> String {
    let asked = 100.0 * reproduction.options.precision;
    let unsettled = reproduction.evidence.unsettled(reproduction.options.precision);
    let points: Vec<String> = unsettled
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

/// The section with the words of the field.
#[must_use]
pub fn glossary() -> Section {
    let terms = [
        ("Locking", "One protocol stack for all processors; locks protect each table and each session."),
        (
            "IPS",
            "Independent Protocol Stacks: each works on one packet at a time, and each stream belongs to \
             one of them.",
        ),
        ("Hybrid", "A stack for each processor, and streams that are open in all of them."),
        ("MRU", "Of the idle processors, the one that worked on packets most recently."),
        ("LRU", "Of the idle processors, the one for which that is longest ago."),
        ("Wired-Streams", "Each stream has its processor, and waits for it."),
        ("Affinity", "Work has affinity for the processor whose cache holds what it needs."),
        ("Capacity", "The highest rate that the host keeps up with; beyond it, queues grow without end."),
        (
            "Service time",
            "The time in which a processor works on a packet; delay is that and the waiting before.",
        ),
        ("Work-conserving", "No processor is idle while a packet waits."),
        ("Half-width", "With 95 % confidence the true value is within this distance of the value shown."),
    ];
    Section {
        heading: "Words".to_owned(),
        anchor: "glossary".to_owned(),
        intro: Vec::new(),
        blocks: vec![Block::Glossary(terms.map(|(word, meaning)| Term::new(word, meaning)).to_vec())],
        folded: false,
    }
}
