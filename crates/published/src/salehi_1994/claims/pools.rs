//! Sections 6.1, 6.2 and 8: pools of threads and free memory.

use super::BROAD;
use super::derive::{each, minus, percent, rate, rates, value};
use super::locking::APPROACHES;
use crate::salehi_1994::simulations::{above, extremes};
use crate::salehi_1994::{CurveSetting, Simulations};
use crate::{Basis, Claim, Finding, Reading};
use warmcore_scenario::Organisation::{Global, PerProcessor};
use warmcore_scenario::Parallelism::{Ips, Locking};
use warmcore_scenario::ProcessorPolicy::{self, Lru, Mru};
use warmcore_scenario::{Organisation, Parallelism};

const F9B: &[&str] = &["9b"];
const F10B: &[&str] = &["10b"];

pub(super) fn claims() -> Vec<Claim<Simulations>> {
    [locking(), locking_capacities(), stacks(), stacks_capacities(), both()].concat()
}

fn locking() -> Vec<Claim<Simulations>> {
    vec![
        Claim {
            id: "locking-threads",
            section: "6.1",
            needs: &["7b"],
            says: "Keeping threads per processor reduces delay by 10 to 15% across the broad range of rates.",
            published: "10 to 15 %",
            reading: Reading::Between(10.0, 15.0),
            unit: "%",
            recipe: "threads per processor against one global pool, memory per processor, MRU, at all \
                     rates from 1 to 90% of capacity",
            basis: Basis::Prediction,
            derive: |e| pool_gain(e, Locking, Global, PerProcessor),
            contradicts: None,
        },
        Claim {
            id: "locking-memory",
            section: "6.1",
            needs: &["7b"],
            says: "Keeping free memory per processor reduces delay by 5 to 10%.",
            published: "5 to 10 %",
            reading: Reading::Between(5.0, 10.0),
            unit: "%",
            recipe: "memory per processor against one global pool, threads per processor, MRU, at all \
                     rates from 1 to 90% of capacity",
            basis: Basis::Prediction,
            derive: |e| pool_gain(e, Locking, PerProcessor, Global),
            contradicts: None,
        },
        Claim {
            id: "locking-threads-over-memory",
            section: "6.1",
            needs: &["7b"],
            says: "Scheduling threads gains more than scheduling free memory.",
            published: "more",
            reading: Reading::MoreThan(0.0),
            unit: "%",
            recipe: "threads alone per processor against memory alone per processor, MRU, at all rates \
                     from 1 to 90% of capacity",
            basis: Basis::Prediction,
            derive: |e| threads_over_memory(e, Locking),
            contradicts: None,
        },
    ]
}

fn locking_capacities() -> Vec<Claim<Simulations>> {
    vec![
        Claim {
            id: "locking-memory-capacity",
            section: "6.1",
            needs: &["8b"],
            says: "Free memory per processor raises the capacity by about 5%.",
            published: "about 5 %",
            reading: Reading::About(5.0),
            unit: "%",
            recipe: "by how much capacity with memory per processor exceeds that with a global pool, MRU",
            basis: Basis::Prediction,
            derive: |e| capacity_gain(e, Locking, PerProcessor, Global),
            contradicts: None,
        },
        Claim {
            id: "locking-memory-migrates",
            section: "5 and 6.1",
            needs: &["8b"],
            says: "At high rates the lines of a global pool of free memory migrate with every packet, both where \
                   it acquires and where it releases memory.",
            published: "every packet",
            reading: Reading::Between(90.0, 100.0),
            unit: "%",
            recipe: "what a global pool adds to the mean service time at capacity, in percent of what acquiring and \
            releasing add when both find the lines elsewhere, MRU; nine in ten packets count as every packet",
            basis: Basis::Prediction,
            derive: |e| {
                let own = CurveSetting::new(Locking, Mru);
                let added = minus(e.service(own.pools(PerProcessor, Global))?, e.service(own)?);
                let pool = e.options.profile.free_memory.as_ref()?;
                let both = (pool.acquire.mean.0 + pool.release.mean.0) / 1e3;
                let part = |micros: f64| 100.0 * micros / both;
                value(added.map(part), format!("{:.2} of {both:.2} µs.", added.mean))
            },
            contradicts: None,
        },
        Claim {
            id: "locking-threads-capacity",
            section: "6.1",
            needs: &["8b"],
            says: "Scheduling threads does not change the capacity.",
            published: "no change",
            reading: Reading::Within(1.0),
            unit: "%",
            recipe: "by how much capacity with threads per processor exceeds that with a global pool, MRU",
            basis: Basis::Prediction,
            derive: |e| capacity_gain(e, Locking, Global, PerProcessor),
            contradicts: None,
        },
    ]
}

fn stacks() -> Vec<Claim<Simulations>> {
    vec![
        Claim {
            id: "ips-threads-over-memory",
            section: "6.2",
            needs: F9B,
            says: "Scheduling threads gains more than scheduling free memory under IPS too.",
            published: "as under Locking",
            reading: Reading::MoreThan(0.0),
            unit: "%",
            recipe: "threads alone per processor against memory alone per processor, MRU, at all rates \
                     from 1 to 90% of capacity",
            basis: Basis::Prediction,
            derive: |e| threads_over_memory(e, Ips),
            contradicts: None,
        },
        Claim {
            id: "ips-threads",
            section: "6.2",
            needs: F9B,
            says: "Keeping threads per processor reduces delay under IPS in general as under Locking.",
            published: "10 to 15 %, as under Locking",
            reading: Reading::Between(10.0, 15.0),
            unit: "%",
            recipe: "threads per processor against one global pool, memory per processor, MRU, at all \
                     rates from 1 to 90% of capacity",
            basis: Basis::Prediction,
            derive: |e| pool_gain(e, Ips, Global, PerProcessor),
            contradicts: None,
        },
        Claim {
            id: "ips-memory",
            section: "6.2",
            needs: F9B,
            says: "Keeping free memory per processor reduces delay under IPS in general as under Locking.",
            published: "5 to 10 %, as under Locking",
            reading: Reading::Between(5.0, 10.0),
            unit: "%",
            recipe: "memory per processor against one global pool, threads per processor, MRU, at all \
                     rates from 1 to 90% of capacity",
            basis: Basis::Prediction,
            derive: |e| pool_gain(e, Ips, PerProcessor, Global),
            contradicts: None,
        },
    ]
}

fn stacks_capacities() -> Vec<Claim<Simulations>> {
    vec![
        Claim {
            id: "ips-memory-capacity",
            section: "6.2",
            needs: F10B,
            says: "Free memory per processor raises the capacity under IPS by 15%.",
            published: "15 %",
            reading: Reading::About(15.0),
            unit: "%",
            recipe: "by how much capacity with memory per processor exceeds that with a global pool, MRU",
            basis: Basis::Prediction,
            derive: |e| capacity_gain(e, Ips, PerProcessor, Global),
            contradicts: None,
        },
        Claim {
            id: "ips-threads-capacity",
            section: "6.2",
            needs: F10B,
            says: "Scheduling threads does not change the capacity under IPS either.",
            published: "no change",
            reading: Reading::Within(1.0),
            unit: "%",
            recipe: "by how much capacity with threads per processor exceeds that with a global pool, MRU",
            basis: Basis::Prediction,
            derive: |e| capacity_gain(e, Ips, Global, PerProcessor),
            contradicts: None,
        },
    ]
}

fn both() -> Vec<Claim<Simulations>> {
    vec![Claim {
        id: "pools-per-processor",
        section: "8",
        needs: &["7b", "9b"],
        says: "Threads and free memory should be kept per processor.",
        published: "for high performance",
        reading: Reading::MoreThan(0.0),
        unit: "%",
        recipe: "mean delay with both pools per processor against both global, Locking and IPS, MRU, at \
                 all rates from 1 to 90% of capacity",
        basis: Basis::Prediction,
        derive: |e| {
            let gains = APPROACHES.map(|approach| {
                let own = CurveSetting::new(approach, Mru);
                e.reduction(own, own.pools(Global, Global), BROAD)
            });
            each(["Locking", "IPS"].into_iter().zip(gains), "")
        },
        contradicts: None,
    }]
}

/// By how much pools per processor reduce delay, compared with `threads` and `memory`.
fn pool_gain(
    e: &Simulations,
    approach: Parallelism,
    threads: Organisation,
    memory: Organisation,
) -> Option<Finding> {
    let gain = |policy: ProcessorPolicy| {
        let own = CurveSetting::new(approach, policy);
        e.reduction(own, own.pools(threads, memory), BROAD)
    };
    let because = extremes(&gain(Lru)).map_or_else(String::new, |(least, most)| {
        format!("Under LRU it would be {} to {}.", percent(least.value), percent(most.value))
    });
    rates(&gain(Mru), because)
}

/// By how much pools per processor raise the capacity, compared with `threads` and `memory`.
fn capacity_gain(
    e: &Simulations,
    approach: Parallelism,
    threads: Organisation,
    memory: Organisation,
) -> Option<Finding> {
    let own = CurveSetting::new(approach, Mru);
    let (with, without) = (e.capacity(own)?, e.capacity(own.pools(threads, memory))?);
    value(above(with, without), format!("{} against {}.", rate(with.mean), rate(without.mean)))
}

/// Threads alone per processor against memory alone per processor.
fn threads_over_memory(e: &Simulations, approach: Parallelism) -> Option<Finding> {
    let own = CurveSetting::new(approach, Mru);
    let [threads, memory] = [own.pools(PerProcessor, Global), own.pools(Global, PerProcessor)];
    rates(&e.reduction(threads, memory, BROAD), "")
}
