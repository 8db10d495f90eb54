//! What `simulate packet` says besides its summary.

use super::{quantity, whole};
use clap::Args;
use std::path::PathBuf;
use warmcore_sim::packet::observe::events::MAX_PACKETS;

/// What is observed, and where it is written.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "More results")]
pub(crate) struct ObserveArguments {
    /// Quantiles of the delay, such as 0.9,0.999; one that the run is too short for says how many packets it needs
    #[arg(long, value_name = "P,…", value_delimiter = ',', value_parser = quantity::fraction)]
    pub(crate) quantiles: Vec<f64>,

    /// The share of packets that take longer than this, such as 500us
    #[arg(long, value_name = "TIME", value_parser = quantity::nanos)]
    pub(crate) slower_than: Option<f64>,

    /// The distributions of delays and service times after the warm-up (with --json or --out)
    #[arg(long)]
    pub(crate) histogram: bool,

    /// Packets, mean delay with its interval, and p99 of each stream (with --json or --out)
    #[arg(long)]
    pub(crate) by_stream: bool,

    /// Arrivals, delays, packets present and utilisation in windows of this length of simulated time, from the empty
    /// host on (with --json or --out)
    #[arg(long, value_name = "TIME", value_parser = quantity::nanos)]
    pub(crate) time_series: Option<f64>,

    /// The delays at the start of each run, batch by batch, and where they were cut (with --json or --out)
    #[arg(long)]
    pub(crate) warm_up: bool,

    /// Write tables (Parquet and CSV) and report.html into this folder, with the distributions and the warm-up besides what
    /// is asked for
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,

    /// Write the events of the first packets: FILE.arrow, FILE.parquet or FILE.csv, a row for each event; or FILE.json, for
    /// ui.perfetto.dev and other trace viewers
    #[arg(long, value_name = "FILE")]
    pub(crate) events: Option<PathBuf>,

    /// Packets whose events are written [default: 10000]
    #[arg(long, value_name = "N", requires = "events", value_parser = whole::count::<u64>(1..=MAX_PACKETS))]
    pub(crate) event_packets: Option<u64>,

    /// Overwrite earlier results
    #[arg(long)]
    pub(crate) force: bool,
}
