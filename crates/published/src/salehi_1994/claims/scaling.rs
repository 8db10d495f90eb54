//! Sections 6 and 6.6: one stream on more processors, and other hosts.

use super::derive::{apart, percent, span_of, tally, value};
use super::{Claim, Reading};
use crate::salehi_1994::curves::{HOSTS, SCALING};
use crate::salehi_1994::evidence::{At, above};
use crate::salehi_1994::{Evidence, Figure, Setting};
use warmcore_scenario::Parallelism::{self, Hybrid, Ips, Locking};
use warmcore_scenario::ProcessorPolicy::{Mru, WiredStreams};
use warmcore_units::Estimate;

const F15: &[Figure] = &[Figure::F15];

pub(super) fn claims() -> Vec<Claim> {
    [one_stream(), other_hosts()].concat()
}

fn one_stream() -> Vec<Claim> {
    vec![
        Claim {
            id: "stream-hybrid-slope",
            section: "6.6",
            needs: F15,
            says: "A single stream's capacity under the Hybrid grows with the processors by the 57.4 µs \
                   of experiment A1.",
            published: "57.4 µs",
            reading: Reading::Printed(57.4),
            unit: "µs",
            recipe: "processors over capacity, 1 to 16 processors",
            derive: |e| {
                span_of(
                    SCALING.map(|n| per_packet(e, Hybrid, n)).into_iter().collect::<Option<Vec<_>>>()?,
                    "Each processor's own stack stays hot.",
                )
            },
            contradicts: None,
        },
        Claim {
            id: "stream-locking-slope",
            section: "6.6",
            needs: F15,
            says: "Under Locking a single stream's capacity grows by the 105.1 µs of experiment B1.",
            published: "105.1 µs",
            reading: Reading::Printed(105.1),
            unit: "µs",
            recipe: "processors over capacity, 2 to 16 processors",
            derive: |e| {
                let more = SCALING.into_iter().filter(|&n| n > 1);
                span_of(
                    more.map(|n| per_packet(e, Locking, n)).collect::<Option<Vec<_>>>()?,
                    format!(
                        "The stream's session migrates with every packet. On one processor it stays: \
                         {:.1} µs.",
                        per_packet(e, Locking, 1)?.mean
                    ),
                )
            },
            contradicts: None,
        },
        Claim {
            id: "stream-ips-flat",
            section: "6.6",
            needs: F15,
            says: "Under IPS the capacity for a single-open stream does not grow with the processors.",
            published: "slope 0",
            reading: Reading::AtMost(1.0),
            unit: "%",
            recipe: "how far the capacities on 1 to 16 processors lie apart; read as at most 1%",
            derive: |e| {
                value(
                    apart(&SCALING.map(|n| capacity(e, Ips, n)).into_iter().collect::<Option<Vec<_>>>()?)?,
                    "One stack, one packet at a time.",
                )
            },
            contradicts: None,
        },
        Claim {
            id: "stream-locking-over-ips",
            section: "6.6",
            needs: F15,
            says: "With more than two processors Locking outperforms IPS for a single-open stream.",
            published: "more than two",
            reading: Reading::Everywhere,
            unit: "",
            recipe: "capacity of Locking over IPS on 3 to 16 processors",
            derive: |e| {
                let two = gain(e, Locking, Ips, 2)?;
                let more = SCALING.into_iter().filter(|&n| n > 2);
                let gains = more.map(|n| gain(e, Locking, Ips, n)).collect::<Option<Vec<At>>>()?;
                let mut derived = tally(&gains, "")?;
                derived.because = format!(
                    "From {} on 3 processors. On two processors: {}, as the slopes imply.",
                    percent(gains.first()?.value),
                    percent(two.value)
                );
                Some(derived)
            },
            contradicts: None,
        },
        Claim {
            id: "stream-hybrid-best",
            section: "6.6",
            needs: F15,
            says: "The Hybrid scales best within a stream.",
            published: "best",
            reading: Reading::Everywhere,
            unit: "",
            recipe: "capacity of the Hybrid over Locking and over IPS on 2 to 16 processors",
            derive: |e| {
                let more = || SCALING.into_iter().filter(|&n| n > 1);
                let pairs = more().flat_map(|n| [Locking, Ips].map(|other| gain(e, Hybrid, other, n)));
                let mut derived = tally(&pairs.collect::<Option<Vec<At>>>()?, "")?;
                derived.because = format!(
                    "By {} over Locking and {} over IPS on 8 processors.",
                    percent(gain(e, Hybrid, Locking, 8)?.value),
                    percent(gain(e, Hybrid, Ips, 8)?.value)
                );
                Some(derived)
            },
            contradicts: None,
        },
    ]
}

fn other_hosts() -> Vec<Claim> {
    vec![Claim {
        id: "other-hosts",
        section: "6",
        needs: &[Figure::Hosts],
        says: "On 2 to 32 processors the trends are similar.",
        published: "similar trends",
        reading: Reading::Everywhere,
        unit: "",
        recipe: "on 2, 4, 8, 16 and 32 processors with as many streams: capacity of Wired-Streams over \
                 MRU under Locking, and of IPS over Locking under both",
        derive: |e| {
            let gains = HOSTS.map(|n| {
                let of = |approach, policy| e.capacity(Setting::new(approach, policy).host(n, n));
                let pair = |a: Option<Estimate<f64>>, b: Option<Estimate<f64>>| {
                    Some(At { rate: f64::from(n), value: above(a?, b?) })
                };
                [
                    pair(of(Locking, WiredStreams), of(Locking, Mru)),
                    pair(of(Ips, Mru), of(Locking, Mru)),
                    pair(of(Ips, WiredStreams), of(Locking, WiredStreams)),
                ]
            });
            let gains = gains.concat().into_iter().collect::<Option<Vec<At>>>()?;
            let mut derived = tally(&gains, "")?;
            let wired = |i: usize| gains.get(3 * i).map_or_else(String::new, |at| percent(at.value));
            derived.because = format!(
                "Wired-Streams over MRU under Locking: {} on 2 processors, {} on 8, {} on 32. Capacities \
                 only; delays were compared on 8.",
                wired(0),
                wired(2),
                wired(4)
            );
            Some(derived)
        },
        contradicts: None,
    }]
}

/// The capacity for a single stream on `processors`.
fn capacity(e: &Evidence, approach: Parallelism, processors: u32) -> Option<Estimate<f64>> {
    e.capacity(Setting::new(approach, Mru).host(processors, 1))
}

/// Processors over capacity, µs.
fn per_packet(e: &Evidence, approach: Parallelism, processors: u32) -> Option<Estimate<f64>> {
    let capacity = capacity(e, approach, processors)?;
    let mean = 1e6 * f64::from(processors) / capacity.mean;
    Some(Estimate { mean, half_width: capacity.relative_half_width().map(|relative| relative * mean) })
}

/// By how many percent the capacity of `approach` is above that of `other`.
fn gain(e: &Evidence, approach: Parallelism, other: Parallelism, processors: u32) -> Option<At> {
    let value = above(capacity(e, approach, processors)?, capacity(e, other, processors)?);
    Some(At { rate: f64::from(processors), value })
}
