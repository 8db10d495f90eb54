//! Words about where packets come in and who reads them.

use super::findings;
use super::words::percent;
use crate::terminal::{counted, table};
use crate::visible::visible;
use std::collections::BTreeMap;
use warmcore_linux::Inventory;
use warmcore_study::placement::{Mismatch, QueuePlace, QueueSteering, Reach, ReaderEvidence, ReaderPlace};
use warmcore_topology::CpuSet;
use warmcore_units::{CpuId, PerSecond};

/// The most lines of queues, of readers and of findings.
const LINES: usize = 12;
/// The most readers that are named.
const READERS: usize = 4;

/// The most parts of a list of cpus or queues in a cell.
const PARTS: usize = 4;
/// The most parts of the list of a reader's cpus.
const READER_PARTS: usize = 16;

/// The columns of [`rows`].
pub(super) const HEADER: [&str; 5] =
    ["queues", "interrupt cpus", "interrupts", "packets go on to", "readers are"];

/// The part of a picture about the mismatch, for a terminal.
pub(super) fn part(mismatch: &Mismatch, inventory: &Inventory) -> String {
    let rows = rows(mismatch);
    let mut text = String::new();
    if !rows.is_empty() {
        let mut table = table(HEADER);
        let more = rows.len().saturating_sub(LINES);
        for row in rows.into_iter().take(LINES) {
            table.add_row(row);
        }
        text += &format!("{table}\n");
        if more > 0 {
            text += &format!("{} of queues in --json.\n", counted(more, "more line"));
        }
    }
    for line in who_reads(mismatch, inventory) {
        text += &format!("{line}\n");
    }
    let findings = findings::sentences(mismatch, inventory);
    for line in findings.iter().take(LINES) {
        text += &format!("- {line}\n");
    }
    if findings.len() > LINES {
        text += &format!("{} in --json.\n", counted(findings.len() - LINES, "more finding"));
    }
    text + "\n"
}

/// Queues that behave alike, a row each; those with most interrupts first.
pub(super) fn rows(mismatch: &Mismatch) -> Vec<[String; 5]> {
    let mut groups: BTreeMap<_, Vec<&QueuePlace>> = BTreeMap::new();
    for queue in &mismatch.queues {
        let place = (queue.node, queue.isolated, queue.slow, queue.steering);
        groups.entry((&queue.interface, place)).or_default().push(queue);
    }
    let mut groups: Vec<Vec<&QueuePlace>> = groups.into_values().collect();
    let rate = |group: &Vec<&QueuePlace>| -> f64 {
        group.iter().filter_map(|queue| queue.interrupts_per_s).map(|rate| rate.0).sum()
    };
    groups.sort_by(|one, other| rate(other).total_cmp(&rate(one)));
    groups.iter().map(|group| row(group)).collect()
}

fn row(group: &[&QueuePlace]) -> [String; 5] {
    let first = group[0];
    // Numbers of queues are written as lists of cpus are.
    let numbers: CpuSet = group.iter().map(|queue| CpuId(queue.queue)).collect();
    let cpus: CpuSet = group.iter().map(|queue| queue.cpu).collect();
    let traits = [(first.isolated, "isolated"), (first.slow, "E cores")];
    let traits = traits.iter().filter(|(is, _)| *is).map(|(_, name)| (*name).to_owned());
    let far = match (first.node, first.card_node) {
        (Some(node), Some(card)) if node != card => Some(format!("node {node}, card on {card}")),
        (Some(node), Some(_)) => Some(format!("node {node}, as the card")),
        (Some(node), None) => Some(format!("node {node}")),
        (None, _) => Some("offline".to_owned()),
    };
    let place: Vec<String> = far.into_iter().chain(traits).collect();
    let rates: Option<f64> = group.iter().map(|queue| Some(queue.interrupts_per_s?.0)).sum();
    let on: CpuSet = group.iter().flat_map(|queue| queue.processed_on.iter()).collect();
    [
        format!("{} rx {}", visible(&first.interface), short(&numbers)),
        format!("{} ({})", short(&cpus), place.join(", ")),
        rates.map(|rate| PerSecond(rate).to_string()).unwrap_or_default(),
        match first.steering {
            QueueSteering::None => "the same cpu".to_owned(),
            QueueSteering::Rps => format!("{} (RPS)", short(&on)),
            QueueSteering::Rfs => "their readers' cpu (RFS)".to_owned(),
        },
        distances(group),
    ]
}

/// `set` for a cell: without the end of a list of many parts.
pub(super) fn short(set: &CpuSet) -> String {
    first_parts(set, PARTS)
}

fn first_parts(set: &CpuSet, most: usize) -> String {
    let text = set.to_string();
    let parts: Vec<&str> = text.split(',').collect();
    match parts.len() > most {
        true => format!("{},… ({} in all)", parts[..most].join(","), set.len()),
        false => text,
    }
}

/// `50% on the same cpu, 50% on another node`.
fn distances(group: &[&QueuePlace]) -> String {
    let weight = |queue: &QueuePlace| queue.share.unwrap_or(1.0);
    let all: f64 = group.iter().map(|queue| weight(queue)).sum();
    let mut parts: BTreeMap<Reach, f64> = BTreeMap::new();
    for queue in group {
        for (&reach, part) in &queue.readers {
            *parts.entry(reach).or_default() += part * weight(queue) / all;
        }
    }
    let mut said: Vec<String> = parts
        .iter()
        .filter(|(_, part)| **part >= 0.005)
        .map(|(&reach, &part)| format!("{} on {}", percent(part), distance(reach)))
        .collect();
    if said.len() == 1 {
        said = parts.keys().map(|&reach| format!("on {}", distance(reach))).collect();
    }
    if said.is_empty() { "unknown".to_owned() } else { said.join(", ") }
}

const fn distance(reach: Reach) -> &'static str {
    match reach {
        Reach::SameCpu => "the same cpu",
        Reach::SameCore => "the same core",
        Reach::SameCache => "the same last-level cache",
        Reach::SameNode => "another cache of the node",
        Reach::OtherNode => "another node",
    }
}

/// Who reads, and how that is known.
pub(super) fn who_reads(mismatch: &Mismatch, inventory: &Inventory) -> Vec<String> {
    if mismatch.queues.is_empty() {
        return vec!["No receive queue of a card is visible here, or none was used.".to_owned()];
    }
    let by = match mismatch.evidence {
        ReaderEvidence::None => {
            let how = "No reader is known: no TCP socket of a busy process was seen to receive. `host show --watch 2` and \
                       a capture see who receives within seconds; `host plan --for NAME` takes your word, as for UDP.";
            return [how.to_owned()].into_iter().chain(busiest(inventory)).collect();
        }
        ReaderEvidence::Watched => "by what TCP sockets received",
        ReaderEvidence::SinceConnected => "by what open TCP connections have received since they began",
    };
    let readers: Vec<String> = mismatch.readers.iter().take(READERS).map(reader).collect();
    let more = match mismatch.readers.len().saturating_sub(READERS) {
        0 => String::new(),
        more => format!("; {more} more"),
    };
    vec![format!(
        "Readers, {by}: {}{more}. Which queue each is served by is not recorded: their packets count as spread over all.",
        readers.join("; ")
    )]
}

fn reader(of: &ReaderPlace) -> String {
    let received = match (of.bytes_per_s, of.bytes) {
        (Some(rate), _) => format!(", {:.1} MB/s", rate.0 * 1e-6),
        (None, Some(bytes)) => format!(", {:.0} MB", bytes.0 as f64 * 1e-6),
        (None, None) => String::new(),
    };
    program(&of.process, of.pid, of.threads, &of.cpus) + &received
}

/// `server (2000), 32 busy threads on cpus 0-31`.
fn program(name: &str, pid: u32, threads: usize, cpus: &CpuSet) -> String {
    let s = if cpus.len() == 1 { "" } else { "s" };
    let (threads, cpus) = (counted(threads, "busy thread"), first_parts(cpus, READER_PARTS));
    format!("{} ({pid}), {threads} on cpu{s} {cpus}", visible(name))
}

/// The programs whose threads are the busiest, one of which may read; `None` where no program is busy.
fn busiest(inventory: &Inventory) -> Option<String> {
    let mut programs: Vec<(u32, &str, usize, CpuSet)> = Vec::new();
    for thread in inventory.threads.iter().filter(|thread| !thread.kernel) {
        let is_full = programs.len() == READERS;
        let of_thread = CpuSet::from_iter([thread.last_cpu]);
        match programs.iter_mut().find(|(pid, ..)| *pid == thread.key.pid) {
            Some((_, _, threads, cpus)) => {
                *threads += 1;
                cpus.extend(of_thread.iter());
            }
            None if is_full => {}
            None => programs.push((thread.key.pid, &thread.process, 1, of_thread)),
        }
    }
    let said = programs.iter().map(|(pid, name, threads, cpus)| program(name, *pid, *threads, cpus));
    let said: Vec<String> = said.collect();
    (!said.is_empty()).then(|| format!("Busiest programs: {}.", said.join("; ")))
}
