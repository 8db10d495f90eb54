//! How often the rule for changes in blocks claims one where there is none, and how often it sees one that is there.

use rand::SeedableRng;
use rand_distr::{Distribution, Normal};
use rand_xoshiro::Xoshiro256PlusPlus;
use warmcore_stats::blocks::{ChangeVerdict, smallest_visible, verdict};
use warmcore_stats::paired::change;

const EXPERIMENTS: u64 = 4000;
/// What runs of one alternative scatter by.
const NOISE: f64 = 0.02;
/// What every run of a block has in common.
const DRIFT: f64 = 0.1;

/// One run's noise, as a logarithm.
type Noise = fn(&mut Xoshiro256PlusPlus) -> f64;

fn normal(deviation: f64, random: &mut Xoshiro256PlusPlus) -> f64 {
    Normal::new(0.0, deviation).expect("a deviation").sample(random)
}

fn gaussian(random: &mut Xoshiro256PlusPlus) -> f64 {
    normal(NOISE, random)
}

/// One run of ten takes far longer: something else ran.
fn with_outliers(random: &mut Xoshiro256PlusPlus) -> f64 {
    let is_outlier = normal(1.0, random) > 1.2816;
    normal(NOISE, random) + if is_outlier { normal(10.0 * NOISE, random).abs() } else { 0.0 }
}

/// The share of experiments in which a change is seen if the alternative is `by` times the control, and the mean of the smallest
/// change that would have been.
fn seen(blocks: usize, noise: Noise, by: f64) -> (f64, f64) {
    let (mut seen, mut least) = (0.0, 0.0);
    for seed in 0..EXPERIMENTS {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut runs = [Vec::new(), Vec::new(), Vec::new()];
        for _ in 0..blocks {
            let common = normal(DRIFT, &mut random);
            for (alternative, figures) in runs.iter_mut().enumerate() {
                let factor = if alternative == 1 { by } else { 1.0 };
                figures.push(factor * (common + noise(&mut random)).exp());
            }
        }
        let [before, after, again] = &runs;
        let changed = change(after, before).expect("two blocks or more");
        let control = change(again, before).expect("two blocks or more");
        seen += f64::from(verdict(&changed, &control) != ChangeVerdict::NotVisible);
        least += smallest_visible(&changed, &control);
    }
    (seen / EXPERIMENTS as f64, least / EXPERIMENTS as f64)
}

const NOISES: [(&str, Noise); 2] = [("Gaussian", gaussian), ("with outliers", with_outliers)];

#[test]
fn no_change_is_claimed_as_one_in_at_most_5_percent() {
    for (name, noise) in NOISES {
        for blocks in [2, 3, 5, 10, 20] {
            let (claimed, least) = seen(blocks, noise, 1.0);
            println!(
                "{name}, {blocks} blocks: {:.2}% claimed; {:.1}% could be seen",
                100.0 * claimed,
                100.0 * least
            );
            assert!(claimed <= 0.05, "{name}, {blocks} blocks: {claimed}");
        }
    }
}

/// The sizes are multiples of the noise. Experiments of a few blocks see what is far above it, those of many what is near.
#[test]
fn a_change_that_is_there_is_seen() {
    for (name, noise) in NOISES {
        for blocks in [3, 5, 10, 20] {
            let power = [1.02, 1.05, 1.1, 1.25, 2.0].map(|by| (by, seen(blocks, noise, by).0));
            let shown: Vec<String> =
                power.iter().map(|(by, power)| format!("{by}: {:.0}%", 100.0 * power)).collect();
            println!("{name}, {blocks} blocks: {}", shown.join(", "));
            assert!(power.is_sorted_by(|(_, less), (_, more)| less <= more), "{power:?}");
        }
        assert!(seen(20, noise, 1.25).0 > 0.95, "{name}");
    }
    assert!(seen(5, gaussian, 1.25).0 > 0.95);
}
