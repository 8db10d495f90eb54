//! Which placement is best, and whether it gains enough to be worth its changes.
//!
//! No placement is proposed that makes the busiest cpu take in more of the packets or interrupts, or whose forecast is
//! of visibly less capacity, unless its user asked for cores that do nothing else. Dearer packets are accepted where less
//! than twice the present load fits and the plan makes room. Readers that move to one node leave less room for growth; that
//! is accepted where twice the present load still fits. A placement that is refused is not in the way of the next best.

use super::change::{AMPLE_HEADROOM, MIN_GAIN, check};
use super::context::{Context, Proposal};
use super::layout::Layout;
use super::line::PlannedLine;
use super::performance::{NoPrediction, Performance};
use super::{Goal, Unplaceable, lines};
use core::cmp::Ordering;
use warmcore_units::PerSecond;

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
            return Err(Unplaceable::NothingToGain(unchanged(context)));
        }
        check(context, &proposal.layout)?;
        let performance = context.performance(&proposal.layout);
        Ok(Self { proposal, lines, performance })
    }
}

/// Why a placement that changes nothing is best.
fn unchanged(context: &Context<'_>) -> String {
    let crossing = context.current.crossing.session;
    match &context.costs {
        Err(why) if crossing > MIN_GAIN && !context.threads.is_empty() => format!(
            "readers find {:.0}% of their packets in another core's caches, but whether that can be bettered is not decided \
             without costs: {why}",
            crossing * 100.0
        ),
        _ => "everything is where it should be".to_owned(),
    }
}

/// The best of `proposals` that is worth its changes; the first of those that are alike.
///
/// # Errors
/// If none is: why the best of all is not.
pub(super) fn best(context: &Context<'_>, proposals: Vec<Proposal>) -> Result<Worthy, Unplaceable> {
    // Nothing is known of the load of queues that carry none: on request they are spread for what may come.
    let is_asked = context.request.interrupt_cores.is_some()
        || !context.request.interfaces.is_empty() && context.is_idle();
    let is_admissible = |it: &Proposal| is_asked || !burdens_more(&context.current, &it.layout);
    let (mut left, vetoed): (Vec<_>, Vec<_>) = proposals.into_iter().partition(is_admissible);
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
    let vetoed = best_index(context, tight, &vetoed).map(|index| &vetoed[index].layout);
    let vetoed = vetoed.filter(|layout| check(context, layout).is_ok());
    Err(vetoed.map(|layout| burdened(&context.current, layout)).or(refused).unwrap_or_else(|| {
        let why = "every other placement would make the busiest cpu take in more of the packets";
        Unplaceable::NothingToGain(why.to_owned())
    }))
}

/// Why a placement that gains otherwise is none: the busiest cpu would take in more under `then` than under `now`.
fn burdened(now: &Layout, then: &Layout) -> Unplaceable {
    let percent = |part: f64| format!("{:.1}%", part * 100.0);
    let (what, now, then) = match () {
        () if is_more(now.busiest, then.busiest) => ("busiest cpu process", now.busiest, then.busiest),
        () if is_more(now.most_interrupted, then.most_interrupted) => {
            ("busiest cpu be interrupted for", now.most_interrupted, then.most_interrupted)
        }
        () => ("busiest core be interrupted for", now.most_interrupted_core, then.most_interrupted_core),
    };
    let (now, then) = (percent(now), percent(then));
    Unplaceable::NothingToGain(format!(
        "the best placement found would gain, but make the {what} {then} of the packets instead of {now}"
    ))
}

fn best_index(context: &Context<'_>, tight: bool, proposals: &[Proposal]) -> Option<usize> {
    let is_better = |one: usize, other: usize| {
        compare(context, tight, &proposals[one].layout, &proposals[other].layout) == Ordering::Less
    };
    (0..proposals.len()).reduce(|best, other| if is_better(other, best) { other } else { best })
}

/// Whether the busiest cpu or core takes in more under `then` than under `now`.
fn burdens_more(now: &Layout, then: &Layout) -> bool {
    is_more(now.busiest, then.busiest)
        || is_more(now.most_interrupted, then.most_interrupted)
        || is_more(now.most_interrupted_core, then.most_interrupted_core)
}

/// Whether the part `then` is visibly more than `now`. Less than a hundredth of it changes from one look to the next.
fn is_more(now: f64, then: f64) -> bool {
    then > now * (1.0 + MIN_GAIN)
}

/// Whether the busiest cpu has less than [`AMPLE_HEADROOM`]; assumed where nothing tells.
fn is_tight(context: &Context<'_>) -> bool {
    let headroom = context
        .costs
        .as_ref()
        .ok()
        .zip(context.rate.filter(|rate| rate.0 > 0.0))
        .map(|(costs, rate)| costs.headroom(&context.current, rate, context.readers_work()));
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
