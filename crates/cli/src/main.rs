//! The `warmcore` command: argument parsing and wiring, nothing else.

// Both panic where the text cannot be written: `output::print` and `messages::print` do not.
#![warn(clippy::print_stdout, clippy::print_stderr)]

mod advise;
mod args;
mod calibrate;
mod capacity;
mod checkpoint;
mod compare;
mod costs;
mod documents;
mod error_report;
mod exit;
mod flags;
mod folder;
mod host;
mod interrupt;
mod json;
mod lab_privilege;
mod layout;
mod live;
mod machine;
mod manual;
mod messages;
mod misuse;
mod output;
mod point;
mod probe;
mod progress;
mod provenance;
mod remedies;
mod report;
mod reproduce;
mod server;
mod simulate;
mod study;
mod supervised;
mod sweep;
mod terminal;
mod transfer;
mod tune;
mod unused_options;
mod visible;

use args::advise::AdviseCommand;
use args::capacity::CapacityCommand;
use args::reproduce::ReproduceCommand;
use args::{Arguments, Command, SimulateCommand, SweepCommand};
use clap::{CommandFactory, FromArgMatches};
use output::print;
use std::env;
use std::process::ExitCode;

/// What is printed when no command is given.
const FIRST_STEPS: &str = "\
warmcore finds out on which processor protocol work should run.

  warmcore study            measure this machine, predict every policy, write study/report.html
  warmcore study --quick    do the same within a minute, less precisely
  warmcore machine          show processors, caches and limits
  warmcore host show        show who is on which cpu: interrupts, queues, threads
  warmcore simulate packet --rate 20k       simulate one policy under one kind of traffic
  warmcore capacity packet --policy mru     find the highest rate that is carried, and what sets it
  warmcore sweep packet --loads 0.1,0.5,0.9 --policies mru,lru,wired    simulate several, and compare
  warmcore run --rate 20k --policy mru      run one policy on this machine, and measure it
  warmcore --help           list all commands
";

fn main() -> ExitCode {
    let color = args::messages::color_of(env::args_os());
    let words = args::words::with_negative_numbers(env::args_os());
    let parsed = Arguments::command().color(color).try_get_matches_from(words);
    let arguments = match parsed.and_then(|matches| Arguments::from_arg_matches(&matches)) {
        Ok(arguments) => arguments,
        Err(wrong) if wrong.use_stderr() => wrong.exit(),
        Err(asked) => return exit::report_and_status(output::print_help(&asked)),
    };
    messages::set(arguments.messages.level());
    error_report::set_color(arguments.messages.color);
    lab_privilege::obtain(&arguments);
    supervised::run(arguments, run)
}

fn run(arguments: Arguments) -> miette::Result<()> {
    match arguments.command {
        None => print(FIRST_STEPS.as_bytes()),
        Some(Command::Study(arguments)) => study::run(&arguments),
        Some(Command::Calibrate(arguments)) => calibrate::run(&arguments),
        Some(Command::Simulate(SimulateCommand::Packet(arguments))) => simulate::run(&arguments),
        Some(Command::Simulate(SimulateCommand::Runqueue(arguments))) => simulate::runqueue::run(&arguments),
        Some(Command::Simulate(SimulateCommand::Cluster(arguments))) => simulate::cluster::run(&arguments),
        Some(Command::Capacity(CapacityCommand::Packet(arguments))) => capacity::run(&arguments),
        Some(Command::Run(arguments)) => live::run(&arguments),
        Some(Command::Compare(arguments)) => compare::run(&arguments),
        Some(Command::Sweep(SweepCommand::Packet(arguments))) => sweep::run(&arguments),
        Some(Command::Sweep(SweepCommand::Runqueue(arguments))) => sweep::runqueue::run(&arguments),
        Some(Command::Sweep(SweepCommand::Cluster(arguments))) => sweep::cluster::run(&arguments),
        Some(Command::Sweep(SweepCommand::Grid(arguments))) => sweep::grid::run(&arguments),
        Some(Command::Reproduce(ReproduceCommand::Salehi1994(arguments))) => {
            reproduce::salehi::run(&arguments)
        }
        Some(Command::Reproduce(ReproduceCommand::Foong2004(arguments))) => reproduce::foong::run(&arguments),
        Some(Command::Reproduce(ReproduceCommand::Torrellas1995(arguments))) => {
            reproduce::torrellas::run(&arguments)
        }
        Some(Command::Advise(AdviseCommand::Dedicated(arguments))) => advise::dedicated(&arguments),
        Some(Command::Reproduce(ReproduceCommand::Falsafi1998(arguments))) => {
            reproduce::falsafi::run(&arguments)
        }
        Some(Command::Reproduce(ReproduceCommand::Mosberger1996(arguments))) => {
            reproduce::mosberger::run(&arguments)
        }
        Some(Command::Machine(arguments)) => machine::run(&arguments),
        Some(Command::Host(command)) => host::run(&command),
        Some(Command::Transfer(arguments)) => transfer::run(&arguments),
        Some(Command::Layout(command)) => layout::run(&command),
        Some(Command::Completions { shell }) => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "warmcore", &mut script);
            print(&script)
        }
        Some(Command::Report(arguments)) => report::run(&arguments),
        Some(Command::Man(arguments)) => manual::run(&arguments),
    }
}
