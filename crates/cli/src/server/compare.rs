//! `warmcore compare` with `--driver udp-socket` or `tcp-socket`.

use super::{Served, check_effects};
use crate::args::compare::CompareArguments;
use crate::folder::{Folder, RESULTS};
use crate::misuse::{misuse, refuse_repeats};
use crate::server::profile_file;
use crate::{interrupt, json, progress, provenance, terminal};
use miette::{IntoDiagnostic, miette};
use serde::Serialize;
use warmcore_record::atomic_file::Existing;
use warmcore_scenario::ServerPolicy;
use warmcore_study::compare::Loads;
use warmcore_study::server::compare::{ServerRequest, ThisMachine, compare};
use warmcore_study::server::present::compared;
use warmcore_study::server::results::{ServerSummary, columns};
use warmcore_units::Transport;

/// Version of what `--json` prints.
const SCHEMA: u32 = 1;
const REPORT: &str = "report.html";
const SUMMARY: &str = "summary.json";
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

pub(crate) fn run(arguments: &CompareArguments, transport: Transport, loads: Loads) -> miette::Result<()> {
    check_effects(&arguments.runnable.scenario.given, &["loads", "rates"])?;
    refuse_repeats("sharing", &arguments.sharing)?;
    for policy in &arguments.sharing {
        policy.is_predicted(transport).map_err(|reason| {
            let run = match policy.is_possible(transport) {
                Ok(()) => format!("; `warmcore run --driver {transport}-socket --sharing {policy}` runs it"),
                Err(_) => String::new(),
            };
            misuse(format!("--sharing {policy} cannot be compared over {transport}: {reason}{run}"))
        })?;
    }
    let served = Served::of(&arguments.runnable, transport, SECONDS)?;
    let existing = if arguments.force { Existing::Replace } else { Existing::Refuse };
    let profile_file = profile_file(transport);
    let files = [REPORT, profile_file, RESULTS.parquet, RESULTS.csv, SUMMARY];
    let folder = Folder::open(&arguments.out, existing, &files)?;
    let stop = interrupt::catch()?;
    let profile = arguments.runnable.scenario.host.profile.as_ref();
    let (costs, profile) = served
        .costs(profile, arguments.quick, arguments.json, stop)
        .map_err(|error| folder.taken_back(error))?;
    folder.write(profile_file, toml::to_string(&profile).into_diagnostic()?.as_bytes())?;

    let policies = match &arguments.sharing[..] {
        [] => ServerPolicy::compared(transport),
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
