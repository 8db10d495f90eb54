//! `warmcore simulate cluster`.

mod json;
mod text;
mod watch;

use crate::args::cluster::SimulateClusterArguments;
use crate::json::{Versioned, pretty};
use crate::misuse::{OrMisuse, misuse};
use crate::terminal::counted;
use crate::{documents, interrupt, progress};
use core::ops::ControlFlow;
use miette::{IntoDiagnostic, miette};
use std::path::Path;
use warmcore_scenario::ClusterScenario;
use warmcore_scenario::document;
use warmcore_sim::cluster::scenario::Simulated;
use warmcore_sim::cluster::{Error, Moment, Options, simulate};
use warmcore_units::Fault;
pub(crate) use watch::Meter;

/// Version of what `--json` prints.
const SCHEMA: u32 = 2;
/// A scenario to begin with.
const EXAMPLE: &str = include_str!("cluster.toml");
/// Cycles of 400 MHz in a millisecond.
const CYCLES_A_MS: f64 = 4e5;

/// A run, and how fast it was simulated.
struct Timed {
    simulated: Simulated,
    /// References that were simulated in a second.
    rate: f64,
}

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
    let stop = interrupt::catch()?;
    let bar = progress::open_ended("simulating");
    let meter = Meter::default();
    let rate = core::cell::Cell::new(0.0);
    let simulated = {
        let watch = meter.watch(&bar, stop);
        outcome(&scenario, path, &|moment| {
            let goes_on = watch(moment);
            rate.set(meter.rate());
            goes_on
        })
    };
    bar.finish_and_clear();
    let timed = Timed { simulated: simulated?, rate: rate.get() };
    if arguments.json {
        let figures = json::Figures::new(&scenario, &timed);
        return crate::output::print(pretty(&Versioned::new(SCHEMA, figures))?.as_bytes());
    }
    crate::output::print(text::text(&scenario, &timed).as_bytes())
}

/// Runs what `scenario` says, which was read from `path`.
pub(crate) fn outcome(
    scenario: &ClusterScenario,
    path: &Path,
    watch: &dyn Fn(Moment) -> ControlFlow<()>,
) -> miette::Result<Simulated> {
    match simulate(scenario, &Options { watch, ..Options::from(scenario) }) {
        Ok(simulated) => Ok(simulated),
        Err(Error::Impossible(fault)) => refuse(path, fault),
        Err(Error::Stopped { .. }) => Err(miette!("interrupted")),
        Err(error) => Err(error).into_diagnostic(),
    }
}

/// Refuses the value of a field in the scenario at `path`.
pub(crate) fn refuse<T>(path: &Path, fault: Fault) -> miette::Result<T> {
    let text = document::text::<ClusterScenario>(path).or_misuse()?;
    Err(document::invalid::<ClusterScenario>(&text, path, fault)).or_misuse()
}

/// What a cluster is, in a line.
pub(crate) fn in_words(scenario: &ClusterScenario) -> String {
    let machine = &scenario.machine;
    format!(
        "{} on {} of {}, {}, blocks of {} bytes",
        scenario.work().map_or("nothing", |work| work.name()),
        counted(machine.nodes as usize, "node"),
        counted(machine.processors as usize, "processor"),
        scenario.device,
        machine.block_bytes
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use warmcore_scenario::document::parse;
    use warmcore_sim::cluster::Machine;

    #[test]
    fn the_example_can_be_simulated() {
        let scenario = parse::<ClusterScenario>(EXAMPLE, Path::new("cluster.toml")).expect("a scenario");
        Machine::try_from(&scenario).expect("a possible machine");
    }
}
