//! Section 6.1: affinity scheduling under Locking.

use super::derive::{
    apart, at_same_rate, from_rate, greatest, largest, percent, rate, span, span_of, tally, value, waiting,
};
use super::{BROAD, Claim, HIGH, LOW, Reading};
use crate::salehi_1994::evidence::{At, above, extremes, ratio};
use crate::salehi_1994::{Evidence, Figure, Setting};
use warmcore_scenario::Parallelism;
use warmcore_scenario::Parallelism::{Ips, Locking};
use warmcore_scenario::ProcessorPolicy::{self, Lru, Mru, WiredStreams};

const MRU: Setting = Setting::new(Locking, Mru);
const LRU: Setting = Setting::new(Locking, Lru);
const WIRED: Setting = Setting::new(Locking, WiredStreams);

const F7A: &[Figure] = &[Figure::F7a];
const F8A: &[Figure] = &[Figure::F8a];

pub(super) fn claims() -> Vec<Claim> {
    [low_rates(), shapes(), capacities()].concat()
}

fn low_rates() -> Vec<Claim> {
    vec![
        Claim {
            id: "locking-mru-best",
            section: "6.1",
            needs: F7A,
            says: "Under Locking, MRU has lower delay than LRU and Wired-Streams across the broad range \
                   of rates.",
            published: "lower",
            reading: Reading::Everywhere,
            unit: "",
            recipe: "mean delay under MRU against both others, at all rates from 1 to 90% of capacity",
            derive: |e| {
                let over = [LRU, WIRED].map(|other| e.reduction(MRU, other, BROAD));
                tally(
                    &over.concat(),
                    format!(
                        "Most below LRU: {}; below Wired-Streams: {}.",
                        largest(&over[0]),
                        largest(&over[1])
                    ),
                )
            },
            contradicts: None,
        },
        Claim {
            id: "locking-mru-25",
            section: "6.1",
            needs: F7A,
            says: "At the lower rates MRU has about 25% less delay than LRU.",
            published: "about 25 %",
            reading: Reading::About(25.0),
            unit: "%",
            recipe: "the reduction at rates from 1 to 25% of capacity",
            derive: |e| span(&e.reduction(MRU, LRU, LOW), ""),
            contradicts: None,
        },
        Claim {
            id: "locking-wired-between",
            section: "6.1",
            needs: F7A,
            says: "At the lower rates Wired-Streams lies between MRU and LRU.",
            published: "between",
            reading: Reading::Everywhere,
            unit: "",
            recipe: "MRU against Wired-Streams, and Wired-Streams against LRU, at rates from 1 to 25% of \
                     capacity",
            derive: |e| {
                let below_lru = e.reduction(WIRED, LRU, LOW);
                let both = [e.reduction(MRU, WIRED, LOW), below_lru.clone()].concat();
                tally(&both, format!("Wired-Streams most below LRU: {}.", largest(&below_lru)))
            },
            contradicts: None,
        },
        Claim {
            id: "locking-rises-when-idle",
            section: "6.1",
            needs: F7A,
            says: "All three delays rise as the rate falls, because other work flushes the caches.",
            published: "rise",
            reading: Reading::Everywhere,
            unit: "",
            recipe: "mean delay at the lowest rate against the least of all rates, for the three policies",
            derive: |e| {
                tally(
                    &policies(|policy| rise(e, Setting::new(Locking, policy)))?,
                    "Rates here are those of the least delays.",
                )
            },
            contradicts: None,
        },
        Claim {
            id: "locking-fully-cold",
            section: "6.1",
            needs: F7A,
            says: "As the rate tends to zero, the receive time tends to that of fully cold caches.",
            published: "284.3 µs",
            reading: Reading::Printed(284.3),
            unit: "µs",
            recipe: "mean delay at the lowest rate simulated, for the three policies",
            derive: |e| {
                span(
                    &policies(|policy| e.delays(Setting::new(Locking, policy), 0.0..=1.0).first().copied())?,
                    "",
                )
            },
            contradicts: None,
        },
    ]
}

fn shapes() -> Vec<Claim> {
    vec![
        Claim {
            id: "locking-wired-queues",
            section: "6.1",
            needs: F7A,
            says: "Toward high rates Wired-Streams rises much faster, because it leaves processors idle \
                   while packets wait.",
            published: "much faster",
            reading: Reading::MoreThan(2.0),
            unit: "×",
            recipe: "waiting time in service times at the highest rate up to 90% of MRU's capacity, \
                     Wired-Streams over MRU; read as more than twice",
            derive: |e| {
                let (wired, mru) = at_same_rate(&waiting(e, WIRED, 1.0), &waiting(e, MRU, 0.9))?;
                value(
                    ratio(wired.value, mru.value),
                    format!(
                        "At {} packets wait {:.2} service times under Wired-Streams, {:.2} under MRU.",
                        rate(wired.rate),
                        wired.value.mean,
                        mru.value.mean
                    ),
                )
            },
            contradicts: None,
        },
        Claim {
            id: "locking-mru-lru-converge",
            section: "6.1",
            needs: F7A,
            says: "MRU and LRU converge at high rates, where code stays cached everywhere.",
            published: "converge",
            reading: Reading::AtMost(2.0),
            unit: "%",
            recipe: "the largest reduction at rates from 75 to 90% of capacity; read as at most 2%",
            derive: |e| greatest(&e.reduction(MRU, LRU, HIGH), ""),
            contradicts: None,
        },
    ]
}

fn capacities() -> Vec<Claim> {
    vec![
        Claim {
            id: "locking-wired-capacity",
            section: "6.1",
            needs: F8A,
            says: "Wired-Streams supports about 20% more packets per second than MRU and LRU.",
            published: "about 20 %",
            reading: Reading::About(20.0),
            unit: "%",
            recipe: "capacity of Wired-Streams over that of MRU and of LRU",
            derive: |e| {
                let wired = e.capacity(WIRED)?;
                let over = [MRU, LRU].map(|other| Some(above(wired, e.capacity(other)?)));
                span_of(
                    [over[0]?, over[1]?],
                    format!("Over MRU {}, over LRU {}.", percent(over[0]?), percent(over[1]?)),
                )
            },
            contradicts: None,
        },
        Claim {
            id: "locking-service-wired",
            section: "6.1",
            needs: F8A,
            says: "At high load a packet takes 103 µs under Wired-Streams.",
            published: "103 µs",
            reading: Reading::Printed(103.0),
            unit: "µs",
            recipe: "mean service time at capacity",
            derive: |e| {
                value(
                    e.service(WIRED)?,
                    "Sessions stay, the active maps' history lines migrate: experiment A3.",
                )
            },
            contradicts: None,
        },
        Claim {
            id: "locking-service-mru",
            section: "6.1",
            needs: F8A,
            says: "At high load a packet takes 125 µs under MRU and LRU.",
            published: "125 µs",
            reading: Reading::Printed(125.0),
            unit: "µs",
            recipe: "mean service time at capacity, MRU and LRU",
            derive: |e| {
                span_of(
                    [e.service(MRU)?, e.service(LRU)?],
                    "Sessions and history lines migrate, with some luck not to.",
                )
            },
            contradicts: None,
        },
        Claim {
            id: "locking-mru-lru-capacity",
            section: "6.1",
            needs: F8A,
            says: "The capacities of MRU and LRU are the same.",
            published: "the same",
            reading: Reading::AtMost(1.0),
            unit: "%",
            recipe: "how far the two capacities lie apart; read as at most 1%",
            derive: |e| {
                value(
                    apart(&[e.capacity(MRU)?, e.capacity(LRU)?])?,
                    "At capacity no processor is ever chosen: each goes on with the next packet.",
                )
            },
            contradicts: None,
        },
        Claim {
            id: "locking-mru-except-high",
            section: "8",
            needs: F8A,
            says: "Under Locking, Wired-Streams is better than MRU at high rates.",
            published: "better",
            reading: Reading::Everywhere,
            unit: "",
            recipe: "mean delay under Wired-Streams against MRU at rates beyond 75% of MRU's capacity",
            derive: |e| {
                let high = *HIGH.start()..=1.0;
                let all = from_rate(&e.reduction(WIRED, MRU, 0.0..=1.0));
                let where_ = all.map_or_else(
                    || {
                        "MRU is better wherever it keeps up; beyond its capacity only Wired-Streams does."
                            .to_owned()
                    },
                    |from| format!("Wired-Streams is better from {} on.", rate(from)),
                );
                tally(&e.reduction(WIRED, MRU, high), where_)
            },
            contradicts: None,
        },
    ]
}

/// `of` the source's three policies.
pub(super) fn policies(of: impl Fn(ProcessorPolicy) -> Option<At>) -> Option<Vec<At>> {
    ProcessorPolicy::SOURCE.into_iter().map(of).collect()
}

/// By how many percent the delay at the lowest rate is above the least one.
fn rise(e: &Evidence, setting: Setting) -> Option<At> {
    let delays = e.delays(setting, 0.0..=1.0);
    let (least, _) = extremes(&delays)?;
    Some(At { rate: least.rate, value: above(delays.first()?.value, least.value) })
}

/// Both approaches, in the source's order.
pub(super) const APPROACHES: [Parallelism; 2] = [Locking, Ips];
