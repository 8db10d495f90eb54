//! Section 6.2: affinity scheduling under IPS.

use super::BROAD;
use super::derive::{apart, crossover, each, from_rate, largest, places, rate, value, waiting};
use crate::salehi_1994::simulations::ratio;
use crate::salehi_1994::{CurveSetting, Simulations};
use crate::{Basis, Claim, Finding, Reading};
use warmcore_scenario::Parallelism::{Ips, Locking};
use warmcore_scenario::ProcessorPolicy::{Lru, Mru, WiredStreams};

const MRU: CurveSetting = CurveSetting::new(Ips, Mru);
const LRU: CurveSetting = CurveSetting::new(Ips, Lru);
const WIRED: CurveSetting = CurveSetting::new(Ips, WiredStreams);

const F9A: &[&str] = &["9a"];
const F10A: &[&str] = &["10a"];

pub(super) fn claims() -> Vec<Claim<Simulations>> {
    [policies(), work_conservation(), capacities()].concat()
}

fn policies() -> Vec<Claim<Simulations>> {
    vec![
        Claim {
            id: "ips-wired-best",
            section: "6.2",
            needs: F9A,
            says: "Under IPS, Wired-Streams has the lowest delay across the broad range of rates.",
            published: "lowest",
            reading: Reading::MoreThan(0.0),
            unit: "%",
            recipe: "by how much mean delay under Wired-Streams is below that under MRU and LRU, at all rates from \
                     1 to 90% of capacity",
            basis: Basis::Prediction,
            derive: |e| {
                let [mru, lru] = [MRU, LRU].map(|other| e.reduction(WIRED, other, BROAD));
                let from = from_rate(&mru)
                    .map_or_else(String::new, |from| format!("Better than MRU from {} on. ", rate(from)));
                let note = format!("{from}Most below MRU: {}; below LRU: {}.", largest(&mru), largest(&lru));
                each([("MRU", mru), ("LRU", lru)], note)
            },
            contradicts: None,
        },
        Claim {
            id: "ips-mru-best-when-idle",
            section: "8",
            needs: F9A,
            says: "Under IPS, MRU is better than wired stacks at low rates.",
            published: "better at low rates, wired otherwise",
            reading: Reading::Between(0.001, 25.0),
            unit: "%",
            recipe: "the rate at which Wired-Streams becomes better than MRU, looking from the lowest rate to the highest, in \
            percent of capacity. Section 6.2 has Wired-Streams best across the broad range, so low rates are \
            those below the crossing; it must lie below 25%",
            basis: Basis::Prediction,
            derive: |e| {
                let capacity = e.capacity(WIRED)?.mean;
                let saved = e.reduction(MRU, WIRED, 0.0..=1.0);
                Some(Finding::single(crossover(&saved, capacity), ""))
            },
            contradicts: None,
        },
    ]
}

fn work_conservation() -> Vec<Claim<Simulations>> {
    vec![Claim {
        id: "ips-work-conserving",
        section: "6.2",
        needs: &["9a", "7a"],
        says: "Under IPS all policies keep every processor busy while packets wait.",
        published: "work-conserving",
        reading: Reading::AtMost(1.5),
        unit: "×",
        recipe: "waiting time in service times at 80% of capacity, IPS over Locking, both under MRU \
                     (Locking is work-conserving)",
        basis: Basis::Prediction,
        derive: |e| {
            let last = |setting| waiting(e, setting, 0.81).last().copied();
            let (ips, locking) = (last(MRU)?, last(CurveSetting::new(Locking, Mru))?);
            value(
                ratio(ips.value, locking.value),
                format!(
                    "Packets wait {:.2} service times under IPS, {:.2} under Locking: under IPS a \
                         packet waits for its stack although processors are idle.",
                    ips.value.mean, locking.value.mean
                ),
            )
        },
        contradicts: Some(
            "sections 3 and 6.4 say that under IPS no policy is work-conserving, and our model \
                 follows them.",
        ),
    }]
}

fn capacities() -> Vec<Claim<Simulations>> {
    vec![
        Claim {
            id: "ips-capacities-equal",
            section: "6.2",
            needs: F10A,
            says: "Under IPS the policies' capacities cannot be told apart.",
            published: "undifferentiable",
            reading: Reading::Within(1.0),
            unit: "%",
            recipe: "the difference between the greatest and the least of the three capacities",
            basis: Basis::Prediction,
            derive: |e| {
                value(
                    apart(&[e.capacity(MRU)?, e.capacity(LRU)?, e.capacity(WIRED)?])?,
                    "At capacity a stack never leaves its processor.",
                )
            },
            contradicts: None,
        },
        Claim {
            id: "ips-service",
            section: "6.2",
            needs: F10A,
            says: "At high load a packet takes 57.4 µs under IPS.",
            published: "57.4 µs",
            reading: Reading::Printed(57.4),
            unit: "µs",
            recipe: "mean service time at capacity, all three policies",
            basis: Basis::Prediction,
            derive: |e| {
                places(
                    [
                        ("MRU", e.service(MRU)?),
                        ("LRU", e.service(LRU)?),
                        ("Wired-Streams", e.service(WIRED)?),
                    ],
                    "Nothing migrates, as in experiment A1.",
                )
            },
            contradicts: None,
        },
    ]
}
