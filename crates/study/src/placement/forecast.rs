//! What a placement brings: the costs of a measured profile for what crosses between cores, and the
//! simulator for what that does to delay and capacity.
//!
//! A packet whose reader ran on the core that takes it in finds its session's lines there, and else
//! they come from another core: situations A and B of Salehi, Kurose & Towsley 1994, §5. A frame
//! that is handed to another core brings its buffer's lines along, as a buffer of a global pool does
//! (§4.3). A profile knows one distance between cores. Over longer ways lines take longer, and the
//! profile does not tell how much: that is said, and never guessed.

use super::crossing::{Crossing, Layout};
use super::ground::Ground;
use serde::Serialize;
use warmcore_costs::profile::{FreeMemory, Measured, ReceiveTimes};
use warmcore_costs::{Approach, Experiment, Profile, ThreadStack};
use warmcore_scenario::{PacketScenario, RunLength, Traffic};
use warmcore_sim::packet::{PointError, simulate};
use warmcore_units::{CpuId, Estimate, Nanos, PerSecond};

/// The half-width of a simulated delay, as a fraction of it.
const PRECISION: f64 = 0.02;
/// Packets after which a simulation ends in any case.
const MAX_PACKETS: u64 = 50_000;
/// To what fraction published times are known (Salehi, Kurose & Towsley 1994, §5).
const PUBLISHED: f64 = 0.01;
/// Packets that come more rarely find caches as cold and nobody before them: their delay is the same.
const RARE: PerSecond = PerSecond(1.0);

/// Why nothing can be foretold.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum Unforeseen {
    /// No profile was given.
    #[error("no profile; `warmcore calibrate` measures one")]
    NoProfile,
    /// The profile holds no migration.
    #[error("the profile of {0} holds no costs of lines that come from another cpu")]
    NoMigration(String),
    /// The profile cannot be simulated.
    #[error("{0}")]
    Impossible(String),
}

impl From<PointError> for Unforeseen {
    fn from(error: PointError) -> Self {
        Self::Impossible(error.to_string())
    }
}

/// What one placement amounts to.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Side {
    /// What a packet costs, right after another.
    pub cost: Estimate<Nanos>,
    /// The part of all packets that the cpu takes in which takes in most: from 0 to 1.
    pub busiest: f64,
    /// The packets of all queues that can be taken in, until that cpu can take no more.
    pub capacity: Estimate<PerSecond>,
    /// How many times these packets could come, with what threads do for them, until a cpu is full;
    /// `None` if nothing tells how many come.
    pub room: Option<Estimate<f64>>,
    /// The mean time from a packet's arrival to its end, on that cpu; `None` if it cannot keep up, or
    /// if nothing tells how many packets come.
    pub delay: Option<Estimate<Nanos>>,
}

/// The costs of a packet by what crosses between cores.
#[derive(Clone, Debug)]
pub(super) struct Costs<'a> {
    profile: &'a Profile,
    here: Estimate<Nanos>,
    session: Estimate<Nanos>,
    frame: Estimate<Nanos>,
    /// How far all of them may be off, as a fraction.
    uncertainty: f64,
}

impl<'a> Costs<'a> {
    pub(super) fn new(profile: Option<&'a Profile>) -> Result<Self, Unforeseen> {
        let profile = profile.ok_or(Unforeseen::NoProfile)?;
        let no_migration = || Unforeseen::NoMigration(profile.name.clone());
        let cached = profile.times.locking.with(ThreadStack::Cached);
        let hot = |experiment| cached.get(&experiment).map(|times| known(times.hot));
        let here = hot(Experiment::A1).ok_or_else(no_migration)?;
        let there = hot(Experiment::B1).ok_or_else(no_migration)?;
        let FreeMemory { acquire, release } = profile.free_memory.ok_or_else(no_migration)?;
        // Noise may have measured what costs nothing as less than that.
        let [acquire, release] =
            [acquire, release].map(known).map(|of| Estimate { mean: of.mean.max(Nanos::ZERO), ..of });
        Ok(Self {
            profile,
            here,
            session: sum(there, here, -1.0),
            frame: sum(acquire, release, 1.0),
            uncertainty: cost_uncertainty(profile),
        })
    }

    /// What a packet costs right after another.
    pub(super) fn packet(&self, crossing: Crossing) -> Estimate<Nanos> {
        let session = sum(self.here, self.session, crossing.session);
        sum(session, self.frame, crossing.frame)
    }

    /// The part of a packet's cost `now` that `then` saves; below 0 if it costs more.
    pub(super) fn saving(&self, now: Crossing, then: Crossing) -> Estimate<f64> {
        let cost = self.packet(now);
        let saved = |of: fn(Crossing) -> f64, cost: Estimate<Nanos>| scaled(cost, of(now) - of(then));
        let saved = sum(saved(|of| of.session, self.session), saved(|of| of.frame, self.frame), 1.0);
        let mean = saved.mean / cost.mean;
        let half = (half(saved) / cost.mean).hypot(mean * (half(cost) / cost.mean));
        Estimate::new(mean, half)
    }

    /// What comes of packets at `rate` under `layout`, whose threads use `work` cpus' worth of time.
    pub(super) fn side(
        &self,
        ground: &Ground,
        layout: &Layout,
        rate: Option<PerSecond>,
        work: f64,
    ) -> Result<Side, Unforeseen> {
        let (crossing, busiest) = (layout.crossing(ground), layout.busiest());
        let result = simulate(&on_one_cpu(rate.unwrap_or(RARE) * busiest), &self.mixed(crossing))?;
        let cost = self.packet(crossing);
        let delay = result.outcome.filter(|_| rate.is_some()).map(|outcome| outcome.delay);
        Ok(Side {
            cost,
            busiest,
            capacity: widened(scaled(result.capacity.rate, 1.0 / busiest), self.uncertainty),
            room: rate.map(|rate| room(layout, cost, rate, work)),
            delay: delay.map(|delay| widened(delay, self.uncertainty)),
        })
    }

    /// The mean delay of packets at `rate` on one cpu, each of which takes `work` besides; `None` if
    /// it cannot keep up.
    pub(super) fn delay(
        &self,
        crossing: Crossing,
        rate: PerSecond,
        work: Nanos,
    ) -> Result<Option<Estimate<Nanos>>, Unforeseen> {
        let mut scenario = on_one_cpu(rate);
        scenario.effects.start_ns = work.0;
        let result = simulate(&scenario, &self.mixed(crossing))?;
        Ok(result.outcome.map(|outcome| widened(outcome.delay, self.uncertainty)))
    }

    /// The mean delay of `work` alone that comes at `rate`; `None` if a cpu cannot keep up.
    pub(super) fn delay_of_work(
        &self,
        rate: PerSecond,
        work: Nanos,
    ) -> Result<Option<Estimate<Nanos>>, Unforeseen> {
        let constant = self.profile.with_constant_time(work);
        Ok(simulate(&on_one_cpu(rate), &constant)?.outcome.map(|outcome| outcome.delay))
    }

    /// The profile of packets of which so many cross: each of its times is the mean of theirs.
    fn mixed(&self, crossing: Crossing) -> Profile {
        let mut profile = self.profile.clone();
        let times = &mut profile.times.locking;
        for receive in [&mut times.cached, &mut times.migrates] {
            for [here, there] in PAIRS {
                let Some(far) = receive.get(&there).cloned() else { continue };
                if let Some(near) = receive.get_mut(&here) {
                    self.mix(near, &far, crossing);
                }
            }
        }
        profile
    }

    fn mix(&self, near: &mut ReceiveTimes, far: &ReceiveTimes, crossing: Crossing) {
        let frame = self.frame.mean * crossing.frame;
        let mix = |near: &mut Measured, far: &Measured| {
            near.mean = near.mean + (far.mean - near.mean) * crossing.session + frame;
        };
        mix(&mut near.hot, &far.hot);
        near.cold.iter_mut().zip(&far.cold).for_each(|(near, far)| mix(near, far));
    }
}

/// Session here, and the same with the session elsewhere.
const PAIRS: [[Experiment; 2]; 3] =
    [[Experiment::A1, Experiment::B1], [Experiment::A2, Experiment::B2], [Experiment::A3, Experiment::B3]];

/// By what factor there is more room `then` than `now`: by what factor more packets can be taken in,
/// where nothing tells how many come.
pub(super) fn growth(now: &Side, then: &Side) -> Estimate<f64> {
    match (then.room, now.room) {
        (Some(then), Some(now)) => ratio(then, now),
        _ => ratio(then.capacity, now.capacity),
    }
}

/// The delay `then` as a multiple of that `now`; `None` if one of them is not known.
pub(super) fn slowdown(now: &Side, then: &Side) -> Option<Estimate<f64>> {
    Some(ratio(then.delay?, now.delay?))
}

/// How many times packets that cost `cost` could come at `rate`, and threads do `work` for them, until
/// the fullest cpu is full.
fn room(layout: &Layout, cost: Estimate<Nanos>, rate: PerSecond, work: f64) -> Estimate<f64> {
    let taken_in = layout.taken_in();
    let cpus = taken_in.keys().copied().chain(layout.threads.iter().map(|&(cpu, _)| cpu));
    let load = |cpu: CpuId| {
        let protocol = taken_in.get(&cpu).copied().unwrap_or(0.0) * rate.0 * cost.mean.secs();
        let of_threads = layout.threads.iter().filter(|&&(of, _)| of == cpu).map(|&(_, part)| part * work);
        (protocol + of_threads.sum::<f64>(), protocol)
    };
    let fullest =
        cpus.map(load).max_by(|one, other| one.0.total_cmp(&other.0).then(one.1.total_cmp(&other.1)));
    let (load, protocol) = fullest.unwrap_or_default();
    let room = 1.0 / load;
    Estimate::new(room, room * (protocol / load) * (half(cost) / cost.mean))
}

/// One stream on one processor, which is what the packets of a placement are where they are taken in.
fn on_one_cpu(rate: PerSecond) -> PacketScenario {
    PacketScenario {
        processors: 1,
        rate_per_s: Some(PerSecond(rate.0.max(RARE.0))),
        traffic: Traffic { streams: 1, ..Traffic::default() },
        run: RunLength { precision: PRECISION, max_packets: MAX_PACKETS, ..RunLength::default() },
        ..PacketScenario::default()
    }
}

fn known(time: Measured) -> Estimate<Nanos> {
    let half = time.half_width.unwrap_or(time.mean * PUBLISHED);
    Estimate::new(time.mean, half)
}

fn half(of: Estimate<Nanos>) -> Nanos {
    of.half_width.unwrap_or_default()
}

/// `one + factor × other`, whose errors are independent.
fn sum(one: Estimate<Nanos>, other: Estimate<Nanos>, factor: f64) -> Estimate<Nanos> {
    let half = half(one).0.hypot(half(other).0 * factor);
    Estimate::new(one.mean + other.mean * factor, Nanos(half))
}

fn scaled<Q>(of: Estimate<Q>, factor: f64) -> Estimate<Q>
where
    Q: Copy + core::ops::Mul<f64, Output = Q>,
{
    Estimate { mean: of.mean * factor, half_width: of.half_width.map(|half| half * factor.abs()) }
}

/// The same where costs are known to a fraction of `uncertainty` only.
fn widened<Q>(of: Estimate<Q>, uncertainty: f64) -> Estimate<Q>
where
    Q: Copy + Into<f64> + core::ops::Mul<f64, Output = Q>,
{
    let relative = of.relative_half_width().unwrap_or(0.0).hypot(uncertainty);
    Estimate { mean: of.mean, half_width: Some(of.mean * relative) }
}

/// `a / b`, whose errors are independent.
fn ratio<Q: Copy + Into<f64>>(a: Estimate<Q>, b: Estimate<Q>) -> Estimate<f64> {
    let relative = |of: Estimate<Q>| of.relative_half_width().unwrap_or(0.0);
    let ratio = a.mean.into() / b.mean.into();
    Estimate::new(ratio, ratio * relative(a).hypot(relative(b)))
}

/// The uncertainty that the costs bring into every prediction, as a fraction: the median of the
/// relative half-widths of the profile's receive times. Published times count with the [1%](PUBLISHED) that
/// their source promises.
fn cost_uncertainty(profile: &Profile) -> f64 {
    let approaches = Approach::ALL.map(|approach| profile.times.get(approach));
    let receives = approaches.iter().flat_map(|times| times.cached.values().chain(times.migrates.values()));
    let times = receives.flat_map(|receive| [&receive.hot].into_iter().chain(&receive.cold));
    let mut relative: Vec<f64> =
        times.map(|time| time.estimate().relative_half_width().unwrap_or(PUBLISHED)).collect();
    relative.sort_by(f64::total_cmp);
    relative.get(relative.len() / 2).copied().unwrap_or(0.0)
}
