//! The arguments of `warmcore transfer`.

use super::values::{self, CpuRange};
use super::{quantity, whole};
use clap::builder::TypedValueParser;
use clap::{Args, Subcommand};
use std::net::SocketAddr;
use std::time::Duration;
use warmcore_measure::Model;
use warmcore_measure::transfer::{BLOCKS, CONNECTIONS, Direction, SIZES};
use warmcore_units::PerSecond;

#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct TransferArguments {
    #[command(subcommand)]
    pub(crate) command: Option<TransferCommand>,

    #[command(flatten)]
    pub(crate) comparison: ComparisonArguments,
}

#[derive(Subcommand, Debug)]
pub(crate) enum TransferCommand {
    /// Act as the remote host of `warmcore transfer --to`, until Ctrl-C
    ///
    /// Whoever reaches the address can make this host send and receive bytes there, and nothing else.
    Serve(ServeArguments),

    /// Be one end of a connection, over standard input and output; started by `transfer`
    #[command(hide = true)]
    End,
}

#[derive(Args, Debug)]
pub(crate) struct ServeArguments {
    /// Where to listen; with port 0 the kernel chooses one
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:5077")]
    pub(crate) bind: SocketAddr,
}

#[derive(Args, Debug)]
pub(crate) struct ComparisonArguments {
    /// Connections at once, each with a sender, a receiver and a wire of its own
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = whole::count::<u8>(CONNECTIONS))]
    pub(crate) connections: u8,

    /// Run both ends as threads, not processes
    #[arg(long)]
    pub(crate) threads: bool,

    /// Which end is under test. Over virtual wires both run on this machine, so it hardly matters; with
    /// --to it says whether this host sends or receives
    #[arg(long, value_name = "NAME", value_parser = direction(), default_value = "transmit")]
    pub(crate) direction: Direction,

    /// Bytes of each write of the senders, from 64 to 65536; several are compared one after the other.
    /// Receivers read all there is at once
    #[arg(long = "size", value_name = "BYTES,…", value_delimiter = ',', default_value = "65536", value_parser = whole::bytes::<u64>(SIZES))]
    pub(crate) sizes: Vec<u64>,

    /// Affinity models, of which the first is what the others are compared with [default: all but
    /// process-cpu0; with --to: none,process-only]
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', value_parser = model())]
    pub(crate) models: Vec<Model>,

    /// The cpus that connections take turns on, such as `0,2` or `0-3` [default: all that this process may use]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = values::cpus)]
    pub(crate) cpus: Vec<CpuRange>,

    /// How long each run is measured
    #[arg(long, value_name = "SECONDS", value_parser = quantity::period, default_value = "2")]
    pub(crate) seconds: Duration,

    /// How often each model is tried; in each block every model once, and the first one twice
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = whole::count::<usize>(BLOCKS))]
    pub(crate) blocks: usize,

    /// Send at this rate on each connection, rather than as fast as it goes, so that cpu use can be
    /// compared
    #[arg(long, value_name = "MBIT/S", value_parser = quantity::megabits)]
    pub(crate) rate_mbps: Option<PerSecond>,

    /// Turn segmentation offload off, so that the virtual wires carry frames of an Ethernet's size
    #[arg(long, conflicts_with = "to")]
    pub(crate) no_offloads: bool,

    /// Transfer to or from the host where `warmcore transfer serve` runs, rather than over virtual wires.
    /// Models then place this host's programs only
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) to: Option<String>,

    /// Print one JSON object instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// Reads the name of a model.
fn model() -> impl TypedValueParser<Value = Model> {
    values::one_of(Model::ALL.map(Model::name).into(), |name| name.parse().ok())
}

/// Reads the name of a direction.
fn direction() -> impl TypedValueParser<Value = Direction> {
    let named = |name: &str| Direction::ALL.into_iter().find(|direction| direction.name() == name);
    values::one_of(Direction::ALL.map(Direction::name).into(), named)
}
