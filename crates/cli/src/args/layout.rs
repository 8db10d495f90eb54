//! The arguments of `warmcore layout`.

use super::values::{self, ProgramLine};
use super::{quantity, whole};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;
use warmcore_layout::order::Strategy;
use warmcore_layout::program::Marker;
use warmcore_layout::simulate::Start;

#[derive(Subcommand, Debug)]
pub(crate) enum LayoutCommand {
    /// Trace a path of a program, instruction by instruction
    ///
    /// Starts the program, lets it run to the first marker, and steps the thread that reached it to the second. Any x86-64
    /// program with symbols will do; it need not be built for this. A marker is the name of a function, or the only part
    /// of a name (`handle` for `server::handle`); NAME+0xOFFSET, an instruction within it; or store:OBJECT, a store
    /// to a variable.
    Trace(TraceArguments),

    /// Order the functions of a traced path for the linker
    ///
    /// Simulates the path as it lies and in every order, prints what each would bring, and writes one order as a file
    /// for the linker.
    Order(OrderArguments),

    /// Simulate a traced path: misses and stalls, and the functions to blame
    ///
    /// With --output it also writes report.html, a page with the path under every order and a map of the cache, and
    /// figures.json, its figures.
    Simulate(SimulateArguments),

    /// Measure whether one program is faster than another
    ///
    /// Runs both in interleaved blocks, and the first one twice in each: that A/A difference is the noise floor. A change counts
    /// only above it.
    Measure(MeasureArguments),
}

#[derive(Args, Debug)]
pub(crate) struct TraceArguments {
    /// Where the path begins: before this instruction, or with this store
    #[arg(long, value_name = "MARKER", value_parser = marker)]
    pub(crate) from: Marker,

    /// Where it ends
    #[arg(long, value_name = "MARKER", value_parser = marker)]
    pub(crate) to: Marker,

    /// How often the path is traced in one run of the program; the pass of median length is written
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole::count::<u16>(1..=1000))]
    pub(crate) passes: u16,

    /// After how long the program is ended
    #[arg(long, value_name = "SECONDS", value_parser = quantity::pause, default_value = "60", conflicts_with = "lackey")]
    pub(crate) time_limit: Duration,

    /// Let the program run to its end afterwards, rather than end it
    #[arg(long, conflicts_with = "lackey")]
    pub(crate) finish: bool,

    /// Read this output of `valgrind --tool=lackey --trace-mem=yes` instead of starting the program, which must lie at fixed
    /// addresses (`-no-pie`)
    #[arg(long, value_name = "FILE")]
    pub(crate) lackey: Option<PathBuf>,

    /// The trace to write
    #[arg(long, short, visible_alias = "out", value_name = "FILE")]
    pub(crate) output: PathBuf,

    /// Overwrite an earlier trace
    #[arg(long)]
    pub(crate) force: bool,

    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    pub(crate) program: Vec<OsString>,
}

#[derive(Args, Debug)]
pub(crate) struct OrderArguments {
    /// A trace that `layout trace` has written
    #[arg(value_name = "TRACE")]
    pub(crate) trace: PathBuf,

    /// The order to write [default: the one with the fewest predicted cycles]
    #[arg(long, value_name = "NAME", value_parser = strategies())]
    pub(crate) strategy: Option<Strategy>,

    /// The linker that will read it
    #[arg(long = "for", value_name = "LINKER", value_enum, default_value = "lld")]
    pub(crate) linker: LinkerName,

    /// An object file that is linked, to know which functions have a section of their own; may be repeated [default:
    /// all are taken to have one]
    #[arg(long = "object", value_name = "FILE")]
    pub(crate) objects: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) machine: MachineChoice,

    /// The file to write
    #[arg(long, short, visible_alias = "out", value_name = "FILE")]
    pub(crate) output: PathBuf,

    /// Overwrite an earlier file
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Args, Debug)]
pub(crate) struct SimulateArguments {
    /// A trace that `layout trace` has written
    #[arg(value_name = "TRACE")]
    pub(crate) trace: PathBuf,

    #[command(flatten)]
    pub(crate) machine: MachineChoice,

    /// Write a page and its figures into this folder: the path as it lies, under every order, and where its lines lie in the
    /// cache
    #[arg(long, short, visible_alias = "out", value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,

    /// Random orders to compare with, on the page: how much of a layout's cost is chance
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = whole::count::<u32>(0..=10_000), requires = "output")]
    pub(crate) random_orders: u32,

    /// Overwrite an earlier page
    #[arg(long, requires = "output")]
    pub(crate) force: bool,

    /// Print one JSON object instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct MachineChoice {
    /// Whose caches are simulated
    #[arg(long, value_name = "NAME", value_enum, default_value = "this")]
    pub(crate) machine: MachineName,

    /// Cycles that each level of caches takes, nearest first, and memory last [default: 4,14,50,250, an assumption; of
    /// the DEC 3000/600: 1,10,50]
    #[arg(long, value_name = "CYCLES,…", value_delimiter = ',', value_parser = whole::count::<u64>(1..=1_000_000))]
    pub(crate) latencies: Vec<u64>,

    /// What the caches hold when the path begins: nothing (cold), what it left the last time (steady), or that, but nothing in
    /// the nearest ones, because other code ran between
    #[arg(long, value_name = "NAME", value_parser = values::names::<Start>(), default_value = "nearest-cold")]
    pub(crate) start: Start,
}

#[derive(Args, Debug)]
pub(crate) struct MeasureArguments {
    /// The program as it was, and its arguments, with quotes as in a shell
    #[arg(long, value_name = "PROGRAM", value_parser = values::program)]
    pub(crate) before: ProgramLine,

    /// The program as it is now
    #[arg(long, value_name = "PROGRAM", value_parser = values::program)]
    pub(crate) after: ProgramLine,

    /// How often each is run; in each block both once, and the first one twice
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = whole::count::<usize>(2..=1000))]
    pub(crate) blocks: usize,

    /// What is compared: how long they run, or the last number that they print
    #[arg(long, value_name = "FIGURE", value_enum, default_value = "time")]
    pub(crate) read: FigureName,

    /// A larger figure is better, as of a rate [default: a smaller one, as of a time]
    #[arg(long)]
    pub(crate) more_is_better: bool,

    /// After how long a run is ended, which ends the measurement
    #[arg(long, value_name = "SECONDS", value_parser = quantity::pause, default_value = "60")]
    pub(crate) time_limit: Duration,
}

/// Who reads the order.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub(crate) enum LinkerName {
    /// --symbol-ordering-file of lld, the linker of rustc
    Lld,
    /// --section-ordering-file of gold
    Gold,
    /// A part of a linker script of GNU ld: the only form with gaps
    Script,
}

/// Whose caches are simulated.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub(crate) enum MachineName {
    /// This machine's, as Linux describes them
    This,
    /// The machine of Mosberger et al. 1996
    #[value(name = "dec-3000-600")]
    Dec3000,
    /// Three levels, as processors of today have them
    ThreeLevels,
}

/// What is compared.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub(crate) enum FigureName {
    /// Wall-clock time from start to end
    Time,
    /// The last number on standard output
    LastNumber,
}

/// Reads the name of an order that a linker can make; the help says what each does.
fn strategies() -> impl TypedValueParser<Value = Strategy> {
    let named = |strategy: Strategy| PossibleValue::new(strategy.name()).help(strategy.about());
    PossibleValuesParser::new(Strategy::LINKABLE.map(named)).try_map(|name| {
        Strategy::LINKABLE.into_iter().find(|strategy| strategy.name() == name).ok_or("no such order")
    })
}

fn marker(text: &str) -> Result<Marker, String> {
    text.parse().map_err(|error: warmcore_layout::program::MarkerError| error.to_string())
}
