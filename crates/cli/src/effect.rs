//! Options that were given and would change nothing: they are refused, as their user meant something
//! by them. A field of a document is not: one document serves several commands.

use crate::args::live::RunnableArguments;
use crate::args::packet::ScenarioArguments;
use crate::point;
use miette::Diagnostic;
use warmcore_runtime::from_scenario::weighs_costs;
use warmcore_scenario::{DriverKind, Mode, PacketScenario, Process, Unused};

/// An option without effect. The process ends as it does where an option is not known.
#[derive(Debug, thiserror::Error)]
#[error("--{option} has no effect here: {reason}")]
pub(crate) struct WithoutEffect {
    option: &'static str,
    reason: String,
}

impl Diagnostic for WithoutEffect {}

/// Refuses `option` if it `is_given`.
pub(crate) fn refuse(option: &'static str, is_given: bool, reason: &str) -> Result<(), WithoutEffect> {
    match is_given {
        true => Err(WithoutEffect { option, reason: reason.to_owned() }),
        false => Ok(()),
    }
}

/// Refuses what has no effect on a live run of `scenario`, which `flags` have led to.
pub(crate) fn check_live(flags: &RunnableArguments, scenario: &PacketScenario) -> Result<(), WithoutEffect> {
    let (given, live) = (&flags.live, &scenario.live);
    if live.driver == DriverKind::Memory {
        let reason = "packets come from memory; --driver names where else they can come from";
        refuse("interface", given.interface.is_some(), reason)?;
        refuse("address", given.address.is_some(), reason)?;
        refuse("port", given.port.is_some(), reason)?;
        let takes_all =
            scenario.rate_per_s.is_none() && !matches!(scenario.traffic.process, Process::Trace(_));
        let reason = "without --rate, no more packets come than are taken in";
        refuse("overload", given.overload.is_some() && takes_all, reason)?;
    } else {
        check_peers(flags)?;
    }
    let reason = "processors in the mode `fixed` do no other work";
    refuse("work-kib", given.work_kib.is_some() && live.mode == Mode::Fixed, reason)
}

/// Refuses what is `unused` of what `flags` say of the scheduling and the traffic.
pub(crate) fn check_scenario(flags: &ScenarioArguments, unused: &[Unused]) -> Result<(), WithoutEffect> {
    let (host, traffic) = (&flags.host, &flags.traffic);
    for (option, is_given) in [
        ("thread-order", host.thread_order.is_some()),
        ("stacks", host.stacks.is_some()),
        ("streams", traffic.streams.is_some()),
        ("batch-distribution", traffic.batch_distribution.is_some()),
        ("time-scale", traffic.time_scale.is_some()),
    ] {
        if let Some(unused) = unused.iter().find(|unused| point::flag(unused.field) == option) {
            refuse(option, is_given, unused.reason)?;
        }
    }
    Ok(())
}

/// Refuses what describes packets, where peers send them.
fn check_peers(flags: &RunnableArguments) -> Result<(), WithoutEffect> {
    let traffic = &flags.scenario.traffic;
    for (option, is_given) in [
        ("rate", traffic.rate.is_some()),
        ("zipf", traffic.zipf.is_some()),
        ("batch", traffic.batch.is_some()),
        ("batch-distribution", traffic.batch_distribution.is_some()),
        ("process", traffic.process.is_some()),
        ("trace", traffic.trace.is_some()),
        ("time-scale", traffic.time_scale.is_some()),
        ("payload", flags.live.payload.is_some()),
    ] {
        refuse(option, is_given, "packets are those that peers send; --driver memory makes them")?;
    }
    Ok(())
}

/// Refuses a profile for a run whose policy decides without costs.
pub(crate) fn check_profile(
    flags: &RunnableArguments,
    scenario: &PacketScenario,
) -> Result<(), WithoutEffect> {
    let reason = format!("the policy `{}` weighs no costs", scenario.scheduling.policy);
    refuse("profile", flags.scenario.host.profile.is_some() && !weighs_costs(scenario), &reason)
}
