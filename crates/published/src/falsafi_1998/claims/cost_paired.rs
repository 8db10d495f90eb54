//! §4.3.2.2: cost over performance of the microbenchmarks.

use super::derive::{cases, least, minus, one, stated_in};
use crate::falsafi_1998::Runs;
use crate::falsafi_1998::cost::costup;
use crate::falsafi_1998::plan::{COST_UTILIZATIONS, MOST_PAIRED};
use crate::falsafi_1998::runs::Found;
use crate::falsafi_1998::setup::Setup;
use crate::falsafi_1998::system::System::{self, Fixed, Floating};
use crate::falsafi_1998::work::Work;
use crate::{Claim, Reading};

const F44: &[&str] = &["4-4"];
const SECTION: &str = "4.3.2.2";

/// Cost-performance of a microbenchmark against nodes of one processor.
fn paired(runs: &Runs, system: System, per_node: u32, work: Work) -> Found<f64> {
    let setup = Setup::pair(system, per_node, work);
    runs.cost_performance(&setup, per_node, &Setup::pair(Floating, 1, work))
}

/// The least cost-performance of a microbenchmark over nodes of two to six processors.
fn cheapest_paired(runs: &Runs, system: System, work: Work) -> Found<f64> {
    least((2..=MOST_PAIRED).map(|n| paired(runs, system, n, work)))
}

pub(super) fn claims() -> Vec<Claim<Runs>> {
    [model(), null(), fetch()].concat()
}

fn model() -> Vec<Claim<Runs>> {
    vec![Claim {
        id: "costups",
        says: "Nodes of two and five processors cost 1.3 and 2.2 times as much as one with one processor.",
        published: "1.3 and 2.2",
        reading: Reading::Within(1e-9),
        derive: |_| {
            cases(
                [(2, 1.3), (5, 2.2)]
                    .map(|(n, stated)| ("", format!("{n} processors"), Ok(costup(n) - stated))),
            )
        },
        ..stated_in("4.3", F44, "", "ours minus the stated one")
    }]
}

fn null() -> Vec<Claim<Runs>> {
    vec![
        Claim {
            id: "null-cost-effective",
            says: "For the null handler, adding up to four processors to a node is cost-effective under either policy.",
            published: "below 1",
            reading: Reading::AtMost(1.0),
            derive: |e| {
                cases([Fixed, Floating].into_iter().flat_map(|system| {
                    COST_UTILIZATIONS.into_iter().flat_map(move |u| {
                        (2..=5).map(move |n| {
                            let place = format!("{n} processors, U = {u} %");
                            (system.to_string(), place, paired(e, system, n, Work::NullHandler(u)))
                        })
                    })
                }))
            },
            ..stated_in(
                SECTION,
                F44,
                "",
                "cost-performance of nodes of two to five processors, U = 30 and 70 %",
            )
        },
        Claim {
            id: "null-fixed-cheapest",
            says: "For the null handler Fixed always provides the most cost-effective system.",
            published: "Fixed lowest",
            derive: |e| {
                cases(COST_UTILIZATIONS.map(|u| {
                    let [fixed, floating] =
                        [Fixed, Floating].map(|system| cheapest_paired(e, system, Work::NullHandler(u)));
                    ("", format!("U = {u} %"), minus(floating, fixed))
                }))
            },
            ..stated_in(SECTION, F44, "", "the least cost-performance under Floating minus that under Fixed")
        },
        Claim {
            id: "null-fixed-faster",
            says: "For the null handler Fixed is faster at U = 30 % on all nodes, at U = 70 % with three or more processors.",
            published: "Fixed faster",
            derive: |e| {
                let sizes = [(30, 2), (70, 3)];
                cases(sizes.into_iter().flat_map(|(u, from)| {
                    (from..=MOST_PAIRED).map(move |n| {
                        let [fixed, floating] =
                            [Fixed, Floating].map(|system| Setup::pair(system, n, Work::NullHandler(u)));
                        (format!("U = {u} %"), format!("{n} processors"), e.gain(&fixed, &floating))
                    })
                }))
            },
            ..stated_in(SECTION, F44, "%", "gain of Fixed over Floating")
        },
    ]
}

fn fetch() -> Vec<Claim<Runs>> {
    vec![
        Claim {
            id: "fetch-not-cost-effective",
            says: "For fetch-block at U = 30 %, Floating with three or more processors and Fixed with two or with five or more are not \
                   cost-effective.",
            published: "above 1",
            reading: Reading::MoreThan(1.0),
            derive: |e| {
                let systems = (3..=MOST_PAIRED).map(|n| (Floating, n)).chain([2, 5, 6].map(|n| (Fixed, n)));
                cases(systems.map(|(system, n)| {
                    (
                        system.to_string(),
                        format!("{n} processors"),
                        paired(e, system, n, Work::FetchBlock(30)),
                    )
                }))
            },
            ..stated_in(SECTION, F44, "", "cost-performance")
        },
        Claim {
            id: "fetch-cost-effective",
            says: "For fetch-block at U = 70 %, the additional processors are cost-effective.",
            published: "below 1",
            reading: Reading::AtMost(1.0),
            derive: |e| {
                let nodes = [Fixed, Floating]
                    .into_iter()
                    .flat_map(|system| (2..=MOST_PAIRED).map(move |n| (system, n)));
                cases(nodes.map(|(system, n)| {
                    (
                        system.to_string(),
                        format!("{n} processors"),
                        paired(e, system, n, Work::FetchBlock(70)),
                    )
                }))
            },
            ..stated_in(SECTION, F44, "", "cost-performance of nodes of two to six processors")
        },
        Claim {
            id: "fetch-floating-cheapest-low",
            says: "For fetch-block at low compute-utilization, Floating with two processors is the most cost-effective.",
            published: "lowest",
            derive: |e| {
                let others = (2..=MOST_PAIRED)
                    .flat_map(|n| [(Fixed, n), (Floating, n)])
                    .filter(|&other| other != (Floating, 2))
                    .map(|(system, n)| paired(e, system, n, Work::FetchBlock(30)));
                one(minus(least(others), paired(e, Floating, 2, Work::FetchBlock(30))))
            },
            ..stated_in(SECTION, F44, "", "the least cost-performance of all others minus its own, U = 30 %")
        },
        Claim {
            id: "fetch-fixed-cheapest-high",
            says: "For fetch-block at high compute-utilization, Fixed is the most cost-effective, with four or more processors.",
            published: "Fixed lowest",
            derive: |e| {
                let fixed = least((4..=MOST_PAIRED).map(|n| paired(e, Fixed, n, Work::FetchBlock(70))));
                one(minus(cheapest_paired(e, Floating, Work::FetchBlock(70)), fixed))
            },
            ..stated_in(
                SECTION,
                F44,
                "",
                "the least cost-performance under Floating minus that under Fixed with four to six, U = 70 %",
            )
        },
    ]
}
