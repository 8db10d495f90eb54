//! `warmcore capacity`.

use super::packet::PointArguments;
use super::{quantity, values};
use clap::{Args, Subcommand};

#[derive(Subcommand, Debug)]
pub(crate) enum CapacityCommand {
    /// Packets on processors: the highest rate that a host keeps up with, and what sets it
    ///
    /// Says with which rate all processors together keep up, and with which the busiest stack or wired processor; the lower
    /// of the two is the capacity. With --p99-below also the highest rate at which one packet in a hundred takes no longer
    /// than that.
    Packet(Box<CapacityPacketArguments>),
}

#[derive(Args, Debug)]
pub(crate) struct CapacityPacketArguments {
    #[command(flatten)]
    pub(crate) point: PointArguments,

    /// Processors, each with a protocol thread [default: 8]
    #[arg(long, value_name = "N", value_parser = values::processors(), help_heading = "Host")]
    pub(crate) processors: Option<u32>,

    /// Also find the highest rate at which the 99th percentile of the delay is at most this, such as 500us
    #[arg(long, value_name = "TIME", value_parser = quantity::nanos, help_heading = "Limit")]
    pub(crate) p99_below: Option<f64>,

    /// Print one JSON object instead of text
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
}
