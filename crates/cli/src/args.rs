//! The command line.

pub(crate) mod advise;
pub(crate) mod applied;
pub(crate) mod capacity;
pub(crate) mod cluster;
pub(crate) mod compare;
mod distribution;
pub(crate) mod given;
pub(crate) mod grid;
pub(crate) mod host;
pub(crate) mod layout;
pub(crate) mod live;
pub(crate) mod messages;
pub(crate) mod observe;
pub(crate) mod packet;
pub(crate) mod process;
pub(crate) mod quantity;
pub(crate) mod reproduce;
pub(crate) mod runqueue;
pub(crate) mod sched;
pub(crate) mod served;
pub(crate) mod transfer;
pub(crate) mod tune;
pub(crate) mod values;
pub(crate) mod verify;
pub(crate) mod whole;
pub(crate) mod words;

use advise::AdviseCommand;
use capacity::CapacityCommand;
use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use compare::CompareArguments;
use host::HostCommand;
use layout::LayoutCommand;
use live::RunLiveArguments;
use messages::MessageArguments;
use packet::{AxisArguments, PointArguments};
use reproduce::ReproduceCommand;
use serde::Deserialize;
use served::ServedArguments;
use std::path::PathBuf;
use transfer::TransferArguments;
use values::ProgramLine;
use warmcore_measure::CalibrationPlan;
use warmcore_scenario::ProcessorPolicy;
use warmcore_units::Transport;

/// On which processor should this piece of protocol work run?
///
/// Warmcore measures what cold caches and migration cost a protocol stack on this machine,
/// predicts what each scheduling policy would do to your traffic, and says which one to use.
///
/// Start with `warmcore study`: it does all of it, and writes a report you can open in a browser.
#[derive(Parser, Debug)]
#[command(name = "warmcore", version, max_term_width = 100, infer_subcommands = true)]
#[command(after_long_help = crate::exit::help())]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,

    #[command(flatten)]
    pub(crate) messages: MessageArguments,
}

/// What a comparison of affinity models costs.
const TRANSFER_COST: &str = "It loads the cpus fully unless --rate-mbps is given, and needs an otherwise idle machine: a \
                             run that other programs disturbed is repeated, at most twice.";

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Measure, predict, decide, and write a report
    ///
    /// Measures this machine (or takes a profile), simulates every combination of scheduling
    /// policies from near idle to saturation, and writes into the output folder: report.html, the
    /// verdict with its charts; profile.toml, the measured costs; results.parquet and results.csv, every
    /// simulated point; summary.json, for scripts; and study.toml, the scenario, with which
    /// `warmcore study --scenario study.toml` repeats the study.
    Study(StudyArguments),

    /// Measure what cold caches and migration cost here
    ///
    /// Times the receive path of a UDP/IP stack in every cache situation scheduling can bring
    /// about, and the time of a packet after other work has run for a microsecond to a second.
    /// Writes a profile that `warmcore study --profile` takes.
    Calibrate(CalibrateArguments),

    /// Simulate one host under one kind of traffic
    #[command(subcommand)]
    Simulate(SimulateCommand),

    /// Simulate every combination of the values given, and compare
    #[command(subcommand)]
    Sweep(SweepCommand),

    /// Find the highest rate that a host keeps up with
    #[command(subcommand)]
    Capacity(CapacityCommand),

    /// Run protocol work on this machine, and measure delays and throughput
    ///
    /// A worker on each processor takes packets up a UDP/IP stack. The approach and the policy decide which
    /// worker processes which packet, with the same code that `simulate` uses. Packets are generated in memory at
    /// --rate, or as fast as workers accept them; or they come from a network interface and are echoed. A
    /// terminal shows live figures. Ctrl-C ends the run early and reports what was measured until then.
    Run(Box<RunLiveArguments>),

    /// Compare predictions with runs on this machine
    ///
    /// Simulates the scenario at each load, with the costs of this machine (measured first, unless --profile
    /// names them) and of the runtime itself, and runs it. The report shows both, how far off the prediction is,
    /// and where most of the difference comes from. Loads at which the machine was too busy with other work are
    /// not judged; if none can be judged, the command fails.
    Compare(Box<CompareArguments>),

    /// Reproduce the figures and claims of a publication
    #[command(subcommand)]
    Reproduce(ReproduceCommand),

    /// Answer a question about how to arrange protocol work
    #[command(subcommand)]
    Advise(AdviseCommand),

    /// Print where a report is, and open it in a browser if asked
    Report(ReportArguments),

    /// Show the processors, caches and limits of this machine
    Machine(MachineArguments),

    /// Show, plan, apply and undo the placement of interrupts, packets and threads on this host
    #[command(subcommand)]
    Host(HostCommand),

    /// Measure bulk TCP transfers under every affinity model
    ///
    /// Transfers over TCP between two network namespaces, which are made for it and removed afterwards; nothing
    /// else on the machine is changed. Under each model the packets of a connection are steered to a cpu
    /// (interrupt-only), its programs are kept on one (process-only), both (full) or neither (none); or the two
    /// are kept on different cpus (crossed), or all packets go to the first cpu (cpu0). Models take turns in
    /// blocks. The first model runs twice per block; that A/A difference is the noise floor.
    #[command(after_help = TRANSFER_COST)]
    Transfer(TransferArguments),

    /// Order the functions of a latency path, so that they do not evict each other
    ///
    /// Traces a path of any x86-64 program, simulates it in the caches of a machine, orders its functions for the linker, and
    /// measures what that brought (Mosberger et al. 1996).
    #[command(subcommand)]
    Layout(LayoutCommand),

    /// Print a completion script for a shell
    ///
    /// For bash: `warmcore completions bash > ~/.local/share/bash-completion/completions/warmcore`
    Completions {
        /// The shell
        shell: Shell,
    },

    /// Print the manual, or write a page for each command
    ///
    /// To read it: `warmcore man | man -l -`. With `--out ~/.local/share/man/man1`, `man warmcore-study` finds its
    /// page.
    Man(ManArguments),
}

#[derive(Args, Debug)]
pub(crate) struct ReportArguments {
    /// A report, or the folder that a command has written one into
    #[arg(value_name = "PATH", default_value = "study")]
    pub(crate) path: PathBuf,

    /// Open it in a browser: with the first command of $BROWSER that succeeds, or else with xdg-open
    #[arg(long)]
    pub(crate) open: bool,
}

#[derive(Args, Debug)]
pub(crate) struct ManArguments {
    /// Write a page for each command into this folder, replacing earlier ones
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Subcommand, Debug)]
pub(crate) enum SimulateCommand {
    /// Packets on processors: delays, service times, capacity
    ///
    /// Simulates until the mean delay is known to the precision asked for, and says what packets
    /// experience, each figure with the half-width of its 95% confidence interval. A host that
    /// cannot keep up is said to be saturated.
    Packet(Box<SimulatePacketArguments>),

    /// Processes in a run queue: completion times, cache misses, waits, and whether another scheduler would help
    ///
    /// Simulates the applications of a scenario on its machine, under a UNIX scheduler with cache affinity, several times.
    /// Then says whether more affinity, longer quanta or attaching would help this mix, by how much, and whom it would
    /// starve.
    Runqueue(runqueue::SimulateRunqueueArguments),

    /// A parallel program on a cluster of SMP nodes that share memory by a protocol
    ///
    /// Runs the program of a scenario on simulated processors, caches, buses, protocol devices and a network, checks its
    /// results, and says where the time went.
    Cluster(cluster::SimulateClusterArguments),
}

#[derive(Args, Debug)]
pub(crate) struct SimulatePacketArguments {
    #[command(flatten)]
    pub(crate) point: PointArguments,

    /// Processors, each with a protocol thread [default: 8]
    #[arg(long, value_name = "N", value_parser = values::processors(), help_heading = "Host")]
    pub(crate) processors: Option<u32>,

    /// Also say how the mean delay differs from that under this policy
    ///
    /// Both see the same packets, in 20 runs each, so the difference is known far better than the two delays.
    #[arg(long, value_name = "POLICY", conflicts_with = "print_scenario", help_heading = "Output")]
    #[arg(value_parser = values::names::<ProcessorPolicy>())]
    pub(crate) against: Option<ProcessorPolicy>,

    #[command(flatten)]
    pub(crate) observe: observe::ObserveArguments,

    /// Print the scenario as a document for --scenario, and simulate nothing
    #[arg(long, conflicts_with_all = ["json", "out", "events"], help_heading = "Output")]
    pub(crate) print_scenario: bool,

    /// Print one JSON object instead of text
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
}

#[derive(Subcommand, Debug)]
pub(crate) enum SweepCommand {
    /// Packets on processors: delay against rate, for each combination
    ///
    /// Simulates every combination of the values given, and writes into the output folder:
    /// report.html, with charts; results.parquet and results.csv, a row for each point; sweep.toml, what was asked
    /// for; and points.journal, every finished point, from which --resume goes on after an
    /// interruption. The same sweep gives the same results, byte for byte, whether
    /// interrupted or not.
    Packet(Box<SweepPacketArguments>),

    /// Processes in a run queue: what every combination of affinity, quanta, slices and attachment would gain
    ///
    /// Simulates the mix of a scenario under its own scheduler and under every combination, prints the gain of each, what to
    /// do, and whom it would harm, and writes into the output folder: report.html, with charts; results.parquet and
    /// results.csv, a row for each run; applications.parquet and applications.csv, a row for each application in it.
    Runqueue(runqueue::SweepRunqueueArguments),

    /// A parallel program on clusters with several devices, sizes of blocks and of nodes
    ///
    /// Runs the program of a scenario on each of them, and says how fast each is beside the first device.
    Cluster(cluster::SweepClusterArguments),

    /// Any model along any fields, on this machine or on Dask, into a data set of Parquet files
    ///
    /// Simulates every point of a grid, which names fields of a scenario and their values, longest points first. The output
    /// folder is a data set: files of a fixed number of points in the grid's order, a manifest, and the grid. Finished
    /// points are kept until their file is written, so that --resume goes on after an interruption. The same grid gives the
    /// same folder, byte for byte, on any number of workers, in whatever order they finish.
    Grid(Box<grid::SweepGridArguments>),
}

#[derive(Args, Debug)]
pub(crate) struct SweepPacketArguments {
    #[command(flatten)]
    pub(crate) point: PointArguments,

    #[command(flatten)]
    pub(crate) axes: AxisArguments,

    #[command(flatten)]
    pub(crate) vary: grid::VaryArguments,

    #[command(flatten)]
    pub(crate) engine: grid::EngineArguments,

    #[command(flatten)]
    pub(crate) output: ResumableArguments,
}

#[derive(Args, Debug)]
pub(crate) struct StudyArguments {
    /// Take everything from this scenario, as a study.toml of an earlier study holds it
    #[arg(long, value_name = "FILE", conflicts_with_all = ["quick", "profile", "processors", "seed"])]
    pub(crate) scenario: Option<PathBuf>,

    /// Take a first look within a minute: shorter measurements, wider intervals
    #[arg(long)]
    pub(crate) quick: bool,

    /// Predict from this profile instead of measuring: a file, or `sgi-challenge-xl`, the
    /// machine of Salehi 1994
    #[arg(long, value_name = "FILE")]
    pub(crate) profile: Option<String>,

    /// Predict the kernel's path from this profile instead of measuring it: a file that `warmcore calibrate --path udp-socket`
    /// has written. It is predicted for the first number of --processors, or this machine's, and nothing is run
    #[arg(long, value_name = "FILE")]
    pub(crate) socket_profile: Option<PathBuf>,

    /// Predict for hosts with these numbers of processors [default: this machine's, 8 and 64]
    #[arg(long, value_name = "N,…", value_delimiter = ',', value_parser = values::processors())]
    pub(crate) processors: Vec<u32>,

    /// Seed of every random choice [default: 1]
    #[arg(long, value_name = "N", value_parser = values::seed())]
    pub(crate) seed: Option<u64>,

    #[command(flatten)]
    pub(crate) intervening: InterveningArguments,

    /// The folder to write into
    #[arg(long, value_name = "DIR", default_value = "study")]
    pub(crate) out: PathBuf,

    #[command(flatten)]
    pub(crate) output: OutputArguments,
}

#[derive(Args, Debug)]
pub(crate) struct CalibrateArguments {
    /// Which receive path to measure: `stack`, the one of this program, in memory; `udp-socket`, the kernel's, from the
    /// sender's system call to a program's socket; or `tcp-socket`, the same of a server's TCP connections [default: stack; with
    /// --server: as its requests want]
    #[arg(long, value_name = "NAME", value_parser = values::names::<CalibratedPath>())]
    pub(crate) path: Option<CalibratedPath>,

    /// Take a first look in less than half a minute
    #[arg(long)]
    pub(crate) quick: bool,

    /// What the measured packets are: `udp` datagrams, `tcp` segments of connections, or `rpc` calls over UDP. The
    /// time of a segment or call includes its answer [default: udp]
    #[arg(long, value_name = "NAME", value_parser = values::names::<Transport>())]
    pub(crate) transport: Option<Transport>,

    /// Bytes of data in a measured packet: at most 1400 with tcp and rpc, at least 1 with tcp [default: 256]
    #[arg(long, value_name = "BYTES", value_parser = whole::bytes::<usize>(0..=CalibrationPlan::MAX_PAYLOAD_BYTES as u64))]
    pub(crate) payload: Option<usize>,

    /// Bytes of the handler's answer to each packet, with tcp and rpc [default: 0]
    #[arg(long, value_name = "BYTES", value_parser = whole::bytes::<usize>(0..=CalibrationPlan::MAX_MESSAGE_BYTES as u64))]
    pub(crate) reply: Option<usize>,

    /// Seed of every random choice [default: 1]
    #[arg(long, value_name = "N", value_parser = values::seed())]
    pub(crate) seed: Option<u64>,

    #[command(flatten)]
    pub(crate) intervening: InterveningArguments,

    #[command(flatten)]
    pub(crate) served: ServedArguments,

    /// Measure this server program as it is, from outside. `{port}` stands for the port where it is to listen, `{address}` for
    /// the address
    #[arg(long, value_name = "CMD", value_parser = values::program, help_heading = "Server")]
    #[arg(conflicts_with = "handler")]
    pub(crate) server: Option<ProgramLine>,

    /// The profile to write [default: profile.toml; with --path udp-socket or tcp-socket: these names and .toml; with --server: server.toml]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) output: OutputArguments,
}

/// A receive path that can be measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum CalibratedPath {
    /// This program's protocol stack.
    #[default]
    Stack,
    /// The kernel's, to a UDP socket.
    UdpSocket,
    /// The kernel's, to a server on TCP connections.
    TcpSocket,
}

#[derive(Args, Debug)]
pub(crate) struct InterveningArguments {
    /// Run this program between packets when measuring how fast caches forget, instead of the
    /// built-in work. It must run for as long as the measurement does
    #[arg(long, value_name = "CMD", value_parser = values::program)]
    pub(crate) intervening: Option<ProgramLine>,
}

#[derive(Args, Debug)]
pub(crate) struct OutputArguments {
    /// Overwrite earlier results
    #[arg(long)]
    pub(crate) force: bool,

    /// Print one JSON object instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Output")]
pub(crate) struct ResumableArguments {
    /// The folder to write into
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub(crate) out: PathBuf,

    /// Continue an earlier run in this folder, from its finished points
    #[arg(long, conflicts_with = "force")]
    pub(crate) resume: bool,

    /// Overwrite earlier results
    #[arg(long)]
    pub(crate) force: bool,

    /// Print one JSON object instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct MachineArguments {
    /// Read the `proc` and `sys` folders in this folder instead of this machine's
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,

    /// Print one JSON object instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    /// A flag whose parser makes another type than its field has panics when it is read.
    #[test]
    fn every_flag_that_takes_a_number_can_be_read() {
        let point = "--seed 1 --streams 1k --zipf 1 --batch 2 --sizes 64:1 --send-fraction 0 --checksum-ns-per-byte 1 \
                     --copy-ns-per-byte 1 --send-path 1 --map-lock-ns 1us --session-lock-ns 1 --decision-ns 1 --start-ns 1 \
                     --staleness-ns 1 --precision 1% --max-packets 1M --replications 2 --stacks 4 --time-scale 1";
        let live = "--seed 1k --streams 8 --stacks per-processor --processors 2 --seconds 500ms --cpus 0-1,4 --work-kib 64k \
                    --payload 1k --handler-ns 1us --handler-bytes 64k --reply 1k --capacity 4k --port 9000";
        for line in [
            format!("simulate packet --rate 20k --processors 2 {point}"),
            format!(
                "sweep packet --rates 1k,2k --processors 1,2 {}",
                point.replace("--batch 2", "--batches 1,2")
            ),
            format!("run --rate 1.5M {live}"),
            format!("compare --loads 0.1,20% {live}"),
            format!("compare --rates 1k {live}"),
            "transfer --size 64k --models Full,none --direction RECEIVE --connections 2 --cpus 0-1 --seconds 1 --blocks 3 --rate-mbps 10".to_owned(),
            "reproduce foong-2004 --size 1k --connections 2".to_owned(),
            "reproduce salehi-1994 --precision 2% --seed 1".to_owned(),
            "study --processors 1,2 --seed 1".to_owned(),
        ] {
            let words = std::iter::once("warmcore").chain(line.split_whitespace());
            assert!(Arguments::try_parse_from(words).is_ok(), "{line}");
        }
    }

    /// An option with a parser of the standard library would refuse in that library's words.
    #[test]
    fn no_option_refuses_in_the_words_of_a_library() {
        let mut command = Arguments::command();
        command.build();
        let mut refusals = 0;
        let mut left = vec![(vec!["warmcore".to_owned()], command.clone())];
        while let Some((path, level)) = left.pop() {
            for option in level.get_arguments().filter(|option| option.get_action().takes_values()) {
                let Some(flag) = option.get_long() else { continue };
                for value in ["x", "1x", "99999999999999999999999999"] {
                    let words = path.iter().cloned().chain([format!("--{flag}={value}")]);
                    let Err(error) = command.clone().try_get_matches_from(words) else { continue };
                    let error = error.to_string();
                    refusals += usize::from(error.contains("invalid value"));
                    for foreign in [
                        "invalid digit",
                        "invalid float",
                        "to fit in target",
                        "not in 0..",
                        "unknown variant",
                    ] {
                        assert!(!error.contains(foreign), "{path:?} --{flag}={value}: {error}");
                    }
                }
            }
            let below = |child: &clap::Command| [&path[..], &[child.get_name().to_owned()]].concat();
            left.extend(level.get_subcommands().map(|child| (below(child), child.clone())));
        }
        assert!(refusals > 100, "{refusals} refusals");
    }

    #[test]
    fn what_a_report_says_to_do_can_be_done() {
        for command in warmcore_study::present::actions::STEERING {
            let words = command.split_whitespace().skip_while(|word| *word == "sudo");
            let parsed = Arguments::try_parse_from(words.take_while(|word| *word != "#"));
            assert!(parsed.is_ok(), "{command}: {parsed:?}");
        }
    }
}
