//! Sections 6.4 and 6.5: Locking, IPS, and the Hybrid.

use super::derive::{percent, rate, span, span_of, tally, value};
use super::locking::APPROACHES;
use super::{BROAD, Claim, Derived, Reading};
use crate::salehi_1994::curves::{BATCHES, ways};
use crate::salehi_1994::evidence::{At, above, below};
use crate::salehi_1994::{Evidence, Figure, Setting};
use warmcore_scenario::Parallelism::{Ips, Locking};
use warmcore_scenario::ProcessorPolicy::{self, Mru, WiredStreams};
use warmcore_units::Estimate;

const F12: &[Figure] = &[Figure::F12];
const F14: &[Figure] = &[Figure::F14];

const POLICIES: [ProcessorPolicy; 2] = [Mru, WiredStreams];

pub(super) fn claims() -> Vec<Claim> {
    [unbatched(), batched(), hybrid()].concat()
}

fn unbatched() -> Vec<Claim> {
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
            derive: |e| {
                let [mru, wired] = POLICIES.map(|policy| over_locking(e, policy));
                let middle = |values: &[At]| {
                    values.get(values.len() / 2).map_or_else(String::new, |at| percent(at.value))
                };
                let because = format!(
                    "In the middle of the rates: {} (MRU), {} (Wired-Streams).",
                    middle(&mru),
                    middle(&wired)
                );
                span(&[mru, wired].concat(), because)
            },
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
            derive: |e| capacity_gain(e, Mru),
            contradicts: None,
        },
        Claim {
            id: "ips-better-unbatched",
            section: "6.4",
            needs: F12,
            says: "For unbatched arrivals IPS is better than Locking for the single stream.",
            published: "better",
            reading: Reading::Everywhere,
            unit: "",
            recipe: "mean delay under IPS against Locking under the same policy, at all rates from 1 to \
                     90% of Locking's capacity",
            derive: |e| tally(&POLICIES.map(|policy| over_locking(e, policy)).concat(), ""),
            contradicts: None,
        },
    ]
}

fn batched() -> Vec<Claim> {
    let robust = "mean delay under Locking against IPS, both MRU, for b = 2, 4, 8 at all rates from 1 to \
                  90% of Locking's capacity";
    vec![
        Claim {
            id: "batches-locking-robust",
            section: "6.4",
            needs: &[Figure::F13a],
            says: "Under batches Locking has lower mean delay than IPS for all batch sizes.",
            published: "lower for all b",
            reading: Reading::Everywhere,
            unit: "",
            recipe: robust,
            derive: |e| robustness(e, false),
            contradicts: None,
        },
        Claim {
            id: "batches-locking-robust-geometric",
            section: "6.4",
            needs: &[Figure::F13b],
            says: "Under batches of geometric size too, Locking has lower mean delay than IPS for all \
                   batch sizes.",
            published: "lower for all b",
            reading: Reading::Everywhere,
            unit: "",
            recipe: robust,
            derive: |e| robustness(e, true),
            contradicts: None,
        },
        Claim {
            id: "batches-ips-capacity",
            section: "6.4",
            needs: &[Figure::F13a],
            says: "For all batch sizes IPS supports a much higher rate.",
            published: "much higher for all b",
            reading: Reading::MoreThan(50.0),
            unit: "%",
            recipe: "capacity of IPS over Locking, both MRU, for b = 2, 4, 8; read as more than 50%",
            derive: |e| {
                let gain = |mean| {
                    let [locking, ips] =
                        APPROACHES.map(|a| e.capacity(Setting::new(a, Mru).batches(mean, false)));
                    Some(above(ips?, locking?))
                };
                span_of(
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
            needs: &[Figure::F13a, Figure::F13b],
            says: "Under IPS, batches of geometric size are worse than batches of equal size.",
            published: "further deterioration",
            reading: Reading::Everywhere,
            unit: "",
            recipe: "mean delay with equal against geometric batches, IPS, MRU, for b = 2, 4, 8 at all \
                     rates from 1 to 90% of capacity",
            derive: |e| {
                let pair =
                    |mean| [false, true].map(|geometric| Setting::new(Ips, Mru).batches(mean, geometric));
                let worse = BATCHES.map(|mean| {
                    let [equal, geometric] = pair(mean);
                    e.reduction(equal, geometric, BROAD)
                });
                tally(&worse.concat(), "")
            },
            contradicts: None,
        },
    ]
}

fn hybrid() -> Vec<Claim> {
    vec![
        Claim {
            id: "hybrid-capacity",
            section: "6.5",
            needs: F14,
            says: "The Hybrid's capacity is close to that of IPS with single-open streams.",
            published: "close",
            reading: Reading::AtMost(10.0),
            unit: "%",
            recipe: "how far the Hybrid's capacity is below that of IPS, for b = 1, 4 and both queue \
                     rules; read as at most 10%",
            derive: |e| {
                let [_, (_, ips), fifo, same] = ways();
                let loss = |way: Setting| {
                    [1, 4].map(|b| {
                        Some(below(e.capacity(way.batches(b, true))?, e.capacity(ips.batches(b, true))?))
                    })
                };
                let [fifo, same] = [fifo.1, same.1].map(loss);
                let all: Vec<Estimate<f64>> = fifo.into_iter().chain(same).collect::<Option<_>>()?;
                let [f1, f4, s1, s4] = all[..] else { return None };
                span_of(
                    all,
                    format!(
                        "First come first served: {} (b = 1), {} (b = 4). Same stream first: {}, {}. The \
                         text leaves the rule open.",
                        percent(f1),
                        percent(f4),
                        percent(s1),
                        percent(s4)
                    ),
                )
            },
            contradicts: None,
        },
        Claim {
            id: "hybrid-response",
            section: "6.5",
            needs: F14,
            says: "The Hybrid responds to bursts within a stream as Locking does.",
            published: "similar",
            reading: Reading::AtMost(20.0),
            unit: "%",
            recipe: "by how much the mean delay with batches of 4 is above Locking's, both queue rules, \
                     at all rates from 1 to 90% of Locking's capacity; read as at most 20%",
            derive: |e| {
                let [(_, locking), _, fifo, same] = ways();
                let longer = |way: Setting| {
                    let shorter = e.reduction(way.batches(4, true), locking.batches(4, true), BROAD);
                    shorter
                        .into_iter()
                        .map(|at| At { value: Estimate { mean: -at.value.mean, ..at.value }, ..at })
                        .collect::<Vec<At>>()
                };
                span(&[fifo.1, same.1].map(longer).concat(), "Negative: the Hybrid is faster than Locking.")
            },
            contradicts: None,
        },
        Claim {
            id: "hybrid-best",
            section: "6.5",
            needs: F14,
            says: "For streams whose packets are independent of each other, the Hybrid may perform best \
                   overall.",
            published: "best",
            reading: Reading::Everywhere,
            unit: "",
            recipe: "mean delay of the Hybrid (same stream first) against Locking and IPS with batches of \
                     4, at all rates from 1 to 90% of the smaller capacity",
            derive: |e| {
                let [(_, locking), (_, ips), _, (_, hybrid)] = ways();
                let over = [locking, ips]
                    .map(|other| e.reduction(hybrid.batches(4, true), other.batches(4, true), BROAD));
                tally(&over.concat(), "")
            },
            contradicts: None,
        },
    ]
}

/// By how many percent delay is lower under IPS than under Locking.
fn over_locking(e: &Evidence, policy: ProcessorPolicy) -> Vec<At> {
    e.reduction(Setting::new(Ips, policy), Setting::new(Locking, policy), BROAD)
}

fn capacity_gain(e: &Evidence, policy: ProcessorPolicy) -> Option<Derived> {
    let [locking, ips] = APPROACHES.map(|approach| e.capacity(Setting::new(approach, policy)));
    value(above(ips?, locking?), format!("{} against {}.", rate(ips?.mean), rate(locking?.mean)))
}

/// By how many percent delay is lower under Locking than under IPS, for all batch sizes.
fn robustness(e: &Evidence, geometric: bool) -> Option<Derived> {
    let lower = BATCHES.map(|mean| {
        let [locking, ips] = APPROACHES.map(|approach| Setting::new(approach, Mru).batches(mean, geometric));
        e.reduction(locking, ips, BROAD)
    });
    let counts = BATCHES.iter().zip(&lower).map(|(mean, lower)| {
        let held = lower.iter().filter(|at| at.value.mean > 0.0).count();
        format!("b = {mean}: {held} of {}", lower.len())
    });
    let counts: Vec<String> = counts.collect();
    tally(&lower.concat(), format!("Lower at {}.", counts.join(", ")))
}
