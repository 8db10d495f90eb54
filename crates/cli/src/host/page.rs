//! A host as a page: what a terminal shows, with nothing left out.

use super::{driver, findings, mismatch as words_of, words};
use crate::provenance::{PROGRAM, command};
use warmcore_linux::inventory::{Interrupt, Inventory, Managed, Observation};
use warmcore_record::document::{
    Block, Confidence, ConfidenceLevel, Document, KeyFigure, ReportVerdict, Section, Statement, Term,
};
use warmcore_record::manifest::{FactGroup, Manifest};
use warmcore_record::table::{Cell, Row, Table};
use warmcore_study::placement::Mismatch;

/// The whole page.
pub(super) fn document(observed: &Observation, mismatch: &Mismatch) -> Document {
    let inventory = &observed.inventory;
    let mut manifest = Manifest::now(PROGRAM, env!("CARGO_PKG_VERSION"));
    manifest.command = command();
    let kernel = inventory.conditions.kernel.clone().unwrap_or_else(|| "unknown".to_owned());
    let cpus = inventory.machine.online().to_string();
    let facts = [("processor", inventory.machine.name.clone()), ("kernel", kernel), ("online cpus", cpus)];
    manifest.facts.push(FactGroup::new("Host", facts));
    Document {
        title: "Who is on which cpu".to_owned(),
        subtitle: format!("{}, {} cpus", inventory.machine.name, inventory.machine.cpus.len()),
        verdict: verdict(observed, mismatch),
        sections: vec![
            queues(mismatch, inventory),
            cpus_section(inventory),
            interfaces(inventory),
            drivers(inventory),
            interrupts(inventory),
            threads(inventory),
            unseen(inventory),
        ],
        manifest,
    }
}

fn verdict(observed: &Observation, mismatch: &Mismatch) -> ReportVerdict {
    let inventory = &observed.inventory;
    let said = findings::sentences(mismatch, inventory).into_iter().chain(words::circumstances(inventory));
    let said = said.chain(words::restarted(observed.rates.as_ref()));
    let figure = |count: usize, meaning: &str| KeyFigure {
        value: count.to_string(),
        half_width: String::new(),
        meaning: meaning.to_owned(),
    };
    let queues = inventory.interfaces.iter().map(|interface| interface.receive.len()).sum();
    let reason = "read from the kernel's files at one moment".to_owned();
    let statement = |text: String| Statement {
        text,
        evidence: Vec::new(),
        confidence: Confidence { level: ConfidenceLevel::High, reason: reason.clone() },
    };
    ReportVerdict {
        headline: words::headline(inventory),
        figures: vec![
            figure(inventory.machine.cpus.len(), "cpus online"),
            figure(queues, "receive queues"),
            figure(inventory.interrupts.len(), "interrupts of devices"),
            figure(inventory.threads.len(), "busy threads"),
        ],
        statements: said.map(statement).collect(),
        ..ReportVerdict::default()
    }
}

fn section(heading: &str, anchor: &str, intro: &str, blocks: Vec<Block>) -> Section {
    let intro = vec![intro.to_owned()];
    Section { heading: heading.to_owned(), anchor: anchor.to_owned(), intro, blocks, folded: false }
}

fn table(id: &str, caption: &str, header: &[&str], rows: Vec<Row>) -> Block {
    let header = Table::simple_header(header.iter().copied());
    Block::Table(Table { id: id.to_owned(), caption: caption.to_owned(), header, rows, notes: Vec::new() })
}

fn row<const N: usize>(header: impl Into<String>, cells: [String; N]) -> Row {
    Row::new(header, cells.into_iter().map(Cell::text).collect())
}

/// A cell for what the kernel may not tell.
fn or_unknown<T: ToString>(value: Option<T>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

fn queues(mismatch: &Mismatch, inventory: &Inventory) -> Section {
    let rows = words_of::rows(mismatch).into_iter().map(|[queues, rest @ ..]| row(queues, rest));
    let caption = "Receive queues of cards, those that behave alike in one row";
    let block = table("by-queue", caption, &words_of::HEADER, rows.collect());
    let notes = words_of::who_reads(mismatch, inventory).into_iter().map(Block::Note);
    let intro = "A packet costs more the farther its reader is from the cpu that takes it in.";
    let blocks = std::iter::once(block).chain(notes).collect();
    section("How far is each queue from its readers?", "queues", intro, blocks)
}

fn drivers(inventory: &Inventory) -> Section {
    let cards = inventory.interfaces.iter().filter(|card| card.is_physical());
    let rows = cards.filter_map(|card| Some(row(card.name.clone(), [driver::settings(card)?.join("; ")])));
    let block = table("by-driver", "Settings of drivers", &["interface", "its driver says"], rows.collect());
    let polling = driver::busy_polling(inventory.busy_polling).into_iter().map(Block::Note);
    let intro = "RSS chooses the queue of a packet by its hash; NAPI is how the kernel polls a queue.";
    section("What do drivers say?", "drivers", intro, std::iter::once(block).chain(polling).collect())
}

fn cpus_section(inventory: &Inventory) -> Section {
    let rows = words::cpus(inventory, None).into_iter().map(|of| {
        let lists = [of.interrupts, of.steering, of.threads].map(|names| names.join(", "));
        let [interrupts, steering, threads] = lists;
        row(of.cpu.0.to_string(), [of.place, of.busy, of.softirq, of.packets, interrupts, steering, threads])
    });
    let header = [
        "cpu",
        "place",
        "busy since the start",
        "in softirqs",
        "packets taken in",
        "interrupts",
        "steering",
        "busy threads",
    ];
    let block = table("by-cpu", "What uses each cpu; quiet cpus are left out", &header, rows.collect());
    let intro =
        "A packet is cheapest where the cpu that takes the interrupt also runs the program that reads it.";
    section("Who is on which cpu?", "cpus", intro, vec![block])
}

fn interfaces(inventory: &Inventory) -> Section {
    let rows = inventory.interfaces.iter().map(|interface| {
        let [goes, may] = words::targets(inventory, interface);
        let [rps, rfs, xps] = words::steering(interface);
        let kind = interface.driver.clone().or_else(|| interface.kind.clone());
        let (place, node) = (or_unknown(interface.device.as_ref()), or_unknown(interface.node));
        let queues = format!("{}/{}", interface.receive.len(), interface.transmit.len());
        let kind = kind.unwrap_or_else(|| "virtual".to_owned());
        row(interface.name.clone(), [kind, place, node, queues, goes, may, rps, rfs, xps])
    });
    let header = [
        "interface",
        "driver",
        "PCI address",
        "NUMA node",
        "rx/tx queues",
        "interrupts go to",
        "may go to",
        "RPS",
        "RFS",
        "XPS",
    ];
    let block =
        table("by-interface", "Network interfaces, their queues and their steering", &header, rows.collect());
    let words = vec![
        Term::new("RPS", "receive packet steering: packets of a queue are handed to other cpus"),
        Term::new("RFS", "receive flow steering: to the cpu where the program that reads them runs"),
        Term::new("XPS", "transmit packet steering: the queue to send through is chosen by the sending cpu"),
    ];
    let intro = "Interrupts go where the kernel says they go now, and may go where their masks allow.";
    section("What do network interfaces touch?", "interfaces", intro, vec![block, Block::Glossary(words)])
}

fn interrupts(inventory: &Inventory) -> Section {
    let managed = |interrupt: &Interrupt| match interrupt.managed {
        Managed::Yes => "yes",
        Managed::No => "no",
        Managed::Unknown => "unknown",
    };
    let rows = inventory.interrupts.iter().map(|interrupt| {
        let allowed = or_unknown(interrupt.allowed.as_ref());
        let goes = interrupt.goes_to().to_string();
        let count = interrupt.total().to_string();
        row(interrupt.id.to_string(), [count, goes, allowed, managed(interrupt).to_owned()])
    });
    let header = ["interrupt", "count", "goes to", "may go to", "managed"];
    let caption = "Interrupts of devices since the machine started";
    let block = table("by-interrupt", caption, &header, rows.collect());
    let intro =
        "An interrupt is named by its device and vector, which stay the same when the machine starts again.";
    section("Where do interrupts go?", "interrupts", intro, vec![block])
}

fn threads(inventory: &Inventory) -> Section {
    let rows = inventory.threads.iter().map(|thread| {
        let share = thread.share.map(words::percent).unwrap_or_default();
        let (allowed, group) = (or_unknown(thread.allowed.as_ref()), or_unknown(thread.group.as_ref()));
        let process = format!("{} ({})", thread.process, thread.key.pid);
        let cpu = thread.last_cpu.0.to_string();
        row(thread.name.clone(), [process, share, cpu, allowed, group])
    });
    let header = ["thread", "process", "busy over its life", "last cpu", "may run on", "control group"];
    let block = table("by-thread", "Busy threads, the busiest first", &header, rows.collect());
    let intro = "A thread counts as busy from a thousandth of a cpu on, over its life.";
    section("Which threads are busy?", "threads", intro, vec![block])
}

fn unseen(inventory: &Inventory) -> Section {
    let blocks = words::unseen(inventory).into_iter().map(Block::Note).collect();
    section(
        "What is not to be seen here?",
        "unseen",
        "What is missing above, and what it would take.",
        blocks,
    )
}
