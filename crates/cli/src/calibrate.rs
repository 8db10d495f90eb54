//! `warmcore calibrate`.

mod program;
mod sockets;

use crate::args::{CalibrateArguments, CalibratedPath, InterveningArguments};
use crate::misuse::OrMisuse;
use crate::probe::look;
use crate::{folder, interrupt, json, messages, progress, terminal};
use miette::{IntoDiagnostic, WrapErr};
use std::ffi::OsString;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;
use warmcore_costs::{Packets, Profile};
use warmcore_linux::{Probe, Program};
use warmcore_measure::CalibrationPlan;
use warmcore_record::atomic_file::{self, Existing};
use warmcore_scenario::{Calibration, Study};
use warmcore_study::costs;
use warmcore_topology::Machine;
use warmcore_units::{Estimate, Nanos, Transport};

/// For how long an intervening program is tried.
const TRIAL: Duration = Duration::from_millis(200);

const NOT_INTERVENING: &str = "--intervening (in a scenario: `calibration.intervening`)";

/// Where the profile goes if nothing else is said.
const PROFILE: &str = "profile.toml";

pub(crate) fn run(arguments: &CalibrateArguments) -> miette::Result<()> {
    if let Some(line) = &arguments.server {
        return program::run(arguments, line);
    }
    match arguments.path.unwrap_or_default() {
        CalibratedPath::Stack => run_stack(arguments),
        CalibratedPath::UdpSocket => sockets::run(arguments, Transport::Udp),
        CalibratedPath::TcpSocket => sockets::run(arguments, Transport::Tcp),
    }
}

fn run_stack(arguments: &CalibrateArguments) -> miette::Result<()> {
    crate::server::refuse_served(&arguments.served)?;
    let out = arguments.out.as_deref().unwrap_or_else(|| Path::new(PROFILE));
    let mut study = if arguments.quick { Study::quick(vec![1]) } else { Study::standard(vec![1]) };
    study.seed = arguments.seed.unwrap_or(study.seed);
    study.calibration.intervening = words(&arguments.intervening);
    let packets = packets(arguments)?;
    try_program(&study.calibration.intervening)?;
    let existing = existing(arguments.output.force);
    atomic_file::check(out, existing).or_misuse()?;

    let stop = interrupt::catch()?;
    let machine = look_at_machine(arguments.output.json)?;
    let profile = measure(&machine, &study.calibration, packets, study.seed, stop)?;
    let text = toml::to_string(&profile).into_diagnostic()?;
    folder::write(out, text.as_bytes(), existing)?;

    if arguments.output.json {
        return crate::output::print(json::line(&profile)?.as_bytes());
    }
    let written = format!(
        "{}\n{}The profile is in {}.\n",
        terminal::times(&profile),
        attention(&profile),
        out.display()
    );
    crate::output::print(written.as_bytes())
}

/// The packets to measure.
fn packets(arguments: &CalibrateArguments) -> miette::Result<Packets> {
    let standard = CalibrationPlan::standard();
    let plan = CalibrationPlan {
        transport: arguments.transport.unwrap_or(standard.transport),
        payload_bytes: arguments.payload.unwrap_or(standard.payload_bytes),
        reply_bytes: arguments.reply.unwrap_or(standard.reply_bytes),
        ..standard
    };
    plan.check_packets().or_misuse()?;
    Ok(plan.packets())
}

/// What it costs to get a processor's attention, as far as it was measured.
fn attention(profile: &Profile) -> String {
    let of = |cost: Option<Estimate<Nanos>>, what: &str| {
        let micros = |nanos: f64| nanos / 1e3;
        cost.map(|cost| format!("{what} {:.2} ± {:.2} us. ", micros(cost.mean.0), micros(cost.half())))
    };
    let interrupt = of(profile.provenance.interrupt, "An interrupt takes from a thread that computes");
    let wake_up = of(profile.provenance.wake_up, "A sleeping thread goes on after");
    match interrupt.into_iter().chain(wake_up).collect::<String>() {
        said if said.is_empty() => said,
        said => format!("{}\n", said.trim_end()),
    }
}

/// This machine; what could not be found out about it is said on standard error.
pub(crate) fn look_at_machine(quietly: bool) -> miette::Result<Machine> {
    let probed = look(None, Probe::machine)?.into_diagnostic().wrap_err("cannot look at the machine")?;
    if !quietly {
        for warning in &probed.warnings {
            messages::note(warning);
        }
        if probed.machine.usable_cores().len() < 2 {
            messages::note(
                "with one usable core, the cost of migration cannot be measured; everything else is",
            );
        }
    }
    Ok(probed.machine)
}

/// Measures what such `packets` cost on `machine`, with a progress bar.
pub(crate) fn measure(
    machine: &Machine,
    plan: &Calibration,
    packets: Packets,
    seed: u64,
    stop: &AtomicBool,
) -> miette::Result<Profile> {
    let bar = progress::bar("measuring");
    let mut observer = |at: costs::Progress| {
        bar.set_message(at.stage);
        progress::set(&bar, at.done);
    };
    let profile = costs::measure(machine, plan, packets, seed, &mut observer, stop);
    bar.finish_and_clear();
    profile.into_diagnostic().wrap_err("cannot measure this machine")
}

/// Starts the user's intervening program for a moment: one that cannot be started, or ends at once, is
/// refused before anything is measured.
pub(crate) fn try_program(words: &[String]) -> miette::Result<()> {
    if words.is_empty() {
        return Ok(());
    }
    let words: Vec<OsString> = words.iter().map(Into::into).collect();
    let mut program = Program::start(&words).or_misuse().wrap_err(NOT_INTERVENING)?;
    thread::sleep(TRIAL);
    program.check().or_misuse().wrap_err(NOT_INTERVENING)
}

/// The words of the user's intervening program; none for the built-in work.
pub(crate) fn words(arguments: &InterveningArguments) -> Vec<String> {
    arguments.intervening.iter().flat_map(|line| line.iter().cloned()).collect()
}

/// Whether files that are there are replaced.
pub(crate) const fn existing(force: bool) -> Existing {
    if force { Existing::Replace } else { Existing::Refuse }
}
