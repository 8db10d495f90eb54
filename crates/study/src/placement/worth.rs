//! Whether a proposed layout gains enough to be worth its changes.

use super::context::{Context, Proposal};
use super::cost_model::{self, Performance};
use super::layout::Layout;
use super::line::PlannedLine;
use super::{Goal, Unplaceable, gain};
use warmcore_units::Estimate;

/// A gain below this is not worth a change, as a fraction.
const MIN_GAIN: f64 = 0.01;

/// Above 2x headroom, optimise the cost per packet, not capacity.
const AMPLE_HEADROOM: f64 = 2.0;

/// Checks that something changes, and for the better.
pub(super) fn check(
    context: &Context<'_>,
    proposal: &Proposal,
    lines: &[PlannedLine],
    performance: Option<&[Performance; 2]>,
) -> Result<(), Unplaceable> {
    if !lines.iter().any(|line| line.changes) {
        return Err(Unplaceable::NothingToGain("everything is where it should be".to_owned()));
    }
    match performance {
        _ if context.goal == Goal::Isolation => Ok(()),
        Some([now, then]) => check_performance(context, proposal, now, then),
        None => check_without_costs(&context.current, &proposal.layout),
    }
}

fn check_performance(
    context: &Context<'_>,
    proposal: &Proposal,
    now: &Performance,
    then: &Performance,
) -> Result<(), Unplaceable> {
    let (growth, slowdown) = (cost_model::growth(now, then), cost_model::slowdown(now, then));
    let saving = saving(context, proposal);
    let gains = match (context.goal, slowdown) {
        (Goal::Latency, Some(slowdown)) => is_visible(1.0 - slowdown.mean, slowdown),
        (Goal::Latency, None) if context.rate.is_some() => now.delay.is_none() && then.delay.is_some(),
        _ => {
            let is_tight = now.headroom.is_some_and(|headroom| headroom.mean < AMPLE_HEADROOM);
            let is_dearer = is_visible(-saving.mean, saving);
            let stays_ample = then.headroom.is_some_and(|headroom| headroom.mean >= AMPLE_HEADROOM);
            let shrinks = is_visible(1.0 - growth.mean, growth);
            is_visible(saving.mean, saving) && (stays_ample || !shrinks)
                || is_visible(growth.mean - 1.0, growth) && (is_tight || !is_dearer)
        }
    };
    if gains { Ok(()) } else { Err(Unplaceable::NothingToGain(best_found(saving, growth, slowdown))) }
}

/// The part of a packet's cost that is saved; 0 without costs.
fn saving(context: &Context<'_>, proposal: &Proposal) -> Estimate<f64> {
    let [now, then] = [&context.current, &proposal.layout].map(|layout| layout.crossing);
    context.costs.as_ref().map_or(Estimate::new(0.0, 0.0), |costs| costs.saving(now, then))
}

/// Without costs: whether less comes from other cores, or the busiest cpu processes fewer packets.
fn check_without_costs(now: &Layout, then: &Layout) -> Result<(), Unplaceable> {
    let crossing = now.crossing.session - then.crossing.session;
    let is_nearer = now.crossing.farthest > then.crossing.farthest;
    let relief = now.busiest - then.busiest;
    if crossing > MIN_GAIN || crossing >= 0.0 && is_nearer || relief > MIN_GAIN {
        return Ok(());
    }
    let why = "no packet would find more in its cpu's cache, and no cpu would take in fewer of them";
    Err(Unplaceable::NothingToGain(why.to_owned()))
}

/// Whether `gain`, computed from `estimate`, is at least [`MIN_GAIN`] and larger than the half-width.
fn is_visible(gain: f64, estimate: Estimate<f64>) -> bool {
    gain >= MIN_GAIN && gain > estimate.half_width.unwrap_or(0.0)
}

/// What the best placement found would have gained.
fn best_found(saving: Estimate<f64>, growth: Estimate<f64>, slowdown: Option<Estimate<f64>>) -> String {
    let delay = slowdown.map(|of| format!(", {} times the delay", gain::plain(of))).unwrap_or_default();
    format!(
        "the best placement found would save {} of a packet's cost, with {} times the room for packets{delay}",
        gain::percent(saving),
        gain::plain(growth)
    )
}
