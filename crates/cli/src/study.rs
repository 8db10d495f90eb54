//! `warmcore study`.

use crate::args::StudyArguments;
use crate::calibrate::{existing, look_at_machine, measure, try_program, words};
use crate::folder::{Folder, RESULTS};
use crate::misuse::OrMisuse;
use crate::{effect, interrupt, json, point, progress, provenance, terminal};
use miette::{IntoDiagnostic, WrapErr};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use warmcore_costs::Profile;
use warmcore_scenario::document::Checked;
use warmcore_scenario::{ProfileSource, Study};
use warmcore_study::predictions::PredictError;
use warmcore_study::{Findings, conclude, present, results};
use warmcore_topology::Machine;

/// The processors looked ahead to beside this machine's own.
const LOOK_AHEAD: [u32; 2] = [8, 64];

pub(crate) fn run(arguments: &StudyArguments) -> miette::Result<()> {
    let mut study = scenario(arguments)?;
    let given = given_profile(&study)?;
    let folder = Folder::open(&arguments.out, existing(arguments.output.force), &FILES)?;
    let stop = interrupt::catch()?;
    let (profile, machine) = costs(&mut study, given, arguments, &folder, stop)?;

    let bar = progress::bar("predicting");
    let tell = |done: usize, of: usize| progress::set(&bar, done as f64 / of as f64);
    let findings = conclude(&study, profile, machine, &tell, stop);
    bar.finish_and_clear();
    let findings = match findings {
        Err(error @ PredictError::AboveCapacity { .. }) => Err(error).or_misuse(),
        findings => findings.into_diagnostic(),
    };
    let findings = findings.wrap_err("cannot predict")?;

    let summary = json::pretty(&results::Summary::new(&findings))?;
    write(&folder, &study, &findings, &summary)?;
    if arguments.output.json {
        return crate::print(summary.as_bytes());
    }
    let report = folder.file(REPORT);
    let closing = format!("{}\nThe report: {}\n", terminal::summary(&findings), report.display());
    crate::print(closing.as_bytes())
}

const REPORT: &str = "report.html";
const PROFILE: &str = "profile.toml";
const SUMMARY: &str = "summary.json";
const SCENARIO: &str = "study.toml";
const FILES: [&str; 6] = [REPORT, PROFILE, RESULTS.parquet, RESULTS.csv, SUMMARY, SCENARIO];

/// The scenario that the arguments ask for. Its processors are empty if nothing names them.
fn scenario(arguments: &StudyArguments) -> miette::Result<Study> {
    let mut study = match &arguments.scenario {
        Some(path) => point::read_document::<Study>(path)?,
        None if arguments.quick => Study::quick(arguments.processors.clone()),
        None => Study::standard(arguments.processors.clone()),
    };
    if let Some(path) = &arguments.scenario {
        study.calibration.profile = relative_to(path, study.calibration.profile);
    }
    if let Some(profile) = &arguments.profile {
        study.calibration.profile = ProfileSource::try_from(profile.clone()).or_misuse()?;
    }
    let measures = study.calibration.profile == ProfileSource::Measure;
    let asked = arguments.intervening.intervening.is_some();
    effect::refuse("intervening", asked && !measures, "the profile is given, and nothing is measured")?;
    if asked {
        study.calibration.intervening = words(&arguments.intervening);
    }
    study.seed = arguments.seed.unwrap_or(study.seed);
    check(&study)?;
    if measures {
        try_program(&study.calibration.intervening)?;
    }
    Ok(study)
}

/// Refuses what cannot be used before anything is measured.
fn check(study: &Study) -> miette::Result<()> {
    let mut study = study.clone();
    if study.prediction.processors.is_empty() {
        study.prediction.processors.push(1);
    }
    study.check().map_err(|fault| point::refused(&fault))
}

/// A profile that a scenario names is looked for in the folder of the scenario.
fn relative_to(scenario: &Path, profile: ProfileSource) -> ProfileSource {
    match (profile, scenario.parent()) {
        (ProfileSource::File(file), Some(folder)) => ProfileSource::File(folder.join(file)),
        (profile, _) => profile,
    }
}

/// The profile that `study` names; `None` if this machine is to be measured.
fn given_profile(study: &Study) -> miette::Result<Option<Profile>> {
    match &study.calibration.profile {
        ProfileSource::SgiChallengeXl => Ok(Some(Profile::sgi_challenge_xl())),
        ProfileSource::File(path) => point::read_document(path).map(Some),
        ProfileSource::Measure => Ok(None),
    }
}

/// The profile the study rests on and, if it was measured now, the machine it is of; what was
/// measured is written at once, so that it survives whatever comes after.
fn costs(
    study: &mut Study,
    given: Option<Profile>,
    arguments: &StudyArguments,
    folder: &Folder,
    stop: &AtomicBool,
) -> miette::Result<(Profile, Option<Machine>)> {
    let (profile, machine) = match given {
        Some(profile) => (profile, None),
        None => {
            let machine = look_at_machine(arguments.output.json)?;
            let profile = measure(&machine, &study.calibration, study.seed, stop)?;
            (profile, Some(machine))
        }
    };
    folder.write(PROFILE, toml::to_string(&profile).into_diagnostic()?.as_bytes())?;
    // The scenario that is written beside it names that copy, and so can be repeated from there.
    if let ProfileSource::File(path) = &mut study.calibration.profile {
        *path = PROFILE.into();
    }
    if study.prediction.processors.is_empty() {
        study.prediction.processors = look_ahead(&profile, machine.as_ref());
    }
    Ok((profile, machine))
}

/// This machine's number of processors, then 8 and 64. One processor alone looks no further: what
/// migration costs is not known.
fn look_ahead(profile: &Profile, machine: Option<&Machine>) -> Vec<u32> {
    let own = machine.and_then(|machine| u32::try_from(machine.usable_cores().len()).ok());
    if !profile.is_complete() {
        return vec![1];
    }
    let mut processors: Vec<u32> = own.into_iter().collect();
    processors.extend(LOOK_AHEAD.into_iter().filter(|&other| Some(other) != own));
    processors
}

fn write(folder: &Folder, study: &Study, findings: &Findings, summary: &str) -> miette::Result<()> {
    let manifest =
        provenance::manifest(study, &findings.profile, findings.machine.as_ref()).into_diagnostic()?;
    let columns = results::columns(findings).into_diagnostic()?;
    let scenario = toml::to_string(study).into_diagnostic()?;
    folder.write(SCENARIO, scenario.as_bytes())?;
    folder.write_table(&RESULTS, &columns, &manifest)?;
    let report = warmcore_report::render(&present::document(findings, manifest));
    folder.write(SUMMARY, summary.as_bytes())?;
    folder.write(REPORT, report.as_bytes())
}
