//! A sweep of clusters as a table of data, text, JSON and a report.

use super::Run;
use super::compared::{Swept, headline, label, machines};
use crate::terminal::table;
use miette::miette;
use serde::Serialize;
use warmcore_record::chart::{Axis, Point, Series, Style, Unit, View};
use warmcore_record::document::{ReportVerdict, Section, Term};
use warmcore_record::table::{Cell, Row};
use warmcore_record::{Block, Chart, Column, Columns, Document, Manifest, Table};
use warmcore_scenario::ClusterScenario;
use warmcore_scenario::cluster::{ClusterDevice, Microbenchmark, Work};
use warmcore_units::Estimate;

/// One row for each run.
pub(super) fn columns(swept: &[Swept]) -> miette::Result<Columns> {
    let rows: Vec<(&Swept, u64, &Run)> = swept
        .iter()
        .flat_map(|one| one.by_latency().map(move |(network_cycles, run)| (one, network_cycles, run)))
        .collect();
    let integer = |name: &str, of: &dyn Fn(&(&Swept, u64, &Run)) -> u64| {
        Column::integers(name, rows.iter().map(|row| i64::try_from(of(row)).ok()))
    };
    let columns = Columns::new(vec![
        Column::texts("device", rows.iter().map(|(one, ..)| Some(one.scenario.device.to_string()))),
        integer("nodes", &|(one, ..)| one.scenario.machine.nodes.into()),
        integer("processors", &|(one, ..)| one.scenario.machine.processors.into()),
        integer("block_bytes", &|(one, ..)| one.scenario.machine.block_bytes),
        integer("network_cycles", &|(_, network_cycles, _)| *network_cycles),
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

/// What is compared, as a heading, and what its values are divided by.
fn compared_cost(swept: &[Swept]) -> (&'static str, f64) {
    match swept.first().map(|one| one.scenario.work()) {
        Some(Ok(Work::Microbenchmark(
            Microbenchmark::ReplyBandwidth(_) | Microbenchmark::RequestBandwidth(_),
        ))) => ("cycles a byte", 1.0),
        Some(Ok(Work::Microbenchmark(_))) => ("cycles of an operation", 1.0),
        _ => ("million cycles", 1e6),
    }
}

fn headings(swept: &[Swept]) -> [&'static str; 6] {
    ["nodes x processors, block", "device", "speed", compared_cost(swept).0, "remote misses", "cycles each"]
}

/// The figures of a cluster under the last of those headings, each with its decimals.
fn figures(one: &Swept, unit: f64) -> [(Estimate<f64>, usize); 4] {
    [
        (one.speedup, 2),
        (one.mean(|run| run.cost / unit), 2),
        (one.mean(|run| run.remote_misses as f64), 0),
        (one.remote_miss(), 0),
    ]
}

pub(super) fn shown(swept: &[Swept]) -> String {
    let (_, unit) = compared_cost(swept);
    let mut shown = table(headings(swept));
    for one in swept {
        let place = [label(&one.scenario.machine), one.scenario.device.to_string()];
        let figures = figures(one, unit).map(|(estimate, decimals)| {
            let half = estimate.half_width.map(|half| format!(" ± {half:.decimals$}"));
            format!("{:.decimals$}{}", estimate.mean, half.unwrap_or_default())
        });
        shown.add_row(place.into_iter().chain(figures));
    }
    format!("{shown}\n{}\n", headline(swept))
}

/// The same table for the report.
fn results(swept: &[Swept]) -> Table {
    let (_, unit) = compared_cost(swept);
    let row = |one: &Swept| {
        let device = Cell::text(one.scenario.device.to_string());
        let figures =
            figures(one, unit).map(|(value, decimals)| Cell::Value { value, decimals, missed_target: false });
        Row::new(label(&one.scenario.machine), std::iter::once(device).chain(figures).collect())
    };
    Table {
        id: "results".to_owned(),
        caption: format!("What was simulated. {}", scatter(swept)),
        header: Table::simple_header(headings(swept)),
        rows: swept.iter().map(row).collect(),
        notes: Vec::new(),
    }
}

/// How sure the figures are, in a sentence.
fn scatter(swept: &[Swept]) -> String {
    match swept.first().map_or(0, |one| one.runs.len()) {
        1 => "One run each.".to_owned(),
        runs => {
            format!("Means of {runs} runs, whose network's latency differs by a cycle, and 95 % intervals.")
        }
    }
}

/// Bars for each device, one beside the other for each size of nodes and blocks.
fn chart(swept: &[Swept], [id, title, axis]: [&str; 3], of: impl Fn(&Swept) -> Estimate<f64>) -> Block {
    let mut devices: Vec<ClusterDevice> = Vec::new();
    for one in swept {
        if !devices.contains(&one.scenario.device) {
            devices.push(one.scenario.device);
        }
    }
    let series = machines(swept).into_iter().map(|machine| {
        let points = swept.iter().filter(|one| one.scenario.machine == machine).filter_map(|one| {
            let place = devices.iter().position(|device| *device == one.scenario.device)?;
            Some(Point::new(place as f64, of(one)))
        });
        Series::new(label(&machine), Style::Bars, points.collect())
    });
    Block::Chart(Chart {
        id: id.to_owned(),
        title: title.to_owned(),
        caption: scatter(swept),
        x: Axis::categories("device", devices.iter().map(ClusterDevice::to_string)),
        y: Axis::linear(axis, Unit::plain("")),
        choices: Vec::new(),
        views: vec![View { series: series.collect(), ..View::default() }],
    })
}

/// The words that a reader of the report may not know.
fn glossary() -> Block {
    let words = [
        ("device", "what executes the coherence protocol on each node"),
        ("s-coma", "a finite-state machine in hardware"),
        ("hurricane:N", "N embedded processors on the network interface"),
        (
            "hurricane-1:N",
            "N processors of the node that are set aside for it, in addition to those that compute",
        ),
        ("hurricane-1:mult", "the processors that compute, whichever waits"),
        (
            "typhoon-1:fixed, typhoon-1:floating",
            "one protocol thread, on a processor of its own or on whichever waits",
        ),
        ("speed", "how many times as fast as under the first device, with the same nodes and blocks"),
        ("remote miss", "a reference that another node has to serve"),
        ("cycle", "of the simulated processors: 2.5 ns"),
    ];
    Block::Glossary(words.map(|(word, meaning)| Term::new(word, meaning)).to_vec())
}

/// What was swept, in a line.
fn subject(base: &ClusterScenario, swept: &[Swept]) -> String {
    let work = base.work().map_or("nothing", |work| work.name());
    let machines: Vec<String> = machines(swept).iter().map(label).collect();
    format!("{work} on {}", machines.join("; "))
}

pub(super) fn document(base: &ClusterScenario, swept: &[Swept], manifest: Manifest) -> Document {
    let section = |heading: &str, anchor: &str, blocks| Section {
        heading: heading.to_owned(),
        anchor: anchor.to_owned(),
        intro: Vec::new(),
        blocks,
        folded: false,
    };
    Document {
        title: if base.name.is_empty() { "A program on clusters".to_owned() } else { base.name.clone() },
        subtitle: subject(base, swept),
        verdict: ReportVerdict { headline: headline(swept), ..ReportVerdict::default() },
        sections: vec![
            section(
                "By device",
                "devices",
                vec![
                    chart(swept, ["speed", "Speed beside the first device", "speed"], |one| one.speedup),
                    chart(swept, ["misses", "A remote miss", "cycles"], Swept::remote_miss),
                    Block::Table(results(swept)),
                ],
            ),
            section("Words", "glossary", vec![glossary()]),
        ],
        manifest,
    }
}

/// What `--json` prints.
#[derive(Serialize)]
pub(super) struct Summary {
    schema: u32,
    /// The fastest device of each size of nodes and blocks, in words.
    verdict: String,
    points: Vec<PointFigures>,
}

#[derive(Serialize)]
struct PointFigures {
    device: String,
    nodes: u32,
    processors: u32,
    block_bytes: u64,
    speedup: Estimate<f64>,
    runs: Vec<RunFigures>,
}

#[derive(Serialize)]
struct RunFigures {
    network_cycles: u64,
    #[serde(flatten)]
    run: Run,
}

impl Summary {
    pub(super) fn new(swept: &[Swept]) -> Self {
        let point = |one: &Swept| PointFigures {
            device: one.scenario.device.to_string(),
            nodes: one.scenario.machine.nodes,
            processors: one.scenario.machine.processors,
            block_bytes: one.scenario.machine.block_bytes,
            speedup: one.speedup,
            runs: one.by_latency().map(|(network_cycles, &run)| RunFigures { network_cycles, run }).collect(),
        };
        Self { schema: 3, verdict: headline(swept), points: swept.iter().map(point).collect() }
    }
}
