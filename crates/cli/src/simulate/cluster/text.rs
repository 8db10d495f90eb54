//! A cluster's run as text: where the time went, what the devices did, and what was sent.

use super::{CYCLES_A_MS, Timed, in_words};
use crate::terminal::table;
use core::fmt::Debug;
use std::collections::BTreeMap;
use warmcore_scenario::ClusterScenario;
use warmcore_sim::cluster::Outcome;
use warmcore_sim::cluster::scenario::Figure;
use warmcore_sim::cluster::tally::{Breakdown, Count};

pub(super) fn text(scenario: &ClusterScenario, timed: &Timed) -> String {
    let outcome = &timed.simulated.outcome;
    let name = if scenario.name.is_empty() { String::new() } else { format!("{}: ", scenario.name) };
    let figure = timed.simulated.figure.map(|figure| sentence(figure) + PREPARED).unwrap_or_default();
    let right = if timed.simulated.figure.is_some() { "" } else { ", and its results are right" };
    format!(
        "{name}{}\n\n{figure}It takes {} ({} cycles of 400 MHz){right}.\n\n{}\n\n{}\n\n{}\n\n{:.1} million shared references, {:.1} million a \
         second.{}\n",
        in_words(scenario),
        duration(outcome.cycles),
        outcome.cycles,
        processors(outcome),
        devices(outcome),
        messages(outcome),
        outcome.references() as f64 / 1e6,
        timed.rate / 1e6,
        if scenario.machine.nodes > 1 && timed.simulated.figure.is_none() { ONE_OF_MANY } else { "" }
    )
}

const PREPARED: &str = " What follows counts the whole run, its preparation included. ";
const ONE_OF_MANY: &str =
    " The run is deterministic, but one of many: `sweep cluster` tells how far a cycle of latency moves it.";

/// So many cycles of 400 MHz as a time.
fn duration(cycles: u64) -> String {
    match cycles as f64 / CYCLES_A_MS {
        ms if ms < 10_000.0 => format!("{ms:.3} ms"),
        ms => format!("{:.1} s", ms / 1e3),
    }
}

/// What a microbenchmark measured.
fn sentence(figure: Figure) -> String {
    match figure {
        Figure::RemoteRead(cycles) => format!("A remote read takes {cycles:.0} cycles of 400 MHz."),
        Figure::Bandwidth(bytes) => {
            format!("Readers get {:.0} megabytes a second, all together.", 400.0 * bytes)
        }
        Figure::RoundTrip(cycles) => {
            format!("From a request to its handled reply it takes {cycles:.0} cycles of 400 MHz on average.")
        }
    }
}

/// Where the time of the compute processors went.
fn processors(outcome: &Outcome) -> String {
    let mut shown = table(["compute processors", "part of their time", "how often", "cycles each"]);
    let all = outcome.cycles as f64 * outcome.processors.len() as f64;
    let mut row = |name: &str, cycles: u64, times: Option<u64>| {
        let each =
            times.filter(|times| *times > 0).map(|times| format!("{:.0}", cycles as f64 / times as f64));
        shown.add_row([
            name.to_owned(),
            format!("{:.1} %", 100.0 * cycles as f64 / all),
            times.map(|times| times.to_string()).unwrap_or_default(),
            each.unwrap_or_default(),
        ]);
    };
    let sum = |of: fn(&Breakdown) -> u64| outcome.processors.iter().map(of).sum::<u64>();
    row("computing", sum(Breakdown::computing), None);
    row("cache misses", sum(|one| one.cache_misses.cycles), Some(sum(|one| one.cache_misses.times)));
    row("remote misses", sum(|one| one.remote_misses.cycles), Some(sum(|one| one.remote_misses.times)));
    row("waits for frames", sum(|one| one.page_waits.cycles), Some(sum(|one| one.page_waits.times)));
    row("locks and barriers", sum(|one| one.synchronization), None);
    row("protocol handlers", sum(|one| one.protocol), None);
    row("interrupts", sum(|one| one.interrupts.cycles), Some(sum(|one| one.interrupts.times)));
    let ended = sum(|one| one.end);
    let put_off: u64 = outcome.nodes.iter().map(|node| node.device.put_off).sum();
    row("ended", (outcome.cycles * outcome.processors.len() as u64).saturating_sub(ended), None);
    let put_off = match put_off {
        0 => String::new(),
        1 => "\n1 interrupt was put off to the end of a lock or barrier.".to_owned(),
        times => format!("\n{times} interrupts were put off to the end of a lock or barrier."),
    };
    format!("{shown}{put_off}")
}

/// What the devices did, all nodes together.
fn devices(outcome: &Outcome) -> String {
    let mut handlers: BTreeMap<String, Count> = BTreeMap::new();
    for node in &outcome.nodes {
        for (handler, count) in &node.device.handlers {
            let sum = handlers.entry(words(handler)).or_default();
            sum.times += count.times;
            sum.cycles += count.cycles;
        }
    }
    let exchanges = outcome.nodes.iter().map(|node| node.device.exchanges);
    for count in exchanges.filter(|count| count.times > 0) {
        let sum = handlers.entry("request or reply outside the protocol".to_owned()).or_default();
        sum.times += count.times;
        sum.cycles += count.cycles;
    }
    let mut shown = table(["protocol handler", "how often", "cycles each"]);
    for (name, Count { times, cycles }) in &handlers {
        shown.add_row([
            name.clone(),
            times.to_string(),
            format!("{:.0}", *cycles as f64 / (*times).max(1) as f64),
        ]);
    }
    let events: u64 = handlers.values().map(|count| count.times).sum();
    let busy: u64 = handlers.values().map(|count| count.cycles).sum();
    let waited: u64 = outcome.nodes.iter().map(|node| node.device.waited).sum();
    let longest = outcome.nodes.iter().map(|node| node.device.longest).max().unwrap_or(0);
    let threads = busy as f64 / (outcome.cycles as f64 * outcome.nodes.len() as f64);
    format!(
        "{shown}\nOn a node {threads:.2} protocol threads were busy on average. An event waited {:.0} cycles for one, and up to {longest} \
         waited at a time.",
        waited as f64 / events.max(1) as f64
    )
}

fn messages(outcome: &Outcome) -> String {
    let mut shown = table(["message", "how many"]);
    for (message, count) in &outcome.network.messages {
        shown.add_row([words(message), count.to_string()]);
    }
    format!("{shown}\n{:.2} million bytes in all.", outcome.network.bytes as f64 / 1e6)
}

/// A name of the protocol, in lower-case words.
pub(super) fn words(name: &impl Debug) -> String {
    let mut words = String::new();
    for letter in format!("{name:?}").chars() {
        if letter.is_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.extend(letter.to_lowercase());
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_protocol_are_words() {
        #[derive(Debug)]
        struct ReadMiss;
        assert_eq!(words(&ReadMiss), "read miss");
    }
}
