//! Draws costs at random within their intervals.
//!
//! Each time has its own error, given by its half-width. Times of packets that fetch data from distant cache
//! levels or memory also share an error, because the speed of those depends on what else runs on the machine
//! and differs between studies: [`SHARED_ERROR_COLD_L2`] and [`SHARED_ERROR_MEMORY`]. The error that all times share, which is
//! the machine's speed at the time ([`BETWEEN_STUDIES`]), is not drawn: it cancels in every ratio and changes
//! every rate alike.

use rand_distr::{Distribution, StandardNormal};
use warmcore_costs::fit::{self, SingleProcessor};
use warmcore_costs::profile::{Kind, Measured, Profile, ReceiveTimes};
use warmcore_stats::interval::t_quantile_95;
use warmcore_units::Nanos;
use warmcore_workload::random::Random;

/// How much all rates may be off together in another study of the same machine: 95% half-width of their
/// logarithm. In six quick studies in a row on one virtual machine, capacities ranged from 31.9 to 45.9
/// million packets a second (a standard deviation of 0.14, so 0.20 for the difference of two); in four on
/// another they stayed within 4%. A single study cannot tell which of the two machines it resembles, so the
/// wider range is used. It does not cover a hypervisor that moves the processors: that changes the hand-over
/// between them, and capacities by a factor of three.
pub const BETWEEN_STUDIES: f64 = 0.4;

/// How much a ratio of two delays or capacities may be off in another study of the same machine: 95%
/// half-width of its logarithm. In fourteen quick studies on one virtual machine within a day, whose
/// hand-overs took 29 to 54 ns, the delay under the advice at half of the default's capacity was 33 to 36% of
/// the default's, and capacities were 2.3 to 2.7 times the default's: a standard deviation of 0.04 of
/// either's logarithm, so 0.055 for the difference of two. Within one study costs are known better than that.
pub const RATIOS_BETWEEN_STUDIES: f64 = 0.1;

/// Standard deviation of the relative error, compared with hot packets, that all packets with a cold second
/// level share. From four quick studies of one virtual machine.
pub const SHARED_ERROR_COLD_L2: f64 = 0.03;

/// The same for packets that find nothing in any cache.
pub const SHARED_ERROR_MEMORY: f64 = 0.1;

/// The relative 95% half-width of published times (Salehi, Kurose & Towsley 1994, §5).
const PUBLISHED: f64 = 0.01;

/// A drawn time is at least this fraction of the measured one, so that no cost vanishes.
const LEAST: f64 = 0.2;

/// `profile` with each cost changed at random, within its uncertainty.
#[must_use]
pub fn draw(profile: &Profile, random: &mut Random) -> Profile {
    let mut normal = || -> f64 { StandardNormal.sample(random) };
    let measured = profile.provenance.kind == Kind::Measured;
    let [afar, memory] =
        [SHARED_ERROR_COLD_L2, SHARED_ERROR_MEMORY].map(|of| if measured { of * normal() } else { 0.0 });
    let mut drawn = profile.clone();
    let mut move_by = |time: &mut Measured, shared: f64| {
        let error = deviation(time) * normal() + time.mean * shared;
        time.mean = (time.mean + error).max(time.mean * LEAST);
    };
    for times in [&mut drawn.times.locking, &mut drawn.times.independent_stacks] {
        move_by(&mut times.fully_cold, memory);
        for ReceiveTimes { hot, cold } in times.cached.values_mut().chain(times.migrates.values_mut()) {
            move_by(hot, 0.0);
            for (level, time) in cold.iter_mut().enumerate() {
                // The first level is refilled from the processor's own second level.
                move_by(time, if level == 0 { 0.0 } else { afar });
            }
        }
    }
    if let Some(pool) = &mut drawn.free_memory {
        move_by(&mut pool.acquire, 0.0);
        move_by(&mut pool.release, 0.0);
    }
    refit(profile, &mut drawn, memory, &mut normal);
    drawn
}

/// Fits the footprint constants of `drawn` to points of t(x) that include their own error, that of the model,
/// and the shared error of `memory` to the extent that they come from there.
fn refit(profile: &Profile, drawn: &mut Profile, memory: f64, normal: &mut impl FnMut() -> f64) {
    let Some(curve) = drawn.intervened.as_mut().filter(|curve| curve.fitted) else { return };
    let Some(alone) = SingleProcessor::new(profile, curve.approach) else { return };
    let model = alone.deviation(&curve.points, profile.intervening);
    let [hot, cold] = [Nanos::ZERO, Nanos::INFINITY].map(|x| alone.receive_after(x, profile.intervening));
    for point in &mut curve.points {
        let time = &mut point.time;
        let from_memory = ((time.mean - hot) / (cold - hot)).clamp(0.0, 1.0);
        let error = deviation(time).0.hypot(time.mean.0 * model) * normal();
        time.mean = (time.mean * (1.0 + memory * from_memory) + Nanos(error)).max(time.mean * LEAST);
    }
    let (approach, points) = (curve.approach, curve.points.clone());
    if let Some(fit) = fit::fit(drawn, approach, &points, profile.intervening.references_per_us) {
        drawn.intervening = fit.intervening;
    }
}

/// The standard deviation of a time's own error. The half-width of a few runs is that of a Student's t
/// distribution with heavy tails. With two or three runs t has no standard deviation, so that of four runs is
/// used.
fn deviation(time: &Measured) -> Nanos {
    let half_width = time.half_width.unwrap_or(time.mean * PUBLISHED);
    let freedom = if time.runs < 2 { KNOWN } else { f64::from(time.runs) - 1.0 };
    let spread = freedom.max(3.0);
    half_width * ((spread / (spread - 2.0)).sqrt() / t_quantile_95(freedom))
}

/// Degrees of freedom of a half-width without a number of runs.
const KNOWN: f64 = 1e6;

#[cfg(test)]
mod tests {
    use super::*;
    use warmcore_costs::Experiment;
    use warmcore_workload::{Key, Purpose};

    fn a1(profile: &Profile) -> Measured {
        profile.times.locking.cached[&Experiment::A1].hot
    }

    /// Half-width of the mean hot time over many draws of a profile with this many runs.
    fn spread(half_width: f64, runs: u32) -> f64 {
        let mut profile = Profile::sgi_challenge_xl();
        if let Some(a1) = profile.times.locking.cached.get_mut(&Experiment::A1) {
            a1.hot = Measured { half_width: Some(a1.hot.mean * half_width), runs, ..a1.hot };
        }
        let mean = a1(&profile).mean;
        let error = |index: u64| {
            let mut random = Key { seed: 3, point: index, replication: 0 }.stream(Purpose::Costs);
            (a1(&draw(&profile, &mut random)).mean / mean - 1.0).powi(2)
        };
        1.96 * ((0..400).map(error).sum::<f64>() / 400.0).sqrt()
    }

    #[test]
    fn draws_scatter_as_half_widths_say() {
        for runs in [0, 6, 30] {
            let spread = spread(0.05, runs);
            assert!((0.04..0.06).contains(&spread), "{runs} runs: {spread}");
        }
        // With two runs the half-width is 13 standard errors.
        let spread = spread(0.5, 2);
        assert!((0.1..0.2).contains(&spread), "{spread}");
    }

    #[test]
    fn costs_stay_positive_and_draws_repeat() {
        let mut profile = Profile::sgi_challenge_xl();
        profile.times.locking.fully_cold.half_width = Some(profile.times.locking.fully_cold.mean * 3.0);
        for index in 0..50 {
            let random = || Key { seed: 3, point: index, replication: 0 }.stream(Purpose::Costs);
            let drawn = draw(&profile, &mut random());
            assert!(drawn.times.locking.fully_cold.mean.0 > 0.0);
            assert_eq!(drawn, draw(&profile, &mut random()));
        }
    }
}
