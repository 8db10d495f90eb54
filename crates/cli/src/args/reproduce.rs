//! The arguments of `warmcore reproduce`: the same for every source, and what each has besides.

use super::{ResumableArguments, quantity, values, whole};
use clap::{Args, Subcommand};
use std::path::PathBuf;
use warmcore_measure::transfer::{CONNECTIONS, SIZES};
use warmcore_scenario::ProfileSource;

#[derive(Subcommand, Debug)]
pub(crate) enum ReproduceCommand {
    /// Salehi, Kurose & Towsley 1994: every figure, every claim
    ///
    /// Simulates figures 4 and 7 to 15 and the statements about Table 2, checks every claim of the text against
    /// the results, and writes into the output folder: report.html; claims.parquet, claims.csv and claims.json,
    /// published values and ours with verdicts; results.parquet and results.csv, every simulated point; and
    /// points.journal, from which --resume goes on after an interruption. With another machine's profile the
    /// figures are redrawn for that machine.
    #[command(name = "salehi-1994")]
    Salehi1994(SalehiArguments),

    /// Foong, Fung & Newell 2004: bulk transfers under four models of affinity
    ///
    /// Repeats the transfers between two network namespaces of this machine, with sizes from 64 bytes to 64 KB in
    /// both directions: figures 2 (cpu use and throughput), 3 (cost) and 5 (reductions). Writes into the output
    /// folder: report.html; claims.parquet, claims.csv and claims.json, published values and ours with verdicts;
    /// results.parquet and results.csv, what was measured in every block; and points.journal, from which --resume
    /// goes on after an interruption. It takes about ten minutes. Run it on an idle machine.
    #[command(name = "foong-2004")]
    Foong2004(FoongArguments),

    /// Torrellas, Tucker & Gupta 1995: affinity in a UNIX run queue
    ///
    /// Models the applications from Tables II to IV and the standard columns of Table V, and simulates the rest:
    /// affinity, attached scheduling, other quanta and complex affinity, figures 1 to 5, and how much the results
    /// depend on what the text leaves open (--figure open). Writes into the output folder: report.html; claims.parquet,
    /// claims.csv and claims.json, published values and ours with verdicts; results.parquet and results.csv, a
    /// row for each run; and points.journal, from which --resume goes on after an interruption. All of it takes some minutes.
    #[command(name = "torrellas-1995")]
    Torrellas1995(TorrellasArguments),

    /// Falsafi 1998: who executes a software coherence protocol on clusters of SMPs
    ///
    /// Simulates tables 4.1 to 5.3 and figures 4-2 to 4-8 and 5-5 to 5-13: dedicated and floating protocol processors, and parallel
    /// protocol execution by embedded and SMP processors against hardware. Programs compute real results on the simulated machines.
    /// Writes into the output folder: report.html; claims.parquet, claims.csv and claims.json, published values and ours with verdicts;
    /// results.parquet and results.csv, a row for each run; and points.journal, from which --resume goes on after an interruption.
    #[command(name = "falsafi-1998")]
    Falsafi1998(FalsafiArguments),

    /// Mosberger, Peterson, Bridges & O'Malley 1996: what the layout of code costs a short path
    ///
    /// Executes a TCP/IP and an RPC stack in six builds on a machine of ours, traces one request and its response, and simulates the
    /// caches and the processor of a DEC 3000/600: tables 1 to 9. With --native, round trips of the same builds are measured on
    /// this machine. Writes into the output folder: report.html; claims.parquet, claims.csv and claims.json, published
    /// values and ours with verdicts; results.parquet and results.csv, a row for each run; and points.journal, from which
    /// --resume goes on after an interruption. It takes some seconds, and with --native some minutes.
    #[command(name = "mosberger-1996")]
    Mosberger1996(MosbergerArguments),
}

/// What every source takes.
#[derive(Args, Debug)]
pub(crate) struct ReproduceArguments {
    /// Only these figures: `12`, `7a`, or `7` for all its parts [default: all]
    #[arg(long = "figure", value_name = "N,…", value_delimiter = ',')]
    pub(crate) figures: Vec<String>,

    /// Take a first look: wider intervals, which leave more claims undecided
    #[arg(long)]
    pub(crate) quick: bool,

    #[command(flatten)]
    pub(crate) output: ResumableArguments,
}

#[derive(Args, Debug)]
pub(crate) struct SalehiArguments {
    /// Redraw the figures for the machine of this profile [default: sgi-challenge-xl]
    #[arg(long, value_name = "FILE", value_parser = values::profile)]
    pub(crate) profile: Option<ProfileSource>,

    /// Half-width to aim for, as a part of the mean delay: a percentage such as 2%, or a fraction below 0.1
    /// [default: 1%; 5% with --quick]
    #[arg(long, value_name = "FRACTION", value_parser = quantity::precision)]
    pub(crate) precision: Option<f64>,

    /// Seed of every random choice [default: 1]
    #[arg(long, value_name = "N", value_parser = values::seed())]
    pub(crate) seed: Option<u64>,

    #[command(flatten)]
    pub(crate) common: ReproduceArguments,
}

#[derive(Args, Debug)]
#[command(mut_arg("figures", |figures| figures.help("Only these figures, of 2, 3 and 5 [default: all]")))]
pub(crate) struct FoongArguments {
    /// Only these sizes of a write, in bytes [default: 64, 256, 1024, 4096, 16384, 65536]
    #[arg(long = "size", value_name = "BYTES,…", value_delimiter = ',', value_parser = whole::bytes::<u64>(SIZES))]
    pub(crate) sizes: Vec<u64>,

    /// Connections at once, each with a sender, a receiver and a wire of its own
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = whole::count::<u8>(CONNECTIONS))]
    pub(crate) connections: u8,

    #[command(flatten)]
    pub(crate) common: ReproduceArguments,
}

#[derive(Args, Debug)]
#[command(
    mut_arg("figures", |figures| {
        figures.help("Only these figures: table-2 to table-5, 1 to 5, and open [default: all]")
    }),
    mut_arg("quick", |quick| {
        quick.help("Take a first look, in seconds instead of minutes: wider intervals; what the text leaves open is not varied")
    })
)]
pub(crate) struct TorrellasArguments {
    /// Seed of every random choice [default: 1]
    #[arg(long, value_name = "N", value_parser = values::seed())]
    pub(crate) seed: Option<u64>,

    #[command(flatten)]
    pub(crate) common: ReproduceArguments,
}

#[derive(Args, Debug)]
#[command(
    mut_arg("figures", |figures| {
        figures.help("Only these figures: 4-2 to 4-8, 5-5 to 5-13, table-4-1 to table-5-3, table-5-1-rows, scatter [default: all]")
    }),
    mut_arg("quick", |quick| {
        quick.help("Take a first look: scaled inputs of the programs, which decide no claim about them")
    })
)]
pub(crate) struct FalsafiArguments {
    #[command(flatten)]
    pub(crate) common: ReproduceArguments,
}

#[derive(Args, Debug)]
#[command(
    mut_arg("figures", |figures| figures.help("Only these tables: table-1 to table-9 [default: all]")),
    mut_arg("quick", |quick| {
        quick.help("Take a first look: fewer random orders of functions, and fewer blocks of round trips")
    })
)]
pub(crate) struct MosbergerArguments {
    /// Measure round trips of the six programs in this folder, as `scripts/build-lab --native` makes them
    #[arg(long, value_name = "FOLDER")]
    pub(crate) native: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) common: ReproduceArguments,
}
