//! The arguments of `warmcore simulate runqueue` and `warmcore sweep runqueue`.

use super::{ResumableArguments, quantity, values, whole};
use clap::Args;
use std::path::PathBuf;
use warmcore_policy::runqueue::Affinity;
use warmcore_scenario::runqueue::Attachment;

/// Levels of affinity by name, as `warmcore host scx` has them.
pub(crate) const LEVELS: [(&str, u32); 3] =
    [("none", Affinity::NONE.a_p), ("light", Affinity::LIGHT.a_p), ("heavy", Affinity::HEAVY.a_p)];

/// Reads a level of affinity: a name, or a whole number.
fn level(text: &str) -> Result<u32, String> {
    match LEVELS.iter().find(|(name, _)| *name == text.trim()) {
        Some((_, level)) => Ok(*level),
        None => whole::count::<u32>(0..=1_000_000)(text)
            .map_err(|error| format!("expected `none` (0), `light` (6), `heavy` (16), or a number: {error}")),
    }
}

/// The scenario, and what overrides it.
#[derive(Args, Debug)]
pub(crate) struct MixArguments {
    /// The scenario: a machine, its scheduler, and applications
    #[arg(long = "scenario", value_name = "FILE")]
    pub(crate) document: Option<PathBuf>,

    /// Seed of every random choice, instead of the scenario's
    #[arg(long, value_name = "N", value_parser = values::seed())]
    pub(crate) seed: Option<u64>,

    /// Independent runs, instead of the scenario's
    #[arg(long, value_name = "N", value_parser = whole::count::<u32>(1..=1000))]
    pub(crate) runs: Option<u32>,
}

#[derive(Args, Debug)]
pub(crate) struct SimulateRunqueueArguments {
    #[command(flatten)]
    pub(crate) mix: MixArguments,

    /// Print a scenario to begin with, instead of simulating
    #[arg(long, conflicts_with_all = ["document", "seed", "runs", "json"])]
    pub(crate) print_example: bool,

    /// Print one whose cache misses come from references through simulated caches
    #[arg(long, conflicts_with_all = ["document", "seed", "runs", "json", "print_example"])]
    pub(crate) print_references: bool,

    /// Print the scenario with footprints derived from its references, for the analytic cache model, instead of simulating
    #[arg(long, conflicts_with_all = ["print_example", "print_references", "log", "json"])]
    pub(crate) derive_footprints: bool,

    /// Also write what happened to the queue in the first run and what was decided, one event a line
    #[arg(long, value_name = "FILE", conflicts_with = "print_example")]
    pub(crate) log: Option<PathBuf>,

    /// Replace the file of `--log` if it exists
    #[arg(long, requires = "log")]
    pub(crate) force: bool,

    /// Print one JSON object instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct SweepRunqueueArguments {
    #[command(flatten)]
    pub(crate) mix: MixArguments,

    /// Levels of affinity of UNIX schedulers, a_p and a_t alike: `none`, `light`, `heavy`, or numbers [default: these three,
    /// unless --slices is given or the scenario's scheduler is fair]
    #[arg(long, value_name = "LEVEL,…", value_delimiter = ',', value_parser = level)]
    pub(crate) levels: Vec<u32>,

    /// Quanta of UNIX schedulers, in milliseconds [default: the scenario's]
    #[arg(long, value_name = "MS,…", value_delimiter = ',', value_parser = quantity::number)]
    pub(crate) quanta: Vec<f64>,

    /// Slices of fair schedulers, in milliseconds [default: a third, one, three and ten times the scenario's, if its
    /// scheduler is fair and neither --levels nor --quanta is given]
    #[arg(long, value_name = "MS,…", value_delimiter = ',', value_parser = quantity::number)]
    pub(crate) slices: Vec<f64>,

    /// Which processes are fixed to a processor [default: as in the scenario]
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', value_parser = values::names::<Attachment>())]
    pub(crate) attach: Vec<Attachment>,

    #[command(flatten)]
    pub(crate) output: ResumableArguments,
}
