//! A cluster's run as JSON.

use super::Timed;
use super::text::words;
use serde::Serialize;
use std::collections::BTreeMap;
use warmcore_scenario::ClusterScenario;
use warmcore_sim::cluster::scenario::Figure;
use warmcore_sim::cluster::tally::Breakdown;

/// What `--json` prints. Times are in cycles of 400 MHz.
#[derive(Serialize)]
pub(super) struct Figures<'a> {
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
    references_per_second: f64,
    /// What a microbenchmark measured.
    figure: Option<MicrobenchmarkFigure>,
}

impl<'a> Figures<'a> {
    pub(super) fn new(scenario: &'a ClusterScenario, timed: &Timed) -> Self {
        let outcome = &timed.simulated.outcome;
        let sum = |of: fn(&Breakdown) -> u64| outcome.processors.iter().map(of).sum::<u64>();
        Self {
            name: &scenario.name,
            program: scenario.work().map_or("", |work| work.name()),
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
            figure: timed.simulated.figure.map(MicrobenchmarkFigure::from),
            references_per_second: timed.rate,
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum MicrobenchmarkFigure {
    RemoteReadCycles(f64),
    BytesPerCycle(f64),
    RoundTripCycles(f64),
}

impl From<Figure> for MicrobenchmarkFigure {
    fn from(figure: Figure) -> Self {
        match figure {
            Figure::RemoteRead(cycles) => Self::RemoteReadCycles(cycles),
            Figure::Bandwidth(bytes) => Self::BytesPerCycle(bytes),
            Figure::RoundTrip(cycles) => Self::RoundTripCycles(cycles),
        }
    }
}
