//! Which placement is best, and whether it gains enough to be worth its changes.
//!
//! No placement is proposed that makes the busiest cpu take in more of the packets or interrupts, or whose forecast is
//! of visibly less capacity, unless its user asked for cores that do nothing else. Dearer packets are accepted where less
//! than twice the present load fits and the plan makes room. Readers that move to one node leave less room for growth; that is accepted where twice the present load still fits.

use super::context::{Context, Proposal};
use super::cost_model::{CostModel, Forecast, NoPrediction, Performance};
use super::layout::Layout;
use super::line::PlannedLine;
use super::{Goal, Unplaceable, gain, lines};
use core::cmp::Ordering;
use warmcore_units::{Estimate, PerSecond};

/// A gain below this is not worth a change, as a fraction.
const MIN_GAIN: f64 = 0.01;

/// Above 2x headroom, optimise the cost per packet, not capacity.
const AMPLE_HEADROOM: f64 = 2.0;

/// Sums of parts differ by this in the order of summation.
const ROUNDING: f64 = 1e-9;

/// Below this rate all the work for packets is a small part of one cpu, wherever it is done.
const QUIET: PerSecond = PerSecond(1_000.0);

/// A proposal that is worth its changes.
pub(super) struct Worthy {
    pub(super) proposal: Proposal,
    pub(super) lines: Vec<PlannedLine>,
    /// The host's performance now and then.
    pub(super) performance: Result<[Performance; 2], NoPrediction>,
}

impl Worthy {
    /// Judges `proposal` with its `lines`.
    ///
    /// # Errors
    /// If nothing changes, or not for the better.
    pub(super) fn new(
        context: &Context<'_>,
        proposal: Proposal,
        lines: Vec<PlannedLine>,
    ) -> Result<Self, Unplaceable> {
        if !lines.iter().any(|line| line.changes) {
            return Err(Unplaceable::NothingToGain("everything is where it should be".to_owned()));
        }
        let forecast = context.forecast(&proposal.layout);
        let forecasts = context.current_forecast().and_then(|now| Ok([now.clone(), forecast?]));
        check(context, &proposal.layout, forecasts.as_ref().ok())?;
        let performance = forecasts.map(|both| both.map(|forecast| forecast.performance));
        Ok(Self { proposal, lines, performance })
    }
}

/// The best of `proposals` that is worth its changes; the first of those that are alike.
///
/// # Errors
/// If none is: why the best of all is not.
pub(super) fn best(context: &Context<'_>, proposals: Vec<Proposal>) -> Result<Worthy, Unplaceable> {
    let is_asked = context.request.interrupt_cores.is_some();
    let is_admissible = |it: &Proposal| is_asked || !burdens_more(&context.current, &it.layout);
    let mut left: Vec<Proposal> = proposals.into_iter().filter(is_admissible).collect();
    let tight = is_tight(context);
    let mut refused = None;
    while let Some(index) = best_index(context, tight, &left) {
        let proposal = left.remove(index);
        let lines = lines::lines(context, &proposal);
        let changes = lines.iter().any(|line| line.changes);
        match Worthy::new(context, proposal, lines) {
            Ok(worthy) => return Ok(worthy),
            Err(why) => refused = refused.or(Some(why)),
        }
        if !changes {
            // What is left is worse than what is there.
            break;
        }
    }
    Err(refused.unwrap_or_else(|| {
        let why = "every other placement would make the busiest cpu take in more of the packets";
        Unplaceable::NothingToGain(why.to_owned())
    }))
}

fn best_index(context: &Context<'_>, tight: bool, proposals: &[Proposal]) -> Option<usize> {
    let is_better = |one: usize, other: usize| {
        compare(context, tight, &proposals[one].layout, &proposals[other].layout) == Ordering::Less
    };
    (0..proposals.len()).reduce(|best, other| if is_better(other, best) { other } else { best })
}

/// Whether the busiest cpu takes in more under `then` than under `now`.
fn burdens_more(now: &Layout, then: &Layout) -> bool {
    then.busiest > now.busiest + ROUNDING || then.most_interrupted > now.most_interrupted + ROUNDING
}

/// Whether the busiest cpu has less than [`AMPLE_HEADROOM`]; assumed where nothing tells.
fn is_tight(context: &Context<'_>) -> bool {
    let headroom = context
        .costs
        .as_ref()
        .ok()
        .zip(context.rate.filter(|rate| rate.0 > 0.0))
        .map(|(costs, rate)| costs.headroom(&context.current, rate, context.thread_load()));
    headroom.is_none_or(|headroom| headroom < AMPLE_HEADROOM)
}

/// The better layout is less. With costs: the one that leaves room for more packets where room is short, then
/// that whose packets cost less. Without: the one whose busiest cpu takes in fewer, then that whose readers find
/// more in their caches.
fn compare(context: &Context<'_>, tight: bool, one: &Layout, other: &Layout) -> Ordering {
    let differ = |one: f64, other: f64| {
        if (one - other).abs() <= MIN_GAIN * other.abs() { Ordering::Equal } else { one.total_cmp(&other) }
    };
    let unfit = differ(one.on_unfit_cpus, other.on_unfit_cpus);
    let far = unfit
        .then(differ(one.crossing.remote, other.crossing.remote))
        .then(differ(one.far_from_device, other.far_from_device))
        .then(differ(one.concentration, other.concentration));
    let Ok(costs) = &context.costs else {
        let busiest = differ(one.busiest, other.busiest);
        return busiest.then(differ(one.crossing.session, other.crossing.session)).then(far);
    };
    let prices = costs.prices();
    let [load, cost] = [
        [one, other].map(|layout| prices.most_work(layout).0),
        [one, other].map(|layout| prices.packet(layout.crossing).0),
    ]
    .map(|[one, other]| differ(one, other));
    if tight { load.then(cost).then(far) } else { cost.then(load).then(far) }
}

/// Checks that there is enough work to be worth a plan.
pub(super) fn check_load(context: &Context<'_>) -> Result<(), Unplaceable> {
    let request = context.request;
    let is_asked =
        !request.interfaces.is_empty() || request.interrupt_cores.is_some() || request.rate.is_some();
    match context.rate {
        Some(rate) if rate < QUIET && !is_asked && request.goal != Goal::Isolation => {
            Err(Unplaceable::Quiet(rate))
        }
        _ => Ok(()),
    }
}

/// Checks that it changes for the better.
fn check(context: &Context<'_>, then: &Layout, forecasts: Option<&[Forecast; 2]>) -> Result<(), Unplaceable> {
    let request = context.request;
    if request.goal == Goal::Isolation || request.interrupt_cores.is_some() {
        return Ok(());
    }
    match (forecasts, &context.costs) {
        (Some(forecasts), Ok(costs)) => {
            Change::new(context, costs, then, forecasts).check(context, then, forecasts)
        }
        _ if !request.interfaces.is_empty() => Ok(()),
        _ => check_without_costs(&context.current, then),
    }
}

/// What a proposal changes, by the costs.
struct Change {
    /// The part of a packet's cost that is saved.
    saving: Estimate<f64>,
    /// By what factor the headroom grows, or the capacity where no rate is known.
    growth: Estimate<f64>,
    /// By what factor the capacity of the busiest cpu grows.
    capacity: Estimate<f64>,
    /// The delay as a multiple of the present one, where both are known.
    slowdown: Option<Estimate<f64>>,
}

impl Change {
    fn new(
        context: &Context<'_>,
        costs: &CostModel<'_>,
        then: &Layout,
        [now_forecast, then_forecast]: &[Forecast; 2],
    ) -> Self {
        let (now, rate) = (&context.current, context.rate.filter(|rate| rate.0 > 0.0));
        let both = [(now, now_forecast), (then, then_forecast)];
        Self {
            saving: costs.saving(now.crossing, then.crossing),
            growth: costs.growth([now, then], rate, context.thread_load()),
            capacity: costs.growth_of_capacity([now, then]),
            slowdown: rate.and_then(|rate| costs.slowdown(both, rate)),
        }
    }

    fn check(
        &self,
        context: &Context<'_>,
        layout: &Layout,
        forecasts: &[Forecast; 2],
    ) -> Result<(), Unplaceable> {
        let [now, then] = forecasts.each_ref().map(|forecast| &forecast.performance);
        let Self { saving, growth, capacity, slowdown } = *self;
        let stays_ample = then.headroom.is_some_and(|headroom| headroom.mean >= AMPLE_HEADROOM);
        let shrinks = is_visible(1.0 - capacity.mean, capacity)
            || is_visible(1.0 - growth.mean, growth) && !stays_ample;
        let is_cheaper = is_visible(saving.mean, saving);
        let is_dearer = is_visible(-saving.mean, saving);
        let is_faster = slowdown.is_some_and(|of| is_visible(1.0 - of.mean, of));
        let is_slower = slowdown.is_some_and(|of| is_visible(of.mean - 1.0, of));
        let is_nearer = is_nearer_or_fitter(&context.current, layout) || is_evener(&context.current, layout);
        let request = context.request;
        let gains = match (request.goal, slowdown) {
            _ if shrinks => false,
            _ if !request.interfaces.is_empty() => !is_dearer,
            (Goal::Latency, Some(_)) => is_faster || (is_nearer || is_cheaper) && !is_slower && !is_dearer,
            (Goal::Latency, None) if now.delay.is_none() && then.delay.is_some() => true,
            _ => {
                let is_tight = now.headroom.is_some_and(|headroom| headroom.mean < AMPLE_HEADROOM);
                is_cheaper
                    || is_visible(growth.mean - 1.0, growth) && (is_tight || !is_dearer)
                    || is_nearer && !is_dearer
            }
        };
        let why = match () {
            () if gains => return Ok(()),
            () if shrinks => "it is not planned because it leaves less room for packets",
            () if is_dearer => "it is not planned because each packet would cost more",
            () if is_slower => "it is not planned because packets would take longer",
            () => "none of that is a gain of at least 1% beyond its uncertainty",
        };
        Err(Unplaceable::NothingToGain(format!("{}; {why}", self.found())))
    }

    /// What the best placement found would have gained.
    fn found(&self) -> String {
        let delay = self.slowdown.map(|of| format!(", {} times the delay", gain::plain(of)));
        format!(
            "the best placement found would save {} of a packet's cost, with {} times the room for packets{}",
            gain::percent(self.saving),
            gain::plain(self.growth),
            delay.unwrap_or_default()
        )
    }
}

/// Without costs: whether less comes from other cores, or the busiest cpu processes fewer packets.
fn check_without_costs(now: &Layout, then: &Layout) -> Result<(), Unplaceable> {
    let crossing = now.crossing.session - then.crossing.session;
    let relief = now.busiest - then.busiest;
    let is_better = is_nearer_or_fitter(now, then) || is_evener(now, then);
    if crossing > MIN_GAIN || crossing >= -MIN_GAIN && is_better || relief > MIN_GAIN {
        return Ok(());
    }
    let why = "no packet would find more in its cpu's cache, and queues are spread as evenly as they can be";
    Err(Unplaceable::NothingToGain(why.to_owned()))
}

/// Whether fewer packets have their readers or their device on another node, or less work for them is on slow or
/// taken cpus, and nothing of that grows. A profile holds no price of these.
fn is_nearer_or_fitter(now: &Layout, then: &Layout) -> bool {
    let parts = |of: &Layout| [of.crossing.remote, of.far_from_device, of.on_unfit_cpus];
    let [now, then] = [now, then].map(parts);
    let gains: Vec<f64> = now.iter().zip(then).map(|(now, then)| now - then).collect();
    gains.iter().any(|&gain| gain > MIN_GAIN) && gains.iter().all(|&gain| gain > -MIN_GAIN)
}

/// Whether queues that share cpus are spread over more of them, though the busiest takes in as much as before, and
/// nothing gets farther away. A few queues that could be spread a little better are not worth a plan.
fn is_evener(now: &Layout, then: &Layout) -> bool {
    const LEAST: f64 = 0.1;
    let is_no_farther = |of: fn(&Layout) -> f64| of(then) <= of(now) + MIN_GAIN;
    then.concentration < now.concentration * (1.0 - LEAST)
        && is_no_farther(|layout| layout.far_from_device)
        && is_no_farther(|layout| layout.crossing.remote)
        && is_no_farther(|layout| layout.on_unfit_cpus)
}

/// Whether `gain`, computed from `estimate`, is at least [`MIN_GAIN`] and larger than the half-width. What has no
/// half-width proves nothing.
fn is_visible(gain: f64, estimate: Estimate<f64>) -> bool {
    gain >= MIN_GAIN && estimate.half_width.is_some_and(|half| gain > half)
}
