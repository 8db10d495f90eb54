//! `warmcore simulate packet`.

pub(crate) mod cluster;
mod observed;
pub(crate) mod runqueue;
mod summary;

use crate::args::SimulatePacketArguments;
use crate::costs::ChosenProfile;
use crate::json::{self, Versioned};
use crate::misuse::misuse;
use crate::{interrupt, point, provenance};
use miette::IntoDiagnostic;
use observed::Wanted;
use serde::Serialize;
use std::time::Instant;
use summary::Against;
use warmcore_costs::Profile;
use warmcore_scenario::{OpenTraffic, PacketScenario, ProcessorPolicy, Scheduling};
use warmcore_sim::packet::{Observed, Point, compare};
use warmcore_study::point::NamedFigures;

/// Version of what `--json` prints.
const SCHEMA: u32 = 1;

pub(crate) fn run(arguments: &SimulatePacketArguments) -> miette::Result<()> {
    interrupt::end_at_once()?;
    let (scenario, chosen) = point::scenario(arguments)?;
    if arguments.print_scenario {
        return crate::output::print(toml::to_string(&scenario).into_diagnostic()?.as_bytes());
    }
    if arguments.against == Some(scenario.scheduling.policy) {
        return Err(misuse(format!(
            "--against is {}, which is the policy simulated anyway: expected another one",
            scenario.scheduling.policy
        )));
    }
    let costs = ChosenProfile::read(&scenario, chosen)?;
    let profile = &costs.profile;
    let began = Instant::now();
    let traffic = point::traffic(&scenario)?;
    let point = || Point::new(&scenario, &traffic, profile).map_err(point::explained);
    point()?;
    let wanted = Wanted::new(arguments)?;
    let (result, observed) = wanted.simulate(point()?)?;
    let against = arguments.against.map(|policy| against(&scenario, policy, &traffic, profile)).transpose();
    let against = against.map_err(|error| wanted.taken_back(error))?;
    let seconds = began.elapsed().as_secs_f64();

    let document = toml::to_string(&scenario).into_diagnostic()?;
    let manifest = provenance::from_simulation(profile, scenario.seed, Some(document));
    wanted.write_events(&point()?, &provenance::repeatable(&manifest))?;
    let report = wanted.write_folder(&scenario, &costs, &result, &observed, &manifest)?;
    if !arguments.json {
        let difference = against.map(|against| summary::difference(&against)).unwrap_or_default();
        let summary = summary::summary(&scenario, &costs, &result, seconds);
        let quantiles = Wanted::in_words(&observed);
        return crate::output::print(format!("{summary}{quantiles}{difference}{report}").as_bytes());
    }
    let mut figures = NamedFigures::from_scenario(&scenario)
        .followed_by(NamedFigures::from_profile(profile, costs.chosen()))
        .followed_by(NamedFigures::from_result(&result));
    if let Some(Against { policy, comparison }) = against {
        figures = figures.followed_by(NamedFigures::from_comparison(policy, comparison.as_ref()));
    }
    let figures = figures.with_wall_time(seconds);
    let all = Figures { figures, observed: (!wanted.observations.is_empty()).then_some(&observed) };
    crate::output::print(json::pretty(&Versioned::new(SCHEMA, all))?.as_bytes())
}

/// What `--json` prints.
#[derive(Serialize)]
struct Figures<'a> {
    #[serde(flatten)]
    figures: NamedFigures,
    /// What was asked for besides.
    #[serde(skip_serializing_if = "Option::is_none")]
    observed: Option<&'a Observed>,
}

fn against(
    scenario: &PacketScenario,
    policy: ProcessorPolicy,
    traffic: &OpenTraffic,
    profile: &Profile,
) -> miette::Result<Against> {
    let other = Scheduling { policy, ..scenario.scheduling };
    let comparison = compare(scenario, other, traffic, profile)
        .map_err(|error| point::explained(error).wrap_err(format!("--against {policy} is impossible")))?;
    Ok(Against { policy, comparison })
}
