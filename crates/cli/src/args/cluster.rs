//! The arguments of `warmcore simulate cluster` and `warmcore sweep cluster`.

use super::{ResumableArguments, whole};
use clap::Args;
use std::path::PathBuf;
use std::str::FromStr;
use warmcore_scenario::cluster::ClusterDevice;

#[derive(Args, Debug)]
pub(crate) struct SimulateClusterArguments {
    /// The scenario: a machine, a device, and a program with its input
    #[arg(long = "scenario", value_name = "FILE", required_unless_present = "print_example")]
    pub(crate) document: Option<PathBuf>,

    /// Print a scenario to begin with, instead of simulating
    #[arg(long, conflicts_with_all = ["document", "json"])]
    pub(crate) print_example: bool,

    /// Print one JSON object instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct SweepClusterArguments {
    /// The scenario: a machine, a device, and a program with its input
    #[arg(long = "scenario", value_name = "FILE")]
    pub(crate) document: PathBuf,

    /// Devices: s-coma; hurricane:2 for two embedded processors, hurricane:2@200 for such of 200 MHz; hurricane-1:4 for four
    /// processors set aside, hurricane-1:mult for none; typhoon-1:fixed, typhoon-1:floating
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', value_parser = ClusterDevice::from_str)]
    #[arg(default_value = "s-coma,hurricane:1,hurricane:2,hurricane:4,hurricane-1:mult")]
    pub(crate) devices: Vec<ClusterDevice>,

    /// Bytes of a block of the protocol [default: the scenario's]
    #[arg(long, value_name = "BYTES,…", value_delimiter = ',', value_parser = whole::count::<u64>(32..=4096))]
    pub(crate) blocks: Vec<u64>,

    /// Processors of a node [default: the scenario's]. The number of nodes changes, so that all processors stay as many
    #[arg(long, value_name = "N,…", value_delimiter = ',', value_parser = whole::count::<u32>(1..=64))]
    pub(crate) processors: Vec<u32>,

    /// Runs of each cluster, whose network's latency differs by a cycle: a program on many processors goes another way
    /// after the smallest change, and figures are means with the scatter of that
    #[arg(long, value_name = "N", default_value = "3", value_parser = whole::count::<u32>(1..=100))]
    pub(crate) runs: u32,

    #[command(flatten)]
    pub(crate) output: ResumableArguments,
}
