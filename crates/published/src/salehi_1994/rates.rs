//! The rates at which a curve is simulated.
//!
//! All curves of a machine take their rates from one grid, so that most rates are simulated for all of them,
//! with the same arrivals. Each curve also has a few rates of its own near its capacity, taken from a fixed
//! ladder of values, so that curves of (nearly) equal capacity share them too. Rates have three digits, so
//! that the last bits of a capacity do not matter.

use warmcore_units::PerSecond;

/// Below this fraction of its capacity a point is simulated to the precision asked for. Above it queues
/// fluctuate too slowly for that, and a shorter run with a wider interval is enough.
pub const NEAR_CAPACITY: f64 = 0.9;

/// Rates beyond this fraction of the capacity are not simulated.
const LAST: f64 = 0.98;

/// Rates closer than this fraction count as one.
const MIN_DISTANCE: f64 = 0.015;

/// From an almost idle host, whose caches hold nothing of the protocol, decade by decade.
const LOW: [f64; 9] = [1e-6, 1e-5, 1e-4, 1e-3, 3e-3, 0.01, 0.02, 0.035, 0.05];
/// Then equal steps on a linear axis.
const STEPS: (u32, f64) = (38, 0.025);
/// Rates of a curve beside the grid, as fractions of its own capacity.
const OF_OWN_CAPACITY: [f64; 5] = [0.8, 0.85, 0.89, 0.94, 0.97];

/// The rates of a curve of this `capacity`, ascending. `best` is the capacity of the host's best curve, which
/// scales the grid.
#[must_use]
pub fn rates(capacity: PerSecond, best: PerSecond) -> Vec<PerSecond> {
    let grid = LOW.into_iter().chain((3..=STEPS.0).map(|i| f64::from(i) * STEPS.1));
    let best = nearest_fixed(best.0);
    let own_capacity = nearest_fixed(capacity.0);
    let mut rates: Vec<f64> = grid.map(|fraction| three_digits(best * fraction)).collect();
    for fraction in OF_OWN_CAPACITY {
        let rate = three_digits(own_capacity * fraction);
        if rates.iter().all(|other| (rate / other - 1.0).abs() > MIN_DISTANCE) {
            rates.push(rate);
        }
    }
    rates.retain(|&rate| rate < capacity.0 * LAST);
    rates.sort_by(f64::total_cmp);
    rates.into_iter().map(PerSecond).collect()
}

/// The nearest of 100 fixed values per decade.
fn nearest_fixed(value: f64) -> f64 {
    10_f64.powf((value.log10() * 100.0).round() / 100.0)
}

fn three_digits(value: f64) -> f64 {
    let unit = 10_f64.powf(value.log10().floor() - 2.0);
    let rounded = (value / unit).round() * unit;
    // Below one the product has digits beyond the third.
    if unit < 1.0 { (rounded * 1e12).round() / 1e12 } else { rounded.round() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_ascend_from_near_idle_to_near_capacity() {
        for capacity in [64_000.0, 77_600.0, 139_350.0, 3.1e6] {
            let rates = rates(PerSecond(capacity), PerSecond(139_350.0));
            assert!(rates.is_sorted_by(|a, b| a.0 < b.0), "{rates:?}");
            let (first, last) = (rates[0].0, rates[rates.len() - 1].0);
            assert!(first < 1e-5 * capacity && (0.93..0.98).contains(&(last / capacity)) || capacity > 1e6);
        }
    }

    #[test]
    fn curves_share_rates_if_their_capacities_differ_only_in_the_last_bits() {
        let best = PerSecond(139_350.0);
        let of = |capacity| rates(PerSecond(capacity), best);
        assert_eq!(of(64_010.0), of(64_011.3));
        let (low, high) = (of(64_000.0), of(77_600.0));
        let shared = low.iter().filter(|rate| high.contains(rate)).count();
        assert!(shared + OF_OWN_CAPACITY.len() >= low.len(), "{shared} of {}", low.len());
    }

    #[test]
    fn three_digits_are_kept() {
        for (value, rounded) in [(139_349.9, 139_000.0), (0.139_35, 0.139), (1.394_9, 1.39), (69.67, 69.7)] {
            assert_eq!(three_digits(value), rounded);
        }
    }
}
