//! `warmcore calibrate`.

use crate::args::{CalibrateArguments, InterveningArguments, OutputArguments};
use crate::{interrupt, progress, terminal};
use miette::{IntoDiagnostic, WrapErr};
use std::sync::atomic::AtomicBool;
use warmcore_costs::Profile;
use warmcore_linux::Probe;
use warmcore_record::whole::{self, Existing};
use warmcore_scenario::{Calibration, Study};
use warmcore_study::costs;
use warmcore_topology::Machine;

pub(crate) fn run(arguments: &CalibrateArguments) -> miette::Result<()> {
    let mut study = if arguments.quick { Study::quick(vec![1]) } else { Study::standard(vec![1]) };
    study.seed = arguments.seed.unwrap_or(study.seed);
    study.calibration.intervening = words(&arguments.intervening);
    let existing = existing(&arguments.output);
    whole::check(&arguments.out, existing).into_diagnostic()?;

    let stop = interrupt::catch()?;
    let machine = look_at_machine(arguments.output.json)?;
    let profile = measure(&machine, &study.calibration, study.seed, stop)?;
    let text = toml::to_string(&profile).into_diagnostic()?;
    whole::write(&arguments.out, text.as_bytes(), existing).into_diagnostic()?;

    if arguments.output.json {
        return crate::print(format!("{}\n", serde_json::to_string(&profile).into_diagnostic()?).as_bytes());
    }
    let written = format!("{}\nThe profile is in {}.\n", terminal::times(&profile), arguments.out.display());
    crate::print(written.as_bytes())
}

/// This machine; what could not be found out about it is said on standard error.
pub(crate) fn look_at_machine(quietly: bool) -> miette::Result<Machine> {
    let probed = Probe::new().machine().into_diagnostic().wrap_err("cannot look at the machine")?;
    if !quietly {
        for warning in &probed.warnings {
            eprintln!("note: {warning}");
        }
        if probed.machine.usable_cores().len() < 2 {
            eprintln!("note: with one usable core, what migration costs cannot be measured; the rest is");
        }
    }
    Ok(probed.machine)
}

/// Measures the costs of `machine`, with a progress bar.
pub(crate) fn measure(
    machine: &Machine,
    plan: &Calibration,
    seed: u64,
    stop: &AtomicBool,
) -> miette::Result<Profile> {
    let bar = progress::bar("measuring");
    let mut observer = |at: costs::Progress| {
        bar.set_message(at.stage);
        progress::set(&bar, at.done);
    };
    let profile = costs::measure(machine, plan, seed, &mut observer, stop);
    bar.finish_and_clear();
    profile.into_diagnostic().wrap_err("cannot measure this machine")
}

/// The words of the user's intervening program; none for the built-in work.
pub(crate) fn words(arguments: &InterveningArguments) -> Vec<String> {
    arguments.intervening.iter().flat_map(|line| line.iter().cloned()).collect()
}

pub(crate) const fn existing(output: &OutputArguments) -> Existing {
    if output.force { Existing::Replace } else { Existing::Refuse }
}
