//! Section 6.3: end-to-end latency. Also what affinity gains in capacity (§8), and what checksumming in
//! software adds (§5, §6).

use super::BROAD;
use super::derive::{each, largest, minus, places, rate, value};
use super::locking::APPROACHES;
use crate::salehi_1994::latency::{MULTIPLES, best_receive_time, reduction};
use crate::salehi_1994::setting::{CHECKSUMMED_BYTES, WITHOUT_CHECKSUM};
use crate::salehi_1994::simulations::{AtRate, above, extremes};
use crate::salehi_1994::{CurveSetting, Simulations};
use crate::{Basis, Claim, Finding, Reading, Value, ValueAt};
use std::ops::RangeInclusive;
use warmcore_scenario::Organisation::Global;
use warmcore_scenario::Parallelism;
use warmcore_scenario::ProcessorPolicy::{Lru, WiredStreams};
use warmcore_units::Estimate;

const F11: &[&str] = &["11a", "11b"];
const F11B: &[&str] = &["11b"];

/// The rates at which delays are known precisely.
const UP_TO_90: RangeInclusive<f64> = 0.0..=0.9;

pub(super) fn claims() -> Vec<Claim<Simulations>> {
    [latency(), significance(), capacity(), checksum()].concat()
}

fn latency() -> Vec<Claim<Simulations>> {
    vec![
        Claim {
            id: "latency-bound",
            section: "6.3",
            needs: F11,
            says: "If nothing else adds to the latency, affinity scheduling shortens it by at most around \
            40 to 50%.",
            published: "around 40 to 50 %",
            reading: Reading::AboutBetween(40.0, 50.0),
            unit: "%",
            recipe: "the largest reduction with V = 0, Locking and IPS: at least its value at rates up to 90% of the capacity \
            without affinity scheduling, at most the 100% that it approaches at that capacity. The text \
            does not say where the rates end, and the answer depends on that",
            basis: Basis::Prediction,
            derive: bound,
            contradicts: None,
        },
        Claim {
            id: "latency-ips-over-locking",
            section: "6.3",
            needs: F11,
            says: "The reduction is greater under IPS than under Locking.",
            published: "greater",
            reading: Reading::MoreThan(0.0),
            unit: "points",
            recipe: "reduction under IPS minus that under Locking, in percentage points, for V = 0, 5, 10, \
            20 at all rates that both have, up to 90% of capacity",
            basis: Basis::Prediction,
            derive: |e| {
                let differences = MULTIPLES.map(|v| (format!("V = {v}"), difference(e, v)));
                each(
                    differences,
                    "At higher rates than those compared Locking no longer keeps up. If the claim is about the curves' largest \
                    values, it has no answer: both curves grow toward 100 % at the capacity without affinity scheduling, and \
                    the answer depends on where they end.",
                )
            },
            contradicts: None,
        },
    ]
}

fn significance() -> Vec<Claim<Simulations>> {
    vec![
        Claim {
            id: "latency-significant",
            section: "6.3",
            needs: F11,
            says: "The reduction is significant even where everything else takes many times as long as a \
                   packet.",
            published: "significant",
            reading: Reading::MoreThan(5.0),
            unit: "%",
            recipe: "the largest reduction with V = 20, Locking and IPS, up to 90% of the capacity without affinity \
            scheduling; it still grows at higher rates",
            basis: Basis::Prediction,
            derive: |e| both(e, 20.0, ""),
            contradicts: None,
        },
        Claim {
            id: "latency-checksummed",
            section: "6.3",
            needs: F11,
            says: "With the largest packets checksummed in software the reduction is still significant, \
                   as the V = 5 curves show.",
            published: "significant",
            reading: Reading::MoreThan(10.0),
            unit: "%",
            recipe: "the largest reduction with V = 5, Locking and IPS, up to 90% of the capacity without affinity \
            scheduling; it still grows at higher rates",
            basis: Basis::Prediction,
            derive: |e| {
                let [locking, ips] =
                    APPROACHES.map(|approach| largest(&reduction(e, approach, 2.4, UP_TO_90)));
                both(e, 5.0, &format!("With V = 2.4: {locking} (Locking), {ips} (IPS)."))
            },
            contradicts: None,
        },
    ]
}

fn capacity() -> Vec<Claim<Simulations>> {
    vec![Claim {
        id: "affinity-capacity",
        section: "8",
        needs: F11,
        says: "Affinity scheduling lets the host support more packets per second.",
        published: "higher",
        reading: Reading::MoreThan(0.0),
        unit: "%",
        recipe: "by how much the capacity of Wired-Streams with pools per processor exceeds that of LRU with global pools, \
        Locking and IPS",
        basis: Basis::Prediction,
        derive: |e| {
            let gain = |approach| {
                let with = e.capacity(CurveSetting::new(approach, WiredStreams))?;
                let without = e.capacity(CurveSetting::new(approach, Lru).pools(Global, Global))?;
                Some((approach.to_string(), above(with, without)))
            };
            let [locking, ips] = APPROACHES.map(gain);
            places([locking?, ips?], "")
        },
        contradicts: None,
    }]
}

fn checksum() -> Vec<Claim<Simulations>> {
    vec![
        Claim {
            id: "checksum-small",
            section: "6",
            needs: F11B,
            says: "Checksumming a packet of 256 bytes takes about 8 µs.",
            published: "about 8 µs",
            reading: Reading::About(8.0),
            unit: "µs",
            recipe: "service time at capacity of packets of 256 bytes with checksumming, minus that \
            without (IPS, MRU)",
            basis: Basis::Prediction,
            derive: |e| value(checksumming(e, CHECKSUMMED_BYTES[0])?, "32 bytes per microsecond."),
            contradicts: None,
        },
        Claim {
            id: "checksum-largest",
            section: "6.3",
            needs: F11B,
            says: "Checksumming the largest FDDI packet, 4432 bytes, takes 139 µs.",
            published: "139 µs",
            reading: Reading::Printed(139.0),
            unit: "µs",
            recipe: "service time at capacity of packets of 4432 bytes with checksumming, minus that \
            without (IPS, MRU)",
            basis: Basis::Prediction,
            derive: |e| value(checksumming(e, CHECKSUMMED_BYTES[1])?, "32 bytes per microsecond."),
            contradicts: None,
        },
        Claim {
            id: "checksum-multiple",
            section: "6.3",
            needs: F11B,
            says: "Checksumming the largest FDDI packet takes 2.4 times the best receive time.",
            published: "2.4 ×",
            reading: Reading::Printed(2.4),
            unit: "×",
            recipe: "the same, divided by the best receive time of Table 2",
            basis: Basis::Prediction,
            derive: |e| {
                let best = best_receive_time(e)?;
                let time = checksumming(e, CHECKSUMMED_BYTES[1])?;
                value(time.map(|time| time / best), format!("Divided by {best:.1} µs."))
            },
            contradicts: None,
        },
    ]
}

/// The largest reductions under Locking and IPS, at rates at which delays are known precisely.
fn both(e: &Simulations, multiple: f64, note: &str) -> Option<Finding> {
    let most = |approach: Parallelism| {
        let (_, most) = extremes(&reduction(e, approach, multiple, UP_TO_90))?;
        Some((format!("{} ({approach})", rate(most.rate)), most.value))
    };
    let [locking, ips] = APPROACHES.map(most);
    places([locking?, ips?], note)
}

/// The largest reductions with nothing else in the latency: from the largest one that is known precisely up
/// to 100 %.
fn bound(e: &Simulations) -> Option<Finding> {
    let most = |approach: Parallelism| {
        let (_, most) = extremes(&reduction(e, approach, 0.0, UP_TO_90))?;
        let known = Value::from(most.value);
        Some(ValueAt::new(format!("{} ({approach})", rate(most.rate)), Value { high: 100.0, ..known }))
    };
    let [locking, ips] = APPROACHES.map(most);
    Finding::new(vec![locking?, ips?], "")
}

/// The reduction under IPS minus that under Locking, at rates at which both have one.
fn difference(e: &Simulations, multiple: f64) -> Vec<AtRate> {
    let [locking, ips]: [Vec<AtRate>; 2] =
        APPROACHES.map(|approach: Parallelism| reduction(e, approach, multiple, BROAD));
    let pair = |ips: &AtRate| {
        let locking = locking.iter().find(|other| other.rate == ips.rate)?;
        Some(AtRate { rate: ips.rate, value: minus(ips.value, locking.value) })
    };
    ips.iter().filter_map(pair).collect()
}

/// What checksumming packets of `bytes` adds to their service time, in µs, at the rate of the machine of
/// Salehi 1994.
fn checksumming(e: &Simulations, bytes: u16) -> Option<Estimate<f64>> {
    if !e.is_published_machine() {
        return None;
    }
    Some(minus(e.service(WITHOUT_CHECKSUM.checksumming(bytes))?, e.service(WITHOUT_CHECKSUM)?))
}
