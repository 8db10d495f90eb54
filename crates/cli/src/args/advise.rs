//! The arguments of `warmcore advise`.

use super::{quantity, values, whole};
use clap::{Args, Subcommand};
use warmcore_scenario::ProfileSource;

#[derive(Subcommand, Debug)]
pub(crate) enum AdviseCommand {
    /// Say when it pays to set a processor aside for protocol work
    ///
    /// A thread that only polls, such as a DPDK core, the kernel's thread of an io_uring with SQPOLL, or a dedicated network
    /// thread, saves interrupts and wake-ups, and does none of the application's work. This simulates two nodes whose
    /// processors compute and ask each other, with one processor of each set aside or with all in turn, and says with how much
    /// computing for each request which of the two completes more.
    Dedicated(DedicatedArguments),
}

/// Times are nanoseconds, or have a unit: `400`, `2us`.
#[derive(Args, Debug)]
pub(crate) struct DedicatedArguments {
    /// Processors of a node, the one to set aside included
    #[arg(long, value_name = "N", value_parser = whole::count::<u32>(2..=1024))]
    pub(crate) processors: u32,

    /// How long a protocol event takes with warm caches; a request is three of them
    /// [default: the profile's time to receive a packet]
    #[arg(long, value_name = "TIME", value_parser = quantity::nanos)]
    pub(crate) occupancy: Option<f64>,

    /// What an interrupt takes from a processor that computes [default: the profile's]
    #[arg(long, value_name = "TIME", value_parser = quantity::nanos)]
    pub(crate) interrupt: Option<f64>,

    /// Until a processor that waits goes on; 0 if it polls. One that computes is interrupted instead where that is better
    /// [default: the profile's, else 0]
    #[arg(long, value_name = "TIME", value_parser = quantity::nanos)]
    pub(crate) wake_up: Option<f64>,

    /// Fetching what another processor's cache holds: a request, an answer, the protocol's state
    /// [default: the profile's, else 0]
    #[arg(long, value_name = "TIME", value_parser = quantity::nanos)]
    pub(crate) hand_over: Option<f64>,

    /// From one node to the other
    #[arg(long, value_name = "TIME", value_parser = quantity::nanos, default_value = "1us")]
    pub(crate) latency: f64,

    /// Computing for each request: answer for this amount
    #[arg(long, value_name = "TIME", value_parser = quantity::nanos)]
    pub(crate) compute: Option<f64>,

    /// The profile of a machine, as `warmcore calibrate` writes it
    #[arg(long, value_name = "FILE", value_parser = values::profile)]
    pub(crate) profile: Option<ProfileSource>,

    /// Seed of every random choice
    #[arg(long, value_name = "N", value_parser = values::seed(), default_value = "1")]
    pub(crate) seed: u64,

    /// Print one JSON object instead of text
    #[arg(long)]
    pub(crate) json: bool,
}
