//! The page.

use super::{answer, code, layouts, map, words};
use crate::compare::Comparison;
use crate::simulate::{MAX_ROUNDS, Start};
use warmcore_record::document::Term;
use warmcore_record::manifest::{FactGroup, Seed};
use warmcore_record::{Block, Document, Manifest, ReportVerdict, Section};

/// The page on `comparison`. Whoever runs a program adds the command line to the manifest.
#[must_use]
pub fn document(comparison: &Comparison) -> Document {
    Document {
        title: format!("Where the code of a path lies: {}", comparison.path),
        subtitle: format!(
            "Simulated on {}, {}.",
            comparison.present.machine,
            words::start(comparison.setup.start)
        ),
        verdict: verdict(comparison),
        sections: sections(comparison),
        manifest: manifest(comparison),
    }
}

fn verdict(comparison: &Comparison) -> ReportVerdict {
    ReportVerdict {
        headline: answer::headline(comparison),
        scope:
            "A simulation of this one path with these data: it ranks layouts and predicts no time. Measure it on the machine."
                .to_owned(),
        figures: answer::key_figures(comparison),
        actions: answer::actions(comparison),
        ..ReportVerdict::default()
    }
}

fn sections(comparison: &Comparison) -> Vec<Section> {
    let mut sections = Vec::new();
    if !comparison.layouts.is_empty() || comparison.random_orders.is_some() {
        sections.push(layouts::section(comparison));
    }
    sections.extend(map_section(comparison));
    sections.extend([
        code::waits(comparison),
        code::displacements(comparison),
        notes(comparison),
        glossary(),
    ]);
    sections
}

/// The map; none if there can be no such cache, in which case nothing was simulated.
fn map_section(comparison: &Comparison) -> Option<Section> {
    Some(Section {
        heading: "Which sets of the cache lines compete for".to_owned(),
        anchor: "map".to_owned(),
        intro: Vec::new(),
        blocks: vec![Block::CacheMap(map::map(comparison).ok()?)],
        folded: false,
    })
}

fn notes(comparison: &Comparison) -> Section {
    let start = match comparison.setup.start {
        Start::Cold => {
            "The caches were empty when counting began: every line is missed at least once. On a busy machine other code \
             displaces the path between two packets; on an idle one, less is missed than this."
                .to_owned()
        }
        Start::Steady if comparison.present.settled => format!(
            "The path was repeated until its misses and cycles were those of the round before: {} rounds. Nothing else \
             used the caches in between, so every miss is a replacement miss.",
            comparison.present.rounds
        ),
        Start::NearestCold if comparison.present.settled => format!(
            "The path was repeated until its misses and cycles were those of the round before: {} rounds. Before each, the \
             nearest caches were emptied, as other code does between two requests; what lies further away was kept.",
            comparison.present.rounds
        ),
        Start::Steady | Start::NearestCold => format!("The path was repeated {MAX_ROUNDS} times and did not settle; the last round counts."),
    };
    let notes = [
        "Not simulated: TLBs and page faults, prefetching, branch prediction, overlap of misses with work or with each other, \
         decoded instructions, the kernel's part of system calls, and what other code does to data. These can take several times \
         what is simulated, and may change with the layout in either direction, so that even the sign of a change may be \
         another. Measure it.",
        "Each reference adds what it takes beyond a hit of the nearest cache, be it needed at once or not.",
        &start,
        "Data stay at their addresses under every layout, and no instruction changes: jumps and calls become neither longer nor \
         shorter.",
        "An order of functions can be given to any linker exactly. Gaps between functions need a linker script; without one \
         they are closed, and sets change.",
    ];
    Section {
        heading: "What to know before trusting this".to_owned(),
        anchor: "notes".to_owned(),
        intro: Vec::new(),
        blocks: notes.map(|note| Block::Note(note.to_owned())).to_vec(),
        folded: false,
    }
}

fn glossary() -> Section {
    let terms = [
        ("iCPI", "Cycles per instruction if memory never makes it wait: issue, dependences, branches."),
        ("mCPI", "Cycles that an instruction waits for memory on average."),
        ("Line", "The bytes that come into a cache together."),
        ("Set", "The places of a cache where a line may be. A line's address decides which set."),
        ("Miss", "A line that is needed is not in the cache and has to be brought."),
        (
            "Replacement miss",
            "A miss of a line that had been in the cache before and was displaced by another.",
        ),
        (
            "Unused words",
            "Words that came with a line and were not executed before the line went, or until the end.",
        ),
        ("Stall cycles", "Cycles in which the processor waits for memory."),
        ("Basic block", "Instructions that are always executed one after the other."),
        ("Linear", "Functions in the order of their first call, without gaps."),
        (
            "Bipartite",
            "Functions called once on a path apart from those called more often, so that they share no set of the cache \
             as far as it allows (Mosberger et al. 1996).",
        ),
        ("Call-chain clustering", "Each function behind its most frequent caller (Ottoni & Maher 2017)."),
        ("Pettis–Hansen", "Functions that call each other most near each other (Pettis & Hansen 1990)."),
        (
            "Micro-positioning",
            "Each function where it adds the fewest replacement misses (Mosberger et al. 1996).",
        ),
        ("Pessimal", "All functions at the same place of the cache, as the worst case."),
    ];
    Section {
        heading: "Words".to_owned(),
        anchor: "glossary".to_owned(),
        intro: Vec::new(),
        blocks: vec![Block::Glossary(terms.map(|(word, meaning)| Term::new(word, meaning)).to_vec())],
        folded: true,
    }
}

fn manifest(comparison: &Comparison) -> Manifest {
    let present = &comparison.present;
    let mut manifest = Manifest::now("warmcore", env!("CARGO_PKG_VERSION"));
    let facts = [
        ("Machine", present.machine.clone()),
        ("Caches when counting began", words::start(comparison.setup.start).to_owned()),
        ("Rounds", present.rounds.to_string()),
        ("Instructions executed", words::count(present.instructions)),
        ("Different instructions", words::count(present.path.instructions)),
        ("Bytes of lines with executed code", words::count(present.path.lines.0)),
        ("Bytes of executed functions, without nameless code", words::count(present.path.functions.0)),
        ("Word", comparison.setup.word.to_string()),
    ];
    manifest.facts.push(FactGroup::new("Simulation", facts));
    manifest.seeds.extend(
        comparison
            .random_orders
            .iter()
            .map(|random| Seed { purpose: "first random order".to_owned(), value: random.seed }),
    );
    manifest
}
