//! `warmcore simulate packet`.

pub(crate) mod cluster;
pub(crate) mod runqueue;
mod summary;

use crate::args::SimulatePacketArguments;
use crate::costs::ChosenProfile;
use crate::json::{self, Versioned};
use crate::misuse::misuse;
use crate::{interrupt, point};
use miette::IntoDiagnostic;
use std::time::Instant;
use summary::Against;
use warmcore_costs::Profile;
use warmcore_scenario::{OpenTraffic, PacketScenario, ProcessorPolicy, Scheduling};
use warmcore_sim::packet::{Point, compare};
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
    let point = Point::new(&scenario, &traffic, profile);
    let result = point.and_then(Point::simulate).map_err(point::explained)?;
    let against =
        arguments.against.map(|policy| against(&scenario, policy, &traffic, profile)).transpose()?;
    let seconds = began.elapsed().as_secs_f64();

    if !arguments.json {
        let difference = against.map(|against| summary::difference(&against)).unwrap_or_default();
        let summary = summary::summary(&scenario, &costs, &result, seconds);
        return crate::output::print(format!("{summary}{difference}").as_bytes());
    }
    let mut figures = NamedFigures::from_scenario(&scenario)
        .followed_by(NamedFigures::from_profile(profile, costs.chosen()))
        .followed_by(NamedFigures::from_result(&result));
    if let Some(Against { policy, comparison }) = against {
        figures = figures.followed_by(NamedFigures::from_comparison(policy, comparison.as_ref()));
    }
    let figures = figures.with_wall_time(seconds);
    crate::output::print(json::pretty(&Versioned::new(SCHEMA, figures))?.as_bytes())
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
