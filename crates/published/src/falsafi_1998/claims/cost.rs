//! §4.3.2.2 and §4.3.3.5: cost over performance.

use super::derive::{above, cases, each, gain, least, minus, of, one, program, program_cases, programs};
use crate::falsafi_1998::Runs;
use crate::falsafi_1998::cost::costup;
use crate::falsafi_1998::plan::{
    COST_UTILIZATIONS, COSTED, HIGHEST, MOST_COSTED, MOST_PAIRED, fixed, floating, single,
};
use crate::falsafi_1998::runs::Found;
use crate::falsafi_1998::setup::{LOW, Setup};
use crate::falsafi_1998::system::System::{self, Fixed, Floating};
use crate::falsafi_1998::work::{App, Work};
use crate::{Claim, Reading};

const F44: &[&str] = &["4-4"];
const F48: &[&str] = &["4-8"];
const SECTION: &str = "4.3.2.2";
const PROGRAMS: &str = "4.3.3.5";

/// Cost-performance of a microbenchmark against nodes of one processor.
fn paired(runs: &Runs, system: System, per_node: u32, work: Work) -> Found<f64> {
    let setup = Setup::pair(system, per_node, work);
    runs.cost_performance(&setup, per_node, &Setup::pair(Floating, 1, work))
}

/// The least cost-performance of a microbenchmark over nodes of two to six processors.
fn cheapest_paired(runs: &Runs, system: System, work: Work) -> Found<f64> {
    least((2..=MOST_PAIRED).map(|n| paired(runs, system, n, work)))
}

/// Cost-performance of a program against nodes of one processor with the same interrupts.
fn costed(runs: &Runs, system: System, per_node: u32, app: App, cycles: u64) -> Found<f64> {
    let setup = Setup::chapter_4(system, per_node, app).interrupted(cycles);
    runs.cost_performance(&setup, per_node, &single(app).interrupted(cycles))
}

/// The least over nodes of two to eight processors.
fn cheapest(runs: &Runs, system: System, app: App, cycles: u64) -> Found<f64> {
    least((2..=MOST_COSTED).map(|n| costed(runs, system, n, app, cycles)))
}

/// By how many percent the least cost-performance under Fixed is above that under Floating.
fn fixed_dearer(runs: &Runs, app: App, cycles: u64) -> Found<f64> {
    above(cheapest(runs, Fixed, app, cycles), cheapest(runs, Floating, app, cycles))
}

pub(super) fn of_microbenchmarks() -> Vec<Claim<Runs>> {
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
        ..of("4.3", F44, "", "ours minus the stated one")
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
            ..of(SECTION, F44, "", "cost-performance of nodes of two to five processors, U = 30 and 70 %")
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
            ..of(SECTION, F44, "", "the least cost-performance under Floating minus that under Fixed")
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
            ..of(SECTION, F44, "%", "gain of Fixed over Floating")
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
            ..of(SECTION, F44, "", "cost-performance")
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
            ..of(SECTION, F44, "", "cost-performance of nodes of two to six processors")
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
            ..of(SECTION, F44, "", "the least cost-performance of all others minus its own, U = 30 %")
        },
        Claim {
            id: "fetch-fixed-cheapest-high",
            says: "For fetch-block at high compute-utilization, Fixed is the most cost-effective, with four or more processors.",
            published: "Fixed lowest",
            derive: |e| {
                let fixed = least((4..=MOST_PAIRED).map(|n| paired(e, Fixed, n, Work::FetchBlock(70))));
                one(minus(cheapest_paired(e, Floating, Work::FetchBlock(70)), fixed))
            },
            ..of(
                SECTION,
                F44,
                "",
                "the least cost-performance under Floating minus that under Fixed with four to six, U = 70 %",
            )
        },
    ]
}

pub(super) fn of_programs() -> Vec<Claim<Runs>> {
    [fast(), slow()].concat()
}

fn fast() -> Vec<Claim<Runs>> {
    vec![
        Claim {
            id: "dedicated-never-pays-alone",
            says: "With fast interrupts a dedicated processor beside a single one improves performance by at most 17 %, for 30 % of the cost.",
            published: "at most 17 %",
            reading: Reading::AtMost(17.0),
            derive: |e| each(e, COSTED, |app| e.gain(&fixed(2, app), &single(app))),
            ..of(PROGRAMS, F48, "%", "gain of Fixed with two processors over Single, barnes and water-sp")
        },
        Claim {
            id: "second-processor-pays",
            says: "A second compute processor improves performance by at least 71 %.",
            published: "at least 71 %",
            reading: Reading::MoreThan(69.0),
            derive: |e| each(e, COSTED, |app| e.gain(&floating(2, app), &single(app))),
            ..of(
                PROGRAMS,
                F48,
                "%",
                "gain of Floating with two processors over Single; Table 4.2 has 1.17/0.69 for barnes, 69.6 %",
            )
        },
        Claim {
            id: "floating-cheapest",
            says: "With fast interrupts Floating is the most cost-effective.",
            published: "Floating lowest",
            derive: |e| each(e, COSTED, |app| fixed_dearer(e, app, LOW)),
            ..of(
                PROGRAMS,
                F48,
                "%",
                "the least cost-performance under Fixed above that under Floating, up to eight processors",
            )
        },
        Claim {
            id: "barnes-fixed-close",
            says: "For barnes the least cost-performance under Fixed is close to that under Floating, but not the same.",
            published: "close",
            reading: Reading::Between(0.0, 10.0),
            derive: |e| program(e, fixed_dearer(e, App::Barnes, LOW)),
            ..of(
                PROGRAMS,
                F48,
                "%",
                "the least under Fixed above that under Floating; up to a tenth counts as close",
            )
        },
        Claim {
            id: "water-floating-marginal",
            says: "For water-sp with more than six processors Floating is marginally better.",
            published: "marginally better",
            reading: Reading::Between(0.0, 10.0),
            derive: |e| {
                let dearer = |n| {
                    above(costed(e, Fixed, n, App::WaterSp, LOW), costed(e, Floating, n, App::WaterSp, LOW))
                };
                programs(e, [7, 8].map(|n| (format!("{n} processors"), dearer(n))))
            },
            ..of(
                PROGRAMS,
                F48,
                "%",
                "cost-performance under Fixed above that under Floating; up to a tenth counts as marginal",
            )
        },
    ]
}

fn slow() -> Vec<Claim<Runs>> {
    vec![
        Claim {
            id: "barnes-dedicated-pays",
            says: "With slow interrupts a dedicated processor improves barnes by 45 %.",
            published: "45 %",
            reading: gain(45.0),
            derive: |e| program(e, e.gain(&fixed(2, App::Barnes), &single(App::Barnes).interrupted(HIGHEST))),
            contradicts: Some(
                "the figure is for 50 µs, for which Table 4.2 has 225 %; it has 45 % for 5 µs.",
            ),
            ..of(PROGRAMS, F48, "%", "gain of Fixed with two processors over Single, interrupts of 50 µs")
        },
        Claim {
            id: "water-dedicated-little",
            says: "Even with slow interrupts water-sp benefits little from a dedicated processor.",
            published: "little",
            reading: Reading::AtMost(30.0),
            derive: |e| {
                program(e, e.gain(&fixed(2, App::WaterSp), &single(App::WaterSp).interrupted(HIGHEST)))
            },
            contradicts: Some("Table 4.2 has 59 % for 50 µs, and 10 % for 5 µs."),
            ..of(
                PROGRAMS,
                F48,
                "%",
                "gain of Fixed with two processors over Single, interrupts of 50 µs; less than the cost of the processor, 30 %, counts as little",
            )
        },
        Claim {
            id: "barnes-slow-interrupts-fixed-cheapest",
            says: "With slow interrupts barnes is most cost-effective under Fixed.",
            published: "Fixed lowest",
            reading: Reading::AtMost(0.0),
            derive: |e| program(e, fixed_dearer(e, App::Barnes, HIGHEST)),
            ..of(
                PROGRAMS,
                F48,
                "%",
                "the least cost-performance under Fixed above that under Floating, interrupts of 50 µs",
            )
        },
        Claim {
            id: "water-slow-interrupts-floating-cheapest",
            says: "With slow interrupts Floating remains the most cost-effective for the program that computes more, by slightly less.",
            published: "Floating lowest, by less",
            derive: |e| {
                let [fast, slow] = [LOW, HIGHEST].map(|cycles| fixed_dearer(e, App::WaterSp, cycles));
                program_cases(
                    e,
                    [("lowest", "50 µs", slow.clone()), ("by less", "0.5 minus 50 µs", minus(fast, slow))],
                )
            },
            contradicts: Some(
                "it names tomcatv, which is not among its programs; the figure shows water-sp.",
            ),
            ..of(
                PROGRAMS,
                F48,
                "%",
                "water-sp: the least cost-performance under Fixed above that under Floating",
            )
        },
    ]
}
