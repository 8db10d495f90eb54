//! What a layout costs: a measured profile prices what crosses between cores, and the simulator
//! predicts what that does to delay and capacity.
//!
//! A packet whose reader ran on the core that processes it finds its session's lines there; otherwise
//! they come from another core: situations A and B of Salehi, Kurose & Towsley 1994, §5. A frame
//! that is handed to another core brings its buffer's lines along, as a buffer of a global pool does
//! (§4.3). A profile knows one distance between cores. Lines that come from farther away take longer.
//! The profile does not tell how much, so the plan states this and does not guess.
//!
//! The core that is interrupted for a frame and hands it over works for it as well: it takes a buffer that was freed
//! elsewhere, and its lines are what that core pays for at least. Its driver's work is in no profile.

use super::layout::{Crossing, Layout};
use serde::Serialize;
use std::collections::BTreeMap;
use warmcore_costs::profile::{FreeMemory, Measured, ReceiveTimes};
use warmcore_costs::{Approach, Experiment, Profile, ThreadStack};
use warmcore_scenario::{PacketScenario, RunLength, Traffic};
use warmcore_sim::packet::{PointError, simulate};
use warmcore_units::{CpuId, Estimate, Nanos, PerSecond};

/// The half-width of a simulated delay, as a fraction of it.
const PRECISION: f64 = 0.02;
/// A simulation ends after this many packets in any case.
const MAX_PACKETS: u64 = 50_000;
/// The uncertainty of published times, as a fraction (Salehi, Kurose & Towsley 1994, §5).
const PUBLISHED: f64 = 0.01;
/// Below this rate the delay no longer changes: caches are as cold as they get, and no packet waits.
const RARE: PerSecond = PerSecond(1.0);

/// Why nothing can be predicted.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum NoPrediction {
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

impl From<PointError> for NoPrediction {
    fn from(error: PointError) -> Self {
        Self::Impossible(error.to_string())
    }
}

/// The predicted performance of a host under one layout.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Performance {
    /// What a packet costs, right after another.
    pub cost: Estimate<Nanos>,
    /// The part of all packets that the busiest cpu processes: from 0 to 1.
    pub busiest: f64,
    /// The rate, over all queues, at which that cpu is saturated.
    pub capacity: Estimate<PerSecond>,
    /// By what factor the rate could grow, with the threads' work for these packets, until a cpu is
    /// full; `None` if the rate is unknown.
    #[serde(rename = "room")]
    pub headroom: Option<Estimate<f64>>,
    /// The mean time from a packet's arrival to the end of its processing, on that cpu; `None` if it
    /// cannot keep up, or if the rate is unknown.
    pub delay: Option<Estimate<Nanos>>,
}

/// What a packet costs, depending on what crosses between cores.
#[derive(Clone, Debug)]
pub(super) struct CostModel<'a> {
    profile: &'a Profile,
    /// A packet for which nothing crosses.
    here: Estimate<Nanos>,
    /// What is added where the session's lines cross.
    session: Estimate<Nanos>,
    /// What is added where the frame's lines cross.
    frame: Estimate<Nanos>,
    /// The uncertainty of all of them, as a fraction.
    uncertainty: f64,
}

impl<'a> CostModel<'a> {
    pub(super) fn new(profile: Option<&'a Profile>) -> Result<Self, NoPrediction> {
        let profile = profile.ok_or(NoPrediction::NoProfile)?;
        let no_migration = || NoPrediction::NoMigration(profile.name.clone());
        let cached = profile.times.locking.with(ThreadStack::Cached);
        let hot = |experiment| cached.get(&experiment).map(|times| known(times.hot));
        let here = hot(Experiment::A1).ok_or_else(no_migration)?;
        let there = hot(Experiment::B1).ok_or_else(no_migration)?;
        let FreeMemory { acquire, release } = profile.free_memory.ok_or_else(no_migration)?;
        // Measurement noise can make a cost of zero negative.
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

    /// The part of a packet's cost `now` that `then` saves; negative if it costs more.
    pub(super) fn saving(&self, now: Crossing, then: Crossing) -> Estimate<f64> {
        let cost = self.packet(now);
        let saved = |of: fn(Crossing) -> f64, cost: Estimate<Nanos>| scaled(cost, of(now) - of(then));
        let saved = sum(saved(|of| of.session, self.session), saved(|of| of.frame, self.frame), 1.0);
        let mean = saved.mean / cost.mean;
        let half = (half(saved) / cost.mean).hypot(mean * (half(cost) / cost.mean));
        Estimate::new(mean, half)
    }

    /// Predicts the performance at `rate` under `layout`, whose threads use `work` cpus' worth of time.
    pub(super) fn performance(
        &self,
        layout: &Layout,
        rate: Option<PerSecond>,
        work: f64,
    ) -> Result<Performance, NoPrediction> {
        let (crossing, busiest) = (layout.crossing, layout.busiest);
        let result = simulate(&on_one_cpu(rate.unwrap_or(RARE) * busiest), &self.mixed(crossing))?;
        let delay = result.outcome.filter(|_| rate.is_some()).map(|outcome| outcome.delay);
        Ok(Performance {
            cost: self.packet(crossing),
            busiest,
            capacity: widened(scaled(result.capacity.rate, 1.0 / self.most_work(layout)), self.uncertainty),
            headroom: rate.map(|rate| self.headroom(layout, rate, work)),
            delay: delay.map(|delay| widened(delay, self.uncertainty)),
        })
    }

    /// The work of `cpu` under `layout` for each packet that arrives anywhere: what it processes and what it hands over.
    fn work(&self, layout: &Layout, cpu: CpuId) -> Nanos {
        let part = |of: &BTreeMap<CpuId, f64>| of.get(&cpu).copied().unwrap_or(0.0);
        self.packet(layout.crossing).mean * part(&layout.processed)
            + self.frame.mean * part(&layout.handed_over)
    }

    /// The work of the busiest cpu under `layout` as a part of all: from 0 to 1, more where it also hands packets over.
    pub(super) fn most_work(&self, layout: &Layout) -> f64 {
        let cpus = layout.processed.keys().chain(layout.handed_over.keys());
        let cost = self.packet(layout.crossing).mean.0;
        let of_one_thread = layout.follows_one_thread * cost;
        cpus.map(|&cpu| self.work(layout, cpu).0).fold(of_one_thread, f64::max) / cost
    }

    /// By what factor `rate` could grow until the fullest cpu is full, where the threads use `work` cpus' worth of time
    /// for these packets.
    pub(super) fn headroom(&self, layout: &Layout, rate: PerSecond, work: f64) -> Estimate<f64> {
        let cost = self.packet(layout.crossing);
        let of_readers = layout.readers.iter().flat_map(|reader| reader.cpus.iter());
        let cpus = layout.processed.keys().chain(layout.handed_over.keys()).copied().chain(of_readers);
        let load = |cpu: CpuId| {
            let protocol = self.work(layout, cpu).secs() * rate.0;
            let here = layout.readers.iter().filter(|reader| reader.cpus.contains(cpu));
            let of_readers: f64 = here.map(|reader| reader.part * work / reader.cpus.len() as f64).sum();
            (protocol + of_readers, protocol)
        };
        // A thread is on one cpu at a time, and with it the packets that follow it.
        let most = layout.readers.iter().map(|reader| reader.of_one_thread).fold(0.0, f64::max);
        let following = layout.follows_one_thread * rate.0 * cost.mean.secs();
        let of_one_thread = (most * work + following, following);
        let loads = cpus.map(load).chain([of_one_thread]);
        let fullest = loads.max_by(|one, other| one.0.total_cmp(&other.0).then(one.1.total_cmp(&other.1)));
        let (load, protocol) = fullest.unwrap_or_default();
        let headroom = 1.0 / load;
        Estimate::new(headroom, headroom * (protocol / load) * (half(cost) / cost.mean))
    }

    /// The mean delay of packets at `rate` on one cpu, with `work` after each packet; `None` if the cpu
    /// cannot keep up.
    pub(super) fn delay(
        &self,
        crossing: Crossing,
        rate: PerSecond,
        work: Nanos,
    ) -> Result<Option<Estimate<Nanos>>, NoPrediction> {
        let mut scenario = on_one_cpu(rate);
        scenario.effects.start_ns = work.0;
        let result = simulate(&scenario, &self.mixed(crossing))?;
        Ok(result.outcome.map(|outcome| widened(outcome.delay, self.uncertainty)))
    }

    /// The mean delay of `work` alone, arriving at `rate`; `None` if a cpu cannot keep up.
    pub(super) fn delay_of_work(
        &self,
        rate: PerSecond,
        work: Nanos,
    ) -> Result<Option<Estimate<Nanos>>, NoPrediction> {
        let constant = self.profile.with_constant_time(work);
        Ok(simulate(&on_one_cpu(rate), &constant)?.outcome.map(|outcome| outcome.delay))
    }

    /// The profile of a mixture of packets, of which the parts in `crossing` cross: mean times.
    fn mixed(&self, crossing: Crossing) -> Profile {
        let mut profile = self.profile.clone();
        let times = &mut profile.times.locking;
        for receive in [&mut times.cached, &mut times.migrates] {
            for [here, there] in SESSION_HERE_AND_ELSEWHERE {
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

/// Experiments with the session's lines on the packet's core, each with its like whose session is elsewhere.
const SESSION_HERE_AND_ELSEWHERE: [[Experiment; 2]; 3] =
    [[Experiment::A1, Experiment::B1], [Experiment::A2, Experiment::B2], [Experiment::A3, Experiment::B3]];

/// By what factor the headroom grows; where the rate is unknown, the capacity.
pub(super) fn growth(now: &Performance, then: &Performance) -> Estimate<f64> {
    match (then.headroom, now.headroom) {
        (Some(then), Some(now)) => ratio(then, now),
        _ => ratio(then.capacity, now.capacity),
    }
}

/// The delay `then` as a multiple of the delay `now`; `None` if one of them is unknown.
pub(super) fn slowdown(now: &Performance, then: &Performance) -> Option<Estimate<f64>> {
    Some(ratio(then.delay?, now.delay?))
}

/// One stream on one processor: the model of one cpu that processes packets.
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

/// `of` with the relative `uncertainty` of the costs added to its half-width; without one where `of` has none.
fn widened<Q>(of: Estimate<Q>, uncertainty: f64) -> Estimate<Q>
where
    Q: Copy + Into<f64> + core::ops::Mul<f64, Output = Q>,
{
    let relative = of.relative_half_width().filter(|relative| relative.is_finite());
    let half_width = relative.map(|relative| of.mean * relative.hypot(uncertainty));
    Estimate { mean: of.mean, half_width }
}

/// `a / b`, whose errors are independent.
pub(super) fn ratio<Q: Copy + Into<f64>>(a: Estimate<Q>, b: Estimate<Q>) -> Estimate<f64> {
    let ratio = a.mean.into() / b.mean.into();
    let relative = a.relative_half_width().zip(b.relative_half_width());
    Estimate { mean: ratio, half_width: relative.map(|(a, b)| ratio * a.hypot(b)) }
}

/// The uncertainty that the costs bring into every prediction, as a fraction: the median of the
/// relative half-widths of the profile's receive times. Published times count with the [1%](PUBLISHED) that
/// Salehi, Kurose & Towsley 1994 state.
fn cost_uncertainty(profile: &Profile) -> f64 {
    let approaches = Approach::ALL.map(|approach| profile.times.get(approach));
    let receives = approaches.iter().flat_map(|times| times.cached.values().chain(times.migrates.values()));
    let times = receives.flat_map(|receive| [&receive.hot].into_iter().chain(&receive.cold));
    let mut relative: Vec<f64> =
        times.map(|time| time.estimate().relative_half_width().unwrap_or(PUBLISHED)).collect();
    relative.sort_by(f64::total_cmp);
    relative.get(relative.len() / 2).copied().unwrap_or(0.0)
}
