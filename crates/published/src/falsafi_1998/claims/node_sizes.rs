//! §4.3.2.1: microbenchmarks on nodes of two to six processors.

use super::derive::{at, cases, greatest, minus, one, stated_in};
use crate::falsafi_1998::Runs;
use crate::falsafi_1998::plan::{MOST_PAIRED, PROTOCOLS, UTILIZATIONS};
use crate::falsafi_1998::runs::Found;
use crate::falsafi_1998::setup::Setup;
use crate::falsafi_1998::system::System;
use crate::falsafi_1998::work::Work;
use crate::{Claim, Reading};

const F43: &[&str] = &["4-3"];
const SECTION: &str = "4.3.2.1";

/// By how many percent Fixed is faster than Floating on nodes of as many processors.
fn gain(runs: &Runs, per_node: u32, work: Work) -> Found<f64> {
    let [fixed, floating] =
        [System::Fixed, System::Floating].map(|system| Setup::pair(system, per_node, work));
    runs.gain(&fixed, &floating)
}

/// The greatest gain of Fixed over all nodes and utilizations.
fn most(runs: &Runs, protocol: fn(u32) -> Work) -> Found<f64> {
    let all = (2..=MOST_PAIRED).flat_map(|n| UTILIZATIONS.map(|u| gain(runs, n, protocol(u))));
    greatest(all)
}

fn place(per_node: u32, utilization: u32) -> String {
    format!("{per_node} processors, U = {utilization} %")
}

pub(super) fn claims() -> Vec<Claim<Runs>> {
    [null(), trends(), fetch()].concat()
}

fn null() -> Vec<Claim<Runs>> {
    vec![
        Claim {
            id: "null-fixed-generally",
            says: "For the null handler Fixed generally outperforms Floating with three or more processors per node.",
            published: "Fixed faster",
            derive: |e| {
                let all = (3..=MOST_PAIRED).flat_map(|n| UTILIZATIONS.map(|u| (n, u)));
                let stated = all.filter(|&place| place != (3, 90));
                at(stated.map(|(n, u)| (place(n, u), gain(e, n, Work::NullHandler(u)))))
            },
            ..stated_in(
                SECTION,
                F43,
                "%",
                "gain of Fixed over Floating, three to six processors, U = 5 to 90 %, without three processors at 90 %: that Floating \
                 fails at 90 % with four or more implies that it does not with fewer",
            )
        },
        Claim {
            id: "null-up-to",
            says: "For the null handler Fixed improves performance by up to 75 % over Floating.",
            published: "75 %",
            reading: Reading::About(75.0),
            derive: |e| one(most(e, Work::NullHandler)),
            ..stated_in(
                SECTION,
                F43,
                "%",
                "the greatest gain of Fixed over Floating, two to six processors, U = 5 to 90 %",
            )
        },
        Claim {
            id: "null-floating-never-from-four",
            says: "With four or more compute processors Floating fails to beat Fixed even at a compute-utilization of 90 %.",
            published: "not faster",
            derive: |e| at([5, 6].map(|n| (place(n, 90), gain(e, n, Work::NullHandler(90))))),
            ..stated_in(SECTION, F43, "%", "gain of Fixed over Floating at U = 90 %, five and six processors")
        },
    ]
}

fn trends() -> Vec<Claim<Runs>> {
    vec![
        Claim {
            id: "null-queueing-closes-gap",
            says: "At low compute-utilization more processors increase Floating's performance relative to Fixed, which queues first.",
            published: "gap shrinks",
            derive: |e| {
                let between =
                    |u| minus(gain(e, 3, Work::NullHandler(u)), gain(e, MOST_PAIRED, Work::NullHandler(u)));
                at([5, 10].map(|u| (format!("U = {u} %"), between(u))))
            },
            ..stated_in(
                SECTION,
                F43,
                "%",
                "gain of Fixed over Floating with three processors minus with six, at U = 5 and 10 %",
            )
        },
        Claim {
            id: "null-fixed-queues-first",
            says: "The system begins to exhibit queueing with fewer processors and at a higher compute-utilization under Fixed.",
            published: "Fixed waits longer",
            derive: |e| {
                let waited = |system, n, u| Ok(e.get(&Setup::pair(system, n, Work::NullHandler(u)))?.waited);
                at((3..=5).flat_map(|n| {
                    [10, 30, 50].map(|u| {
                        let [fixed, floating] =
                            [System::Fixed, System::Floating].map(|system| waited(system, n, u));
                        (place(n, u), minus(fixed, floating))
                    })
                }))
            },
            ..stated_in(
                SECTION,
                F43,
                "cycles",
                "mean time that an event waits for the protocol thread, under Fixed minus under Floating, three to five processors, U = \
                 10 to 50 %",
            )
        },
        Claim {
            id: "computing-advantage-diminishes",
            says: "More processors diminish Floating's advantage for programs that compute much.",
            published: "diminishes",
            derive: |e| {
                let names = ["null-handler", "fetch-block"];
                cases(names.into_iter().zip(PROTOCOLS).map(|(name, protocol)| {
                    let at = |n| gain(e, n, protocol(90));
                    (name, "U = 90 %", minus(at(MOST_PAIRED), at(2)))
                }))
            },
            ..stated_in(
                SECTION,
                F43,
                "%",
                "gain of Fixed over Floating with six processors minus with two, at U = 90 %",
            )
        },
    ]
}

fn fetch() -> Vec<Claim<Runs>> {
    vec![
        Claim {
            id: "fetch-fixed-when-busy",
            says: "For fetch-block Fixed is faster where the protocol processor is busy: more than two processors per node, low \
                   compute-utilization.",
            published: "Fixed faster",
            derive: |e| {
                at((3..=MOST_PAIRED)
                    .flat_map(|n| [5, 10].map(|u| (place(n, u), gain(e, n, Work::FetchBlock(u))))))
            },
            ..stated_in(
                SECTION,
                F43,
                "%",
                "gain of Fixed over Floating, three to six processors, U = 5 and 10 %",
            )
        },
        Claim {
            id: "fetch-at-most",
            says: "For fetch-block Fixed improves performance by at most 20 % over Floating.",
            published: "at most 20 %",
            reading: Reading::AtMost(20.0),
            derive: |e| one(most(e, Work::FetchBlock)),
            ..stated_in(
                SECTION,
                F43,
                "%",
                "the greatest gain of Fixed over Floating, two to six processors, U = 5 to 90 %",
            )
        },
    ]
}
