//! Everything that was observed of one point, as tables and as a report.
//!
//! | module | holds |
//! |---|---|
//! | [`charts`] | the distribution of delays, the warm-up, the time series |

pub mod charts;

use crate::point::NamedFigures;
use warmcore_record::columns::ColumnsError;
use warmcore_record::document::{KeyFigure, ReportVerdict};
use warmcore_record::table::{Cell, Row};
use warmcore_record::{Block, Column, Columns, Document, Manifest, Section, Table};
use warmcore_scenario::PacketScenario;
use warmcore_sim::packet::observe::{Distribution, QuantileFigure, StreamFigures, TimeSeries, WarmupSeries};
use warmcore_sim::packet::{Observed, Outcome, PointResult};
use warmcore_units::{Estimate, Nanos};

/// A table of what was observed, and the name of its files without their ending.
#[derive(Clone, PartialEq, Debug)]
pub struct NamedTable {
    /// Such as `time-series`.
    pub name: &'static str,
    /// Its columns.
    pub columns: Columns,
}

/// The names of all tables that there can be.
pub const TABLES: [&str; 6] = ["quantiles", "delays", "services", "streams", "time-series", "warm-up"];

/// The tables of what was `observed`; parts that were not wanted have none.
///
/// # Errors
/// Never, as long as every column has its own name.
pub fn tables(observed: &Observed) -> Result<Vec<NamedTable>, ColumnsError> {
    let quantiles = &observed.quantiles;
    let all: [Option<Vec<Column>>; 6] = [
        (!quantiles.is_empty()).then(|| QuantileFigure::columns(quantiles)),
        observed.delays.as_ref().map(Distribution::columns),
        observed.services.as_ref().map(Distribution::columns),
        observed.streams.as_ref().map(StreamFigures::columns),
        observed.series.as_ref().map(TimeSeries::columns),
        observed.warmup.as_ref().map(WarmupSeries::columns),
    ];
    let named = TABLES.into_iter().zip(all).filter_map(|(name, columns)| Some((name, columns?)));
    named.map(|(name, columns)| Ok(NamedTable { name, columns: Columns::new(columns)? })).collect()
}

/// The report on a point of `scenario`, with its provenance. `costs` says whose costs were used, and why those.
#[must_use]
pub fn document(
    scenario: &PacketScenario,
    result: &PointResult,
    observed: &Observed,
    costs: &str,
    manifest: Manifest,
) -> Document {
    let figures = NamedFigures::from_result(result);
    let sections = [
        quantiles(&observed.quantiles),
        charts::warmup(observed),
        charts::series(observed),
        charts::streams(observed),
        Some(all_figures(&figures)),
    ];
    let plural = if scenario.processors == 1 { "" } else { "s" };
    Document {
        title: "What packets experience on one host".to_owned(),
        subtitle: format!(
            "{} on {} processor{plural}; packets arrive at {} ({}). {costs}",
            scenario.scheduling,
            scenario.processors,
            result.rate,
            scenario.traffic.process.name()
        ),
        verdict: verdict(result, observed),
        sections: sections.into_iter().flatten().collect(),
        manifest,
    }
}

fn verdict(result: &PointResult, observed: &Observed) -> ReportVerdict {
    let Some(outcome) = &result.outcome else {
        let capacity = result.capacity.rate.mean;
        return ReportVerdict {
            headline: format!(
                "The host is saturated: packets come at {}, and it keeps up with {capacity}.",
                result.rate
            ),
            scope: "Its queues grow without end, so no packet's delay is typical.".to_owned(),
            ..ReportVerdict::default()
        };
    };
    ReportVerdict {
        headline: format!(
            "A packet takes {} on average; one in a hundred takes longer than {}.",
            outcome.delay.mean, outcome.quantiles.p99.mean
        ),
        scope: format!(
            "Over {} packets after a warm-up of {}. Half-widths are those of 95% intervals of the simulation: the costs' \
             own uncertainty is not in them.",
            outcome.packets - outcome.warmup,
            outcome.warmup
        ),
        chart: charts::distribution(outcome, observed),
        figures: key_figures(outcome),
        ..ReportVerdict::default()
    }
}

fn key_figures(outcome: &Outcome) -> Vec<KeyFigure> {
    let time = |time: Estimate<Nanos>, meaning: &str| KeyFigure {
        value: time.mean.to_string(),
        half_width: time
            .half_width
            .filter(|half| half.0.is_finite())
            .map(|half| format!("± {half}"))
            .unwrap_or_default(),
        meaning: meaning.to_owned(),
    };
    let busy = outcome.utilisation;
    vec![
        time(outcome.delay, "from arrival to the end of service, on average"),
        time(outcome.quantiles.p99, "one packet in a hundred takes longer"),
        KeyFigure {
            value: format!("{:.1} %", busy.mean * 100.0),
            half_width: busy
                .half_width
                .filter(|half| half.is_finite())
                .map(|half| format!("± {:.1} %", half * 100.0))
                .unwrap_or_default(),
            meaning: "of the processors' time goes into protocol work".to_owned(),
        },
    ]
}

fn quantiles(figures: &[QuantileFigure]) -> Option<Section> {
    let row = |figure: &QuantileFigure| {
        let micros = |ns: Option<f64>| ns.map(|ns| Nanos(ns).micros());
        let delay = match (micros(figure.delay_ns), micros(figure.half_width_ns)) {
            (Some(mean), half_width) => Cell::value(Estimate { mean, half_width }, 2),
            (None, _) => Cell::missing("hardly a packet lies beyond it"),
        };
        let needed = figure.packets_needed.map_or_else(String::new, |packets| packets.to_string());
        Row::new(figure.probability.to_string(), vec![delay, Cell::text(needed)])
    };
    (!figures.is_empty()).then(|| Section {
        heading: "Quantiles".to_owned(),
        anchor: "quantiles".to_owned(),
        intro: vec!["The delay below which a fraction of the packets lies.".to_owned()],
        blocks: vec![Block::Table(Table {
            id: "quantile-table".to_owned(),
            caption: "Delay in µs".to_owned(),
            header: Table::simple_header(["Fraction", "Delay", "Packets that its interval would need"]),
            rows: figures.iter().map(row).collect(),
            notes: Vec::new(),
        })],
        folded: false,
    })
}

fn all_figures(figures: &NamedFigures) -> Section {
    let rows = figures.in_words().map(|(name, value)| Row::new(name, vec![Cell::text(value)]));
    Section {
        heading: "All figures".to_owned(),
        anchor: "figures".to_owned(),
        intro: vec!["By their names in results.parquet and in the output of --json.".to_owned()],
        blocks: vec![Block::Table(Table {
            id: "figure-table".to_owned(),
            caption: "Figures of the point".to_owned(),
            header: Table::simple_header(["Name", "Value"]),
            rows: rows.collect(),
            notes: Vec::new(),
        })],
        folded: true,
    }
}

#[cfg(test)]
mod tests;
