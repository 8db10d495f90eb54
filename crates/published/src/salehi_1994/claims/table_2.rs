//! Sections 2.2, 4.1 and 5: statements about Table 2 and figure 4. They need no simulation; the times are
//! those of the profile.

use super::derive::{places, value};
use crate::reading::ABOUT;
use crate::salehi_1994::Simulations;
use crate::salehi_1994::simulations::above;
use crate::{Basis, Claim, Finding, Reading};
use warmcore_costs::{Approach, Displacement, Experiment, Situation, ThreadStack};
use warmcore_units::{Estimate, Nanos};

/// Acquiring and releasing a lock whose lines must migrate takes "around" this, in µs (§2.2).
const MIGRATED_LOCK: f64 = 2.5;
/// The same with the lines in cache takes from this to this, in µs (§2.2).
const CACHED_LOCK: [f64; 2] = [0.7, 0.8];

const TABLE_2: &[&str] = &["table-2"];
const FIGURE_4: &[&str] = &["4"];

pub(super) fn claims() -> Vec<Claim<Simulations>> {
    [locks(), locking_overheads(), experiments(), fully_cold(), displacement()].concat()
}

fn locks() -> Vec<Claim<Simulations>> {
    vec![
        Claim {
            id: "lock-migration-factor",
            section: "2.2",
            needs: TABLE_2,
            says: "Acquiring and releasing a lock takes nearly three times as long when its lines must \
                   migrate.",
            published: "nearly 3 ×",
            reading: Reading::Nearly(3.0),
            unit: "×",
            recipe: "\"around 2.5 µs\", read as within a fifth of that, divided by 0.7 and by 0.8 µs, the times given in the \
            same place",
            basis: Basis::Construction,
            derive: |e| {
                if !e.is_published_machine() {
                    return None;
                }
                let around = MIGRATED_LOCK * ABOUT;
                let factor = |cached| Estimate::new(MIGRATED_LOCK / cached, around / cached);
                let ends = CACHED_LOCK.map(|cached| (format!("{cached} µs"), factor(cached)));
                places(ends, "With exactly 2.5 µs it would be more than three to one.")
            },
            contradicts: None,
        },
        Claim {
            id: "uncached-lock",
            section: "2.2 and 8",
            needs: TABLE_2,
            says: "Each lock that is not in cache makes receiving a packet about 5% longer.",
            published: "about 5 %",
            reading: Reading::About(5.0),
            unit: "%",
            recipe: "2.5 µs (§2.2) divided by the best receive time of Table 2",
            basis: Basis::Construction,
            derive: |e| {
                if !e.is_published_machine() {
                    return None;
                }
                let best = time(e, Approach::IndependentStacks, Experiment::A1, ThreadStack::Cached)?;
                value(
                    Estimate::published(100.0 * MIGRATED_LOCK / best),
                    "5% of the 50 µs to which the text rounds the best receive time.",
                )
            },
            contradicts: None,
        },
    ]
}

fn locking_overheads() -> Vec<Claim<Simulations>> {
    vec![
        Claim {
            id: "locking-overhead-cached",
            section: "5",
            needs: TABLE_2,
            says: "With all locks in cache, Locking adds 16% to the best receive time of independent stacks.",
            published: "16 %",
            reading: Reading::Printed(16.0),
            unit: "%",
            recipe: "by how much Locking exceeds IPS in experiment A1",
            basis: Basis::Construction,
            derive: |e| locking_over_stacks(e, Experiment::A1),
            contradicts: None,
        },
        Claim {
            id: "locking-overhead-migrating",
            section: "5",
            needs: TABLE_2,
            says: "When sessions migrate, Locking adds 37%.",
            published: "37 %",
            reading: Reading::Printed(37.0),
            unit: "%",
            recipe: "by how much Locking exceeds IPS in experiment B1",
            basis: Basis::Construction,
            derive: |e| locking_over_stacks(e, Experiment::B1),
            contradicts: None,
        },
        Claim {
            id: "lock-migration-dominates",
            section: "5",
            needs: TABLE_2,
            says: "Most of what Locking adds when sessions migrate is the migration of locks, not \
                   acquiring them.",
            published: "dominates",
            reading: Reading::MoreThan(50.0),
            unit: "%",
            recipe: "the part of what Locking adds in experiment B1 that it does not add in A1",
            basis: Basis::Construction,
            derive: |e| {
                let [cached, migrating] = [Experiment::A1, Experiment::B1].map(|of| extra(e, of));
                let share = 100.0 * (1.0 - cached? / migrating?);
                value(
                    Estimate::published(share),
                    format!("{:.1} of {:.1} µs.", migrating? - cached?, migrating?),
                )
            },
            contradicts: None,
        },
    ]
}

fn experiments() -> Vec<Claim<Simulations>> {
    vec![
        Claim {
            id: "thread-stack-migration",
            section: "5",
            needs: TABLE_2,
            says: "Migrating the thread's stack costs about 20 µs.",
            published: "about 20 µs",
            reading: Reading::About(20.0),
            unit: "µs",
            recipe: "all twelve pairs of hot times: stack migrating minus stack cached",
            basis: Basis::Construction,
            derive: |e| {
                let added = rows(|a, x| {
                    let [cached, migrates] = ThreadStack::ALL.map(|stack| time(e, a, x, stack));
                    Some(Estimate::published(migrates? - cached?))
                });
                places(added?, "")
            },
            contradicts: None,
        },
        Claim {
            id: "first-level-cold",
            section: "5",
            needs: TABLE_2,
            says: "With the first level cold, receiving takes 20 to 40% longer in all experiments.",
            published: "20 to 40 %",
            reading: Reading::Between(20.0, 40.0),
            unit: "%",
            recipe: "all 24 pairs of Table 2: first level cold against hot",
            basis: Basis::Construction,
            derive: |e| places(pairs(|a, s| above_hot(e, a, s))?, ""),
            contradicts: Some(
                "its text says 20 to 40% across all measurements, its Table 2 has 15.5 to 40%.",
            ),
        },
    ]
}

fn fully_cold() -> Vec<Claim<Simulations>> {
    vec![
        Claim {
            id: "fully-cold",
            section: "5",
            needs: TABLE_2,
            says: "A fully cold packet takes two to four times as long as one that finds its first level \
                   cold.",
            published: "2 to 4 ×",
            reading: Reading::Between(2.0, 4.0),
            unit: "×",
            recipe: "each of the two fully cold times divided by each first-level-cold time of Table 2",
            basis: Basis::Construction,
            derive: |e| {
                let longer = pairs(|a, s| {
                    let times = e.options.profile.times.get(a);
                    let cold = times.get(s)?.cold.last()?.mean;
                    Some(Estimate::published(times.fully_cold.mean / cold))
                });
                places(longer?, "")
            },
            contradicts: Some(
                "its text says 2 to 4 times, the times it states and its Table 2 give 1.6 to 3.1.",
            ),
        },
        Claim {
            id: "code-affinity-matters-most",
            section: "5",
            needs: TABLE_2,
            says: "Code affinity can matter far more than the other affinities together.",
            published: "much higher",
            reading: Reading::MoreThan(2.0),
            unit: "×",
            recipe: "what a fully cold packet takes more than a hot one (A1), divided by what all migrations together \
            take more (B3, stack migrating)",
            basis: Basis::Construction,
            derive: |e| {
                let gain = |approach| {
                    let hot = time(e, approach, Experiment::A1, ThreadStack::Cached)?;
                    let migrating = time(e, approach, Experiment::B3, ThreadStack::Migrates)?;
                    let cold = e.options.profile.times.get(approach).fully_cold.mean.micros();
                    Some((approach.short(), Estimate::published((cold - hot) / (migrating - hot))))
                };
                let [locking, stacks] = Approach::ALL.map(gain);
                places([locking?, stacks?], "")
            },
            contradicts: None,
        },
    ]
}

fn displacement() -> Vec<Claim<Simulations>> {
    vec![Claim {
        id: "second-level-keeps-longer",
        section: "4.1",
        needs: FIGURE_4,
        says: "Other work flushes the protocol much more slowly from the second level than from the first.",
        published: "much more slowly",
        reading: Reading::MoreThan(10.0),
        unit: "×",
        recipe: "the time to flush half of the second level, divided by the time for the first",
        basis: Basis::Construction,
        derive: |e| {
            let half = |level: usize| half_flushed(e, level);
            let (first, second) = (half(0)?, half(1)?);
            value(Estimate::published(second / first), format!("Half is gone after {first} and {second}."))
        },
        contradicts: None,
    }]
}

/// A hot receive time, µs.
fn time(
    e: &Simulations,
    approach: Approach,
    experiment: Experiment,
    thread_stack: ThreadStack,
) -> Option<f64> {
    let receive = e.options.profile.times.get(approach).get(Situation { experiment, thread_stack })?;
    Some(receive.hot.mean.micros())
}

/// By how many percent Locking takes longer than independent stacks.
fn locking_over_stacks(e: &Simulations, experiment: Experiment) -> Option<Finding> {
    let [locking, stacks] = Approach::ALL.map(|approach| time(e, approach, experiment, ThreadStack::Cached));
    let (locking, stacks) = (locking?, stacks?);
    let because = format!("{locking:.1} µs over {stacks:.1} µs.");
    value(above(Estimate::published(locking), Estimate::published(stacks)), because)
}

/// By how much Locking takes longer than independent stacks, in µs.
fn extra(e: &Simulations, experiment: Experiment) -> Option<f64> {
    let [locking, stacks] = Approach::ALL.map(|approach| time(e, approach, experiment, ThreadStack::Cached));
    Some(locking? - stacks?)
}

fn above_hot(e: &Simulations, approach: Approach, situation: Situation) -> Option<Estimate<f64>> {
    let receive = e.options.profile.times.get(approach).get(situation)?;
    let micros = |time: Nanos| Estimate::published(time.micros());
    Some(above(micros(receive.cold.first()?.mean), micros(receive.hot.mean)))
}

/// Values of Table 2, each with its place in the table.
type Placed = Vec<(String, Estimate<f64>)>;

/// A value `of` each approach and experiment.
fn rows(of: impl Fn(Approach, Experiment) -> Option<Estimate<f64>>) -> Option<Placed> {
    let row = |a: Approach, x| Some((format!("{x}, {}", a.short()), of(a, x)?));
    Approach::ALL.into_iter().flat_map(|a| Experiment::ALL.map(|x| row(a, x))).collect()
}

/// A value `of` each approach and situation.
fn pairs(of: impl Fn(Approach, Situation) -> Option<Estimate<f64>>) -> Option<Placed> {
    let pair = |a: Approach, s: Situation| {
        Some((format!("{}, {}, {}", s.experiment, a.short(), s.thread_stack), of(a, s)?))
    };
    Approach::ALL.into_iter().flat_map(|a| Situation::all().map(move |s| pair(a, s))).collect()
}

/// The time that other work takes to flush half of a level, found by bisection.
fn half_flushed(e: &Simulations, level: usize) -> Option<Nanos> {
    let displacement =
        Displacement::new(e.options.profile.intervening, e.options.profile.levels.get(level)?.geometry, 1);
    let (mut from, mut to) = (1.0_f64, 1e15_f64);
    for _ in 0..100 {
        let middle = (from * to).sqrt();
        if displacement.fraction(Nanos(middle)) < 0.5 { from = middle } else { to = middle }
    }
    Some(Nanos(to))
}
