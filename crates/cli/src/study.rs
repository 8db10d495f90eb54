//! `warmcore study`.

mod interrupted;

use crate::args::StudyArguments;
use crate::calibrate::{existing, look_at_machine, measure, try_program, words};
use crate::documents::ProfileKind;
use crate::folder::{Folder, RESULTS};
use crate::misuse::{OrMisuse, misuse, refuse_repeats};
use crate::{
    documents, flags, interrupt, json, messages, progress, provenance, server, terminal, unused_options,
};
use interrupted::InterruptedStudy;
use miette::{IntoDiagnostic, WrapErr};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use warmcore_costs::socket::SocketPath;
use warmcore_costs::{Profile, SocketProfile};
use warmcore_measure::requests::service::Service;
use warmcore_measure::{CalibrateError, CalibrationPlan, SocketPlan};
use warmcore_record::Existing;
use warmcore_runtime::from_scenario::usable_cores;
use warmcore_scenario::document::Checked;
use warmcore_scenario::{ProfileSource, Study};
use warmcore_study::predictions::PredictError;
use warmcore_study::server::advice::ServerFindings;
use warmcore_study::server::compare::ThisMachine;
use warmcore_study::server::predict::PredictServerError;
use warmcore_study::{Findings, conclude, present, results};
use warmcore_topology::Machine;

/// The processors looked ahead to beside this machine's own.
const LOOK_AHEAD: [u32; 2] = [8, 64];

pub(crate) fn run(arguments: &StudyArguments) -> miette::Result<()> {
    let mut study = scenario(arguments)?;
    let given = given_profile(&study)?;
    let given_sockets = given_sockets(arguments)?;
    let earlier = InterruptedStudy::find(arguments);
    let existing = if earlier.is_some() { Existing::Replace } else { existing(arguments.output.force) };
    let folder = Folder::open(&arguments.out, existing, &FILES)?;
    let stop = interrupt::catch()?;
    let (profile, machine) = match (given, &earlier) {
        (Some(profile), _) => (profile, None),
        (None, Some(earlier)) => earlier.costs(arguments)?,
        (None, None) => measured(&study, arguments, stop).map_err(|error| folder.taken_back(error))?,
    };
    complete(&mut study, &profile, machine.as_ref());
    let is_measured = machine.is_some();
    if let Some(earlier) = &earlier {
        earlier.refuse_others(&study)?;
        if is_measured {
            earlier.tell();
        }
    }
    // Written at once, so that they survive whatever comes after.
    folder.write(PROFILE, toml::to_string(&profile).into_diagnostic()?.as_bytes())?;
    folder.write(SCENARIO, toml::to_string(&study).into_diagnostic()?.as_bytes())?;
    let runs_servers = given_sockets.is_none();
    let sockets = match given_sockets {
        Some(given) => {
            folder.write(SOCKETS, toml::to_string(&given).into_diagnostic()?.as_bytes())?;
            Some(given)
        }
        None if is_measured && study.calibration.server_budget_s > 0.0 => {
            sockets(&study, earlier.is_some(), &folder, stop)?
        }
        None => None,
    };

    let bar = progress::bar("predicting");
    let tell = |done: usize, of: usize| progress::set(&bar, done as f64 / of as f64);
    let findings = conclude(&study, profile, machine, &tell, stop);
    bar.finish_and_clear();
    let findings = match findings {
        Err(PredictError::Interrupted) => return Err(interrupted::report()),
        Err(error @ PredictError::AboveCapacity { .. }) => Err(error).or_misuse(),
        findings => findings.into_diagnostic(),
    };
    // What was measured is not lost.
    let findings = findings.wrap_err("cannot predict");
    let mut findings =
        findings.map_err(|error| if is_measured { error } else { folder.taken_back(error) })?;
    if let Some(sockets) = &sockets {
        findings.servers = match runs_servers {
            true => servers(&study, sockets, stop)?,
            false => predicted_servers(arguments, &study, sockets, stop)?,
        };
    }

    let summary = json::pretty(&results::Summary::new(&findings))?;
    write(&folder, &study, &findings, &summary)?;
    if arguments.output.json {
        return crate::output::print(summary.as_bytes());
    }
    let report = folder.file(REPORT);
    let closing = format!("{}\nThe report: {}\n", terminal::summary(&findings), report.display());
    crate::output::print(closing.as_bytes())
}

const REPORT: &str = "report.html";
const PROFILE: &str = "profile.toml";
const SUMMARY: &str = "summary.json";
const SCENARIO: &str = "study.toml";
const SOCKETS: &str = "udp-socket.toml";
const FILES: [&str; 7] = [REPORT, PROFILE, SOCKETS, RESULTS.parquet, RESULTS.csv, SUMMARY, SCENARIO];

/// The scenario that the arguments ask for. Its processors are empty if nothing names them.
fn scenario(arguments: &StudyArguments) -> miette::Result<Study> {
    refuse_repeats("processors", &arguments.processors)?;
    let mut study = match &arguments.scenario {
        Some(path) => documents::read::<Study>(path)?,
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
    unused_options::refuse(
        "intervening",
        asked && !measures,
        "the profile is given, and nothing is measured",
    )?;
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
    study.check().map_err(|fault| flags::refused(&fault))
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
        ProfileSource::Measure => Ok(None),
        given => documents::profile(given).map(Some),
    }
}

/// The profile of the kernel's path that the arguments name.
fn given_sockets(arguments: &StudyArguments) -> miette::Result<Option<SocketProfile>> {
    let Some(path) = &arguments.socket_profile else { return Ok(None) };
    let profile: SocketProfile = documents::profile_of(path, ProfileKind::Sockets)?;
    if profile.path != SocketPath::UdpSocket {
        return Err(misuse(format!(
            "{} is about TCP connections, expected costs of UDP: `warmcore calibrate --path udp-socket` measures them",
            path.display()
        )));
    }
    if profile.servers.is_empty() {
        return Err(misuse(format!(
            "{} has no requests to a server (`servers`), expected at least one: `warmcore calibrate --path udp-socket` measures them",
            path.display()
        )));
    }
    Ok(Some(profile))
}

/// The costs of this machine, measured now.
fn measured(
    study: &Study,
    arguments: &StudyArguments,
    stop: &AtomicBool,
) -> miette::Result<(Profile, Option<Machine>)> {
    let machine = look_at_machine(arguments.output.json)?;
    let packets = CalibrationPlan::standard().packets();
    let profile = measure(&machine, &study.calibration, packets, study.seed, stop)?;
    Ok((profile, Some(machine)))
}

/// The costs of requests to a server on the kernel's sockets; `None` if they cannot be measured here, which is said.
fn sockets(
    study: &Study,
    goes_on: bool,
    folder: &Folder,
    stop: &AtomicBool,
) -> miette::Result<Option<SocketProfile>> {
    let file = folder.file(SOCKETS);
    if goes_on && file.exists() {
        return documents::read(&file).map(Some);
    }
    let machine = look_at_machine(true)?;
    let budget = Duration::from_secs_f64(study.calibration.server_budget_s);
    let plan = SocketPlan { seed: study.seed, ..SocketPlan::within_study(budget) };
    match server::measure(&machine, &plan, stop) {
        Ok(profile) => {
            folder.write(SOCKETS, toml::to_string(&profile).into_diagnostic()?.as_bytes())?;
            Ok(Some(profile))
        }
        Err(CalibrateError::Interrupted) => Err(interrupted::report()),
        Err(error) => {
            messages::note(format_args!("the kernel's path is not in the report: {error}"));
            Ok(None)
        }
    }
}

/// Which way to share a port suits a server, by a profile that was given. Nothing is run: it may be of another machine.
fn predicted_servers(
    arguments: &StudyArguments,
    study: &Study,
    sockets: &SocketProfile,
    stop: &AtomicBool,
) -> miette::Result<ServerFindings> {
    let processors = match arguments.processors.first() {
        Some(&processors) => processors as usize,
        None => usable_cores().into_diagnostic()?.len(),
    };
    let mut found = advised(sockets, processors, study.seed, stop)?;
    found.notes.push(format!(
        "The kernel's path was not measured now: its costs are those of {} ({}), for {processors} processors, and the saving was \
         not run.",
        sockets.name, sockets.provenance.date
    ));
    Ok(found)
}

fn advised(
    sockets: &SocketProfile,
    processors: usize,
    seed: u64,
    stop: &AtomicBool,
) -> miette::Result<ServerFindings> {
    match ServerFindings::new(sockets, processors, seed, stop) {
        Err(PredictServerError::Interrupted) => Err(interrupted::report()),
        found => found.into_diagnostic(),
    }
}

/// Which way to share a port suits a server, with the costs of `sockets`; the saving that the report speaks of is run.
fn servers(study: &Study, sockets: &SocketProfile, stop: &AtomicBool) -> miette::Result<ServerFindings> {
    let cpus = usable_cores().into_diagnostic()?;
    let mut found = advised(sockets, cpus.len(), study.seed, stop)?;
    let mut bench = ThisMachine::new(stop).into_diagnostic()?;
    for (advice, costs) in found.advice.iter_mut().zip(&sockets.servers) {
        let run = {
            let service = Service::touching(costs.state_bytes, costs.payload_bytes);
            advice.verify(&mut bench, &service, &cpus, study.seed)
        };
        if stop.load(Ordering::SeqCst) {
            return Err(interrupted::report());
        }
        run.into_diagnostic().wrap_err("cannot run the server that the report speaks of")?;
    }
    Ok(found)
}

/// Puts into `study` what follows from its costs: as it is written beside them, it can be repeated from there.
fn complete(study: &mut Study, profile: &Profile, machine: Option<&Machine>) {
    if let ProfileSource::File(path) = &mut study.calibration.profile {
        *path = PROFILE.into();
    }
    if study.prediction.processors.is_empty() {
        study.prediction.processors = look_ahead(profile, machine);
    }
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
    folder.write_table(&RESULTS, &columns, &manifest)?;
    let report = warmcore_report::render(&present::document(findings, manifest));
    folder.write(SUMMARY, summary.as_bytes())?;
    folder.write(REPORT, report.as_bytes())
}
