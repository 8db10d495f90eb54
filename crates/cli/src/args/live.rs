//! The flags that say how a scenario is run on this machine: every one sets a field of the
//! document's `live` table.

use super::packet::ScenarioArguments;
use super::served::ServedArguments;
use super::values::CpuRange;
use super::{quantity, values, whole};
use clap::Args;
use std::net::{Ipv4Addr, SocketAddr};
use warmcore_measure::CalibrationPlan;
use warmcore_scenario::{DriverKind, Live, Mode, OverloadRule, ServerPolicy, ShutdownRule};
use warmcore_units::Transport;

/// A scenario to be run on this machine.
#[derive(Args, Debug)]
pub(crate) struct RunnableArguments {
    #[command(flatten)]
    pub(crate) scenario: ScenarioArguments,

    /// Workers, each on a processor of its own [default: a worker on each usable core]
    #[arg(long, value_name = "N", value_parser = values::processors(), help_heading = "Host")]
    pub(crate) processors: Option<u32>,

    #[command(flatten)]
    pub(crate) live: LiveArguments,

    #[command(flatten)]
    pub(crate) served: ServedArguments,
}

#[derive(Args, Debug)]
pub(crate) struct RunLiveArguments {
    #[command(flatten)]
    pub(crate) runnable: RunnableArguments,

    /// With --driver udp-socket or tcp-socket: how workers share the port [default: by-flow]
    #[arg(long, value_name = "NAME", value_parser = values::names::<ServerPolicy>(), help_heading = "Host")]
    pub(crate) sharing: Option<ServerPolicy>,

    /// Serve counters to monitoring systems during the run, at /metrics in the Prometheus text format. A PORT is
    /// open to this machine alone; ADDRESS:PORT says otherwise
    #[arg(long, value_name = "ADDR", value_parser = warmcore_runtime::metrics::address, help_heading = "Output")]
    pub(crate) metrics: Option<SocketAddr>,

    /// Print the scenario as a document for --scenario, and run nothing
    #[arg(long, conflicts_with_all = ["json", "metrics"], help_heading = "Output")]
    pub(crate) print_scenario: bool,

    /// Print one JSON object instead of text
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
}

/// How a scenario is run on this machine.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "Run")]
pub(crate) struct LiveArguments {
    /// Where packets come from [default: memory]
    #[arg(long, value_name = "NAME", value_parser = values::names::<DriverKind>())]
    pub(crate) driver: Option<DriverKind>,

    /// The network interface, for drivers other than memory
    #[arg(long, value_name = "NAME")]
    pub(crate) interface: Option<String>,

    /// The IPv4 address to answer for on that interface
    #[arg(long, value_name = "IPV4")]
    pub(crate) address: Option<Ipv4Addr>,

    /// The port to receive on [default: 9000]
    #[arg(long, value_name = "PORT", value_parser = whole::port)]
    pub(crate) port: Option<u16>,

    /// What packets carry: datagrams of `udp`, connections of `tcp`, or calls of `rpc` over UDP [default: udp]
    #[arg(long, value_name = "NAME", value_parser = values::names::<Transport>())]
    pub(crate) transport: Option<Transport>,

    /// How long to run, in seconds [default: 5]
    #[arg(long, value_name = "SECONDS", value_parser = quantity::seconds)]
    pub(crate) seconds: Option<f64>,

    /// What processors without a packet do: `floating` ones do other work, `fixed` ones poll [default: floating]
    #[arg(long, value_name = "NAME", value_parser = values::names::<Mode>())]
    pub(crate) mode: Option<Mode>,

    /// The processors to run on, such as `0,2` or `0-3` [default: the first, a core each]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = values::cpus)]
    pub(crate) cpus: Vec<CpuRange>,

    /// Memory that the other work of floating processors touches, in KiB; with 0 they sleep instead [default:
    /// 65536]
    #[arg(long, value_name = "KIB", value_parser = whole::kib::<u32>(0..=Live::MAX_WORK_KIB.into()))]
    pub(crate) work_kib: Option<u32>,

    /// Bytes of data in a packet of the memory driver [default: 64]
    #[arg(long, value_name = "BYTES", value_parser = whole::bytes::<u16>(0..=CalibrationPlan::MAX_PAYLOAD_BYTES as u64))]
    pub(crate) payload: Option<u16>,

    /// Verify UDP checksums in software
    #[arg(long)]
    pub(crate) verify_udp_checksum: bool,

    /// Time that the handler of each packet computes, in ns [default: 0]
    #[arg(long, value_name = "NS", value_parser = quantity::nanos)]
    pub(crate) handler_ns: Option<f64>,

    /// Bytes of its stream's own memory that the handler of each packet reads and writes [default: 0]
    #[arg(long, value_name = "BYTES", value_parser = whole::bytes::<u32>(0..=Live::MAX_HANDLER_BYTES.into()))]
    pub(crate) handler_bytes: Option<u32>,

    /// Bytes of the handler's answer to each packet of the memory driver, with `tcp` or `rpc` [default: 0]
    #[arg(long, value_name = "BYTES", value_parser = whole::bytes::<u16>(0..=Live::MAX_MESSAGE_BYTES.into()))]
    pub(crate) reply: Option<u16>,

    /// Most packets held at once, waiting and in service; for each worker where workers share nothing [default:
    /// 4096]
    #[arg(long, value_name = "PACKETS", value_parser = whole::count::<u32>(1..=u32::MAX.into()))]
    pub(crate) capacity: Option<u32>,

    /// What happens to packets beyond --capacity: they are dropped and counted, or left with the driver [default:
    /// drop]
    #[arg(long, value_name = "NAME", value_parser = values::names::<OverloadRule>())]
    pub(crate) overload: Option<OverloadRule>,

    /// What happens to packets that are still held at the end [default: drain]
    #[arg(long, value_name = "NAME", value_parser = values::names::<ShutdownRule>())]
    pub(crate) shutdown: Option<ShutdownRule>,
}
