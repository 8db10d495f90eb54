//! The command line.

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use std::path::PathBuf;

/// On which processor should this piece of protocol work run?
///
/// Warmcore measures what cold caches and migration cost a protocol stack on this machine,
/// predicts what each scheduling policy would do to your traffic, and says which one to use.
///
/// Start with `warmcore study`: it does all of it, and writes a report you can open in a browser.
#[derive(Parser, Debug)]
#[command(name = "warmcore", version, max_term_width = 100, infer_subcommands = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Measure, predict, decide, and write a report
    ///
    /// Measures this machine (or takes a profile), simulates every combination of scheduling
    /// policies from near idle to saturation, and writes into the output folder: report.html, the
    /// verdict with its charts; profile.toml, the measured costs; results.parquet, every simulated
    /// point; summary.json, for scripts; and study.toml, the scenario, with which
    /// `warmcore study --scenario study.toml` repeats the study.
    Study(StudyArguments),

    /// Measure what cold caches and migration cost here
    ///
    /// Times the receive path of a UDP/IP stack in every cache situation scheduling can bring
    /// about, and the time of a packet after other work has run for a microsecond to a second.
    /// Writes a profile that `warmcore study --profile` takes.
    Calibrate(CalibrateArguments),

    /// Show the processors, caches and limits of this machine
    Machine(MachineArguments),

    /// Print a completion script for a shell
    ///
    /// For bash: `warmcore completions bash > ~/.local/share/bash-completion/completions/warmcore`
    Completions {
        /// The shell
        shell: Shell,
    },

    /// Print the manual page
    ///
    /// To read it: `warmcore man | man -l -`
    Man,
}

#[derive(Args, Debug)]
pub(crate) struct StudyArguments {
    /// Take everything from this scenario, as a study.toml of an earlier study holds it
    #[arg(long, value_name = "FILE", conflicts_with_all = ["quick", "profile", "processors", "seed"])]
    pub(crate) scenario: Option<PathBuf>,

    /// A first look within a minute: shorter measurements, wider intervals
    #[arg(long)]
    pub(crate) quick: bool,

    /// Predict from this profile instead of measuring: a file, or `sgi-challenge-xl`, the source's
    /// machine
    #[arg(long, value_name = "FILE")]
    pub(crate) profile: Option<String>,

    /// Predict for these numbers of processors [default: this machine's, 8 and 64]
    #[arg(long, value_name = "N,…", value_delimiter = ',')]
    pub(crate) processors: Vec<u32>,

    /// Seed of every random choice [default: 1]
    #[arg(long, value_name = "N")]
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
    /// A first look in less than half a minute
    #[arg(long)]
    pub(crate) quick: bool,

    /// Seed of every random choice [default: 1]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,

    #[command(flatten)]
    pub(crate) intervening: InterveningArguments,

    /// The profile to write
    #[arg(long, value_name = "FILE", default_value = "profile.toml")]
    pub(crate) out: PathBuf,

    #[command(flatten)]
    pub(crate) output: OutputArguments,
}

#[derive(Args, Debug)]
pub(crate) struct InterveningArguments {
    /// Run this program between packets when measuring how fast caches forget, instead of the
    /// built-in work. It must run for as long as the measurement does
    #[arg(long, value_name = "CMD")]
    pub(crate) intervening: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct OutputArguments {
    /// Overwrite earlier results
    #[arg(long)]
    pub(crate) force: bool,

    /// Print one JSON object instead of words
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct MachineArguments {
    /// Look at the `proc` and `sys` folders in this folder instead of this machine's
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,

    /// Print one JSON object instead of words
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
}
