//! Whether a placement is better than what is there: beyond the uncertainty of the costs, and nothing else gets worse for it.

use super::context::Context;
use super::cost_model::CostModel;
use super::layout::Layout;
use super::performance::NoPrediction;
use super::{Goal, Unplaceable, gain};
use warmcore_units::{Estimate, Nanos, PerSecond};

/// A gain below this is not worth a change, as a fraction.
pub(super) const MIN_GAIN: f64 = 0.01;

/// Above 2x headroom, optimise the cost per packet, not capacity.
pub(super) const AMPLE_HEADROOM: f64 = 2.0;

/// Checks that `then` is better than what is there.
pub(super) fn check(context: &Context<'_>, then: &Layout) -> Result<(), Unplaceable> {
    let request = context.request;
    let is_idle_card = !request.interfaces.is_empty() && context.is_idle();
    if request.goal == Goal::Isolation || request.interrupt_cores.is_some() || is_idle_card {
        return Ok(());
    }
    match &context.costs {
        Ok(costs) => Change::new(context, costs, then)
            .map_err(|why| Unplaceable::NothingToGain(why.to_string()))?
            .check(context, costs, then),
        Err(_) if !request.interfaces.is_empty() => Ok(()),
        Err(_) => check_without_costs(&context.current, then),
    }
}

/// What a proposal changes, by the costs.
struct Change {
    /// The part of a packet's cost that is saved.
    saving: Estimate<f64>,
    /// The processor time of a packet that is saved, where the costs are of the host's own path.
    saved_time: Option<Estimate<Nanos>>,
    /// By what factor the headroom grows, or the capacity where no rate is known.
    growth: Estimate<f64>,
    /// By what factor the capacity of the busiest cpu grows.
    capacity: Estimate<f64>,
    /// What becomes of the delay, where latency is the goal.
    delay: Option<DelayChange>,
}

/// What becomes of the delay.
#[derive(Clone, Copy)]
enum DelayChange {
    /// It is this multiple of what it was.
    Times(Estimate<f64>),
    /// Packets are kept up with, which were not before.
    KeepsUp,
    /// It is not known: it does not settle.
    Unknown,
}

impl Change {
    fn new(context: &Context<'_>, costs: &CostModel<'_>, then: &Layout) -> Result<Self, NoPrediction> {
        let (now, rate) = (&context.current, context.known_rate());
        let rate_of_delay = rate.filter(|_| context.request.goal == Goal::Latency);
        Ok(Self {
            saving: costs.saving(now.crossing, then.crossing),
            saved_time: costs.saved_time(now.crossing, then.crossing),
            growth: costs.growth([now, then], rate, context.readers_work()),
            capacity: costs.growth_of_capacity([now, then]),
            delay: rate_of_delay
                .map(|rate| DelayChange::new(costs, [now, then], rate, context.readers_work()))
                .transpose()?,
        })
    }

    fn check(
        &self,
        context: &Context<'_>,
        costs: &CostModel<'_>,
        layout: &Layout,
    ) -> Result<(), Unplaceable> {
        let Self { saving, saved_time, growth, capacity, delay } = *self;
        let headroom =
            |of: &Layout| context.known_rate().map(|rate| costs.headroom(of, rate, context.readers_work()));
        let stays_ample = headroom(layout).is_some_and(|headroom| headroom >= AMPLE_HEADROOM);
        let shrinks = is_visible(1.0 - capacity.mean, capacity)
            || is_visible(1.0 - growth.mean, growth) && !stays_ample;
        let is_cheaper = is_visible(saving.mean, saving);
        let is_dearer = is_visible(-saving.mean, saving);
        let is_slower = matches!(delay, Some(DelayChange::Times(of)) if is_visible(of.mean - 1.0, of));
        // By the costs of the host's own path, what is nearer saves time as well, or is no gain.
        let is_nearer = saved_time.is_none_or(is_visible_saving)
            && (is_nearer_or_fitter(&context.current, layout) || is_evener(&context.current, layout));
        let request = context.request;
        let gains = match delay {
            _ if shrinks => false,
            _ if !request.interfaces.is_empty() => !is_dearer,
            Some(DelayChange::KeepsUp) => true,
            Some(DelayChange::Times(of)) => {
                is_visible(1.0 - of.mean, of) || (is_nearer || is_cheaper) && !is_slower && !is_dearer
            }
            Some(DelayChange::Unknown) | None => {
                let is_tight = headroom(&context.current).is_some_and(|headroom| headroom < AMPLE_HEADROOM);
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
            () if saved_time.is_some() => {
                "none of that is visible: it is within its uncertainty, or less than 1%. What longer ways cost is not in the \
                 profile"
            }
            () => "none of that is a gain of at least 1% beyond its uncertainty",
        };
        Err(Unplaceable::NothingToGain(format!("{}; {why}", self.found())))
    }

    /// What the best placement found would have gained.
    fn found(&self) -> String {
        let delay = match self.delay {
            Some(DelayChange::Times(of)) => format!(", {} times the delay", gain::plain(of)),
            _ => String::new(),
        };
        let time = self.saved_time.map_or_else(String::new, |time| format!(" ({time})"));
        format!(
            "the best placement found would save {}{time} of a packet's cost, with {} times the room for packets{}",
            gain::percent(self.saving),
            gain::plain(self.growth),
            delay
        )
    }
}

impl DelayChange {
    fn new(
        costs: &CostModel<'_>,
        [now, then]: [&Layout; 2],
        rate: PerSecond,
        work: f64,
    ) -> Result<Self, NoPrediction> {
        Ok(match (costs.delay_under(now, rate, work)?, costs.delay_under(then, rate, work)?) {
            (Some(before), Some(after)) => {
                costs.slowdown([(now, before), (then, after)], rate).map_or(Self::Unknown, Self::Times)
            }
            (None, Some(_)) => Self::KeepsUp,
            (_, None) => Self::Unknown,
        })
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
    let why = "no placement that was compared takes packets nearer to their readers or devices, or work from the busiest cpu";
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

/// Whether processor time is saved, and more of it than is uncertain.
pub(super) fn is_visible_saving(time: Estimate<Nanos>) -> bool {
    time.mean.0 > time.half()
}

/// Whether `gain`, computed from `estimate`, is at least [`MIN_GAIN`] and larger than the half-width. What has no
/// half-width proves nothing.
fn is_visible(gain: f64, estimate: Estimate<f64>) -> bool {
    gain >= MIN_GAIN && estimate.half_width.is_some_and(|half| gain > half)
}
