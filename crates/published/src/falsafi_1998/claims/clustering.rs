//! §5.3.4.2: the same processors on smaller and greater nodes.

use super::derive::{above, above_zero, each, gain, minus, one, stated_in};
use crate::falsafi_1998::Runs;
use crate::falsafi_1998::runs::{Found, mean};
use crate::falsafi_1998::system::{System, hurricane, hurricane_1};
use crate::falsafi_1998::work::App;
use crate::{Claim, Reading};

const F59: &[&str] = &["5-9"];
const F510: &[&str] = &["5-10"];
const SECTION: &str = "5.3.4.2";

/// Performance relative to S-COMA on nodes of `per_node`, in percent.
fn relative(runs: &Runs, system: System, app: App, per_node: u32) -> Found<f64> {
    runs.relative(system, app, |setup| setup.clustered(per_node))
}

/// The mean of that over the programs.
fn average(runs: &Runs, system: System, per_node: u32) -> Found<f64> {
    mean(App::CHAPTER_5.map(|app| relative(runs, system, app, per_node)))
}

pub(super) fn claims() -> Vec<Claim<Runs>> {
    [embedded(), dedicated(), multiplexed()].concat()
}

fn embedded() -> Vec<Claim<Runs>> {
    vec![
        Claim {
            id: "clustering-widens-gap",
            says: "Greater nodes widen the gap between Hurricane with one processor and S-COMA for most programs.",
            published: "most",
            reading: Reading::MoreThan(3.5),
            derive: |e| {
                let loss = |app| minus(relative(e, hurricane(1), app, 4), relative(e, hurricane(1), app, 16));
                one(above_zero(App::CHAPTER_5.map(loss)))
            },
            ..stated_in(
                SECTION,
                F59,
                "programs",
                "of seven, whose performance relative to S-COMA is lower on nodes of 16 than on nodes of 4",
            )
        },
        Claim {
            id: "four-beat-s-coma-16-way",
            says: "On nodes of 16, Hurricane with four processors outperforms S-COMA for all programs but water-sp.",
            published: "above 100 %",
            reading: Reading::MoreThan(100.0),
            derive: |e| {
                let apps = App::CHAPTER_5.into_iter().filter(|&app| app != App::WaterSp);
                each(apps, |app| relative(e, hurricane(4), app, 16))
            },
            ..stated_in(SECTION, F59, "%", "performance relative to S-COMA")
        },
        Claim {
            id: "water-99-16-way",
            says: "For water-sp it is within 99 % of S-COMA.",
            published: "99 %",
            reading: Reading::Printed(99.0),
            derive: |e| one(relative(e, hurricane(4), App::WaterSp, 16)),
            ..stated_in(
                SECTION,
                F59,
                "%",
                "performance relative to S-COMA on nodes of 16; within 2 %, since all systems are close for it",
            )
        },
        Claim {
            id: "four-4-way",
            says: "On nodes of 4, Hurricane with four processors improves performance by 7 % over S-COMA.",
            published: "7 %",
            reading: gain(7.0),
            derive: |e| one(minus(average(e, hurricane(4), 4), Ok(100.0))),
            ..stated_in(SECTION, F59, "%", "mean gain over the seven programs")
        },
        Claim {
            id: "four-16-way",
            says: "On nodes of 16, it improves performance by 13 %.",
            published: "13 %",
            reading: gain(13.0),
            derive: |e| one(minus(average(e, hurricane(4), 16), Ok(100.0))),
            ..stated_in(SECTION, F59, "%", "mean gain over the seven programs")
        },
        Claim {
            id: "parallel-gains-by-clustering",
            says: "Greater nodes increase the improvement by parallel protocol execution.",
            published: "increase",
            derive: |e| {
                let gain = |per_node| {
                    mean(App::CHAPTER_5.map(|app| {
                        above(
                            relative(e, hurricane(4), app, per_node),
                            relative(e, hurricane(1), app, per_node),
                        )
                    }))
                };
                one(minus(gain(16), gain(4)))
            },
            ..stated_in(
                "5.5",
                F59,
                "%",
                "mean gain of four embedded processors over one on nodes of 16 minus that on nodes of 4",
            )
        },
    ]
}

fn dedicated() -> Vec<Claim<Runs>> {
    vec![
        Claim {
            id: "clustering-hurts-hurricane-1",
            says: "Large nodes have a large impact on Hurricane-1 with one processor.",
            published: "large",
            reading: Reading::MoreThan(10.0),
            derive: |e| one(above(average(e, hurricane_1(1), 8), average(e, hurricane_1(1), 16))),
            ..stated_in(
                SECTION,
                F510,
                "%",
                "mean performance relative to S-COMA on nodes of 8 over that on nodes of 16; more than 10 % counts as \
                 large",
            )
        },
        Claim {
            id: "hurricane-1-four-not-competitive",
            says: "On nodes of 16, four dedicated processors fail to make Hurricane-1 competitive with S-COMA.",
            published: "not competitive",
            reading: Reading::AtMost(90.0),
            derive: |e| each(App::BANDWIDTH_BOUND, |app| relative(e, hurricane_1(4), app, 16)),
            ..stated_in(
                SECTION,
                F510,
                "%",
                "performance relative to S-COMA of the bandwidth-bound programs; more than 90 % counts as competitive",
            )
        },
        Claim {
            id: "mult-over-dedicated-16-way",
            says: "On nodes of 16, Mult outperforms four dedicated processors for all bandwidth-bound programs.",
            published: "Mult faster",
            derive: |e| {
                each(App::BANDWIDTH_BOUND, |app| {
                    above(relative(e, System::Mult, app, 16), relative(e, hurricane_1(4), app, 16))
                })
            },
            ..stated_in(SECTION, F510, "%", "gain of Mult over Hurricane-1 with four processors")
        },
    ]
}

fn multiplexed() -> Vec<Claim<Runs>> {
    let recipe = "mean performance relative to S-COMA over the seven programs";
    vec![
        Claim {
            id: "mult-4-way",
            says: "On nodes of 4, Hurricane-1 Mult reaches 65 % of S-COMA.",
            published: "65 %",
            reading: Reading::Rewritten(65.0),
            derive: |e| one(average(e, System::Mult, 4)),
            ..stated_in(SECTION, F510, "%", recipe)
        },
        Claim {
            id: "mult-16-way",
            says: "On nodes of 16, it reaches 80 %.",
            published: "80 %",
            reading: Reading::Rewritten(80.0),
            derive: |e| one(average(e, System::Mult, 16)),
            ..stated_in(SECTION, F510, "%", recipe)
        },
        Claim {
            id: "mult-gains-by-clustering",
            says: "Greater nodes make Mult more competitive with S-COMA.",
            published: "more competitive",
            derive: |e| one(minus(average(e, System::Mult, 16), average(e, System::Mult, 4))),
            ..stated_in(
                "5.5",
                F510,
                "%",
                "mean performance relative to S-COMA on nodes of 16 minus that on nodes of 4",
            )
        },
    ]
}
