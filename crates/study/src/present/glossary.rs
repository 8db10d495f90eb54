//! The terms of the field, for a reader who is new to it.

use warmcore_record::document::Term;
use warmcore_record::{Block, Section};

/// The section with the glossary.
#[must_use]
pub fn section() -> Section {
    let terms = [
        ("Approach", "How protocol work is made parallel: Locking or independent protocol stacks (IPS)."),
        ("Locking", "One protocol stack for all processors, with a lock on each shared table and object."),
        (
            "IPS",
            "Independent Protocol Stacks: one stack for each processor, each stream in one of them; a lock \
             on each stack, none inside.",
        ),
        ("Stream", "The packets of one connection: same addresses, same ports."),
        ("MRU", "Most recently used: of the idle processors, the one that processed a packet last."),
        ("LRU", "Least recently used: of the idle processors, the one that processed a packet longest ago."),
        ("Wired-Streams", "Every stream has a fixed processor, and its packets wait for it."),
        (
            "Pool",
            "Where idle threads, or pieces of free memory, are kept: one for each processor, or one global.",
        ),
        (
            "Common default",
            "Locking with Wired-Streams and per-processor pools: what a kernel that spreads packets over \
             processors by a hash of their stream does unless told otherwise.",
        ),
        ("Delay", "From a packet's arrival to the end of its processing; waiting included."),
        ("Processing time", "The part of the delay in which a processor works on the packet (service time)."),
        ("Capacity", "The highest arrival rate that a combination keeps up with."),
        (
            "Hot, cold",
            "Whether what a packet needs is in a cache level (hot) or was displaced from it (cold).",
        ),
        ("Migrates", "Was last written by another processor, from whose cache it must be fetched."),
        ("Half-width", "The true mean lies within ± this of the stated one with 95% confidence."),
    ];
    Section {
        heading: "Words used here".to_owned(),
        anchor: "glossary".to_owned(),
        intro: Vec::new(),
        blocks: vec![Block::Glossary(terms.map(|(word, meaning)| Term::new(word, meaning)).to_vec())],
        folded: false,
    }
}
