//! A sweep of clusters as a table of data, text, JSON and a report.

use super::Run;
use super::compared::{Swept, headline, label, machines};
use crate::simulate::cluster::in_words;
use crate::terminal::table;
use miette::miette;
use serde::Serialize;
use warmcore_record::chart::{Axis, Point, Series, Style, Unit, View};
use warmcore_record::document::{ReportVerdict, Section};
use warmcore_record::{Block, Chart, Column, Columns, Document, Manifest};
use warmcore_scenario::ClusterScenario;
use warmcore_scenario::cluster::{ClusterDevice, Microbenchmark, Work};
use warmcore_units::Estimate;

/// One row for each run.
pub(super) fn columns(swept: &[Swept]) -> miette::Result<Columns> {
    let rows: Vec<(&Swept, u64, &Run)> =
        swept.iter().flat_map(|one| (0..).zip(&one.runs).map(move |(more, run)| (one, more, run))).collect();
    let integer = |name: &str, of: &dyn Fn(&(&Swept, u64, &Run)) -> u64| {
        Column::integers(name, rows.iter().map(|row| i64::try_from(of(row)).ok()))
    };
    let columns = Columns::new(vec![
        Column::texts("device", rows.iter().map(|(one, ..)| Some(one.scenario.device.to_string()))),
        integer("nodes", &|(one, ..)| one.scenario.machine.nodes.into()),
        integer("processors", &|(one, ..)| one.scenario.machine.processors.into()),
        integer("block_bytes", &|(one, ..)| one.scenario.machine.block_bytes),
        integer("network_cycles", &|(one, more, _)| {
            one.scenario.machine.network_cycles.saturating_add(*more)
        }),
        Column::floats("cost", "", rows.iter().map(|(.., run)| Some(run.cost))),
        integer("cycles", &|(.., run)| run.cycles),
        integer("references", &|(.., run)| run.references),
        integer("remote_misses", &|(.., run)| run.remote_misses),
        integer("remote_miss_cycles", &|(.., run)| run.remote_miss_cycles),
        integer("messages", &|(.., run)| run.messages),
        integer("handlers", &|(.., run)| run.handlers),
        integer("waited_cycles", &|(.., run)| run.waited_cycles),
    ]);
    columns.map_err(|error| miette!("{error}"))
}

/// A mean with its half-width, if it has one, after division by `unit`.
fn figure(estimate: Estimate<f64>, unit: f64, digits: usize) -> String {
    let half = estimate.half_width.map(|half| format!(" ± {:.digits$}", half / unit));
    format!("{:.digits$}{}", estimate.mean / unit, half.unwrap_or_default())
}

pub(super) fn shown(swept: &[Swept]) -> String {
    let cost = match swept.first().map(|one| one.scenario.work()) {
        Some(Ok(Work::Microbenchmark(microbenchmark))) => match microbenchmark {
            Microbenchmark::ReplyBandwidth(_) | Microbenchmark::RequestBandwidth(_) => "cycles a byte",
            _ => "cycles of an operation",
        },
        _ => "million cycles",
    };
    let unit = if cost == "million cycles" { 1e6 } else { 1.0 };
    let header = ["nodes x processors, block", "device", "speed", cost, "remote misses", "cycles each"];
    let mut shown = table(header);
    for one in swept {
        shown.add_row([
            label(&one.scenario.machine),
            one.scenario.device.to_string(),
            figure(one.speedup, 1.0, 2),
            figure(one.mean(|run| run.cost), unit, 2),
            figure(one.mean(|run| run.remote_misses as f64), 1.0, 0),
            figure(one.remote_miss(), 1.0, 0),
        ]);
    }
    format!("{shown}\n{}\n", headline(swept))
}

pub(super) fn document(base: &ClusterScenario, swept: &[Swept], manifest: Manifest) -> Document {
    let machines = machines(swept);
    let mut devices: Vec<ClusterDevice> = Vec::new();
    for one in swept {
        if !devices.contains(&one.scenario.device) {
            devices.push(one.scenario.device);
        }
    }
    let names: Vec<String> = devices.iter().map(ClusterDevice::to_string).collect();
    let runs = swept.first().map_or(0, |one| one.runs.len());
    let scatter = match runs {
        1 => "One run each: its scatter is not known.".to_owned(),
        runs => {
            format!("Means of {runs} runs, each with a cycle more of network latency, and 95 % intervals.")
        }
    };
    let chart = |id: &str, title: &str, axis: &str, of: fn(&Swept) -> Estimate<f64>| {
        let series = machines.iter().map(|machine| {
            let points = swept.iter().filter(|one| one.scenario.machine == *machine).filter_map(|one| {
                let place = devices.iter().position(|device| *device == one.scenario.device)?;
                Some(Point::new(place as f64, of(one)))
            });
            Series::new(label(machine), Style::Line, points.collect())
        });
        Block::Chart(Chart {
            id: id.to_owned(),
            title: title.to_owned(),
            caption: format!("{scatter} Devices from left to right: {}.", names.join(", ")),
            x: Axis::linear("device", Unit::plain("")),
            y: Axis::linear(axis, Unit::plain("")),
            choices: Vec::new(),
            views: vec![View { series: series.collect(), ..View::default() }],
        })
    };
    let blocks = vec![
        chart("speed", "Speed beside the first device", "speed", |one| one.speedup),
        chart("misses", "A remote miss", "cycles", Swept::remote_miss),
    ];
    Document {
        title: if base.name.is_empty() { "A program on clusters".to_owned() } else { base.name.clone() },
        subtitle: in_words(base),
        verdict: ReportVerdict { headline: headline(swept), ..ReportVerdict::default() },
        sections: vec![Section {
            heading: "By device".to_owned(),
            anchor: "devices".to_owned(),
            intro: Vec::new(),
            blocks,
            folded: false,
        }],
        manifest,
    }
}

/// What `--json` prints.
#[derive(Serialize)]
pub(super) struct Summary {
    schema: u32,
    points: Vec<PointFigures>,
}

#[derive(Serialize)]
struct PointFigures {
    device: String,
    nodes: u32,
    processors: u32,
    block_bytes: u64,
    speedup: Estimate<f64>,
    runs: Vec<Run>,
}

impl Summary {
    pub(super) fn new(swept: &[Swept]) -> Self {
        let point = |one: &Swept| PointFigures {
            device: one.scenario.device.to_string(),
            nodes: one.scenario.machine.nodes,
            processors: one.scenario.machine.processors,
            block_bytes: one.scenario.machine.block_bytes,
            speedup: one.speedup,
            runs: one.runs.clone(),
        };
        Self { schema: 2, points: swept.iter().map(point).collect() }
    }
}
