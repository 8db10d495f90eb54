//! The flags of `compare`.

use super::live::RunnableArguments;
use super::{quantity, values};
use clap::Args;
use std::path::PathBuf;
use warmcore_scenario::{Parallelism, ProcessorPolicy, ServerPolicy};

/// Replaces the shared help of `--profile`: a comparison measures its costs by default.
const PROFILE: &str = "The costs of this machine: the file of a profile, measured with packets like those of the runs \
                       [default: measure them first]";

#[derive(Args, Debug)]
#[command(mut_arg("profile", |profile| profile.help(PROFILE)))]
pub(crate) struct CompareArguments {
    #[command(flatten)]
    pub(crate) runnable: RunnableArguments,

    /// Loads to compare at, as fractions of the smallest predicted capacity
    #[arg(
        long,
        value_name = "FRACTION,…",
        value_delimiter = ',',
        default_value = "0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8",
        conflicts_with = "rate",
        help_heading = "Compare",
        value_parser = quantity::fraction
    )]
    pub(crate) loads: Vec<f64>,

    /// Compare at these rates instead, in packets per second, from 10 upwards; at low ones caches are cold
    #[arg(
        long,
        value_name = "PACKETS/S,…",
        value_delimiter = ',',
        conflicts_with_all = ["loads", "rate"],
        help_heading = "Compare",
        value_parser = quantity::number
    )]
    pub(crate) rates: Vec<f64>,

    /// Approaches to compare [default: that of the scenario]
    #[arg(
        long,
        value_name = "NAME,…",
        value_delimiter = ',',
        value_parser = values::names::<Parallelism>(),
        conflicts_with = "approach",
        help_heading = "Compare"
    )]
    pub(crate) approaches: Vec<Parallelism>,

    /// Policies to compare [default: that of the scenario]
    #[arg(
        long,
        value_name = "NAME,…",
        value_delimiter = ',',
        value_parser = values::names::<ProcessorPolicy>(),
        conflicts_with = "policy",
        help_heading = "Compare"
    )]
    pub(crate) policies: Vec<ProcessorPolicy>,

    /// With --driver udp-socket or tcp-socket: ways in which workers share the port [default: all that are predicted, but adaptive]
    #[arg(
        long,
        value_name = "NAME,…",
        value_delimiter = ',',
        value_parser = values::names::<ServerPolicy>(),
        help_heading = "Compare"
    )]
    pub(crate) sharing: Vec<ServerPolicy>,

    /// Measure costs for one minute rather than five, if no --profile is given
    #[arg(long, conflicts_with = "profile", help_heading = "Compare")]
    pub(crate) quick: bool,

    /// The folder to write into
    #[arg(long, value_name = "DIR", default_value = "comparison", help_heading = "Output")]
    pub(crate) out: PathBuf,

    /// Overwrite earlier results
    #[arg(long, help_heading = "Output")]
    pub(crate) force: bool,

    /// Print one JSON object instead of text
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
}
