//! What the run of a cluster says.

use super::{Figures, Said, table};
use crate::failure::Failure;
use warmcore_record::Column;
use warmcore_scenario::ClusterScenario;
use warmcore_sim::cluster::scenario::{Figure, Simulated};
use warmcore_sim::cluster::tally::Breakdown;

/// A count of one processor.
type Counted = fn(&Breakdown) -> u64;

/// What is shown of each processor: name, unit, value.
const SHOWN: [(&str, &str, Counted); 13] = [
    ("end", "cycles", |of| of.end),
    ("computing", "cycles", Breakdown::computing),
    ("synchronization", "cycles", |of| of.synchronization),
    ("protocol", "cycles", |of| of.protocol),
    ("cache_misses", "", |of| of.cache_misses.times),
    ("cache_miss_time", "cycles", |of| of.cache_misses.cycles),
    ("remote_misses", "", |of| of.remote_misses.times),
    ("remote_miss_time", "cycles", |of| of.remote_misses.cycles),
    ("page_waits", "", |of| of.page_waits.times),
    ("interrupts", "", |of| of.interrupts.times),
    ("tlb_misses", "", |of| of.tlb_misses),
    ("page_faults", "", |of| of.page_faults),
    ("references", "", |of| of.references),
];

impl Said {
    /// What the run of `scenario` came to, in cycles of 400 MHz; the table has a row for each processor that computes.
    pub(crate) fn of_cluster(scenario: &ClusterScenario, simulated: &Simulated) -> Result<Self, Failure> {
        let outcome = &simulated.outcome;
        let processors = &outcome.processors;
        let sum = |of: Counted| processors.iter().map(of).sum::<u64>();
        let mut figures = Figures::default();
        figures.quantity("cycles", "cycles", Some(outcome.cycles as f64));
        figures.quantity("time", "s", Some(outcome.cycles as f64 / CYCLES_A_SECOND));
        let (remote_read, bandwidth, round_trip) = match simulated.figure {
            Some(Figure::RemoteRead(cycles)) => (Some(cycles), None, None),
            Some(Figure::Bandwidth(bytes)) => (None, Some(bytes), None),
            Some(Figure::RoundTrip(cycles)) => (None, None, Some(cycles)),
            None => (None, None, None),
        };
        figures.quantity("remote_read", "cycles", remote_read);
        figures.quantity("bandwidth", "bytes/cycle", bandwidth);
        figures.quantity("round_trip", "cycles", round_trip);
        for (name, unit, of) in SHOWN.into_iter().skip(1) {
            figures.quantity(name, unit, Some(sum(of) as f64));
        }
        figures.plain("bytes", outcome.network.bytes);
        let messages = outcome.network.messages.iter();
        figures.plain(
            "messages",
            messages
                .map(|(message, count)| (format!("{message:?}"), (*count).into()))
                .collect::<serde_json::Map<_, _>>(),
        );
        let each = scenario.machine.processors.max(1) as usize;
        let mut columns = vec![
            Column::counts("node", "", (0..processors.len()).map(|index| (index / each) as u64)),
            Column::counts("processor", "", (0..processors.len()).map(|index| (index % each) as u64)),
        ];
        for (name, unit, of) in SHOWN {
            columns.push(Column::counts(name, unit, processors.iter().map(of)));
        }
        Ok(Self { figures, table: table(columns)? })
    }
}

/// Cycles of 400 MHz in a second.
const CYCLES_A_SECOND: f64 = 4e8;
