//! The flags of `host verify`.

use super::applied::{AdmissionArguments, JournalArguments};
use super::values::{self, ProgramLine};
use super::{quantity, whole};
use clap::Args;
use core::time::Duration;
use std::path::PathBuf;

#[derive(Args, Debug)]
pub(crate) struct VerifyArguments {
    /// The plan
    #[arg(value_name = "PLAN")]
    pub(crate) plan: PathBuf,

    /// Try it, rather than only show what would be tried
    #[arg(long)]
    pub(crate) yes: bool,

    /// Apply the plan in the end if it brings a gain: `warmcore host undo` takes it back
    #[arg(long, requires = "yes")]
    pub(crate) keep: bool,

    /// The program that makes the load, started for every run and ended with it [default: what runs
    /// anyway, if the plan places its threads or --interface says where it is seen; else a transfer
    /// between two network namespaces, on the cpus that the plan sends packets to]
    #[arg(long, value_name = "PROGRAM", value_parser = values::program)]
    pub(crate) load: Option<ProgramLine>,

    /// Instead: a program that ends by itself and prints how fast it was, as a number in its last line
    #[arg(long, value_name = "PROGRAM", value_parser = values::program, conflicts_with = "load")]
    pub(crate) benchmark: Option<ProgramLine>,

    /// Count what goes through this interface; may be repeated [default: the interfaces of the plan]
    #[arg(long = "interface", value_name = "NAME", conflicts_with = "benchmark")]
    pub(crate) interfaces: Vec<String>,

    /// The length of a run, with its unit
    #[arg(long, value_name = "TIME", value_parser = quantity::duration, default_value = "2s")]
    pub(crate) time: Duration,

    /// How often each model is tried
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = whole::count::<u16>(5..=1000))]
    pub(crate) blocks: u16,

    /// The share of cpu time that programs other than the plan's and the load may take in a run; with more, the
    /// run is repeated, at most twice
    #[arg(long, value_name = "FRACTION", value_parser = quantity::fraction, default_value = "5%")]
    pub(crate) foreign: f64,

    /// Print one JSON object instead of text
    #[arg(long, requires = "yes")]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) admission: AdmissionArguments,

    #[command(flatten)]
    pub(crate) journal: JournalArguments,
}
