//! §4.3.3.5: cost over performance of programs.

use super::derive::{above, at, cases, each, gain, least, minus, one, stated_in};
use crate::falsafi_1998::Runs;
use crate::falsafi_1998::plan::{COSTED, HIGHEST, MOST_COSTED, fixed, floating, single};
use crate::falsafi_1998::runs::Found;
use crate::falsafi_1998::setup::{LOW, Setup};
use crate::falsafi_1998::system::System::{self, Fixed, Floating};
use crate::falsafi_1998::work::App;
use crate::{Claim, Reading};

const F48: &[&str] = &["4-8"];
const SECTION: &str = "4.3.3.5";

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

pub(super) fn claims() -> Vec<Claim<Runs>> {
    [fast(), slow()].concat()
}

fn fast() -> Vec<Claim<Runs>> {
    vec![
        Claim {
            id: "dedicated-never-pays-alone",
            says: "With fast interrupts a dedicated processor beside a single one improves performance by at most 17 %, for 30 % of the cost.",
            published: "at most 17 %",
            reading: Reading::AtMost(17.0),
            derive: |e| each(COSTED, |app| e.gain(&fixed(2, app), &single(app))),
            ..stated_in(
                SECTION,
                F48,
                "%",
                "gain of Fixed with two processors over Single, barnes and water-sp",
            )
        },
        Claim {
            id: "second-processor-pays",
            says: "A second compute processor improves performance by at least 71 %.",
            published: "at least 71 %",
            reading: Reading::MoreThan(69.0),
            derive: |e| each(COSTED, |app| e.gain(&floating(2, app), &single(app))),
            ..stated_in(
                SECTION,
                F48,
                "%",
                "gain of Floating with two processors over Single; Table 4.2 has 1.17/0.69 for barnes, 69.6 %",
            )
        },
        Claim {
            id: "floating-cheapest",
            says: "With fast interrupts Floating is the most cost-effective.",
            published: "Floating lowest",
            derive: |e| each(COSTED, |app| fixed_dearer(e, app, LOW)),
            ..stated_in(
                SECTION,
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
            derive: |e| one(fixed_dearer(e, App::Barnes, LOW)),
            ..stated_in(
                SECTION,
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
                at([7, 8].map(|n| (format!("{n} processors"), dearer(n))))
            },
            ..stated_in(
                SECTION,
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
            derive: |e| one(e.gain(&fixed(2, App::Barnes), &single(App::Barnes).interrupted(HIGHEST))),
            contradicts: Some(
                "the figure is for 50 µs, for which Table 4.2 has 225 %; it has 45 % for 5 µs.",
            ),
            ..stated_in(
                SECTION,
                F48,
                "%",
                "gain of Fixed with two processors over Single, interrupts of 50 µs",
            )
        },
        Claim {
            id: "water-dedicated-little",
            says: "Even with slow interrupts water-sp benefits little from a dedicated processor.",
            published: "little",
            reading: Reading::AtMost(30.0),
            derive: |e| one(e.gain(&fixed(2, App::WaterSp), &single(App::WaterSp).interrupted(HIGHEST))),
            contradicts: Some("Table 4.2 has 59 % for 50 µs, and 10 % for 5 µs."),
            ..stated_in(
                SECTION,
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
            derive: |e| one(fixed_dearer(e, App::Barnes, HIGHEST)),
            ..stated_in(
                SECTION,
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
                cases([("lowest", "50 µs", slow.clone()), ("by less", "0.5 minus 50 µs", minus(fast, slow))])
            },
            contradicts: Some(
                "it names tomcatv, which is not among its programs; the figure shows water-sp.",
            ),
            ..stated_in(
                SECTION,
                F48,
                "%",
                "water-sp: the least cost-performance under Fixed above that under Floating",
            )
        },
    ]
}
