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
//! elsewhere, and its lines are what that core pays for at least. Its driver's work is in no profile. What a packet costs,
//! saves and waits counts both cores.
//!
//! By the kernel's own profile the softirq is the processing, and what its reader pays to receive is told apart: it is work
//! of the reader's. Both count in what a packet costs and saves, which is processor time of this host.
//!
//! Two layouts are priced alike, so what is uncertain of a price is so for both, and leaves less uncertain of how they
//! compare: [`CostModel::estimate`] varies each measured price alone and adds what that changes in quadrature.

use super::PacketCosts;
use super::layout::{Crossing, Layout};
use super::performance::{NoPrediction, Performance};
use super::prices::{Prices, SiblingPrices, constant_service};
use warmcore_costs::profile::{FreeMemory, Measured, ReceiveTimes};
use warmcore_costs::socket::{DatagramCpu, PlacedTimes, ReaderState};
use warmcore_costs::{Approach, Experiment, Profile, SocketProfile, ThreadStack};
use warmcore_scenario::{PacketScenario, RunLength, Traffic};
use warmcore_sim::packet::simulate;
use warmcore_units::{Estimate, Nanos, PerSecond};

/// The half-width of a simulated delay, as a fraction of it.
const PRECISION: f64 = 0.02;
/// A simulation ends after this many packets in any case.
const MAX_PACKETS: u64 = 50_000;
/// The uncertainty of published times, as a fraction (Salehi, Kurose & Towsley 1994, §5).
const PUBLISHED: f64 = 0.01;
/// Below this rate the delay no longer changes: caches are as cold as they get, and no packet waits.
const RARE: PerSecond = PerSecond(1.0);

/// What a packet costs, depending on what crosses between cores.
#[derive(Clone, Debug)]
pub(super) struct CostModel<'a> {
    path: Path<'a>,
    /// The prices as they were measured.
    prices: Prices,
    /// The same with each measured price alone at the end of its interval.
    varied: Vec<Prices>,
}

/// What delays are computed from.
#[derive(Clone, Copy, Debug)]
enum Path<'a> {
    /// They are simulated; all costs of the profile are so uncertain, as a fraction.
    Stack(&'a Profile, f64),
    /// They are those of a queue with constant service: the simulator has no such path.
    Kernel(PlacedTimes),
}

impl<'a> CostModel<'a> {
    /// The costs of packets whose readers are in such a `state`; or why that is not known.
    pub(super) fn new(
        costs: Option<PacketCosts<'a>>,
        state: Result<ReaderState, NoPrediction>,
    ) -> Result<Self, NoPrediction> {
        match costs.ok_or(NoPrediction::NoProfile)? {
            PacketCosts::Stack(profile) => Self::of_stack(profile),
            PacketCosts::Kernel(profile) => Self::of_kernel(profile, state?),
        }
    }

    fn of_stack(profile: &'a Profile) -> Result<Self, NoPrediction> {
        let no_migration = || NoPrediction::NoMigration(profile.name.clone());
        let cached = profile.times.locking.with(ThreadStack::Cached);
        let hot = |experiment| cached.get(&experiment).map(|times| known(times.hot));
        let here = hot(Experiment::A1).ok_or_else(no_migration)?;
        let there = hot(Experiment::B1).ok_or_else(no_migration)?;
        let FreeMemory { acquire, release } = profile.free_memory.ok_or_else(no_migration)?;
        // Measurement noise can make a cost of zero negative.
        let [acquire, release] =
            [acquire, release].map(known).map(|of| Estimate { mean: of.mean.max(Nanos::ZERO), ..of });
        let prices = Prices {
            here: here.mean,
            session: there.mean - here.mean,
            receive: Nanos::ZERO,
            receive_session: Nanos::ZERO,
            frame: acquire.mean + release.mean,
            // They share the caches that lines would have to come from.
            sibling: SiblingPrices::default(),
        };
        let frame = Nanos(half(acquire).0.hypot(half(release).0));
        let [here, there] = [here, there].map(half);
        let varied = vec![
            Prices { here: prices.here + here, session: prices.session - here, ..prices },
            Prices { session: prices.session + there, ..prices },
            Prices { frame: prices.frame + frame, ..prices },
        ];
        Ok(Self { path: Path::Stack(profile, cost_uncertainty(profile)), prices, varied })
    }

    /// A softirq on another core than the reader's is a session that crosses; a packet that a softirq hands over to
    /// another is a frame that does, of which each of both pays half.
    fn of_kernel(profile: &SocketProfile, state: ReaderState) -> Result<Self, NoPrediction> {
        let placed =
            profile.placed(state).map_err(|why| NoPrediction::NotCompared(profile.name.clone(), why))?;
        let handing_over =
            placed.handing_over.ok_or_else(|| NoPrediction::NoHandingOver(profile.name.clone()))?;
        let PlacedTimes { here, elsewhere, sibling, .. } = placed;
        let frame = handing_over.mean.max(Nanos::ZERO) * 0.5;
        // What was not measured between hardware threads of one core counts as between cores; savings are checked against
        // the contrary.
        let of_sibling = sibling.unwrap_or(elsewhere);
        let prices = Prices {
            here: here.softirq.mean,
            session: elsewhere.softirq.mean,
            receive: here.reader.mean,
            receive_session: elsewhere.reader.mean,
            frame,
            sibling: SiblingPrices {
                // Measured after other work than the core's own time, a difference may be more than all of that.
                session: of_sibling.softirq.mean.max(here.softirq.mean * -1.0),
                receive_session: of_sibling.reader.mean.max(here.reader.mean * -1.0),
                frame,
            },
        };
        // The one that was not measured is as far off as the one that stands for it.
        let crossing =
            |[softirq, reader]: [Nanos; 2], [sibling_softirq, sibling_reader]: [Nanos; 2]| Prices {
                session: prices.session + softirq,
                receive_session: prices.receive_session + reader,
                sibling: SiblingPrices {
                    session: prices.sibling.session + sibling_softirq,
                    receive_session: prices.sibling.receive_session + sibling_reader,
                    ..prices.sibling
                },
                ..prices
            };
        let halves = |of: DatagramCpu| [[half(of.softirq), Nanos::ZERO], [Nanos::ZERO, half(of.reader)]];
        let none = [Nanos::ZERO; 2];
        let handing_over = half(handing_over) * 0.5;
        let mut varied = vec![
            Prices { here: prices.here + half(here.softirq), ..prices },
            Prices { receive: prices.receive + half(here.reader), ..prices },
            Prices {
                frame: frame + handing_over,
                sibling: SiblingPrices { frame: frame + handing_over, ..prices.sibling },
                ..prices
            },
        ];
        match sibling {
            Some(sibling) => {
                varied.extend(halves(elsewhere).map(|halves| crossing(halves, none)));
                varied.extend(halves(sibling).map(|halves| crossing(none, halves)));
            }
            None => varied.extend(halves(elsewhere).map(|halves| crossing(halves, halves))),
        }
        Ok(Self { path: Path::Kernel(placed), prices, varied })
    }

    /// The prices as they were measured.
    pub(super) const fn prices(&self) -> Prices {
        self.prices
    }

    /// What `of` the prices is, and how uncertain that is where each of them is.
    pub(super) fn estimate(&self, of: impl Fn(Prices) -> f64) -> Estimate<f64> {
        let mean = of(self.prices);
        let half = self.varied.iter().map(|&varied| of(varied) - mean).fold(0.0, f64::hypot);
        Estimate::new(mean, half)
    }

    /// The same of a time.
    fn time(&self, of: impl Fn(Prices) -> Nanos) -> Estimate<Nanos> {
        let Estimate { mean, half_width } = self.estimate(|prices| of(prices).0);
        Estimate { mean: Nanos(mean), half_width: half_width.map(Nanos) }
    }

    /// What taking a packet in costs right after another, without what its reader does to receive it.
    pub(super) fn taking_in(&self, crossing: Crossing) -> Estimate<Nanos> {
        self.time(|prices| prices.taking_in(crossing))
    }

    /// The processor time that `then` saves of each packet, where the costs are of the host's own path: below zero if it
    /// takes more. No more than was measured: see [`SiblingPrices`].
    pub(super) fn saved_time(&self, now: Crossing, then: Crossing) -> Option<Estimate<Nanos>> {
        let placed = self.placed()?;
        // Of what is not known of hardware threads that share a core, the smaller saving: their lines cost nothing, or as
        // much as another core's.
        let sessions: &[bool] = if placed.sibling.is_some() { &[false] } else { &[false, true] };
        let views = sessions.iter().flat_map(|&is_free| [(is_free, false), (is_free, true)]);
        let saved = views.map(|(session_is_free, frame_is_free)| {
            self.time(|prices| {
                let prices = prices.with_free_siblings(session_is_free, frame_is_free);
                prices.packet(now) - prices.packet(then)
            })
        });
        saved.reduce(|one, other| if other.mean < one.mean { other } else { one })
    }

    /// What the kernel's profile says of packets, where the costs are from one.
    pub(super) const fn placed(&self) -> Option<&PlacedTimes> {
        match &self.path {
            Path::Kernel(placed) => Some(placed),
            Path::Stack(..) => None,
        }
    }

    /// What a packet costs right after another, on all cores that have to do with it.
    pub(super) fn packet(&self, crossing: Crossing) -> Estimate<Nanos> {
        self.time(|prices| prices.packet(crossing))
    }

    /// The part of a packet's cost `now` that `then` saves; negative if it costs more. Of the host's own path it is as
    /// uncertain as the time that is saved and the cost together, so that whoever computes with both finds the same.
    pub(super) fn saving(&self, now: Crossing, then: Crossing) -> Estimate<f64> {
        if let Some(saved) = self.saved_time(now, then) {
            let cost = self.packet(now);
            let part = saved.mean / cost.mean;
            let half = (saved.half() / cost.mean.0).hypot(part * cost.half() / cost.mean.0);
            return Estimate::new(part, half);
        }
        self.estimate(|prices| 1.0 - prices.packet(then) / prices.packet(now))
    }

    /// Predicts the performance at `rate` under `layout`, whose threads use `work` cpus' worth of time.
    pub(super) fn performance(
        &self,
        layout: &Layout,
        rate: Option<PerSecond>,
        work: f64,
    ) -> Result<Performance, NoPrediction> {
        let delay = rate.map(|rate| self.delay_under(layout, rate, work)).transpose()?.flatten();
        let capacity = self.estimate(|prices| 1.0 / prices.most_work(layout).secs());
        Ok(Performance {
            cost: self.packet(layout.crossing),
            busiest: layout.busiest,
            capacity: Estimate {
                mean: PerSecond(capacity.mean),
                half_width: capacity.half_width.map(PerSecond),
            },
            headroom: rate.map(|rate| self.estimate(|prices| 1.0 / prices.fullest(layout, rate, work))),
            delay: delay.map(|delay| self.uncertain(delay)),
        })
    }

    /// By what factor the headroom grows from `now` to `then`; where the rate is unknown, the capacity.
    pub(super) fn growth(
        &self,
        [now, then]: [&Layout; 2],
        rate: Option<PerSecond>,
        work: f64,
    ) -> Estimate<f64> {
        match rate {
            Some(rate) => self.estimate(|it| it.fullest(now, rate, work) / it.fullest(then, rate, work)),
            None => self.growth_of_capacity([now, then]),
        }
    }

    /// By what factor the capacity of the busiest cpu grows from `now` to `then`.
    pub(super) fn growth_of_capacity(&self, [now, then]: [&Layout; 2]) -> Estimate<f64> {
        self.estimate(|prices| prices.most_work(now) / prices.most_work(then))
    }

    /// The second delay as a multiple of the first, which were simulated under these layouts; `None` if that is as good as
    /// unknown. What the uncertainty of the prices makes of it is computed from a queue with constant service.
    pub(super) fn slowdown(
        &self,
        [now, then]: [(&Layout, Estimate<Nanos>); 2],
        rate: PerSecond,
    ) -> Option<Estimate<f64>> {
        let simulated = ratio(then.1, now.1);
        let priced = self.estimate(|prices| prices.delay(then.0, rate) / prices.delay(now.0, rate));
        let relative = simulated.relative_half_width().zip(priced.relative_half_width());
        let half_width = relative.map(|(one, other)| simulated.mean * one.hypot(other));
        Some(Estimate { half_width, ..simulated }).filter(|of| of.half_width.is_some_and(f64::is_finite))
    }

    /// By what factor `rate` could grow until the fullest cpu is full, where the threads use `work` cpus' worth of time
    /// for these packets.
    pub(super) fn headroom(&self, layout: &Layout, rate: PerSecond, work: f64) -> f64 {
        1.0 / self.prices().fullest(layout, rate, work)
    }

    /// The mean delay on the busiest cpu at `rate` under `layout`, with that on the cpu that hands most packets over for
    /// those that are handed over, the work of readers aside; `None` if a cpu cannot keep up with packets and the `work` of
    /// readers, or so hardly that the mean does not settle. It is as uncertain as the simulation is.
    pub(super) fn delay_under(
        &self,
        layout: &Layout,
        rate: PerSecond,
        work: f64,
    ) -> Result<Option<Estimate<Nanos>>, NoPrediction> {
        let prices = self.prices();
        if prices.fullest(layout, rate, work) >= 1.0 {
            return Ok(None);
        }
        if self.placed().is_some() {
            return Ok(settled_time(self.estimate(|prices| prices.delay(layout, rate))));
        }
        let beside = prices.handing_over_beside(layout);
        let Some(processed) = self.simulated_delay(layout.crossing, rate * layout.busiest, beside)? else {
            return Ok(None);
        };
        let Some((part, work)) = prices.handing_over(layout) else { return Ok(Some(processed)) };
        let waits = self.delay_of_work(rate * part, work)?;
        Ok(waits.map(|waits| sum(processed, waits, layout.crossing.frame)))
    }

    /// The mean delay of packets at `rate` on one cpu, with `work` for each packet besides; `None` if the cpu cannot keep
    /// up, or hardly. It is as uncertain as the prices and the simulation are.
    pub(super) fn delay(
        &self,
        crossing: Crossing,
        rate: PerSecond,
        work: Nanos,
    ) -> Result<Option<Estimate<Nanos>>, NoPrediction> {
        let delay = self.simulated_delay(crossing, rate, work)?;
        Ok(delay.map(|delay| self.uncertain(delay)))
    }

    /// The same, as uncertain as the simulation is.
    fn simulated_delay(
        &self,
        crossing: Crossing,
        rate: PerSecond,
        work: Nanos,
    ) -> Result<Option<Estimate<Nanos>>, NoPrediction> {
        let Path::Stack(profile, _) = self.path else {
            let service = |prices: Prices| prices.processing(crossing) + work;
            return Ok(settled_time(self.estimate(|prices| constant_service(service(prices), rate))));
        };
        let mut scenario = on_one_cpu(rate);
        scenario.effects.start_ns = work.0;
        let result = simulate(&scenario, &self.mixed(profile, crossing))?;
        Ok(result.outcome.map(|outcome| outcome.delay).filter(is_settled))
    }

    /// The mean delay of `work` alone, arriving at `rate`; `None` if a cpu cannot keep up, or hardly.
    pub(super) fn delay_of_work(
        &self,
        rate: PerSecond,
        work: Nanos,
    ) -> Result<Option<Estimate<Nanos>>, NoPrediction> {
        let Path::Stack(profile, _) = self.path else {
            return Ok(settled_time(Estimate::new(constant_service(work, rate), 0.0)));
        };
        let constant = profile.with_constant_time(work);
        let result = simulate(&on_one_cpu(rate), &constant)?;
        Ok(result.outcome.map(|outcome| outcome.delay).filter(is_settled))
    }

    /// The profile of a mixture of packets, of which the parts in `crossing` cross: mean times.
    fn mixed(&self, profile: &Profile, crossing: Crossing) -> Profile {
        let mut profile = profile.clone();
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

    /// `delay`, which is as uncertain as its simulation is, with what is uncertain of the costs.
    fn uncertain(&self, delay: Estimate<Nanos>) -> Estimate<Nanos> {
        match self.path {
            Path::Stack(_, uncertainty) => widened(delay, uncertainty),
            Path::Kernel(_) => delay,
        }
    }

    fn mix(&self, near: &mut ReceiveTimes, far: &ReceiveTimes, crossing: Crossing) {
        let frame = self.prices.frame * crossing.frame;
        let mix = |near: &mut Measured, far: &Measured| {
            near.mean = near.mean + (far.mean - near.mean) * crossing.session + frame;
        };
        mix(&mut near.hot, &far.hot);
        near.cold.iter_mut().zip(&far.cold).for_each(|(near, far)| mix(near, far));
    }
}

/// A delay in seconds as a time; `None` where a cpu cannot keep up.
fn settled_time(seconds: Estimate<f64>) -> Option<Estimate<Nanos>> {
    let Estimate { mean, half_width } = seconds;
    let delay = Estimate { mean: Nanos::from_secs(mean), half_width: half_width.map(Nanos::from_secs) };
    Some(delay).filter(|delay| delay.mean.0.is_finite() && is_settled(delay))
}

/// Experiments with the session's lines on the packet's core, each with its like whose session is elsewhere.
const SESSION_HERE_AND_ELSEWHERE: [[Experiment; 2]; 3] =
    [[Experiment::A1, Experiment::B1], [Experiment::A2, Experiment::B2], [Experiment::A3, Experiment::B3]];

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

fn is_settled(delay: &Estimate<Nanos>) -> bool {
    delay.relative_half_width().is_some_and(f64::is_finite)
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
fn ratio<Q: Copy + Into<f64>>(a: Estimate<Q>, b: Estimate<Q>) -> Estimate<f64> {
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
