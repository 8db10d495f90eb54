//! Options that were given and would change nothing. They are refused, as the user meant something by them.
//! Fields of a document are not refused: one document serves several commands.

use crate::args::given::Given;
use crate::flags;
use crate::misuse::misuse;
use std::borrow::Cow;
use toml::{Table, Value};
use warmcore_runtime::from_scenario::weighs_costs;
use warmcore_scenario::grid::LOAD;
use warmcore_scenario::{DriverKind, Mode, PacketScenario, Process, Unused};

/// Refuses `option` if it `is_given`.
pub(crate) fn refuse(
    option: impl Into<Cow<'static, str>>,
    is_given: bool,
    reason: &str,
) -> miette::Result<()> {
    match is_given {
        true => Err(misuse(format!("--{} has no effect here: {reason}", option.into()))),
        false => Ok(()),
    }
}

/// Refuses what has no effect on a live run of `scenario`, which `given` options have led to.
pub(crate) fn check_live(given: &Given, scenario: &PacketScenario) -> miette::Result<()> {
    let live = &scenario.live;
    if live.driver == DriverKind::Memory {
        let reason = "packets come from memory; --driver names where else they can come from";
        for option in ["interface", "address", "port"] {
            refuse(option, given.has(option), reason)?;
        }
        let takes_all =
            scenario.rate_per_s.is_none() && !matches!(scenario.traffic.process, Process::Trace(_));
        let reason = "without --rate, no more packets come than are taken in";
        refuse("overload", given.has("overload") && takes_all, reason)?;
    } else {
        check_peers(given)?;
    }
    let reason = "with tcp and rpc checksums are always verified";
    let is_verified = live.transport.is_conversation();
    refuse("verify-udp-checksum", given.has("verify-udp-checksum") && is_verified, reason)?;
    let reason = "processors in the mode `fixed` do no other work";
    refuse("work-kib", given.has("work-kib") && live.mode == Mode::Fixed, reason)
}

/// Refuses the first of the `given` options that sets something `unused`.
pub(crate) fn check_unused(given: &Given, unused: &[Unused]) -> miette::Result<()> {
    unused.iter().try_for_each(|unused| {
        let option = flags::flag(unused.field);
        let is_given = given.has(&option);
        refuse(option, is_given, &flags::with_flags(unused.reason))
    })
}

/// Refuses the first of the `given` options all of whose fields in the `scenario` are `varied`.
pub(crate) fn check_varied(given: &Given, scenario: &Table, varied: &[&str]) -> miette::Result<()> {
    // A load is another way to say the rate.
    let varied: Vec<&str> =
        varied.iter().map(|&field| if field == LOAD { "rate_per_s" } else { field }).collect();
    let mut fields: Vec<String> = varied.iter().map(|&field| field.to_owned()).collect();
    scenario.iter().for_each(|(name, value)| leaves(name, value, &mut fields));
    let is_varied = |field: &str| {
        varied
            .iter()
            .any(|of| field.strip_prefix(of).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')))
    };
    fields.iter().filter(|field| is_varied(field)).try_for_each(|field| {
        let option = flags::flag(field);
        let sets_others = fields.iter().any(|other| flags::flag(other) == option && !is_varied(other));
        let is_unused = given.has(&option) && !sets_others;
        refuse(option, is_unused, &format!("`{field}` is varied"))
    })
}

/// Adds the dotted paths of what is in `value`, which is at `path`.
fn leaves(path: &str, value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Table(table) => {
            table.iter().for_each(|(name, value)| leaves(&format!("{path}.{name}"), value, found));
        }
        Value::Array(array) => {
            array
                .iter()
                .enumerate()
                .for_each(|(place, value)| leaves(&format!("{path}.{place}"), value, found));
        }
        _ => found.push(path.to_owned()),
    }
}

/// Refuses what describes packets, where peers send them.
fn check_peers(given: &Given) -> miette::Result<()> {
    let described =
        ["rate", "zipf", "batch", "batch-distribution", "process", "trace", "time-scale", "payload", "reply"];
    let reason = "packets are those that peers send; --driver memory makes them";
    described.into_iter().try_for_each(|option| refuse(option, given.has(option), reason))
}

/// Refuses a profile for a run whose policy decides without costs.
pub(crate) fn check_profile(given: &Given, scenario: &PacketScenario) -> miette::Result<()> {
    let reason = format!("the policy `{}` weighs no costs", scenario.scheduling.policy);
    refuse("profile", given.has("profile") && !weighs_costs(scenario), &reason)
}
