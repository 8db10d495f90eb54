//! §4.3.3.1: programs under Fixed and Floating.

use super::derive::{above_zero, at, break_even, cases, each, gain, one, stated_in};
use crate::falsafi_1998::Runs;
use crate::falsafi_1998::plan::{MOST, fixed, floating, single};
use crate::falsafi_1998::runs::{Found, mean};
use crate::falsafi_1998::work::App;
use crate::{Claim, Reading};

const F45: &[&str] = &["4-5"];
const SECTION: &str = "4.3.3.1";
const GAIN: &str = "gain of Fixed over Floating on nodes of as many processors";

/// By how many percent Fixed is faster than Floating.
fn fixed_gain(runs: &Runs, per_node: u32, app: App) -> Found<f64> {
    runs.gain(&fixed(per_node, app), &floating(per_node, app))
}

/// Percent of time that a program computes under Fixed with two processors.
fn utilization(runs: &Runs, app: App) -> Found<f64> {
    runs.computing(&fixed(2, app))
}

pub(super) fn claims() -> Vec<Claim<Runs>> {
    [second_processor(), utilizations(), barnes(), em3d(), others(), majorities()].concat()
}

fn second_processor() -> Vec<Claim<Runs>> {
    vec![
        Claim {
            id: "dedicated-at-most-25",
            says: "Except for em3d, a dedicated processor improves a node of one processor by at most 25 %.",
            published: "at most 25 %",
            reading: Reading::AtMost(25.0),
            derive: |e| {
                let apps = App::CHAPTER_4.into_iter().filter(|&app| app != App::Em3d);
                each(apps, |app| e.gain(&fixed(2, app), &single(app)))
            },
            ..stated_in(SECTION, F45, "%", "gain of Fixed with two processors over Single")
        },
        Claim {
            id: "dedicated-em3d",
            says: "A dedicated processor improves em3d by 41 %.",
            published: "41 %",
            reading: gain(41.0),
            derive: |e| one(e.gain(&fixed(2, App::Em3d), &single(App::Em3d))),
            ..stated_in(SECTION, F45, "%", "gain of Fixed with two processors over Single")
        },
        Claim {
            id: "second-compute-processor",
            says: "A second processor under Floating improves all programs by 35 to 90 %.",
            published: "35–90 %",
            reading: Reading::AboutBetween(35.0, 90.0),
            derive: |e| each(App::CHAPTER_4, |app| e.gain(&floating(2, app), &single(app))),
            ..stated_in(
                SECTION,
                F45,
                "%",
                "gain of Floating with two processors over Single; both ends are widened by a fifth, since the \
                 programs are not those of the thesis",
            )
        },
        Claim {
            id: "em3d-within-5",
            says: "With two processors, em3d under Floating is within 5 % of Fixed.",
            published: "5 %",
            reading: Reading::AtMost(5.0),
            derive: |e| one(fixed_gain(e, 2, App::Em3d)),
            ..stated_in(SECTION, F45, "%", GAIN)
        },
        Claim {
            id: "floating-superior-at-two",
            says: "At two processors per node Floating offers superior overall performance.",
            published: "Floating faster",
            reading: Reading::AtMost(0.0),
            derive: |e| one(mean(App::CHAPTER_4.map(|app| fixed_gain(e, 2, app)))),
            ..stated_in(SECTION, F45, "%", "mean gain of Fixed over Floating over the five programs")
        },
    ]
}

fn utilizations() -> Vec<Claim<Runs>> {
    let base = || {
        stated_in(
            SECTION,
            F45,
            "%",
            "time in which compute processors wait neither for remote blocks nor for each other, nor \
        execute the protocol; under Fixed with two processors",
        )
    };
    vec![
        Claim {
            id: "em3d-utilization",
            says: "Em3d has a compute-utilization of less than 25 %.",
            published: "below 25 %",
            reading: Reading::AtMost(25.0),
            derive: |e| one(utilization(e, App::Em3d)),
            ..base()
        },
        Claim {
            id: "water-utilization",
            says: "Water-sp has a compute-utilization above 90 %.",
            published: "above 90 %",
            reading: Reading::MoreThan(90.0),
            derive: |e| one(utilization(e, App::WaterSp)),
            ..base()
        },
        Claim {
            id: "barnes-utilization",
            says: "Barnes is 50 % compute-bound.",
            published: "50 %",
            reading: Reading::Rewritten(50.0),
            derive: |e| one(utilization(e, App::Barnes)),
            ..base()
        },
        Claim {
            id: "gauss-utilization",
            says: "Gauss has a compute-utilization of 75 %.",
            published: "75 %",
            reading: Reading::Rewritten(75.0),
            derive: |e| one(utilization(e, App::Gauss)),
            ..base()
        },
        Claim {
            id: "lu-utilization",
            says: "Lu has a compute-utilization of 85 %.",
            published: "85 %",
            reading: Reading::Rewritten(85.0),
            derive: |e| one(utilization(e, App::Lu)),
            ..base()
        },
    ]
}

fn barnes() -> Vec<Claim<Runs>> {
    vec![
        Claim {
            id: "barnes-four",
            says: "With four processors per node Fixed improves barnes over Floating by 18 %.",
            published: "18 %",
            reading: gain(18.0),
            derive: |e| one(fixed_gain(e, 4, App::Barnes)),
            ..stated_in(SECTION, F45, "%", GAIN)
        },
        Claim {
            id: "barnes-drops",
            says: "From four to five processors barnes becomes slower under both policies, by contention for locks.",
            published: "slower",
            reading: Reading::AtMost(0.0),
            derive: |e| {
                let app = App::Barnes;
                at([
                    ("Fixed", e.gain(&fixed(5, app), &fixed(4, app))),
                    ("Floating", e.gain(&floating(5, app), &floating(4, app))),
                ])
            },
            ..stated_in(
                SECTION,
                F45,
                "%",
                "gain of five over four processors per node; the text says compute processors, of which Fixed has \
                 one less",
            )
        },
        Claim {
            id: "barnes-three",
            says: "With five processors per node barnes is three times as fast under Fixed as under Single.",
            published: "three",
            reading: Reading::Rewritten(3.0),
            derive: |e| one(e.speedup(&fixed(5, App::Barnes), &single(App::Barnes))),
            ..stated_in(SECTION, F45, "×", "speedup over Single")
        },
    ]
}

fn em3d() -> Vec<Claim<Runs>> {
    vec![
        Claim {
            id: "em3d-fixed-at-two",
            says: "Em3d is faster under Fixed with only two processors.",
            published: "Fixed faster",
            derive: |e| one(fixed_gain(e, 2, App::Em3d)),
            ..stated_in(
                SECTION,
                F45,
                "%",
                "gain of Fixed over Floating with two processors per node, as in Table 4.2; the text has \
                 \"two (compute) processors\"",
            )
        },
        Claim {
            id: "em3d-32",
            says: "With five processors per node the gap between Fixed and Floating is 32 % for em3d.",
            published: "32 %",
            reading: gain(32.0),
            derive: |e| one(fixed_gain(e, 5, App::Em3d)),
            ..stated_in(SECTION, F45, "%", GAIN)
        },
    ]
}

fn others() -> Vec<Claim<Runs>> {
    vec![
        Claim {
            id: "water-break-even",
            says: "It takes five processors per node until Fixed is faster for water-sp.",
            published: "five",
            reading: Reading::Printed(5.0),
            derive: |e| one(break_even(MOST, |n| fixed_gain(e, n, App::WaterSp))),
            ..stated_in(
                SECTION,
                F45,
                "processors",
                "the smallest node from which on Fixed is faster; six if none",
            )
        },
        Claim {
            id: "water-below-6",
            says: "With five processors per node Fixed improves water-sp by less than 6 %.",
            published: "below 6 %",
            reading: Reading::Between(0.0, 6.0),
            derive: |e| one(fixed_gain(e, 5, App::WaterSp)),
            ..stated_in(SECTION, F45, "%", GAIN)
        },
        Claim {
            id: "gauss-10",
            says: "With five processors per node the gap is 10 % for gauss.",
            published: "10 %",
            reading: gain(10.0),
            derive: |e| one(fixed_gain(e, 5, App::Gauss)),
            ..stated_in(SECTION, F45, "%", GAIN)
        },
        Claim {
            id: "gauss-bottleneck",
            says: "Broadcasts become the bottleneck of gauss and keep it from speeding up.",
            published: "no speedup",
            reading: Reading::AtMost(70.0),
            derive: |e| {
                let of = |setup| Ok(100.0 * e.speedup(&setup, &single(App::Gauss))? / 5.0);
                at([("Fixed", of(fixed(5, App::Gauss))), ("Floating", of(floating(5, App::Gauss)))])
            },
            ..stated_in(
                SECTION,
                F45,
                "%",
                "speedup over Single with five processors per node, of the ideal five; 70 % and less counts as kept \
                 from speeding up",
            )
        },
        Claim {
            id: "lu-below-5",
            says: "With five processors per node Fixed outperforms Floating marginally for lu.",
            published: "below 5 %",
            reading: Reading::Between(0.0, 5.0),
            derive: |e| one(fixed_gain(e, 5, App::Lu)),
            ..stated_in(SECTION, F45, "%", GAIN)
        },
    ]
}

fn majorities() -> Vec<Claim<Runs>> {
    let recipe = "programs, of five, that are faster; more than half is a majority";
    vec![
        Claim {
            id: "majority-floating",
            says: "The majority of programs favours Floating with two or three processors per node.",
            published: "majority",
            reading: Reading::MoreThan(2.5),
            derive: |e| {
                let faster = |n| above_zero(App::CHAPTER_4.map(|app| Ok(-fixed_gain(e, n, app)?)));
                cases([2, 3].map(|n| (format!("{n} processors"), "", faster(n))))
            },
            ..stated_in(SECTION, F45, "programs", recipe)
        },
        Claim {
            id: "majority-fixed",
            says: "The majority of programs favours Fixed with four or more processors per node.",
            published: "majority",
            reading: Reading::MoreThan(2.5),
            derive: |e| {
                let faster = |n| above_zero(App::CHAPTER_4.map(|app| fixed_gain(e, n, app)));
                cases([4, 5].map(|n| (format!("{n} processors"), "", faster(n))))
            },
            ..stated_in(SECTION, F45, "programs", recipe)
        },
    ]
}
