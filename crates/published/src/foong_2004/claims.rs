//! The claims of Foong 2004: the statements of the text, how they are read, and how our values are derived.
//!
//! No affinity is run twice. If the two runs differ at a point, the point says nothing and is left out.
//! Elsewhere the interval of every change is widened by the difference the two runs may have.

use super::Measurements;
use super::points::{Affinity, Point, Quantity};
use crate::{Basis, Claim, Finding, Reading, Value, ValueAt};

/// All claims, in the order of the paper.
#[must_use]
pub fn all() -> Vec<Claim<Measurements>> {
    [throughput(), cost_and_misses()].concat()
}

fn throughput() -> Vec<Claim<Measurements>> {
    vec![
        Claim {
            id: "process-no-impact",
            section: "",
            needs: &["2"],
            says: "Process affinity alone has no substantial impact on performance.",
            published: "no substantial impact",
            reading: Reading::Within(10.0),
            unit: "%",
            recipe: "by how much throughput is above that under no affinity, at every size in both directions",
            basis: Basis::Prediction,
            derive: |m| everywhere(m.gains(Affinity::ProcessOnly, Affinity::Nobody, Quantity::Throughput)),
            contradicts: None,
        },
        Claim {
            id: "interrupt-25",
            section: "",
            needs: &["2"],
            says: "Interrupt affinity alone improves throughput by as much as 25 %.",
            published: "up to 25 %",
            reading: Reading::About(25.0),
            unit: "%",
            recipe: "the greatest gain of throughput over no affinity, of all sizes in both directions",
            basis: Basis::Prediction,
            derive: |m| greatest(m.gains(Affinity::InterruptOnly, Affinity::Nobody, Quantity::Throughput)),
            contradicts: None,
        },
        Claim {
            id: "full-29",
            section: "",
            needs: &["2"],
            says: "Full affinity improves throughput by up to 29 %.",
            published: "up to 29 %",
            reading: Reading::About(29.0),
            unit: "%",
            recipe: "the greatest gain of throughput over no affinity, of all sizes in both directions",
            basis: Basis::Prediction,
            derive: |m| greatest(m.gains(Affinity::Full, Affinity::Nobody, Quantity::Throughput)),
            contradicts: None,
        },
        Claim {
            id: "full-best",
            section: "",
            needs: &["2"],
            says: "The best improvement is achieved with full affinity, not with interrupt affinity alone.",
            published: "best",
            reading: Reading::MoreThan(0.0),
            unit: "%",
            recipe: "by how much throughput under full affinity is above that under interrupt affinity alone, at every \
                     size in both directions",
            basis: Basis::Prediction,
            derive: |m| everywhere(m.gains(Affinity::Full, Affinity::InterruptOnly, Quantity::Throughput)),
            contradicts: None,
        },
    ]
}

fn cost_and_misses() -> Vec<Claim<Measurements>> {
    vec![
        Claim {
            id: "cost-24",
            section: "",
            needs: &["3"],
            says: "With full affinity, the cost in cycles per bit is reduced by up to 24 %.",
            published: "up to 24 %",
            reading: Reading::About(24.0),
            unit: "%",
            recipe: "the greatest reduction of cost from no to full affinity, of all sizes in both directions",
            basis: Basis::Prediction,
            derive: |m| greatest(m.savings(Quantity::Cost)),
            contradicts: None,
        },
        Claim {
            id: "misses-l2",
            section: "",
            needs: &["5"],
            says: "Full affinity saves L2 misses per unit of work.",
            published: "fewer",
            reading: Reading::MoreThan(0.0),
            unit: "%",
            recipe: "the reduction of L2 misses per bit from no to full affinity, at every size in both directions",
            basis: Basis::Prediction,
            derive: |m| counted(m, Quantity::L2Misses),
            contradicts: None,
        },
        Claim {
            id: "misses-l3",
            section: "",
            needs: &["5"],
            says: "Full affinity saves L3 misses per unit of work, which matter more than those of L2.",
            published: "fewer",
            reading: Reading::MoreThan(0.0),
            unit: "%",
            recipe: "the reduction of L3 misses per bit from no to full affinity, at every size in both directions; how \
                     much they matter is not judged",
            basis: Basis::Prediction,
            derive: |m| counted(m, Quantity::L3Misses),
            contradicts: None,
        },
    ]
}

impl Measurements {
    /// By how many percent a quantity under `one` exceeds that under `base`, at every valid point.
    fn gains(&self, one: Affinity, base: Affinity, quantity: Quantity) -> Vec<ValueAt> {
        let at = |point: &Point| {
            let change = point.change(one, base, quantity)?;
            let itself = point.itself(quantity)?;
            let value = Value::from_change(&change).widened(100.0 * itself.at_most());
            itself.may_be_none().then(|| ValueAt::new(point.place(), value))
        };
        self.points.iter().filter_map(at).collect()
    }

    /// By how many percent full affinity reduces a quantity, compared with no affinity.
    fn savings(&self, quantity: Quantity) -> Vec<ValueAt> {
        let saved = |found: ValueAt| {
            let Value { mean, low, high } = found.value;
            ValueAt { value: Value { mean: -mean, low: -high, high: -low }, ..found }
        };
        self.gains(Affinity::Full, Affinity::Nobody, quantity).into_iter().map(saved).collect()
    }
}

/// The values at all points.
fn everywhere(found: Vec<ValueAt>) -> Option<Finding> {
    Finding::new(found, "").or_else(nothing)
}

/// The greatest value of all points.
fn greatest(found: Vec<ValueAt>) -> Option<Finding> {
    let Some(value) = Value::greatest(found.iter().map(|found| found.value)) else { return nothing() };
    let visible = found.iter().filter(|found| found.value.low > 0.0).count();
    let note = format!("The gain is significant at {visible} of {} points.", found.len());
    let place = found.into_iter().max_by(|a, b| a.value.mean.total_cmp(&b.value.mean))?.place;
    Finding::new(vec![ValueAt::new(place, value)], note)
}

/// The savings of a counted event; none, with the reason, unless it was counted at every point.
fn counted(measurements: &Measurements, quantity: Quantity) -> Option<Finding> {
    match measurements.points.iter().find(|point| !point.has(quantity)) {
        Some(point) => Some(Finding::nothing(point.counters.clone())),
        None => everywhere(measurements.savings(quantity)),
    }
}

/// No values, because no point is valid.
fn nothing() -> Option<Finding> {
    Some(Finding::nothing(
        "The two runs of no affinity differed at every point, or the quantity was not measured. An idle machine or longer \
        runs would help.",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ClaimVerdict;
    use crate::foong_2004::points::{Direction, Runs};
    use crate::foong_2004::source;

    /// Five blocks around `level`, with the same scatter for every model so that only the levels differ.
    fn runs(throughput: f64, cost: f64) -> Runs {
        let around = |level: f64| [1.0, 1.02, 0.98, 1.01, 0.99].map(|noise| level * noise).to_vec();
        Runs { throughput: around(throughput), cpu_use: around(0.9), cost: around(cost), ..Runs::default() }
    }

    fn point(interrupt: f64, full: f64, process: f64) -> Point {
        let base = runs(10.0, 1.0);
        let mut control = base.clone();
        control.throughput = vec![10.1, 10.1, 9.9, 10.0, 10.0];
        control.cost = vec![1.01, 1.01, 0.99, 1.0, 1.0];
        let of = |gain: f64| runs(10.0 * (1.0 + gain), 1.0 / (1.0 + gain));
        let runs = [
            (Affinity::Nobody, base),
            (Affinity::InterruptOnly, of(interrupt)),
            (Affinity::Full, of(full)),
            (Affinity::ProcessOnly, of(process)),
        ];
        let [cycles, counters] = ["by a clock rate", "no counters here"].map(str::to_owned);
        Point { direction: Direction::Transmit, size: 64, runs: runs.into(), control, cycles, counters }
    }

    fn concluded(points: &[Point]) -> Vec<(&'static str, ClaimVerdict, String)> {
        let measurements = Measurements { machine: "a test".to_owned(), points: points.to_vec() };
        let all = source().figures_named(&[]).expect("all figures");
        let claims = source().conclude(measurements, all).claims;
        claims
            .iter()
            .map(|one| (one.claim.id, one.verdict, format!("{}; {}", one.our_values(), one.reason())))
            .collect()
    }

    fn verdicts(points: &[Point]) -> Vec<ClaimVerdict> {
        concluded(points).into_iter().map(|(_, verdict, _)| verdict).collect()
    }

    #[test]
    fn results_like_those_of_the_paper_hold() {
        let points = [point(0.1, 0.15, 0.0), point(0.25, 0.29, 0.02)];
        let found = concluded(&points);
        assert!(found[..5].iter().all(|(_, verdict, _)| *verdict == ClaimVerdict::Holds), "{found:?}");
        assert!(found[5..].iter().all(|(_, verdict, _)| *verdict == ClaimVerdict::NotDerived), "{found:?}");
        let full = &found[2].2;
        assert!(full.starts_with("29.0 ± 1.6 % at TX, 64 bytes"), "{full}");
    }

    #[test]
    fn misses_are_judged_where_they_are_counted() {
        let mut counted = point(0.25, 0.29, 0.0);
        let Point { runs, control, .. } = &mut counted;
        for (affinity, runs) in runs.iter_mut() {
            let level = if *affinity == Affinity::Full { 0.7 } else { 1.0 };
            runs.l2_misses = [1.0, 1.02, 0.98, 1.01, 0.99].map(|noise| level * noise).to_vec();
            runs.l3_misses = [1.0, 1.02, 0.98, 1.01, 0.99].map(|noise| noise / level).to_vec();
        }
        control.l2_misses = vec![1.01, 1.01, 0.99, 1.0, 1.0];
        control.l3_misses = control.l2_misses.clone();
        assert_eq!(verdicts(&[counted.clone()])[5..], [ClaimVerdict::Holds, ClaimVerdict::Differs]);
        let (_, verdict, why) = &concluded(&[counted, point(0.25, 0.29, 0.0)])[5];
        assert_eq!(*verdict, ClaimVerdict::NotDerived);
        assert!(why.ends_with("no counters here"), "{why}");
    }

    #[test]
    fn another_gain_differs() {
        let found = verdicts(&[point(0.1, 0.1, 0.2)]);
        assert_eq!(found[..3], [ClaimVerdict::Differs; 3], "20 % is substantial, 10 % neither 25 nor 29");
        assert_eq!(found[3], ClaimVerdict::Undecided, "neither is better");
        assert_eq!(verdicts(&[point(0.0, -0.1, 0.0)])[1..4], [ClaimVerdict::Differs; 3]);
    }

    #[test]
    fn an_interval_that_decides_nothing_leaves_the_claim_undecided() {
        let mut vague = point(0.25, 0.29, 0.0);
        let full = vague.runs.get_mut(&Affinity::Full).expect("it was measured");
        full.throughput = vec![6.0, 20.0, 9.0, 18.0, 12.0];
        let (_, verdict, why) = &concluded(&[vague])[2];
        assert_eq!(*verdict, ClaimVerdict::Undecided, "{why}");
    }

    #[test]
    fn the_difference_of_no_affinity_from_itself_widens_every_change() {
        let mut noisy = point(0.25, 0.29, 0.0);
        noisy.control.throughput = vec![12.0, 8.0, 11.0, 9.0, 10.0];
        assert_eq!(verdicts(&[noisy])[1..3], [ClaimVerdict::Undecided; 2]);
    }

    #[test]
    fn no_claim_is_judged_if_no_affinity_differs_from_itself() {
        let mut unsound = point(0.25, 0.29, 0.0);
        unsound.control = runs(12.0, 0.8);
        assert!(verdicts(&[unsound]).iter().all(|verdict| *verdict == ClaimVerdict::NotDerived));
        assert!(verdicts(&[]).iter().all(|verdict| *verdict == ClaimVerdict::NotDerived));
    }
}
