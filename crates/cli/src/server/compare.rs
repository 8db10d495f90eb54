//! `warmcore compare --driver udp-socket`.

use super::{Served, check_effects};
use crate::args::compare::CompareArguments;
use crate::folder::{Folder, RESULTS};
use crate::misuse::{misuse, refuse_repeats};
use crate::{interrupt, json, progress, provenance, terminal};
use miette::{IntoDiagnostic, miette};
use serde::Serialize;
use warmcore_record::atomic_file::Existing;
use warmcore_scenario::ServerPolicy;
use warmcore_study::compare::Loads;
use warmcore_study::server::compare::{ServerRequest, ThisMachine, compare};
use warmcore_study::server::present::compared;
use warmcore_study::server::results::{ServerSummary, columns};

/// Version of what `--json` prints.
const SCHEMA: u32 = 1;
const REPORT: &str = "report.html";
const PROFILE: &str = "udp-socket.toml";
const SUMMARY: &str = "summary.json";
const FILES: [&str; 5] = [REPORT, PROFILE, RESULTS.parquet, RESULTS.csv, SUMMARY];
/// How long each load is run in each round, in seconds.
const SECONDS: f64 = 0.4;

/// What `--json` prints.
#[derive(Serialize)]
struct Summary<'a> {
    schema: u32,
    profile: &'a str,
    state_bytes: usize,
    library: Option<&'a str>,
    #[serde(flatten)]
    results: &'a ServerSummary,
}

pub(crate) fn run(arguments: &CompareArguments, loads: Loads) -> miette::Result<()> {
    check_effects(&arguments.runnable.scenario.given, &["loads", "rates"])?;
    refuse_repeats("sharing", &arguments.sharing)?;
    if let Some(policy) = arguments.sharing.iter().find(|policy| !policy.is_predicted()) {
        return Err(misuse(format!(
            "--sharing names `{policy}`, which cannot be predicted: how its workers wake each other is not measured; \
             `warmcore run --driver udp-socket --sharing {policy}` runs it"
        )));
    }
    let served = Served::of(&arguments.runnable, SECONDS)?;
    let existing = if arguments.force { Existing::Replace } else { Existing::Refuse };
    let folder = Folder::open(&arguments.out, existing, &FILES)?;
    let stop = interrupt::catch()?;
    let profile = arguments.runnable.scenario.host.profile.as_ref();
    let (costs, profile) = served
        .costs(profile, arguments.quick, arguments.json, stop)
        .map_err(|error| folder.taken_back(error))?;
    folder.write(PROFILE, toml::to_string(&profile).into_diagnostic()?.as_bytes())?;

    let policies = match &arguments.sharing[..] {
        [] => ServerPolicy::BASIC.to_vec(),
        named => named.to_vec(),
    };
    let service = served.service.clone();
    let request = ServerRequest {
        service,
        policies,
        loads,
        cpus: served.cpus.clone(),
        long: served.long,
        seed: served.seed,
    };
    let bar = progress::bar("comparing");
    let mut bench = ThisMachine::new(stop).into_diagnostic()?;
    let compared_all = compare(&mut bench, &request, &costs, |at| {
        bar.set_message(at.stage);
        progress::set(&bar, at.done);
    });
    bar.finish_and_clear();
    let comparison = compared_all.map_err(|error| miette!("{error}"))?;

    let manifest = provenance::from_seed("arrivals", served.seed, None);
    let results = ServerSummary::new(&comparison);
    let state_bytes = costs.state_bytes;
    let library = costs.library.as_ref().map(|file| &*file.name);
    let summary = json::pretty(&Summary {
        schema: SCHEMA,
        profile: &profile.name,
        state_bytes,
        library,
        results: &results,
    })?;
    let report = warmcore_report::render(&compared::document(&comparison, &profile.name, manifest.clone()));
    folder.write_table(&RESULTS, &columns(&results.points).into_diagnostic()?, &manifest)?;
    folder.write(SUMMARY, summary.as_bytes())?;
    folder.write(REPORT, report.as_bytes())?;
    if arguments.json {
        return crate::output::print(summary.as_bytes());
    }
    let words = terminal::server::comparison(&comparison);
    crate::output::print(format!("{words}\nThe report: {}\n", folder.file(REPORT).display()).as_bytes())
}
