//! `warmcore sweep cluster`.

use crate::args::cluster::SweepClusterArguments;
use crate::folder::RESULTS;
use crate::misuse::{misuse, refuse_repeats};
use crate::provenance::PROGRAM;
use crate::simulate::cluster::{in_words, outcome};
use crate::terminal::table;
use crate::{checkpoint, documents, flags, interrupt, json, progress, provenance};
use miette::{IntoDiagnostic, miette};
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicUsize, Ordering};
use warmcore_record::chart::{Axis, Point, Series, Style, Unit, View};
use warmcore_record::document::{ReportVerdict, Section};
use warmcore_record::{Block, Chart, Column, Columns, Document, Manifest};
use warmcore_scenario::ClusterScenario;
use warmcore_scenario::cluster::{ClusterDevice, ClusterMachine};
use warmcore_sim::cluster::{Machine, Outcome};
use warmcore_sim::sweep::{SweepError, sweep};
use warmcore_units::{Estimate, Fault};

const REPORT: &str = "report.html";
const FILES: [&str; 3] = [RESULTS.parquet, RESULTS.csv, REPORT];

/// The figures of one run.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Run {
    cycles: u64,
    references: u64,
    remote_misses: u64,
    remote_miss_cycles: u64,
    messages: u64,
    handlers: u64,
    waited_cycles: u64,
}

impl Run {
    fn new(outcome: &Outcome) -> Self {
        let devices = || outcome.nodes.iter().map(|node| &node.device);
        let remote = || outcome.processors.iter().map(|processor| processor.remote_misses);
        Self {
            cycles: outcome.cycles,
            references: outcome.references(),
            remote_misses: remote().map(|count| count.times).sum(),
            remote_miss_cycles: remote().map(|count| count.cycles).sum(),
            messages: outcome.network.messages.values().sum(),
            handlers: devices().flat_map(|device| device.handlers.values()).map(|count| count.times).sum(),
            waited_cycles: devices().map(|device| device.waited).sum(),
        }
    }
}

/// A cluster and its run.
struct Swept {
    scenario: ClusterScenario,
    run: Run,
    /// How fast it is beside the first device of the same nodes and blocks.
    speedup: f64,
}

pub(crate) fn run(arguments: &SweepClusterArguments) -> miette::Result<()> {
    refuse_repeats("devices", &arguments.devices)?;
    refuse_repeats("blocks", &arguments.blocks)?;
    refuse_repeats("processors", &arguments.processors)?;
    let base: ClusterScenario = documents::read(&arguments.document)?;
    let points = points(&base, arguments)?;
    for point in &points {
        Machine::from(point).check().map_err(|Fault { field, found, expected }| {
            misuse(format!("{}: `{field}` is {found}, expected {expected}", in_words(point)))
        })?;
    }
    let keys: Vec<String> = points.iter().map(toml::to_string).collect::<Result<_, _>>().into_diagnostic()?;
    let output = &arguments.output;
    let subject = format!("{PROGRAM} {}\nsweep cluster\n{}", env!("CARGO_PKG_VERSION"), keys.join("\n"));
    let (folder, journal) = checkpoint::open::<Run>(output, &FILES, &subject)?;
    let stop = interrupt::catch()?;

    let bar = progress::bar("simulating");
    let done = AtomicUsize::new(0);
    let key = |point: &ClusterScenario| toml::to_string(point).unwrap_or_default();
    let swept = sweep(
        &points,
        |point| journal.known(&key(point)).copied(),
        |point| Ok(Run::new(&outcome(point, &arguments.document)?)),
        |point, run| {
            progress::set(&bar, (done.fetch_add(1, Ordering::Relaxed) + 1) as f64 / points.len() as f64);
            journal.append(&key(point), run).into_diagnostic()
        },
        stop,
    );
    bar.finish_and_clear();
    let runs = swept.map_err(|error| match error {
        SweepError::Point(error) => error,
        SweepError::Interrupted => checkpoint::interrupted(&folder, &journal),
    })?;
    let swept = compared(points, runs);

    let document_text = toml::to_string(&base).into_diagnostic()?;
    let manifest = provenance::from_seed("the program's input", 0, Some(document_text));
    folder.write_table(&RESULTS, &columns(&swept)?, &provenance::repeatable(&manifest))?;
    folder.write(REPORT, warmcore_report::render(&report(&base, &swept, manifest)).as_bytes())?;
    if output.json {
        return crate::output::print(json::pretty(&Summary::new(&swept))?.as_bytes());
    }
    let report = folder.file(REPORT);
    crate::output::print(format!("\n{}\nThe report: {}\n", shown(&swept), report.display()).as_bytes())
}

/// Every combination of the values asked for, each device beside the others.
fn points(base: &ClusterScenario, arguments: &SweepClusterArguments) -> miette::Result<Vec<ClusterScenario>> {
    let machine = base.machine;
    let all = machine.nodes.saturating_mul(machine.processors);
    let blocks =
        if arguments.blocks.is_empty() { vec![machine.block_bytes] } else { arguments.blocks.clone() };
    let sizes =
        if arguments.processors.is_empty() { vec![machine.processors] } else { arguments.processors.clone() };
    let mut points = Vec::new();
    for &processors in &sizes {
        if !all.is_multiple_of(processors) {
            let expected = format!("a number that divides {all}, the processors of all nodes");
            return Err(flags::refused(&Fault::new("processors", processors, expected)));
        }
        for &block_bytes in &blocks {
            for &device in &arguments.devices {
                let machine = ClusterMachine { nodes: all / processors, processors, block_bytes, ..machine };
                points.push(ClusterScenario { machine, device, ..base.clone() });
            }
        }
    }
    Ok(points)
}

/// Each run beside that of the first device with the same nodes and blocks.
fn compared(points: Vec<ClusterScenario>, runs: Vec<Run>) -> Vec<Swept> {
    let mut swept: Vec<Swept> = Vec::with_capacity(points.len());
    for (scenario, run) in points.into_iter().zip(runs) {
        let first = swept.iter().find(|one| one.scenario.machine == scenario.machine);
        let speedup = first.map_or(1.0, |first| first.run.cycles as f64 / run.cycles as f64);
        swept.push(Swept { scenario, run, speedup });
    }
    swept
}

/// One row for each run.
fn columns(swept: &[Swept]) -> miette::Result<Columns> {
    let integer = |name: &str, of: fn(&Swept) -> u64| {
        Column::integers(name, swept.iter().map(|one| i64::try_from(of(one)).ok()))
    };
    let columns = Columns::new(vec![
        Column::texts("device", swept.iter().map(|one| Some(one.scenario.device.to_string()))),
        integer("nodes", |one| one.scenario.machine.nodes.into()),
        integer("processors", |one| one.scenario.machine.processors.into()),
        integer("block_bytes", |one| one.scenario.machine.block_bytes),
        integer("cycles", |one| one.run.cycles),
        Column::floats("speedup", "", swept.iter().map(|one| Some(one.speedup))),
        integer("references", |one| one.run.references),
        integer("remote_misses", |one| one.run.remote_misses),
        integer("remote_miss_cycles", |one| one.run.remote_miss_cycles),
        integer("messages", |one| one.run.messages),
        integer("handlers", |one| one.run.handlers),
        integer("waited_cycles", |one| one.run.waited_cycles),
    ]);
    columns.map_err(|error| miette!("{error}"))
}

/// What a cluster is called beside the others.
fn label(machine: &ClusterMachine) -> String {
    format!("{} x {}, {} B", machine.nodes, machine.processors, machine.block_bytes)
}

fn shown(swept: &[Swept]) -> String {
    let mut shown = table([
        "nodes x processors, block",
        "device",
        "speed",
        "million cycles",
        "remote misses",
        "cycles each",
    ]);
    for one in swept {
        let Run { cycles, remote_misses, remote_miss_cycles, .. } = one.run;
        shown.add_row([
            label(&one.scenario.machine),
            one.scenario.device.to_string(),
            format!("{:.2}", one.speedup),
            format!("{:.2}", cycles as f64 / 1e6),
            remote_misses.to_string(),
            format!("{:.0}", remote_miss_cycles as f64 / remote_misses.max(1) as f64),
        ]);
    }
    format!("{shown}\n{}\n", headline(swept))
}

/// The fastest device for each size of nodes and blocks, a sentence each.
fn headline(swept: &[Swept]) -> String {
    let mut sentences: Vec<String> = Vec::new();
    for (place, first) in swept.iter().enumerate() {
        let is_same = |one: &&Swept| one.scenario.machine == first.scenario.machine;
        if swept.iter().take(place).any(|one| is_same(&one)) {
            continue;
        }
        let best = swept.iter().filter(is_same).max_by(|one, other| one.speedup.total_cmp(&other.speedup));
        let best = best.unwrap_or(first);
        let lead = if best.scenario.device == first.scenario.device {
            String::new()
        } else {
            format!(": {:.2} times as fast as {}", best.speedup, first.scenario.device)
        };
        let machine = label(&first.scenario.machine);
        sentences
            .push(format!("With {machine}, {} is the fastest of these devices{lead}.", best.scenario.device));
    }
    sentences.join(" ")
}

fn report(base: &ClusterScenario, swept: &[Swept], manifest: Manifest) -> Document {
    let mut machines: Vec<ClusterMachine> = Vec::new();
    for one in swept {
        if !machines.contains(&one.scenario.machine) {
            machines.push(one.scenario.machine);
        }
    }
    let mut devices: Vec<ClusterDevice> = Vec::new();
    for one in swept {
        if !devices.contains(&one.scenario.device) {
            devices.push(one.scenario.device);
        }
    }
    let names: Vec<String> = devices.iter().map(ClusterDevice::to_string).collect();
    let chart = |id: &str, title: &str, axis: &str, of: fn(&Swept) -> f64| {
        let series = machines.iter().map(|machine| {
            let points = swept.iter().filter(|one| one.scenario.machine == *machine).filter_map(|one| {
                let place = devices.iter().position(|device| *device == one.scenario.device)?;
                Some(Point::new(place as f64, Estimate::published(of(one))))
            });
            Series::new(label(machine), Style::Line, points.collect())
        });
        Block::Chart(Chart {
            id: id.to_owned(),
            title: title.to_owned(),
            caption: format!("One exact run each. Devices from left to right: {}.", names.join(", ")),
            x: Axis::linear("device", Unit::plain("")),
            y: Axis::linear(axis, Unit::plain("")),
            choices: Vec::new(),
            views: vec![View { series: series.collect(), ..View::default() }],
        })
    };
    let blocks = vec![
        chart("speed", "Speed beside the first device", "speed", |one| one.speedup),
        chart("misses", "A remote miss", "cycles", |one| {
            one.run.remote_miss_cycles as f64 / one.run.remote_misses.max(1) as f64
        }),
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
struct Summary {
    schema: u32,
    points: Vec<PointFigures>,
}

#[derive(Serialize)]
struct PointFigures {
    device: String,
    nodes: u32,
    processors: u32,
    block_bytes: u64,
    speedup: f64,
    #[serde(flatten)]
    run: Run,
}

impl Summary {
    fn new(swept: &[Swept]) -> Self {
        let point = |one: &Swept| PointFigures {
            device: one.scenario.device.to_string(),
            nodes: one.scenario.machine.nodes,
            processors: one.scenario.machine.processors,
            block_bytes: one.scenario.machine.block_bytes,
            speedup: one.speedup,
            run: one.run,
        };
        Self { schema: 1, points: swept.iter().map(point).collect() }
    }
}
