//! What a study applies to, and what it does not apply to.

use super::phrases::in_brief;
use crate::Findings;
use crate::grade::percent;
use crate::streams::{BetterCombination, ChoiceWithMoreStreams};
use warmcore_costs::profile::{Kind, Profile};
use warmcore_units::Nanos;

/// The receive path, the machine and the traffic that the verdict applies to.
#[must_use]
pub fn scope(findings: &Findings) -> String {
    let name = &findings.profile.name;
    let count = findings.hosts.first().map_or_else(String::new, |host| cores(host.processors));
    let machine = match findings.profile.provenance.kind {
        Kind::Measured => format!("{count} of the machine it was measured on ({name})"),
        Kind::Published => format!("{count} with the costs published for the {name}"),
    };
    let streams = many_streams(findings).map_or_else(String::new, |many| format!("; {many}"));
    let path = format!(
        "This speaks for a user-space UDP receive path in memory, not for Linux's own network stack, for {machine}, and \
         for as many equally busy streams as cores{streams}."
    );
    match distance(&findings.profile) {
        Some(distance) => format!("{path} {distance}"),
        None => path,
    }
}

/// How near the processors are, which determines the cost of migration; `None` if there was only one, or if
/// the profile does not say.
fn distance(profile: &Profile) -> Option<String> {
    let time = handover(profile)?;
    let elsewhere =
        profile.provenance.runs.filter(|runs| runs.vcpu_moved > 0).map_or_else(String::new, |runs| {
            format!(
                "; in {} of {} runs it took longer or shorter, and these are left out",
                runs.vcpu_moved, runs.made
            )
        });
    Some(format!(
        "A cache line takes {time} from one core to the other{elsewhere}. Nearer or farther, as a hypervisor may place \
         them, rates and gains differ."
    ))
}

/// Time for a cache line to get from one processor to the other, with the range of its readings; `None` if it
/// is not known.
#[must_use]
pub fn handover(profile: &Profile) -> Option<String> {
    let time = profile.provenance.handover?;
    Some(match profile.provenance.handover_range {
        Some([low, high]) => format!("{} ({} to {})", rounded(time), rounded(low), rounded(high)),
        None => rounded(time),
    })
}

fn rounded(time: Nanos) -> String {
    format!("{:.0} ns", time.0)
}

/// Whether the choices hold with more streams, and what is better if not.
fn many_streams(findings: &Findings) -> Option<String> {
    let many = findings.many_streams.as_ref()?;
    let regions = &findings.advice.first()?.regions;
    let others: Vec<String> = many
        .choices
        .iter()
        .zip(regions)
        .filter_map(|(choice, region)| match choice {
            ChoiceWithMoreStreams::Other(other) => Some(another(other)),
            ChoiceWithMoreStreams::Nothing => {
                Some(format!("nothing keeps up from {} to {}", region.from, region.to))
            }
            ChoiceWithMoreStreams::Holds => None,
        })
        .collect();
    let streams = many.streams;
    Some(match (&others[..], regions.len()) {
        ([], 1) => format!("with {streams} streams the choice holds"),
        ([], _) => format!("with {streams} streams the choices hold"),
        (others, _) => format!("with {streams} streams {}", others.join(", and ")),
    })
}

/// What is better with more streams, at which rates, and by how much.
fn another(
    BetterCombination { best, rates_per_s: [low, high], at_most_saved }: &BetterCombination,
) -> String {
    let by = at_most_saved.map_or_else(
        || "keep up with more".to_owned(),
        |saved| {
            let half = percent(saved.half_width.unwrap_or(0.0));
            format!("take up to {} ± {half} less time than these", percent(saved.mean))
        },
    );
    let between = if low == high { format!("at {low}") } else { format!("from {low} to {high}") };
    format!("{} {by} {between}", in_brief(*best))
}

fn cores(count: u32) -> String {
    if count == 1 { "1 core".to_owned() } else { format!("{count} cores") }
}
