//! The advice in one sentence: what to use at which loads, and what that gains at an ordinary load.

use super::phrases::{factor, in_words, ordinary_load, processors, saved};
use crate::Findings;
use crate::decide::Advice;
use crate::grade::{is_above_noise, percent};
use warmcore_record::document::Confidence;
use warmcore_scenario::Combination;
use warmcore_units::Estimate;

/// The advice in one sentence: what to use, and what that gains at an ordinary load.
#[must_use]
pub fn headline(findings: &Findings, advice: &Advice) -> String {
    let on = processors(findings, advice);
    let Some(choice) = choice(advice) else {
        return format!("On {on}, every combination is saturated at every rate.");
    };
    format!("On {on}, {choice}{}.", gains(advice))
}

/// What the advice gains: at an ordinary load, and in capacity. The largest gain at any load is left out,
/// because it occurs where the default is almost saturated, and no two studies agree on it.
fn gains(advice: &Advice) -> String {
    let mut gains = String::new();
    if let Some(at) = advice.ordinary
        && let Some(gain) = at.over_default.filter(|gain| is_above_noise(*gain))
    {
        gains += &format!(": at {}, a packet takes {} less time", ordinary_load(at), saved(gain));
    }
    let capacity = advice.capacity.over_default;
    let is_named = advice.regions.iter().any(|region| region.best == advice.capacity.best);
    if is_named && is_above_noise(Estimate { mean: capacity.mean - 1.0, ..capacity }) {
        gains += &format!(", and the machine carries {} times the traffic", factor(capacity));
    }
    gains
}

/// A choice that holds at this fraction of the simulated loads holds "at most loads".
const MOST_LOADS: f64 = 0.8;

/// What to use at which loads. `None` if nothing keeps up at any load.
fn choice(advice: &Advice) -> Option<String> {
    let (first, last) = (advice.regions.first()?.best, advice.regions.last()?.best);
    let widest = advice.regions.iter().map(|region| (region.best, advice.share(region.best)));
    let (widest, share) = widest.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let [first_words, widest] = [first, widest].map(|of| match of == Combination::COMMON_DEFAULT {
        true => "keep the common default".to_owned(),
        false => format!("use {}", in_words(of)),
    });
    Some(match advice.regions.len() {
        1 if advice.regions[0].best == Combination::COMMON_DEFAULT => {
            "keep the common default: no policy is measurably faster".to_owned()
        }
        1 => format!("{first_words} at every load"),
        _ if share >= MOST_LOADS => format!("{widest} at most loads ({} of those simulated)", percent(share)),
        count => {
            let between = if count > 2 { ", others in between" } else { "" };
            format!("{first_words} at low loads, and {} at high loads{between}", after(first, last))
        }
    })
}

/// `last` in words, without what it shares with `first`, which was named before.
fn after(first: Combination, last: Combination) -> String {
    let defaults = [first, last].map(|of| of == Combination::COMMON_DEFAULT);
    match defaults {
        [_, true] => "the common default".to_owned(),
        [false, false] if first.approach == last.approach && last.has_own_pools() => {
            last.policy.in_words().to_owned()
        }
        _ => in_words(last),
    }
}

/// The confidence of the headline: the lowest confidence of anything it says.
pub(super) fn confidence(findings: &Findings, advice: &Advice) -> Option<Confidence> {
    let regions = advice.regions.iter().map(|region| findings.grade_region(advice, region));
    regions.chain([findings.grade_capacity(advice)]).min_by_key(|confidence| confidence.level)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decide::{CapacityAdvice, Gain, GainAt, Ordinary, Region};
    use warmcore_costs::Approach;
    use warmcore_scenario::ProcessorPolicy;
    use warmcore_units::PerSecond;

    const WIRED: Combination =
        Combination { approach: Approach::IndependentStacks, ..Combination::COMMON_DEFAULT };
    const MRU: Combination = Combination { policy: ProcessorPolicy::Mru, ..WIRED };

    /// Advice with regions of these choices, each with this many simulated rates.
    fn advice(regions: &[(Combination, usize)]) -> Advice {
        let ratio = Estimate::new(1.0, 0.1);
        let regions: Vec<Region> =
            regions.iter().map(|(best, simulated)| Region::between(1.0, 2.0, *best, *simulated)).collect();
        Advice {
            processors: 2,
            ordinary: None,
            regions,
            capacity: CapacityAdvice {
                best: WIRED,
                as_good: Vec::new(),
                among_best: Vec::new(),
                at_most_lost: 0.0,
                capacity: Estimate::new(PerSecond(1e6), PerSecond(1e5)),
                between: [PerSecond(5e5), PerSecond(2e6)],
                over_default: ratio,
                over_worst: ratio,
            },
        }
    }

    fn chosen(regions: &[(Combination, usize)]) -> String {
        choice(&advice(regions)).expect("there are regions")
    }

    #[test]
    fn most_loads_are_most_of_those_simulated() {
        let wired = chosen(&[(MRU, 1), (WIRED, 18), (MRU, 1)]);
        assert!(wired.contains("Wired-Streams) at most loads (90% of those simulated)"), "{wired}");
        let ends = chosen(&[(MRU, 6), (WIRED, 8), (MRU, 6)]);
        assert!(!ends.contains("most loads") && ends.contains("others in between"), "{ends}");
        let two = chosen(&[(MRU, 10), (WIRED, 10)]);
        assert!(two.contains("(MRU) at low loads") && two.contains("(Wired-Streams) at high loads"), "{two}");
        assert_eq!(two.matches("independent stacks").count(), 1, "{two}");
        let tie = Advice { regions: Vec::new(), ..advice(&[]) };
        assert_eq!(choice(&tie), None);
    }

    #[test]
    fn the_traffic_gain_belongs_to_the_named_combination() {
        let mut advice = advice(&[(Combination::COMMON_DEFAULT, 20)]);
        advice.capacity.over_default = Estimate::new(1.79, 0.03);
        assert_eq!(gains(&advice), "", "what carries more is not what is advised");
        advice.regions[0].best = WIRED;
        assert!(gains(&advice).contains("1.79 ± 0.03 times the traffic"));
    }

    #[test]
    fn a_choice_as_good_in_other_regions_holds_there_too() {
        let mut advice = advice(&[(MRU, 5), (WIRED, 15)]);
        advice.regions[1].as_good = vec![MRU];
        assert_eq!((advice.share(MRU), advice.share(WIRED)), (1.0, 0.75));
    }

    #[test]
    fn the_gain_is_that_at_the_ordinary_load() {
        let over_default = Some(Estimate::new(0.45, 0.02));
        let ordinary = Ordinary { rate: PerSecond(1.5e6), load: 0.5, best: WIRED, over_default };
        let most = GainAt { rate: PerSecond(5e6), against: WIRED, gain: Estimate::new(0.8, 0.02) };
        let mut advice = advice(&[(WIRED, 20)]);
        advice.ordinary = Some(ordinary);
        advice.regions[0].over_default = Some(Gain { least: most, most });
        let sentence = gains(&advice);
        assert!(sentence.contains("half of what the common default carries"), "{sentence}");
        assert!(sentence.contains("45% ± 2.0% less") && !sentence.contains("80%"), "{sentence}");
    }
}
