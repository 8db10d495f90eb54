//! Section 6.1: affinity scheduling under Locking.

use super::derive::{
    apart, at_same_rate, crossover, each, largest, minus, places, rate, rates, value, waiting,
};
use super::{BROAD, HIGH, LOW};
use crate::salehi_1994::simulations::{AtRate, above, extremes, ratio};
use crate::salehi_1994::{CurveSetting, Simulations};
use crate::{Basis, Claim, Finding, Reading};
use warmcore_scenario::Parallelism;
use warmcore_scenario::Parallelism::{Ips, Locking};
use warmcore_scenario::ProcessorPolicy::{self, Lru, Mru, WiredStreams};
use warmcore_units::Estimate;

const MRU: CurveSetting = CurveSetting::new(Locking, Mru);
const LRU: CurveSetting = CurveSetting::new(Locking, Lru);
const WIRED: CurveSetting = CurveSetting::new(Locking, WiredStreams);

const F7A: &[&str] = &["7a"];
const F8A: &[&str] = &["8a"];

pub(super) fn claims() -> Vec<Claim<Simulations>> {
    [low_rates(), idle(), shapes(), capacities(), high_rates()].concat()
}

fn low_rates() -> Vec<Claim<Simulations>> {
    vec![
        Claim {
            id: "locking-mru-best",
            section: "6.1",
            needs: F7A,
            says: "Under Locking, MRU has lower delay than LRU and Wired-Streams across the broad range \
                   of rates.",
            published: "lower",
            reading: Reading::MoreThan(0.0),
            unit: "%",
            recipe: "by how much mean delay under MRU is below that under both others, at all rates from 1 to 90% \
                     of capacity",
            basis: Basis::Prediction,
            derive: |e| {
                let [lru, wired] = [LRU, WIRED].map(|other| e.reduction(MRU, other, BROAD));
                let note = format!(
                    "Largest reduction against LRU: {}; against Wired-Streams: {}.",
                    largest(&lru),
                    largest(&wired)
                );
                each([("LRU", lru), ("Wired-Streams", wired)], note)
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
            basis: Basis::Prediction,
            derive: |e| rates(&e.reduction(MRU, LRU, LOW), ""),
            contradicts: None,
        },
        Claim {
            id: "locking-wired-between",
            section: "6.1",
            needs: F7A,
            says: "At the lower rates Wired-Streams lies between MRU and LRU.",
            published: "between",
            reading: Reading::MoreThan(0.0),
            unit: "%",
            recipe: "MRU against Wired-Streams, and Wired-Streams against LRU, at rates from 1 to 25% of \
                     capacity",
            basis: Basis::Prediction,
            derive: |e| {
                let [mru, lru] = [e.reduction(MRU, WIRED, LOW), e.reduction(WIRED, LRU, LOW)];
                let note = format!("Largest reduction of Wired-Streams against LRU: {}.", largest(&lru));
                each([("MRU below Wired-Streams", mru), ("Wired-Streams below LRU", lru)], note)
            },
            contradicts: None,
        },
    ]
}

fn idle() -> Vec<Claim<Simulations>> {
    vec![
        Claim {
            id: "locking-rises-when-idle",
            section: "6.1",
            needs: F7A,
            says: "All three delays rise as the rate falls, because other work flushes the caches.",
            published: "rise",
            reading: Reading::MoreThan(0.0),
            unit: "%",
            recipe: "mean delay at the lowest rate against the least mean delay at any rate, for the three policies",
            basis: Basis::Prediction,
            derive: |e| {
                let risen = policies(|policy| rise(e, CurveSetting::new(Locking, policy)))?;
                places(risen, "")
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
            basis: Basis::Prediction,
            derive: |e| {
                let idle =
                    |policy| Some(e.delays(CurveSetting::new(Locking, policy), 0.0..=1.0).first()?.value);
                places(policies(idle)?, "")
            },
            contradicts: None,
        },
    ]
}

fn shapes() -> Vec<Claim<Simulations>> {
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
            Wired-Streams divided by MRU",
            basis: Basis::Prediction,
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
            reading: Reading::Within(2.0),
            unit: "%",
            recipe: "the reduction at all rates from 75 to 90% of capacity",
            basis: Basis::Prediction,
            derive: |e| rates(&e.reduction(MRU, LRU, HIGH), ""),
            contradicts: None,
        },
        Claim {
            id: "locking-benefit-diminishes",
            section: "6.1",
            needs: F7A,
            says: "The benefit of scheduling for code affinity diminishes with increasing rate.",
            published: "diminishes",
            reading: Reading::MoreThan(0.0),
            unit: "points",
            recipe: "by how many percentage points the reduction of delay under MRU against LRU is below the reduction at \
            half the rate (the next lower rate simulated), at all rates from 1 to 90% of capacity",
            basis: Basis::Prediction,
            derive: diminishing,
            contradicts: None,
        },
    ]
}

fn capacities() -> Vec<Claim<Simulations>> {
    vec![
        Claim {
            id: "locking-wired-capacity",
            section: "6.1",
            needs: F8A,
            says: "Wired-Streams supports about 20% more packets per second than MRU and LRU.",
            published: "about 20 %",
            reading: Reading::About(20.0),
            unit: "%",
            recipe: "by how much the capacity of Wired-Streams exceeds that of MRU and that of LRU",
            basis: Basis::Prediction,
            derive: |e| {
                let wired = e.capacity(WIRED)?;
                let over = |other| Some(above(wired, e.capacity(other)?));
                places([("MRU", over(MRU)?), ("LRU", over(LRU)?)], "")
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
            basis: Basis::Prediction,
            derive: |e| {
                value(
                    e.service(WIRED)?,
                    "Sessions stay and the active maps' history lines migrate, as in experiment A3.",
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
            basis: Basis::Prediction,
            derive: |e| {
                places(
                    [("MRU", e.service(MRU)?), ("LRU", e.service(LRU)?)],
                    "Sessions and history lines migrate, except by chance.",
                )
            },
            contradicts: None,
        },
    ]
}

fn high_rates() -> Vec<Claim<Simulations>> {
    vec![
        Claim {
            id: "locking-mru-lru-capacity",
            section: "6.1",
            needs: F8A,
            says: "The capacities of MRU and LRU are the same.",
            published: "the same",
            reading: Reading::Within(1.0),
            unit: "%",
            recipe: "the difference between the two capacities",
            basis: Basis::Prediction,
            derive: |e| {
                value(
                    apart(&[e.capacity(MRU)?, e.capacity(LRU)?])?,
                    "At capacity no policy ever chooses: each processor continues with the next packet.",
                )
            },
            contradicts: None,
        },
        Claim {
            id: "locking-mru-except-high",
            section: "8",
            needs: F8A,
            says: "Under Locking, Wired-Streams is better than MRU at high rates.",
            published: "better at high rates, MRU otherwise",
            reading: Reading::Between(75.0, 100.0),
            unit: "%",
            recipe: "the rate at which Wired-Streams becomes better than MRU, looking from the lowest rate to the highest that \
            either keeps up with, in percent of that; a policy that does not keep up counts as worse. \
            High rates are those above 75%",
            basis: Basis::Prediction,
            derive: |e| {
                let beyond = e.beyond(WIRED, MRU).into_iter().map(|rate| AtRate { rate, value: LOST });
                let saved: Vec<AtRate> =
                    e.reduction(MRU, WIRED, 0.0..=1.0).into_iter().chain(beyond).collect();
                let wired = e.capacity(WIRED)?.mean;
                let note = format!("MRU keeps up to {:.0} %.", 100.0 * e.capacity(MRU)?.mean / wired);
                Some(Finding::single(crossover(&saved, wired), note))
            },
            contradicts: None,
        },
    ]
}

/// The reduction of a policy that does not keep up against one that does: its delay grows without end.
pub(super) const LOST: Estimate<f64> = Estimate::published(-f64::INFINITY);

/// A value `of` each of the three policies of Salehi 1994, with the policy's name.
fn policies(of: impl Fn(ProcessorPolicy) -> Option<Estimate<f64>>) -> Option<Vec<(String, Estimate<f64>)>> {
    ProcessorPolicy::SALEHI_1994.into_iter().map(|policy| Some((policy.to_string(), of(policy)?))).collect()
}

/// By how many percent the delay at the lowest rate exceeds the least delay.
fn rise(e: &Simulations, setting: CurveSetting) -> Option<Estimate<f64>> {
    let delays = e.delays(setting, 0.0..=1.0);
    let (least, _) = extremes(&delays)?;
    Some(above(delays.first()?.value, least.value))
}

/// By how much the reduction under MRU against LRU falls as the rate doubles.
fn diminishing(e: &Simulations) -> Option<Finding> {
    let saved = e.reduction(MRU, LRU, BROAD);
    let falls = |at: &AtRate| {
        let before = saved.iter().rfind(|before| before.rate <= at.rate / 2.0)?;
        Some(AtRate { value: minus(before.value, at.value), ..*at })
    };
    let note = format!("The reduction is largest with {}.", largest(&saved));
    rates(&saved.iter().filter_map(falls).collect::<Vec<_>>(), note)
}

/// Both approaches, in the order of the paper.
pub(super) const APPROACHES: [Parallelism; 2] = [Locking, Ips];
