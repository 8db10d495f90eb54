//! The flags that describe one point of the packet simulator. Every one sets a field of the
//! scenario document, and overrides it where a document is given too.

use super::given::Given;
use super::{distribution, process, quantity, values, whole};
use clap::Args;
use std::path::PathBuf;
use warmcore_scenario::{
    LimitScope, Organisation, Parallelism, Process, ProcessorPolicy, ProfileSource, QueueRule, RunLength,
    Stacks, ThreadOrder,
};
use warmcore_workload::popularity::MAX_STREAMS;
use warmcore_workload::{BatchDistribution, Size, TimeDistribution};

/// Everything about a point but the number of its processors, of which a sweep takes several.
#[derive(Args, Debug, Default)]
pub(crate) struct PointArguments {
    #[command(flatten)]
    pub(crate) scenario: ScenarioArguments,

    #[command(flatten)]
    pub(crate) effects: EffectArguments,

    #[command(flatten)]
    pub(crate) extensions: ExtensionArguments,

    #[command(flatten)]
    pub(crate) run: RunArguments,
}

/// What a simulated host and a live one have both: what is scheduled how, and what arrives.
#[derive(Args, Debug, Default)]
pub(crate) struct ScenarioArguments {
    // First: what stands before it is no longer there when it is read.
    #[command(flatten)]
    pub(crate) given: Given,

    /// Take everything from this scenario, as --print-scenario prints it; other flags override it
    #[arg(long = "scenario", value_name = "FILE")]
    pub(crate) document: Option<PathBuf>,

    /// Seed of every random choice [default: 1]
    #[arg(long, value_name = "N", value_parser = values::seed())]
    pub(crate) seed: Option<u64>,

    #[command(flatten)]
    pub(crate) host: HostArguments,

    #[command(flatten)]
    pub(crate) traffic: TrafficArguments,
}

/// The host, and where it processes packets.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "Host")]
pub(crate) struct HostArguments {
    /// How protocol processing is made parallel [default: locking]
    #[arg(long, value_name = "NAME", value_parser = values::names::<Parallelism>())]
    pub(crate) approach: Option<Parallelism>,

    /// How a processor is chosen for a packet [default: wired-streams]
    #[arg(long, value_name = "NAME", value_parser = values::names::<ProcessorPolicy>())]
    pub(crate) policy: Option<ProcessorPolicy>,

    /// Which waiting packet a processor takes next [default: fifo]
    #[arg(long, value_name = "NAME", value_parser = values::names::<QueueRule>())]
    pub(crate) queue: Option<QueueRule>,

    /// Pools of protocol threads [default: per-processor]
    #[arg(long, value_name = "NAME", value_parser = values::names::<Organisation>())]
    pub(crate) threads: Option<Organisation>,

    /// Which idle thread a global pool hands out; `opposite` hands out the least recently used one, and with the
    /// policy lru the most recently used [default: opposite]
    #[arg(long, value_name = "NAME", value_parser = values::names::<ThreadOrder>())]
    pub(crate) thread_order: Option<ThreadOrder>,

    /// Pools of free memory [default: per-processor]
    #[arg(long, value_name = "NAME", value_parser = values::names::<Organisation>())]
    pub(crate) memory: Option<Organisation>,

    /// Independent stacks under ips: a number, `per-processor` or `per-stream`
    /// [default: per-processor]
    #[arg(long, value_name = "N", value_parser = values::stacks)]
    pub(crate) stacks: Option<Stacks>,

    /// Where the costs come from: the file of a profile, or `sgi-challenge-xl`, the machine of Salehi 1994
    /// [default: sgi-challenge-xl; for simulate and sweep, first profile.toml or study/profile.toml if it is
    /// here]
    #[arg(long, value_name = "FILE", value_parser = values::profile)]
    pub(crate) profile: Option<ProfileSource>,
}

/// What arrives.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "Traffic")]
pub(crate) struct TrafficArguments {
    /// Packets per second; without it, a trace keeps its own rate
    #[arg(long, value_name = "PACKETS/S", value_parser = quantity::number)]
    pub(crate) rate: Option<f64>,

    /// Number of streams [default: 8]
    #[arg(long, value_name = "N", value_parser = whole::count::<u32>(1..=MAX_STREAMS.into()))]
    pub(crate) streams: Option<u32>,

    /// Unequal streams: the k-th has a rate proportional to k^-S [default: equal]
    #[arg(long, value_name = "S", value_parser = quantity::number)]
    pub(crate) zipf: Option<f64>,

    /// Mean number of packets of one stream that arrive together [default: 1]
    #[arg(long, value_name = "PACKETS", value_parser = quantity::number)]
    pub(crate) batch: Option<f64>,

    /// How the number of packets in a batch varies [default: deterministic]
    #[arg(long, value_name = "NAME", value_parser = values::names::<BatchDistribution>())]
    pub(crate) batch_distribution: Option<BatchDistribution>,

    /// When packets arrive [default: poisson]: `poisson`, `constant`, `periodic`,
    /// `modulated:ratio=10,calm-us=5000,busy-us=500`, `trains:cars=8,gap-us=40`,
    /// `self-similar:alpha=1.4,burst=20,peak=10`, or, simulated only, `closed:window=1,think-us=1000`: each stream is a
    /// client that waits for answers; times may have their unit, as in `calm-us=5ms`
    #[arg(long, value_name = "NAME", value_parser = process::parse, conflicts_with = "trace")]
    pub(crate) process: Option<Process>,

    /// Replay the packets of this pcap or pcapng file; its flows are the streams
    #[arg(long, value_name = "FILE.pcap")]
    pub(crate) trace: Option<PathBuf>,

    /// Multiply the trace's times by this factor, if no rate is given; 0.5 doubles its rate [default: 1]
    #[arg(long, value_name = "FACTOR", value_parser = quantity::number)]
    pub(crate) time_scale: Option<f64>,

    /// Sizes of packets in bytes, with their weights: 64:3,1500:1
    #[arg(long, value_name = "BYTES:WEIGHT,…", value_delimiter = ',', value_parser = values::size)]
    pub(crate) sizes: Vec<Size>,

    /// Fraction of the packets that are sent rather than received [default: 0]
    #[arg(long, value_name = "FRACTION", value_parser = quantity::fraction)]
    pub(crate) send_fraction: Option<f64>,
}

/// Effects that Salehi 1994 leaves out of its model.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "Effects that Salehi 1994 leaves out (none unless given)")]
pub(crate) struct EffectArguments {
    /// Cost of checksumming a byte of a packet, in ns
    #[arg(long, value_name = "NS", value_parser = quantity::nanos)]
    pub(crate) checksum_ns_per_byte: Option<f64>,

    /// Cost of copying a byte of a packet that is in no cache, in ns
    #[arg(long, value_name = "NS", value_parser = quantity::nanos)]
    pub(crate) copy_ns_per_byte: Option<f64>,

    /// Length of the send path, as a multiple of the receive path [default: 1]
    #[arg(long, value_name = "FACTOR", value_parser = quantity::number)]
    pub(crate) send_path: Option<f64>,

    /// How long a packet holds the locks of the active maps under locking, in ns
    #[arg(long, value_name = "NS", value_parser = quantity::nanos)]
    pub(crate) map_lock_ns: Option<f64>,

    /// How long a packet holds the locks of its session under locking, in ns
    #[arg(long, value_name = "NS", value_parser = quantity::nanos)]
    pub(crate) session_lock_ns: Option<f64>,

    /// Cost of choosing a processor, in ns
    #[arg(long, value_name = "NS", value_parser = quantity::nanos)]
    pub(crate) decision_ns: Option<f64>,

    /// Cost of switching from other work to a packet, besides the decision, in ns; may be negative, down to minus
    /// --decision-ns
    #[arg(long, value_name = "NS", value_parser = quantity::nanos)]
    pub(crate) start_ns: Option<f64>,

    /// Age of what the policy knows about other processors, in ns
    #[arg(long, value_name = "NS", value_parser = quantity::nanos)]
    pub(crate) staleness_ns: Option<f64>,
}

/// What goes beyond Salehi 1994 apart from costs.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "Queues and service times (simulated only)")]
pub(crate) struct ExtensionArguments {
    /// How service times vary around the costs [default: deterministic]: `exponential`, `erlang:4` (stages), `gamma:0.5`,
    /// `lognormal:1.5`, `hyperexponential:2` (coefficients of variation), `pareto:2.5` (shape) or
    /// `bounded-pareto:1.5:1000` (shape, and the longest over the shortest)
    #[arg(long, value_name = "NAME", value_parser = distribution::parse)]
    pub(crate) service: Option<TimeDistribution>,

    /// Packets that may wait, besides those in service; what comes when so many do is lost
    #[arg(long, value_name = "N", value_parser = whole::count::<u32>(whole::ANY_32_BITS))]
    pub(crate) queue_limit: Option<u32>,

    /// Which queues that limit counts: each by itself, or all of the host together [default: each]
    #[arg(long, value_name = "NAME", value_parser = values::names::<LimitScope>())]
    pub(crate) queue_scope: Option<LimitScope>,

    /// Streams of each class, the most urgent class first; all other streams are one more class. A processor takes the
    /// packet of the most urgent class in its queue
    #[arg(long, value_name = "N,…", value_delimiter = ',')]
    #[arg(value_parser = whole::count::<u32>(1..=MAX_STREAMS.into()))]
    pub(crate) priorities: Vec<u32>,

    /// The speed of each processor: one of speed 0.5 takes twice as long for the same work [default: 1]
    #[arg(long, value_name = "SPEED,…", value_delimiter = ',', value_parser = quantity::number)]
    pub(crate) speeds: Vec<f64>,
}

/// How long to simulate.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "Precision")]
pub(crate) struct RunArguments {
    /// Stop when the half-width of the mean delay is at most this part of it: a percentage such as 2%, or a
    /// fraction below 0.1 [default: 0.5%]
    #[arg(long, value_name = "FRACTION", value_parser = quantity::precision)]
    pub(crate) precision: Option<f64>,

    /// End each replication after this many packets at the latest [default: 20000000]
    #[arg(long, value_name = "N", value_parser = whole::count::<u64>(RunLength::LEAST_PACKETS..=u64::MAX))]
    pub(crate) max_packets: Option<u64>,

    /// Take exactly this many packets in each replication, whatever the precision
    #[arg(long, value_name = "N", value_parser = whole::count::<u64>(RunLength::LEAST_FIXED_PACKETS..=u64::MAX))]
    pub(crate) packets: Option<u64>,

    /// Leave out this many packets at the start of each replication [default: as many as are found not to be steady]
    #[arg(long, value_name = "N", value_parser = whole::count::<u64>(0..=u64::MAX))]
    pub(crate) warmup_packets: Option<u64>,

    /// Independent replications, simulated in parallel [default: 1]
    #[arg(long, value_name = "N", value_parser = whole::count::<u32>(1..=RunLength::MAX_REPLICATIONS.into()))]
    pub(crate) replications: Option<u32>,
}

/// What a sweep varies.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "What is varied")]
pub(crate) struct AxisArguments {
    /// Packets per second
    #[arg(long, value_name = "PACKETS/S,…", value_delimiter = ',', value_parser = quantity::number)]
    #[arg(conflicts_with_all = ["rate", "loads"])]
    pub(crate) rates: Vec<f64>,

    /// Arrival rates as fractions of each combination's capacity
    #[arg(long, value_name = "FRACTION,…", value_delimiter = ',', value_parser = quantity::fraction)]
    #[arg(conflicts_with = "rate")]
    pub(crate) loads: Vec<f64>,

    /// How protocol processing is made parallel
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', value_parser = values::names::<Parallelism>())]
    #[arg(conflicts_with = "approach")]
    pub(crate) approaches: Vec<Parallelism>,

    /// How a processor is chosen for a packet
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', value_parser = values::names::<ProcessorPolicy>())]
    #[arg(conflicts_with = "policy")]
    pub(crate) policies: Vec<ProcessorPolicy>,

    /// Mean numbers of packets that arrive together
    #[arg(long, value_name = "PACKETS,…", value_delimiter = ',', value_parser = quantity::number)]
    #[arg(conflicts_with = "batch")]
    pub(crate) batches: Vec<f64>,

    /// Numbers of processors
    #[arg(long, value_name = "N,…", value_delimiter = ',', value_parser = values::processors())]
    pub(crate) processors: Vec<u32>,
}
