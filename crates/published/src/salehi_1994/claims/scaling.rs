//! Sections 6 and 6.6: one stream on more processors, and other hosts.

use super::derive::{apart, percent, places, value};
use crate::salehi_1994::curves::{HOSTS, SCALING, single_stream};
use crate::salehi_1994::simulations::{above, ratio};
use crate::salehi_1994::{CurveSetting, Simulations};
use crate::{Basis, Claim, Finding, Reading, Value, ValueAt};
use warmcore_scenario::Parallelism::{self, Hybrid, Ips, Locking};
use warmcore_scenario::ProcessorPolicy::{Mru, WiredStreams};
use warmcore_units::Estimate;

const F15: &[&str] = &["15"];

pub(super) fn claims() -> Vec<Claim<Simulations>> {
    [one_stream(), one_stream_compared(), other_hosts()].concat()
}

fn one_stream() -> Vec<Claim<Simulations>> {
    vec![
        Claim {
            id: "stream-hybrid-slope",
            section: "6.6",
            needs: F15,
            says: "A single stream's capacity under the Hybrid grows with the number of processors: each adds one packet per \
            57.4 µs (experiment A1).",
            published: "57.4 µs",
            reading: Reading::Printed(57.4),
            unit: "µs",
            recipe: "processors divided by capacity, 1 to 16 processors",
            basis: Basis::Prediction,
            derive: |e| on(SCALING, |n| per_packet(e, Hybrid, n), "Each processor's own stack stays hot."),
            contradicts: None,
        },
        Claim {
            id: "stream-locking-slope",
            section: "6.6",
            needs: F15,
            says: "Under Locking a single stream's capacity grows with the number of processors: each adds one packet per 105.1 µs (experiment B1).",
            published: "105.1 µs",
            reading: Reading::Printed(105.1),
            unit: "µs",
            recipe: "processors divided by capacity, 2 to 16 processors",
            basis: Basis::Prediction,
            derive: |e| {
                let note = format!(
                    "The stream's session migrates with every packet. On one processor it stays: {:.1} µs.",
                    per_packet(e, Locking, 1)?.mean
                );
                on(SCALING.into_iter().filter(|&n| n > 1), |n| per_packet(e, Locking, n), note)
            },
            contradicts: None,
        },
        Claim {
            id: "stream-ips-flat",
            section: "6.6",
            needs: F15,
            says: "Under IPS the capacity for a single-open stream does not grow with the processors.",
            published: "slope 0",
            reading: Reading::Within(1.0),
            unit: "%",
            recipe: "the difference between the greatest and the least capacity on 1 to 16 processors",
            basis: Basis::Prediction,
            derive: |e| {
                value(
                    apart(&SCALING.map(|n| capacity(e, Ips, n)).into_iter().collect::<Option<Vec<_>>>()?)?,
                    "One stack, one packet at a time.",
                )
            },
            contradicts: None,
        },
    ]
}

fn one_stream_compared() -> Vec<Claim<Simulations>> {
    vec![
        Claim {
            id: "stream-locking-over-ips",
            section: "6.6",
            needs: F15,
            says: "With more than two processors Locking outperforms IPS for a single-open stream.",
            published: "from three on",
            reading: Reading::Printed(3.0),
            unit: "processors",
            recipe: "the smallest number of processors from which on Locking has the greater capacity",
            basis: Basis::Prediction,
            derive: locking_ahead,
            contradicts: Some(
                "the slopes that it gives in the same place, 105.1 and 57.4 µs, put Locking ahead on two \
                 processors.",
            ),
        },
        Claim {
            id: "stream-hybrid-best",
            section: "6.6",
            needs: F15,
            says: "The Hybrid scales best within a stream.",
            published: "best",
            reading: Reading::MoreThan(0.0),
            unit: "%",
            recipe: "gain in capacity of the Hybrid over Locking and over IPS on 2 to 16 processors",
            basis: Basis::Prediction,
            derive: |e| {
                let more = || SCALING.into_iter().filter(|&n| n > 1);
                let over = |(other, n): (Parallelism, u32)| {
                    Some(
                        ValueAt::new(format!("{n} processors"), gain(e, Hybrid, other, n)?)
                            .in_case(other.to_string()),
                    )
                };
                let both = [Locking, Ips].into_iter().flat_map(|other| more().map(move |n| (other, n)));
                Finding::new(both.map(over).collect::<Option<_>>()?, "")
            },
            contradicts: None,
        },
    ]
}

fn other_hosts() -> Vec<Claim<Simulations>> {
    vec![Claim {
        id: "other-hosts",
        section: "6",
        needs: &["hosts"],
        says: "On 2 to 32 processors the trends are similar to those on 8.",
        published: "similar trends",
        reading: Reading::Between(0.5, 2.0),
        unit: "×",
        recipe: "on 2, 4, 16 and 32 processors with as many streams: the gain in capacity divided by the gain on \
        8 processors, for Wired-Streams over MRU under Locking and for IPS over Locking under both; from \
        half to twice as much counts as similar. The text says \"in all cases\": each host is a case",
        basis: Basis::Prediction,
        derive: |e| {
            let gains = |n| {
                let of = |approach, policy| e.capacity(CurveSetting::new(approach, policy).host(n, n));
                let gain = |a: Option<Estimate<f64>>, b: Option<Estimate<f64>>| Some(above(a?, b?));
                Some([
                    ("Wired-Streams over MRU", gain(of(Locking, WiredStreams), of(Locking, Mru))?),
                    ("IPS over Locking, MRU", gain(of(Ips, Mru), of(Locking, Mru))?),
                    (
                        "IPS over Locking, Wired-Streams",
                        gain(of(Ips, WiredStreams), of(Locking, WiredStreams))?,
                    ),
                ])
            };
            let eight = gains(8)?;
            let mut found = Vec::new();
            for n in HOSTS.into_iter().filter(|&n| n != 8) {
                let pairs = gains(n)?.into_iter().zip(eight);
                found.extend(pairs.map(|((what, gain), (_, eight))| {
                    ValueAt::new(what, ratio(gain, eight)).in_case(format!("{n} processors"))
                }));
            }
            let wired = |n| Some(percent(gains(n)?[0].1));
            let note = format!(
                "Wired-Streams over MRU under Locking: {} on 2 processors, {} on 8, {} on 32. Capacities only; \
                 delays were compared on 8.",
                wired(2)?,
                wired(8)?,
                wired(32)?
            );
            Finding::new(found, note)
        },
        contradicts: None,
    }]
}

/// The capacity for a single stream on `processors`.
fn capacity(e: &Simulations, approach: Parallelism, processors: u32) -> Option<Estimate<f64>> {
    e.capacity(single_stream(approach, processors))
}

/// Processors divided by capacity, in µs per packet.
fn per_packet(e: &Simulations, approach: Parallelism, processors: u32) -> Option<Estimate<f64>> {
    let capacity = capacity(e, approach, processors)?;
    let mean = 1e6 * f64::from(processors) / capacity.mean;
    Some(Estimate { mean, half_width: capacity.relative_half_width().map(|relative| relative * mean) })
}

/// By how many percent the capacity of `approach` exceeds that of `other`.
fn gain(
    e: &Simulations,
    approach: Parallelism,
    other: Parallelism,
    processors: u32,
) -> Option<Estimate<f64>> {
    Some(above(capacity(e, approach, processors)?, capacity(e, other, processors)?))
}

/// A value `of` each number of processors.
fn on(
    processors: impl IntoIterator<Item = u32>,
    of: impl Fn(u32) -> Option<Estimate<f64>>,
    note: impl Into<String>,
) -> Option<Finding> {
    let one = |n| Some((format!("{n} processors"), of(n)?));
    places(processors.into_iter().map(one).collect::<Option<Vec<_>>>()?, note)
}

/// The smallest number of processors from which on Locking has a greater capacity for one stream than IPS.
fn locking_ahead(e: &Simulations) -> Option<Finding> {
    let gains: Vec<Value> =
        SCALING.into_iter().map(|n| Some(Value::from(gain(e, Locking, Ips, n)?))).collect::<Option<_>>()?;
    let fewest = |of: fn(&Value) -> f64| {
        let behind = gains.iter().rposition(|gain| of(gain) <= 0.0);
        SCALING.get(behind.map_or(0, |last| last + 1)).map_or(f64::INFINITY, |&n| f64::from(n))
    };
    let ahead = Value {
        mean: fewest(|gain| gain.mean),
        low: fewest(|gain| gain.high),
        high: fewest(|gain| gain.low),
    };
    let on = |n| Some(format!("{} on {n}", percent(gain(e, Locking, Ips, n)?)));
    Some(Finding::single(ahead, format!("Locking gains {} processors and {}.", on(2)?, on(3)?)))
}
