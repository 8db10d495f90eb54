//! The arguments of `warmcore host`.

use super::sched::{ScxCommand, TraceArguments};
use super::tune::TuneCommand;
use super::{quantity, values, whole};
use clap::builder::TypedValueParser;
use clap::{Args, Subcommand};
use std::path::PathBuf;
use std::time::Duration;
use warmcore_linux::fake::hosts;
use warmcore_scenario::ProfileSource;
use warmcore_study::placement::{Goal, Target};
use warmcore_units::PerSecond;

#[derive(Subcommand, Debug)]
pub(crate) enum HostCommand {
    /// Show who is on which cpu: interrupts, queues, steering, threads
    ///
    /// Counts are since boot; with --watch, since the last sample. Nothing is changed. Nothing that identifies
    /// this machine is read: no addresses, and no arguments of programs.
    Show(ShowArguments),

    /// Copy the files that `host show` reads, to look at the host elsewhere
    ///
    /// Writes the files that were read, and no other, into a new folder: `warmcore host show --root DIR` shows
    /// the same picture there. Attach it to a bug report. Names of programs, interfaces and control groups are in
    /// it; addresses, serial numbers and arguments are not.
    Capture(CaptureArguments),

    /// Say where interrupts, packets and threads should go, why, and what is gained
    ///
    /// The host is watched for ten seconds first, for counts since boot do not tell what it does now. Queues are spread
    /// over the cores near their device; processes that were seen to receive data, or that --for names, get the cpus
    /// near it. No plan makes the busiest cpu take in more than now, except with --interrupt-cores and --goal
    /// isolation.
    ///
    /// The plan keeps to the cpus that are online, not isolated, and in the threads' control groups; it leaves
    /// alone the interrupts that the kernel manages. Gains are computed from the costs that `warmcore calibrate`
    /// has measured (--profile); without them, gains are unknown. Nothing is changed: `warmcore host apply` takes
    /// the plan. Where nothing would be gained, there is no plan, and the command fails.
    Plan(PlanArguments),

    /// Record what this machine runs, as a scenario of a run queue
    ///
    /// Reads the scheduler's tracepoints: how long threads run until they block, for how long they then wait, who wakes
    /// them up and where they run. `warmcore simulate runqueue` says what another scheduler would do to that mix. Names
    /// of programs are in the scenario. Needs root.
    Trace(TraceArguments),

    /// A scheduler with cache affinity in this machine's kernel
    #[command(subcommand)]
    Scx(ScxCommand),

    #[command(flatten)]
    Tune(TuneCommand),
}

#[derive(Args, Debug)]
pub(crate) struct ShowArguments {
    /// Read the `proc` and `sys` folders in this folder instead of this machine's
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,

    /// Print one JSON object instead of text; with --watch, one line for each look
    #[arg(long)]
    pub(crate) json: bool,

    /// Write a page that opens in a browser
    #[arg(long, value_name = "FILE", conflicts_with_all = ["json", "watch"])]
    pub(crate) html: Option<PathBuf>,

    /// Overwrite an earlier page
    #[arg(long, requires = "html")]
    pub(crate) force: bool,

    /// Look again at this interval until Ctrl-C, and show rates
    ///
    /// It looks less often if that would take more than 1% of a cpu.
    #[arg(long, value_name = "SECONDS", value_parser = quantity::pause, conflicts_with = "root")]
    pub(crate) watch: Option<Duration>,
}

#[derive(Args, Debug)]
pub(crate) struct CaptureArguments {
    /// The folder to write, which must not exist or be empty
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,

    /// Copy from the `proc` and `sys` folders in this folder instead of this machine's
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,

    /// How long to watch the host: the copy holds its files from the beginning and from the end
    #[arg(long, value_name = "SECONDS", value_parser = quantity::pause, default_value = "10", conflicts_with_all = ["root", "example"])]
    pub(crate) sample: Duration,

    /// Write a made-up host instead, on which to try `host plan`, `host apply` and `host undo` with --root
    #[arg(long, value_name = "HOST", value_parser = example_names(), conflicts_with = "root")]
    pub(crate) example: Option<hosts::HostFn>,
}

fn example_names() -> impl TypedValueParser<Value = hosts::HostFn> {
    let find = |name: &str| hosts::ALL.iter().find(|host| host.0 == name).map(|host| host.1);
    values::one_of(hosts::ALL.map(|host| host.0).into(), find)
}

#[derive(Args, Debug)]
pub(crate) struct PlanArguments {
    /// Who reads the packets: the number of a process, the name of a process or thread, or a control group such
    /// as /system.slice/nginx.service [default: who is seen to receive data]
    #[arg(long = "for", value_name = "PID|NAME|CGROUP")]
    pub(crate) subject: Option<Target>,

    /// Spread the queues of this interface over the cores near it, busy or not; may be given again
    #[arg(long = "nic", value_name = "INTERFACE", conflicts_with = "subject")]
    pub(crate) interfaces: Vec<String>,

    /// Give these interfaces as many channels as there are cores near them; their links go down for up to some
    /// seconds when it is applied, and again when it is undone
    #[arg(long, requires = "interfaces", conflicts_with = "interrupt_cores")]
    pub(crate) channels: bool,

    /// Let the kernel poll these interfaces in threads, which the scheduler places
    #[arg(long, requires = "interfaces")]
    pub(crate) threaded_napi: bool,

    /// Keep so many cores for interrupts and nothing else
    #[arg(long, value_name = "CORES", value_parser = whole::count::<u16>(1..=4096), conflicts_with = "goal")]
    pub(crate) interrupt_cores: Option<u16>,

    /// Give each thread a cpu of its own, instead of one mask to each process
    #[arg(long)]
    pub(crate) pin: bool,

    /// How long to watch the host first
    #[arg(long, value_name = "SECONDS", value_parser = quantity::pause, default_value = "10", conflicts_with = "root")]
    pub(crate) sample: Duration,

    /// What to optimise for
    #[arg(long, value_name = "GOAL", value_parser = values::names::<Goal>(), default_value = "throughput")]
    pub(crate) goal: Goal,

    /// Packets per second [default: as many as are seen to arrive]
    #[arg(long, value_name = "PACKETS", value_parser = quantity::rate, requires = "profile")]
    pub(crate) rate: Option<PerSecond>,

    /// What packets cost on that machine: `udp-socket.toml`, which `warmcore calibrate --path udp-socket` measured there; or of
    /// another path, a protocol stack in memory, the profile that `warmcore calibrate` measured, or `sgi-challenge-xl`
    #[arg(long, value_name = "FILE", value_parser = values::profile)]
    pub(crate) profile: Option<ProfileSource>,

    /// Read the `proc` and `sys` folders in this folder instead of this machine's
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,

    /// Write the plan to this file [default: standard output, with the explanation on standard error]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,

    /// Overwrite an earlier plan
    #[arg(long, requires = "out")]
    pub(crate) force: bool,

    /// Print one JSON object instead of text
    #[arg(long)]
    pub(crate) json: bool,
}
