//! `warmcore compare`.

use crate::args::compare::CompareArguments;
use crate::calibrate::look_at_machine;
use crate::folder::{Folder, RESULTS};
use crate::misuse::{misuse, refuse_repeats};
use crate::{
    documents, flags, interrupt, json, live, messages, point, progress, provenance, server, terminal,
    unused_options,
};
use miette::{IntoDiagnostic, WrapErr, miette};
use serde::Serialize;
use std::path::{self, PathBuf};
use std::sync::atomic::AtomicBool;
use warmcore_costs::Profile;
use warmcore_record::atomic_file::Existing;
use warmcore_runtime::Setup;
use warmcore_scenario::document::Checked;
use warmcore_scenario::{DriverKind, PacketScenario, Process, ProfileSource, Scheduling, Study};
use warmcore_study::compare::results::{self, columns};
use warmcore_study::compare::{CompareError, Comparison, Loads, Request, compare, packets, present};
use warmcore_study::costs;
use warmcore_units::PerSecond;

/// Version of what `--json` prints. Version 4 has `disturbed_share` in place of `disturbed_packets`.
const SCHEMA: u32 = 4;
const REPORT: &str = "report.html";
const PROFILE: &str = "profile.toml";
const SUMMARY: &str = "summary.json";
/// Packets per second at which a run of seconds still has some dozens.
const LOWEST_RATE: f64 = 10.0;
const HIGHEST_RATE: f64 = 1e9;
const SCENARIO: &str = "scenario.toml";
const FILES: [&str; 6] = [REPORT, PROFILE, RESULTS.parquet, RESULTS.csv, SUMMARY, SCENARIO];

pub(crate) fn run(arguments: &CompareArguments) -> miette::Result<()> {
    if let Some(transport) = server::asked(&arguments.runnable) {
        refuse_repeats("loads", &arguments.loads)?;
        refuse_repeats("rates", &arguments.rates)?;
        return server::compare::run(arguments, transport, loads(arguments)?);
    }
    unused_options::refuse("sharing", !arguments.sharing.is_empty(), server::NO_PORT)?;
    server::refuse_served(&arguments.runnable.served)?;
    let request = request(arguments)?;
    let given = given_profile(&request.scenario)?;
    let existing = if arguments.force { Existing::Replace } else { Existing::Refuse };
    let folder = Folder::open(&arguments.out, existing, &FILES)?;
    let stop = interrupt::catch()?;
    let profile = match given {
        Some(profile) => profile,
        None => measure(&request.scenario, arguments, stop).map_err(|error| folder.taken_back(error))?,
    };
    let doubts = packets::doubts(&profile, &request.scenario.live, request.scenario.traffic.streams);
    doubts.iter().for_each(messages::note);
    folder.write(PROFILE, toml::to_string(&profile).into_diagnostic()?.as_bytes())?;
    folder.write(SCENARIO, document(&request.scenario)?.as_bytes())?;

    let bar = progress::bar("comparing");
    let compared = compare(&request, &profile, stop, |at| {
        bar.set_message(at.stage);
        progress::set(&bar, at.done);
    });
    bar.finish_and_clear();
    let comparison = compared.map_err(|error| match error {
        // What was measured is not lost.
        CompareError::Interrupted => {
            let file = folder.file(PROFILE);
            messages::print(format_args!(
                "the costs are kept: `--profile {} --force` takes them",
                file.display()
            ));
            explained(error)
        }
        error => folder.taken_back(explained(error)),
    })?;

    let summary = write(&folder, &request, &profile, &comparison, doubts)?;
    let text = match arguments.json {
        true => summary,
        false => {
            let words = terminal::compare::summary(&comparison);
            format!("{words}\nThe report: {}\n", folder.file(REPORT).display())
        }
    };
    crate::output::print(text.as_bytes())?;
    present::nothing_judged(&comparison).map_or(Ok(()), |why| Err(miette!("{why}")))
}

/// What `--json` prints.
#[derive(Serialize)]
struct Summary<'a> {
    schema: u32,
    profile: &'a str,
    notes: Vec<String>,
    #[serde(flatten)]
    results: &'a results::Summary,
}

fn request(arguments: &CompareArguments) -> miette::Result<Request> {
    check_effects(arguments)?;
    refuse_repeats("loads", &arguments.loads)?;
    refuse_repeats("rates", &arguments.rates)?;
    refuse_repeats("approaches", &arguments.approaches)?;
    refuse_repeats("policies", &arguments.policies)?;
    let mut scenario = live::scenario(&arguments.runnable).wrap_err("cannot compare")?;
    check_driver(scenario.live.driver)?;
    let loads = loads(arguments)?;
    if arguments.runnable.live.seconds.is_none() && arguments.runnable.scenario.document.is_none() {
        scenario.live.seconds = 2.0;
    }
    let given = scenario.scheduling;
    let or = |listed: usize| if listed == 0 { 1 } else { listed };
    let approach = |index: usize| arguments.approaches.get(index).copied().unwrap_or(given.approach);
    let policy = |index: usize| arguments.policies.get(index).copied().unwrap_or(given.policy);
    let schedulings: Vec<Scheduling> = (0..or(arguments.approaches.len()))
        .flat_map(|approach| (0..or(arguments.policies.len())).map(move |policy| (approach, policy)))
        .map(|(a, p)| Scheduling { approach: approach(a), policy: policy(p), ..given })
        .collect();
    let mut without_effect = Vec::new();
    for scheduling in &schedulings {
        let scenario = PacketScenario { scheduling: *scheduling, ..scenario.clone() };
        scenario.check().map_err(|fault| flags::refused(&fault))?;
        without_effect.extend(
            unused_options::check_unused(&arguments.runnable.scenario.given, &scenario.unused_live()).err(),
        );
        check_can_run(scenario)?;
    }
    // What has an effect under one way to schedule is asked for that one's sake.
    if without_effect.len() == schedulings.len() {
        without_effect.into_iter().try_for_each(Err)?;
    }
    Ok(Request { scenario, schedulings, loads })
}

fn loads(arguments: &CompareArguments) -> miette::Result<Loads> {
    if !arguments.rates.is_empty() {
        if let Some(rate) = arguments.rates.iter().find(|rate| !(LOWEST_RATE..=HIGHEST_RATE).contains(*rate))
        {
            return Err(misuse(format!(
                "--rates has {rate}, expected packets per second between {LOWEST_RATE} and {HIGHEST_RATE}"
            )));
        }
        return Ok(Loads::Rates(arguments.rates.iter().copied().map(PerSecond).collect()));
    }
    if let Some(load) = arguments.loads.iter().find(|load| !(0.01..=0.98).contains(*load)) {
        return Err(misuse(format!(
            "--loads has {load}, expected fractions of capacity between 0.01 and 0.98; --rates takes lower ones"
        )));
    }
    Ok(Loads::Fractions(arguments.loads.clone()))
}

/// Refuses what a comparison makes no use of.
fn check_effects(arguments: &CompareArguments) -> miette::Result<()> {
    let given = &arguments.runnable.scenario;
    let reason = "rates follow from --loads, the fractions of each predicted capacity";
    arguments.runnable.live.driver.map_or(Ok(()), check_driver)?;
    unused_options::refuse("rate", given.traffic.rate.is_some(), reason)?;
    unused_options::refuse("time-scale", given.traffic.time_scale.is_some(), reason)?;
    let published = given.host.profile == Some(ProfileSource::SgiChallengeXl);
    match published {
        true => Err(misuse(
            "--profile is sgi-challenge-xl, expected a profile measured on this machine; omit it to measure one",
        )),
        false => Ok(()),
    }
}

/// Refuses packets that come from peers.
fn check_driver(driver: DriverKind) -> miette::Result<()> {
    match driver {
        DriverKind::Memory => Ok(()),
        _ => Err(misuse("--driver is not memory: what peers will send cannot be predicted")),
    }
}

/// Refuses what cannot be run here before anything is measured. Costs do not decide that, nor does
/// the rate.
fn check_can_run(scenario: PacketScenario) -> miette::Result<()> {
    let scenario = PacketScenario { rate_per_s: Some(PerSecond(1.0)), ..scenario };
    let setup = Setup::new(&scenario, &Profile::sgi_challenge_xl());
    setup.map(drop).map_err(live::unusable)
}

/// The profile that the prediction rests on; `None` if this machine is to be measured for it.
fn given_profile(scenario: &PacketScenario) -> miette::Result<Option<Profile>> {
    if scenario.profile == ProfileSource::SgiChallengeXl {
        return Ok(None);
    }
    let profile = documents::profile(&scenario.profile)?;
    packets::check(&profile, &scenario.live).map_err(|fault| {
        point::unfit_profile(&format_args!(
            "{fault}. Without --profile, fitting costs are measured first, and later comparisons can use the \
             profile.toml written here"
        ))
    })?;
    Ok(Some(profile))
}

/// Measures the costs that the prediction rests on.
fn measure(
    scenario: &PacketScenario,
    arguments: &CompareArguments,
    stop: &AtomicBool,
) -> miette::Result<Profile> {
    let machine = look_at_machine(arguments.json)?;
    let study = if arguments.quick { Study::quick(vec![1]) } else { Study::standard(vec![1]) };
    let bar = progress::bar("measuring");
    let mut observer = |at: costs::Progress| {
        bar.set_message(at.stage);
        progress::set(&bar, at.done);
    };
    let profile = costs::measure_for_run(
        &machine,
        &study.calibration,
        &scenario.live,
        scenario.seed,
        &mut observer,
        stop,
    );
    bar.finish_and_clear();
    profile.into_diagnostic().wrap_err("cannot measure this machine")
}

/// The text of `scenario` for the folder of results: its profile is the file beside it, and a trace has its
/// absolute path, so that the document works wherever the folder is moved.
fn document(scenario: &PacketScenario) -> miette::Result<String> {
    let mut scenario =
        PacketScenario { profile: ProfileSource::File(PathBuf::from(PROFILE)), ..scenario.clone() };
    if let Process::Trace(trace) = &mut scenario.traffic.process {
        trace.file = path::absolute(&trace.file).into_diagnostic()?;
    }
    toml::to_string(&scenario).into_diagnostic()
}

/// Writes everything; what `--json` prints.
fn write(
    folder: &Folder,
    request: &Request,
    profile: &Profile,
    comparison: &Comparison,
    notes: Vec<String>,
) -> miette::Result<String> {
    let manifest =
        provenance::from_simulation(profile, request.scenario.seed, Some(document(&request.scenario)?));
    let results = results::Summary::new(comparison);
    let report = present::document(comparison, profile, &notes, manifest.clone());
    let report = warmcore_report::render(&report);
    let summary = Summary { schema: SCHEMA, profile: &profile.name, notes, results: &results };
    let summary = json::pretty(&summary)?;
    folder.write_table(&RESULTS, &columns(&results.points).into_diagnostic()?, &manifest)?;
    folder.write(SUMMARY, summary.as_bytes())?;
    folder.write(REPORT, report.as_bytes())?;
    Ok(summary)
}

fn explained(error: CompareError) -> miette::Report {
    match error {
        CompareError::Prediction(error) => point::explained(error),
        CompareError::Setup(error) => live::unusable(error),
        CompareError::Run(error) => live::failed(error),
        error => miette!("{error}"),
    }
}
