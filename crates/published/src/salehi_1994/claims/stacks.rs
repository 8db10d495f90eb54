//! Section 6.2: affinity scheduling under IPS.

use super::derive::{apart, from_rate, largest, rate, span_of, tally, value, waiting};
use super::{BROAD, Claim, LOW, Reading};
use crate::salehi_1994::evidence::ratio;
use crate::salehi_1994::{Figure, Setting};
use warmcore_scenario::Parallelism::{Ips, Locking};
use warmcore_scenario::ProcessorPolicy::{Lru, Mru, WiredStreams};

const MRU: Setting = Setting::new(Ips, Mru);
const LRU: Setting = Setting::new(Ips, Lru);
const WIRED: Setting = Setting::new(Ips, WiredStreams);

const F9A: &[Figure] = &[Figure::F9a];
const F10A: &[Figure] = &[Figure::F10a];

pub(super) fn claims() -> Vec<Claim> {
    [policies(), capacities()].concat()
}

fn policies() -> Vec<Claim> {
    vec![
        Claim {
            id: "ips-wired-best",
            section: "6.2",
            needs: F9A,
            says: "Under IPS, Wired-Streams has the lowest delay across the broad range of rates.",
            published: "lowest",
            reading: Reading::Everywhere,
            unit: "",
            recipe: "mean delay under Wired-Streams against MRU and LRU, at all rates from 1 to 90% of \
                     capacity",
            derive: |e| {
                let over = [MRU, LRU].map(|other| e.reduction(WIRED, other, BROAD));
                let from = from_rate(&over[0])
                    .map_or_else(String::new, |from| format!("Better than MRU from {} on. ", rate(from)));
                tally(
                    &over.concat(),
                    format!("{from}Most below MRU: {}; below LRU: {}.", largest(&over[0]), largest(&over[1])),
                )
            },
            contradicts: None,
        },
        Claim {
            id: "ips-mru-best-when-idle",
            section: "8",
            needs: F9A,
            says: "Under IPS, MRU is better than wired stacks at low rates.",
            published: "better",
            reading: Reading::Everywhere,
            unit: "",
            recipe: "mean delay under MRU against Wired-Streams at rates from 1 to 25% of capacity",
            derive: |e| {
                let from = from_rate(&e.reduction(WIRED, MRU, 0.0..=1.0));
                let because = from.map_or_else(String::new, |from| {
                    format!("Wired-Streams is better from {} on.", rate(from))
                });
                tally(&e.reduction(MRU, WIRED, LOW), because)
            },
            contradicts: None,
        },
        Claim {
            id: "ips-work-conserving",
            section: "6.2",
            needs: &[Figure::F9a, Figure::F7a],
            says: "Under IPS all policies keep every processor busy while packets wait.",
            published: "work-conserving",
            reading: Reading::AtMost(1.5),
            unit: "×",
            recipe: "waiting time in service times at 80% of capacity, IPS over Locking, both under MRU \
                     (Locking is work-conserving); read as at most 1.5 times",
            derive: |e| {
                let last = |setting| waiting(e, setting, 0.81).last().copied();
                let (ips, locking) = (last(MRU)?, last(Setting::new(Locking, Mru))?);
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
        },
    ]
}

fn capacities() -> Vec<Claim> {
    vec![
        Claim {
            id: "ips-capacities-equal",
            section: "6.2",
            needs: F10A,
            says: "Under IPS the policies' capacities cannot be told apart.",
            published: "undifferentiable",
            reading: Reading::AtMost(1.0),
            unit: "%",
            recipe: "how far the three capacities lie apart; read as at most 1%",
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
            derive: |e| {
                span_of(
                    [e.service(MRU)?, e.service(LRU)?, e.service(WIRED)?],
                    "Nothing migrates: experiment A1.",
                )
            },
            contradicts: None,
        },
    ]
}
