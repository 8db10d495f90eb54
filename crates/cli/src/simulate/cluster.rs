//! `warmcore simulate cluster`.

use crate::args::cluster::SimulateClusterArguments;
use crate::json::{self, Versioned};
use crate::misuse::{OrMisuse, misuse};
use crate::terminal::table;
use crate::{documents, progress};
use core::fmt::Debug;
use miette::IntoDiagnostic;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;
use warmcore_scenario::ClusterScenario;
use warmcore_scenario::document;
use warmcore_sim::cluster::tally::{Breakdown, Count};
use warmcore_sim::cluster::{Error, Machine, Options, Outcome, run as simulate};
use warmcore_units::Fault;
use warmcore_workload::programs::Program;

/// Version of what `--json` prints.
const SCHEMA: u32 = 1;
/// A scenario to begin with.
const EXAMPLE: &str = include_str!("cluster.toml");
/// Cycles of 400 MHz in a millisecond.
const CYCLES_A_MS: f64 = 4e5;

pub(crate) fn run(arguments: &SimulateClusterArguments) -> miette::Result<()> {
    if arguments.print_example {
        return crate::output::print(EXAMPLE.as_bytes());
    }
    let Some(path) = &arguments.document else {
        return Err(misuse(
            "--scenario is missing: give a file such as `warmcore simulate cluster --print-example` prints",
        ));
    };
    let scenario: ClusterScenario = documents::read(path)?;
    let bar = progress::bar("simulating");
    let began = Instant::now();
    let outcome = outcome(&scenario, path);
    bar.finish_and_clear();
    let outcome = outcome?;
    let seconds = began.elapsed().as_secs_f64();
    if arguments.json {
        let figures = Figures::new(&scenario, &outcome, seconds);
        return crate::output::print(json::pretty(&Versioned::new(SCHEMA, figures))?.as_bytes());
    }
    crate::output::print(text(&scenario, &outcome, seconds).as_bytes())
}

/// Runs the program of `scenario`, which was read from `path`.
pub(crate) fn outcome(scenario: &ClusterScenario, path: &Path) -> miette::Result<Outcome> {
    let machine = Machine::from(scenario);
    if let Err(fault) = machine.check() {
        let table = if fault.field.starts_with("device.") { "" } else { "machine." };
        return refuse(path, table, fault);
    }
    match simulate(&machine, &scenario.program, &Options::from(scenario)) {
        Ok(outcome) => Ok(outcome),
        Err(Error::Impossible(fault)) => refuse(path, "program.", fault),
        Err(error) => Err(error).into_diagnostic(),
    }
}

/// Refuses the value at `fault`, a field below `table` in the document at `path`.
fn refuse(path: &Path, table: &str, fault: Fault) -> miette::Result<Outcome> {
    let text = document::text::<ClusterScenario>(path).or_misuse()?;
    let fault = Fault { field: format!("{table}{}", fault.field), ..fault };
    Err(document::invalid::<ClusterScenario>(&text, path, fault)).or_misuse()
}

/// What a cluster is, in a line.
pub(crate) fn in_words(scenario: &ClusterScenario) -> String {
    let machine = &scenario.machine;
    format!(
        "{} on {} nodes of {} processors, {}, blocks of {} bytes",
        scenario.program.name(),
        machine.nodes,
        machine.processors,
        scenario.device,
        machine.block_bytes
    )
}

fn text(scenario: &ClusterScenario, outcome: &Outcome, seconds: f64) -> String {
    let name = if scenario.name.is_empty() { String::new() } else { format!("{}: ", scenario.name) };
    let references = outcome.references() as f64;
    format!(
        "{name}{}\n\nIt takes {:.3} ms ({} cycles of 400 MHz), and its results are right.\n\n{}\n\n{}\n\n{}\n\n{:.1} million shared \
         references in {seconds:.1} s: {:.1} million a second. The run is deterministic: it has no ±.\n",
        in_words(scenario),
        outcome.cycles as f64 / CYCLES_A_MS,
        outcome.cycles,
        processors(outcome),
        devices(outcome),
        messages(outcome),
        references / 1e6,
        references / 1e6 / seconds
    )
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
    row("locks and barriers", sum(|one| one.synchronization), None);
    row("protocol handlers", sum(|one| one.protocol), None);
    row("interrupts", sum(|one| one.interrupts.cycles), Some(sum(|one| one.interrupts.times)));
    let ended = sum(|one| one.end);
    row("ended", (outcome.cycles * outcome.processors.len() as u64).saturating_sub(ended), None);
    shown.to_string()
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
fn words(name: &impl Debug) -> String {
    let mut words = String::new();
    for letter in format!("{name:?}").chars() {
        if letter.is_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.extend(letter.to_lowercase());
    }
    words
}

/// What `--json` prints. Times are in cycles of 400 MHz.
#[derive(Serialize)]
struct Figures<'a> {
    name: &'a str,
    program: &'static str,
    nodes: u32,
    processors: u32,
    device: String,
    block_bytes: u64,
    cycles: u64,
    references: u64,
    cache_misses: u64,
    remote_misses: u64,
    remote_miss_cycles: u64,
    synchronization_cycles: u64,
    protocol_cycles: u64,
    interrupts: u64,
    messages: BTreeMap<String, u64>,
    bytes: u64,
    wall_seconds: f64,
}

impl<'a> Figures<'a> {
    fn new(scenario: &'a ClusterScenario, outcome: &Outcome, wall_seconds: f64) -> Self {
        let sum = |of: fn(&Breakdown) -> u64| outcome.processors.iter().map(of).sum::<u64>();
        Self {
            name: &scenario.name,
            program: scenario.program.name(),
            nodes: scenario.machine.nodes,
            processors: scenario.machine.processors,
            device: scenario.device.to_string(),
            block_bytes: scenario.machine.block_bytes,
            cycles: outcome.cycles,
            references: outcome.references(),
            cache_misses: sum(|one| one.cache_misses.times),
            remote_misses: sum(|one| one.remote_misses.times),
            remote_miss_cycles: sum(|one| one.remote_misses.cycles),
            synchronization_cycles: sum(|one| one.synchronization),
            protocol_cycles: sum(|one| one.protocol),
            interrupts: sum(|one| one.interrupts.times),
            messages: outcome
                .network
                .messages
                .iter()
                .map(|(message, count)| (words(message), *count))
                .collect(),
            bytes: outcome.network.bytes,
            wall_seconds,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warmcore_scenario::document::parse;

    #[test]
    fn the_example_can_be_simulated() {
        let scenario = parse::<ClusterScenario>(EXAMPLE, Path::new("cluster.toml")).expect("a scenario");
        assert_eq!(Machine::from(&scenario).check(), Ok(()));
    }

    #[test]
    fn names_of_the_protocol_are_words() {
        #[derive(Debug)]
        struct ReadMiss;
        assert_eq!(words(&ReadMiss), "read miss");
    }
}
