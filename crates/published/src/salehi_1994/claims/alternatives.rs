//! Sections 6.4 and 6.5: Locking, IPS, and the Hybrid.

use super::BROAD;
use super::derive::{each, largest, percent, places, rate, value};
use super::locking::{APPROACHES, LOST};
use crate::salehi_1994::curves::{BATCHES, ways};
use crate::salehi_1994::simulations::{AtRate, above, below, ratio};
use crate::salehi_1994::{CurveSetting, Simulations};
use crate::{Basis, Claim, Finding, Reading};
use warmcore_scenario::Parallelism::{Ips, Locking};
use warmcore_scenario::ProcessorPolicy::{self, Mru, WiredStreams};

const F12: &[&str] = &["12"];
const F14: &[&str] = &["14"];

const POLICIES: [ProcessorPolicy; 2] = [Mru, WiredStreams];

pub(super) fn claims() -> Vec<Claim<Simulations>> {
    [unbatched(), batched(), batched_ips(), hybrid()].concat()
}

fn unbatched() -> Vec<Claim<Simulations>> {
    vec![
        Claim {
            id: "ips-delay-50",
            section: "6.4",
            needs: F12,
            says: "Mean delay under IPS is about 50% lower than under Locking.",
            published: "about 50 %",
            reading: Reading::About(50.0),
            unit: "%",
            recipe: "IPS against Locking under the same policy (MRU, Wired-Streams), at all rates from 1 \
                     to 90% of Locking's capacity",
            basis: Basis::Prediction,
            derive: unbatched_delays,
            contradicts: None,
        },
        Claim {
            id: "ips-capacity-wired",
            section: "6.4",
            needs: F12,
            says: "IPS supports at least 79% more packets per second than Locking (Wired-Streams).",
            published: "79 %",
            reading: Reading::Printed(79.0),
            unit: "%",
            recipe: "capacity of IPS over Locking, Wired-Streams",
            basis: Basis::Prediction,
            derive: |e| capacity_gain(e, WiredStreams),
            contradicts: None,
        },
        Claim {
            id: "ips-capacity-mru",
            section: "6.4",
            needs: F12,
            says: "IPS supports up to 118% more packets per second than Locking (MRU).",
            published: "118 %",
            reading: Reading::Printed(118.0),
            unit: "%",
            recipe: "capacity of IPS over Locking, MRU",
            basis: Basis::Prediction,
            derive: |e| capacity_gain(e, Mru),
            contradicts: None,
        },
        Claim {
            id: "ips-better-unbatched",
            section: "6.4",
            needs: F12,
            says: "For unbatched arrivals IPS is better than Locking for the single stream.",
            published: "better",
            reading: Reading::MoreThan(0.0),
            unit: "%",
            recipe: "mean delay under IPS against Locking under the same policy, at all rates from 1 to \
                     90% of Locking's capacity",
            basis: Basis::Prediction,
            derive: |e| each(POLICIES.map(|policy| (policy.to_string(), over_locking(e, policy))), ""),
            contradicts: None,
        },
    ]
}

fn batched() -> Vec<Claim<Simulations>> {
    let robust = "mean delay under Locking against IPS, both MRU, for b = 2, 4, 8 at all rates from 1 to \
                  90% of Locking's capacity";
    vec![
        Claim {
            id: "batches-locking-robust",
            section: "6.4",
            needs: &["13a"],
            says: "Under batches Locking has lower mean delay than IPS for all batch sizes.",
            published: "lower for all b",
            reading: Reading::MoreThan(0.0),
            unit: "%",
            recipe: robust,
            basis: Basis::Prediction,
            derive: |e| robustness(e, false),
            contradicts: None,
        },
        Claim {
            id: "batches-locking-robust-geometric",
            section: "6.4",
            needs: &["13b"],
            says: "Under batches of geometric size too, Locking has lower mean delay than IPS for all \
                   batch sizes.",
            published: "lower for all b",
            reading: Reading::MoreThan(0.0),
            unit: "%",
            recipe: robust,
            basis: Basis::Prediction,
            derive: |e| robustness(e, true),
            contradicts: None,
        },
    ]
}

fn batched_ips() -> Vec<Claim<Simulations>> {
    vec![
        Claim {
            id: "batches-ips-capacity",
            section: "6.4",
            needs: &["13a"],
            says: "For all batch sizes IPS supports a much higher rate.",
            published: "much higher for all b",
            reading: Reading::MoreThan(50.0),
            unit: "%",
            recipe: "capacity of IPS over Locking, both MRU, for b = 2, 4, 8",
            basis: Basis::Prediction,
            derive: |e| {
                let gain = |mean| {
                    let [locking, ips] =
                        APPROACHES.map(|a| e.capacity(CurveSetting::new(a, Mru).batches(mean, false)));
                    Some((format!("b = {mean}"), above(ips?, locking?)))
                };
                places(
                    BATCHES.map(gain).into_iter().collect::<Option<Vec<_>>>()?,
                    "Batches of one stream follow each other: under Locking fewer history lines are \
                     written, so it gains capacity.",
                )
            },
            contradicts: None,
        },
        Claim {
            id: "geometric-worse",
            section: "6.4",
            needs: &["13a", "13b"],
            says: "Under IPS, batches of geometric size are worse than batches of equal size.",
            published: "further deterioration",
            reading: Reading::MoreThan(0.0),
            unit: "%",
            recipe: "mean delay with equal against geometric batches, IPS, MRU, for b = 2, 4, 8 at all \
                     rates from 1 to 90% of capacity",
            basis: Basis::Prediction,
            derive: |e| {
                let pair = |mean| {
                    [false, true].map(|geometric| CurveSetting::new(Ips, Mru).batches(mean, geometric))
                };
                let worse = BATCHES.map(|mean| {
                    let [equal, geometric] = pair(mean);
                    (format!("b = {mean}"), e.reduction(equal, geometric, BROAD))
                });
                each(worse, "")
            },
            contradicts: None,
        },
    ]
}

fn hybrid() -> Vec<Claim<Simulations>> {
    vec![
        Claim {
            id: "hybrid-capacity",
            section: "6.5",
            needs: F14,
            says: "The Hybrid's capacity is close to that of IPS with single-open streams.",
            published: "close",
            reading: Reading::Within(10.0),
            unit: "%",
            recipe: "by how much the Hybrid's capacity is below that of IPS, for b = 1, 4 and both queue rules, since \
            the text leaves the rule open",
            basis: Basis::Prediction,
            derive: |e| {
                let [_, (_, ips), ..] = ways();
                let loss = |(rule, way, b): (&str, CurveSetting, u32)| {
                    let [hybrid, ips] = [way, ips].map(|way| e.capacity(way.batches(b, true)));
                    Some((format!("{rule}, b = {b}"), below(hybrid?, ips?)))
                };
                places(hybrids().map(loss).into_iter().collect::<Option<Vec<_>>>()?, "")
            },
            contradicts: None,
        },
        Claim {
            id: "hybrid-response",
            section: "6.5",
            needs: F14,
            says: "The Hybrid responds to bursts within a stream as Locking does.",
            published: "similar",
            reading: Reading::Within(20.0),
            unit: "%",
            recipe: "the factor by which mean delay grows from b = 1 to b = 4, under the Hybrid, divided by the same under \
                     Locking, for both queue rules, at all rates from 1 to 90% of Locking's capacity; a response is \
                     how delay changes with bursts, not how long it is",
            basis: Basis::Prediction,
            derive: burst_response,
            contradicts: None,
        },
        Claim {
            id: "hybrid-best",
            section: "6.5",
            needs: F14,
            says: "For streams whose packets are independent of each other, the Hybrid may perform best \
                   overall.",
            published: "best",
            reading: Reading::MoreThan(0.0),
            unit: "%",
            recipe: "by how much mean delay under the Hybrid is below the lower one of Locking and IPS, for b = 1, 4 \
            and both queue rules, at all rates from 1 to 90% of the capacity of IPS; at a rate that the Hybrid \
            does not keep up with, it is not the best",
            basis: Basis::Prediction,
            derive: |e| {
                let gains = hybrids().map(|(rule, way, b)| {
                    (format!("{rule}, b = {b}"), under_both(e, way.batches(b, true), b))
                });
                each(gains, "")
            },
            contradicts: None,
        },
    ]
}

/// The reduction of delay under IPS at every rate, for both policies.
fn unbatched_delays(e: &Simulations) -> Option<Finding> {
    let [mru, wired] = POLICIES.map(|policy| over_locking(e, policy));
    let middle =
        |values: &[AtRate]| values.get(values.len() / 2).map_or_else(String::new, |at| percent(at.value));
    let because =
        format!("In the middle of the rates: {} (MRU), {} (Wired-Streams).", middle(&mru), middle(&wired));
    each([("MRU", mru), ("Wired-Streams", wired)], because)
}

/// How much more delay grows with bursts under the Hybrid than under Locking.
fn burst_response(e: &Simulations) -> Option<Finding> {
    let [(_, locking), ..] = ways();
    let theirs = growth(e, locking);
    let capacity = e.capacity(locking.batches(4, true))?.mean;
    let more = |(rule, way, _): (&'static str, CurveSetting, u32)| {
        let pair = |at: AtRate| {
            let other = theirs.iter().find(|other| other.rate == at.rate)?;
            Some(AtRate { value: above(at.value, other.value), ..at })
        };
        let within = |at: &AtRate| BROAD.contains(&(at.rate / capacity));
        (rule, growth(e, way).into_iter().filter(within).filter_map(pair).collect())
    };
    let [fifo, _, same, _] = hybrids();
    let shorter = e.reduction(same.1.batches(4, true), locking.batches(4, true), BROAD);
    let note = format!(
        "Negative: delay grows less under the Hybrid. The delay itself is shorter under the Hybrid (same \
         stream first, b = 4), by up to {}.",
        largest(&shorter)
    );
    each([fifo, same].map(more), note)
}

/// By how many percent delay under IPS is below that under Locking.
fn over_locking(e: &Simulations, policy: ProcessorPolicy) -> Vec<AtRate> {
    e.reduction(CurveSetting::new(Ips, policy), CurveSetting::new(Locking, policy), BROAD)
}

fn capacity_gain(e: &Simulations, policy: ProcessorPolicy) -> Option<Finding> {
    let [locking, ips] = APPROACHES.map(|approach| e.capacity(CurveSetting::new(approach, policy)));
    value(above(ips?, locking?), format!("{} against {}.", rate(ips?.mean), rate(locking?.mean)))
}

/// By how many percent delay under Locking is below that under IPS, for all batch sizes.
fn robustness(e: &Simulations, geometric: bool) -> Option<Finding> {
    let lower = BATCHES.map(|mean| {
        let [locking, ips] =
            APPROACHES.map(|approach| CurveSetting::new(approach, Mru).batches(mean, geometric));
        (format!("b = {mean}"), e.reduction(locking, ips, BROAD))
    });
    each(lower, "")
}

/// The variants of the Hybrid, by queue rule and mean batch size.
fn hybrids() -> [(&'static str, CurveSetting, u32); 4] {
    let [.., (_, fifo), (_, same)] = ways();
    let [first, stream] = ["first come first served", "same stream first"];
    [(first, fifo, 1), (first, fifo, 4), (stream, same, 1), (stream, same, 4)]
}

/// The factor by which mean delay grows from b = 1 to b = 4, at each rate that both have.
fn growth(e: &Simulations, way: CurveSetting) -> Vec<AtRate> {
    let [single, batched] = [1, 4].map(|b| e.delays(way.batches(b, true), 0.0..=1.0));
    let pair = |at: AtRate| {
        let other = single.iter().find(|other| other.rate == at.rate)?;
        Some(AtRate { value: ratio(at.value, other.value), ..at })
    };
    batched.into_iter().filter_map(pair).collect()
}

/// By how many percent the mean delay of `hybrid` is below the lower one of Locking and IPS, both with
/// batches of `b`, at the rates of IPS's broad range.
fn under_both(e: &Simulations, hybrid: CurveSetting, b: u32) -> Vec<AtRate> {
    let [(_, locking), (_, ips), ..] = ways();
    let [ours, locking] = [hybrid, locking.batches(b, true)].map(|way| e.delays(way, 0.0..=1.0));
    let at_rate = |delays: &[AtRate], rate: f64| delays.iter().find(|at| at.rate == rate).map(|at| at.value);
    let capacity = e.capacity(hybrid).map_or(0.0, |capacity| capacity.mean);
    let gain = |at: AtRate| {
        let others = [Some(at.value), at_rate(&locking, at.rate)];
        let least = others.into_iter().flatten().min_by(|a, b| a.mean.total_cmp(&b.mean))?;
        let value = match at_rate(&ours, at.rate) {
            Some(ours) => below(ours, least),
            None if at.rate > capacity => LOST,
            None => return None,
        };
        Some(AtRate { value, ..at })
    };
    e.delays(ips.batches(b, true), BROAD).into_iter().filter_map(gain).collect()
}
