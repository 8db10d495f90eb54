//! `warmcore sweep cluster`.

mod compared;
mod report;

use crate::args::cluster::SweepClusterArguments;
use crate::folder::RESULTS;
use crate::misuse::{misuse, refuse_repeats};
use crate::provenance::PROGRAM;
use crate::simulate::cluster::{Meter, in_words, outcome, refuse};
use crate::{checkpoint, documents, flags, interrupt, json, progress, provenance};
use compared::{compared, is_certain, latencies};
use miette::IntoDiagnostic;
use std::sync::atomic::{AtomicUsize, Ordering};
use warmcore_scenario::ClusterScenario;
use warmcore_scenario::cluster::ClusterMachine;
use warmcore_sim::cluster::Machine;
use warmcore_sim::cluster::scenario::check;
use warmcore_sim::sweep::{SweepError, sweep};
use warmcore_study::grid::ClusterRun as Run;
use warmcore_units::Fault;

const REPORT: &str = "report.html";
const FILES: [&str; 3] = [RESULTS.parquet, RESULTS.csv, REPORT];

pub(crate) fn run(arguments: &SweepClusterArguments) -> miette::Result<()> {
    refuse_repeats("devices", &arguments.devices)?;
    refuse_repeats("blocks", &arguments.blocks)?;
    refuse_repeats("processors", &arguments.processors)?;
    let base: ClusterScenario = documents::read(&arguments.document)?;
    if let Err(fault) = check(&base) {
        return refuse(&arguments.document, fault);
    }
    let clusters = clusters(&base, arguments)?;
    for cluster in &clusters {
        Machine::try_from(cluster).map_err(|Fault { field, found, expected }| {
            misuse(format!("{}: `{field}` is {found}, expected {expected}", in_words(cluster)))
        })?;
    }
    let runs_each = if is_certain(&base) { 1 } else { arguments.runs };
    let points: Vec<ClusterScenario> =
        clusters.iter().flat_map(|cluster| perturbed(cluster, runs_each)).collect();
    let keys: Vec<String> = points.iter().map(toml::to_string).collect::<Result<_, _>>().into_diagnostic()?;
    let output = &arguments.output;
    let subject = format!("{PROGRAM} {}\nsweep cluster\n{}", env!("CARGO_PKG_VERSION"), keys.join("\n"));
    let (folder, journal) = checkpoint::open::<Run>(output, &FILES, &subject)?;
    let stop = interrupt::catch()?;

    let bar = progress::bar("simulating");
    let meter = Meter::default();
    let done = AtomicUsize::new(0);
    let points: Vec<_> = points.iter().zip(&keys).collect();
    let runs = sweep(
        &points,
        |(_, key)| journal.known(key).copied(),
        |(point, _)| {
            let simulated = outcome(point, &arguments.document, &meter.watch(&bar, stop))?;
            Ok(Run::new(&simulated))
        },
        |(_, key), run| {
            progress::set(&bar, (done.fetch_add(1, Ordering::Relaxed) + 1) as f64 / points.len() as f64);
            journal.append(key, run).into_diagnostic()
        },
        stop,
    );
    bar.finish_and_clear();
    let runs = runs.map_err(|error| match error {
        SweepError::Point(error) => error,
        SweepError::Interrupted => checkpoint::interrupted(&folder, &journal),
    })?;
    let swept = compared(clusters, runs.chunks(runs_each as usize));

    let document_text = toml::to_string(&base).into_diagnostic()?;
    let seed = base.work().map_or(0, |work| work.seed());
    let manifest = provenance::from_seed("the program's input", seed, Some(document_text));
    folder.write_table(&RESULTS, &report::columns(&swept)?, &provenance::repeatable(&manifest))?;
    let document = report::document(&base, &swept, manifest);
    folder.write(REPORT, warmcore_report::render(&document).as_bytes())?;
    if output.json {
        return crate::output::print(json::pretty(&report::Summary::new(&swept))?.as_bytes());
    }
    let shown = report::shown(&swept);
    let report = folder.file(REPORT);
    crate::output::print(format!("\n{shown}\nThe report: {}\n", report.display()).as_bytes())
}

/// Every combination of the values asked for, each device beside the others.
fn clusters(
    base: &ClusterScenario,
    arguments: &SweepClusterArguments,
) -> miette::Result<Vec<ClusterScenario>> {
    let machine = base.machine;
    let all = machine.nodes.saturating_mul(machine.processors);
    let blocks =
        if arguments.blocks.is_empty() { vec![machine.block_bytes] } else { arguments.blocks.clone() };
    let sizes =
        if arguments.processors.is_empty() { vec![machine.processors] } else { arguments.processors.clone() };
    let mut clusters = Vec::new();
    for &processors in &sizes {
        if !all.is_multiple_of(processors) {
            let expected = format!("a number that divides {all}, the processors of all nodes");
            return Err(flags::refused(&Fault::new("processors", processors, expected)));
        }
        for &block_bytes in &blocks {
            for &device in &arguments.devices {
                let machine = ClusterMachine { nodes: all / processors, processors, block_bytes, ..machine };
                clusters.push(ClusterScenario { machine, device, ..base.clone() });
            }
        }
    }
    Ok(clusters)
}

/// The runs of a cluster: the same with other latencies of its network, if that could change who comes first.
fn perturbed(cluster: &ClusterScenario, runs: u32) -> impl Iterator<Item = ClusterScenario> {
    latencies(cluster.machine.network_cycles, runs.into()).map(|network_cycles| {
        let machine = ClusterMachine { network_cycles, ..cluster.machine };
        ClusterScenario { machine, ..cluster.clone() }
    })
}
