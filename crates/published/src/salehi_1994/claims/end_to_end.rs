//! Section 6.3: end-to-end latency; what affinity gains in capacity (§8), and what checksumming in
//! software adds (§5, §6).

use super::derive::{greatest, largest, percent, rate, span_of, tally, value};
use super::locking::APPROACHES;
use super::{BROAD, Claim, Reading};
use crate::salehi_1994::evidence::{At, above, extremes};
use crate::salehi_1994::latency::{MULTIPLES, best_receive_time, reduction};
use crate::salehi_1994::{Evidence, Figure, Setting};
use std::ops::RangeInclusive;
use warmcore_scenario::Organisation::Global;
use warmcore_scenario::Parallelism::{self, Ips, Locking};
use warmcore_scenario::ProcessorPolicy::{Lru, Mru, WiredStreams};
use warmcore_units::Estimate;

const F11: &[Figure] = &[Figure::F11a, Figure::F11b];
const F11B: &[Figure] = &[Figure::F11b];

/// Rates at which delays are known well, the lowest included.
const UP_TO_90: RangeInclusive<f64> = 0.0..=0.9;

const PLAIN: Setting = Setting::new(Ips, Mru);
/// Bytes of the small packet of section 6, and of the largest FDDI packet of section 6.3.
const SIZES: [u16; 2] = [256, 4432];
/// The same host checksumming packets of these sizes.
pub(crate) const CHECKSUMMED: [Setting; 3] =
    [PLAIN, PLAIN.checksumming(SIZES[0]), PLAIN.checksumming(SIZES[1])];

pub(super) fn claims() -> Vec<Claim> {
    [latency(), capacity(), checksum()].concat()
}

fn latency() -> Vec<Claim> {
    vec![
        Claim {
            id: "latency-bound",
            section: "6.3",
            needs: F11,
            says: "At most, with nothing else in the latency, affinity scheduling shortens it by around \
                   40 to 50%.",
            published: "around 40 to 50 %",
            reading: Reading::AboutBetween(40.0, 50.0),
            unit: "%",
            recipe: "the largest reduction with V = 0, Locking and IPS, at rates up to 90% of the \
                     capacity without affinity scheduling",
            derive: |e| {
                both(e, 0.0, "Nearer to the capacity without affinity scheduling it grows toward 100 %.")
            },
            contradicts: None,
        },
        Claim {
            id: "latency-ips-over-locking",
            section: "6.3",
            needs: F11,
            says: "The reduction is greater under IPS than under Locking.",
            published: "greater",
            reading: Reading::Everywhere,
            unit: "",
            recipe: "reduction under IPS less that under Locking, in percentage points, for V = 0, 5, 10, \
                     20 at all rates that both have, up to 90% of capacity",
            derive: |e| {
                tally(
                    &MULTIPLES.map(|multiple| difference(e, multiple)).concat(),
                    "Percentage points; beyond the rates compared Locking no longer keeps up.",
                )
            },
            contradicts: None,
        },
        Claim {
            id: "latency-ips-over-locking-largest",
            section: "6.3",
            needs: F11,
            says: "The reduction is greater under IPS than under Locking (the curves' largest values).",
            published: "greater",
            reading: Reading::Everywhere,
            unit: "",
            recipe: "the largest reduction under IPS less that under Locking, in percentage points, for V \
                     = 0, 5, 10, 20",
            derive: |e| {
                let most =
                    |approach, multiple| Some(extremes(&reduction(e, approach, multiple, UP_TO_90))?.1);
                let less = |multiple| {
                    let (ips, locking): (At, At) = (most(Ips, multiple)?, most(Locking, multiple)?);
                    Some(At { rate: ips.rate, value: minus(ips.value, locking.value) })
                };
                tally(&MULTIPLES.map(less).into_iter().collect::<Option<Vec<At>>>()?, "Percentage points.")
            },
            contradicts: None,
        },
        Claim {
            id: "latency-significant",
            section: "6.3",
            needs: F11,
            says: "The reduction is significant even where everything else takes many times as long as a \
                   packet.",
            published: "significant",
            reading: Reading::MoreThan(5.0),
            unit: "%",
            recipe: "the largest reduction with V = 20, Locking and IPS; read as more than 5%",
            derive: |e| both(e, 20.0, ""),
            contradicts: None,
        },
        Claim {
            id: "latency-checksummed",
            section: "6.3",
            needs: F11B,
            says: "With the largest packets checksummed in software the reduction is still significant, \
                   as the V = 5 curves show.",
            published: "significant",
            reading: Reading::MoreThan(10.0),
            unit: "%",
            recipe: "the largest reduction with V = 5 under IPS; read as more than 10%",
            derive: |e| {
                greatest(
                    &reduction(e, Ips, 5.0, UP_TO_90),
                    format!("With V = 2.4: {}.", largest(&reduction(e, Ips, 2.4, UP_TO_90))),
                )
            },
            contradicts: None,
        },
    ]
}

fn capacity() -> Vec<Claim> {
    vec![Claim {
        id: "affinity-capacity",
        section: "8",
        needs: F11,
        says: "Affinity scheduling lets the host support more packets per second.",
        published: "higher",
        reading: Reading::Everywhere,
        unit: "",
        recipe: "capacity of Wired-Streams with pools per processor over that of LRU with global pools, \
                 Locking and IPS",
        derive: |e| {
            let gain = |approach| {
                let with = e.capacity(Setting::new(approach, WiredStreams))?;
                let without = e.capacity(Setting::new(approach, Lru).pools(Global, Global))?;
                Some(At { rate: 0.0, value: above(with, without) })
            };
            let [locking, ips] = APPROACHES.map(gain);
            let gains = [locking?, ips?];
            let mut derived = tally(&gains, "")?;
            derived.because = format!(
                "By {} under Locking, by {} under IPS.",
                percent(gains[0].value),
                percent(gains[1].value)
            );
            Some(derived)
        },
        contradicts: None,
    }]
}

fn checksum() -> Vec<Claim> {
    vec![
        Claim {
            id: "checksum-small",
            section: "6",
            needs: F11B,
            says: "Checksumming a packet of 256 bytes takes about 8 µs.",
            published: "about 8 µs",
            reading: Reading::About(8.0),
            unit: "µs",
            recipe: "service time at capacity of packets of 256 bytes with checksumming, less that \
                     without (IPS, MRU)",
            derive: |e| value(checksumming(e, SIZES[0])?, "32 bytes per microsecond."),
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
            recipe: "service time at capacity of packets of 4432 bytes with checksumming, less that \
                     without (IPS, MRU)",
            derive: |e| value(checksumming(e, SIZES[1])?, "32 bytes per microsecond."),
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
            recipe: "the same over the best receive time of Table 2",
            derive: |e| {
                let best = best_receive_time(e)?;
                let time = checksumming(e, SIZES[1])?;
                let value_of =
                    Estimate { mean: time.mean / best, half_width: time.half_width.map(|half| half / best) };
                value(value_of, format!("Over {best:.1} µs."))
            },
            contradicts: None,
        },
    ]
}

/// The largest reductions under Locking and IPS.
fn both(e: &Evidence, multiple: f64, because: &str) -> Option<super::Derived> {
    let most = |approach| Some(extremes(&reduction(e, approach, multiple, UP_TO_90))?.1);
    let [locking, ips] = APPROACHES.map(most);
    let (locking, ips): (At, At) = (locking?, ips?);
    let words = |at: At| format!("{} at {}", percent(at.value), rate(at.rate));
    span_of(
        [locking.value, ips.value],
        format!("Locking: {}; IPS: {}. {because}", words(locking), words(ips)),
    )
}

/// The reduction under IPS less that under Locking, where both have one.
fn difference(e: &Evidence, multiple: f64) -> Vec<At> {
    let [locking, ips]: [Vec<At>; 2] =
        APPROACHES.map(|approach: Parallelism| reduction(e, approach, multiple, BROAD));
    let pair = |ips: &At| {
        let locking = locking.iter().find(|other| other.rate == ips.rate)?;
        Some(At { rate: ips.rate, value: minus(ips.value, locking.value) })
    };
    ips.iter().filter_map(pair).collect()
}

/// What checksumming packets of `bytes` adds to their service time, µs, at the rate of the
/// source's machine.
fn checksumming(e: &Evidence, bytes: u16) -> Option<Estimate<f64>> {
    if !e.is_published_machine() {
        return None;
    }
    Some(minus(e.service(PLAIN.checksumming(bytes))?, e.service(PLAIN)?))
}

fn minus(a: Estimate<f64>, b: Estimate<f64>) -> Estimate<f64> {
    let half = |of: Estimate<f64>| of.half_width.unwrap_or(0.0);
    Estimate::new(a.mean - b.mean, half(a).hypot(half(b)))
}
