//! Costs drawn anew within what is known of them.
//!
//! Each time has an error of its own, of which its half-width tells. Times of packets that fetch from
//! far away share another besides, as what far levels answer in depends on what else goes on in the
//! machine, and differs from one study to the next: [`FROM_AFAR`] and [`FROM_MEMORY`]. What all times
//! share, the speed of the machine at the time ([`BETWEEN_STUDIES`]), is not drawn: it cancels in
//! every ratio, and moves every rate alike.

use rand_distr::{Distribution, StandardNormal};
use warmcore_costs::fit::{self, SingleProcessor};
use warmcore_costs::profile::{Kind, Measured, Profile, ReceiveTimes};
use warmcore_stats::interval::t_quantile_95;
use warmcore_units::Nanos;
use warmcore_workload::random::Random;

/// How far all rates of another study of the same machine may be off together: 95% half-width of their
/// logarithm. Of six quick studies in a row on one virtual machine, capacities went from 31.9 to 45.9
/// million packets a second (a standard deviation of 0.14, so 0.20 for the difference of two); of four
/// on another they stayed within 4%. A single study cannot tell which of them it resembles, so the wider
/// counts. It does not cover a hypervisor that moves the processors: then the hand-over between them differs,
/// and with it capacities by a factor of three.
pub const BETWEEN_STUDIES: f64 = 0.4;

/// How far a ratio of two delays or capacities may be off in another study of the same machine: 95% half-width of its
/// logarithm. Of fourteen quick studies on one virtual machine within a day, whose hand-overs took 29 to 54 ns, the delay
/// under the advice at half of the default's capacity was 33 to 36% of the default's, and capacities 2.3 to 2.7 times
/// the default's: a standard deviation of 0.04 of either's logarithm, so 0.055 for the difference of two. Within one study
/// costs are known better than that.
pub const RATIOS_BETWEEN_STUDIES: f64 = 0.1;

/// Standard deviation of the relative error, against hot packets, that packets share whose second
/// level is cold: from four quick studies of one virtual machine.
pub const FROM_AFAR: f64 = 0.03;

/// The same of packets that find nothing in any cache.
pub const FROM_MEMORY: f64 = 0.1;

/// To what fraction published times are known (Salehi, Kurose & Towsley 1994, §5): a 95% half-width.
const PUBLISHED: f64 = 0.01;

/// A drawn time is at least this part of the measured one: no cost vanishes.
const LEAST: f64 = 0.2;

/// `profile` with each cost moved at random, as far as it may be off.
#[must_use]
pub fn draw(profile: &Profile, random: &mut Random) -> Profile {
    let mut normal = || -> f64 { StandardNormal.sample(random) };
    let measured = profile.provenance.kind == Kind::Measured;
    let [afar, memory] = [FROM_AFAR, FROM_MEMORY].map(|of| if measured { of * normal() } else { 0.0 });
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
                // The first level is refilled from the processor's own second.
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

/// Fits the footprint constants of `drawn` to points of t(x) that are off by what they and the model
/// may be off, and by the shared error of `memory` as far as they come from there.
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
/// with heavy tails: with two or three runs, whose t has no standard deviation, that of four counts.
fn deviation(time: &Measured) -> Nanos {
    let half_width = time.half_width.unwrap_or(time.mean * PUBLISHED);
    let freedom = if time.runs < 2 { KNOWN } else { f64::from(time.runs) - 1.0 };
    let spread = freedom.max(3.0);
    half_width * ((spread / (spread - 2.0)).sqrt() / t_quantile_95(freedom))
}

/// Degrees of freedom of a half-width that no number of runs stands beside.
const KNOWN: f64 = 1e6;

#[cfg(test)]
mod tests {
    use super::*;
    use warmcore_costs::Experiment;
    use warmcore_workload::{Key, Purpose};

    fn a1(profile: &Profile) -> Measured {
        profile.times.locking.cached[&Experiment::A1].hot
    }

    /// Half-width of the mean hot time over many draws of a profile in which it has such runs.
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
        // Of two runs, whose half-width is 13 standard errors.
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
