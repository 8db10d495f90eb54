//! §5.3.4.1: averages over the programs on 8 nodes of 8 processors, and what the abstract and the conclusions say of them.

use super::derive::{at, each, gain, minus, one, stated_in};
use crate::falsafi_1998::Runs;
use crate::falsafi_1998::runs::{Found, mean};
use crate::falsafi_1998::system::{System, hurricane, hurricane_1};
use crate::falsafi_1998::work::App;
use crate::{Claim, Reading};

pub(super) const F58: &[&str] = &["5-8"];
pub(super) const SECTION: &str = "5.3.4.1";
const AVERAGE: &str = "mean performance relative to S-COMA over the seven programs";

/// Performance relative to S-COMA, in percent.
pub(super) fn relative(runs: &Runs, system: System, app: App) -> Found<f64> {
    runs.relative(system, app, |setup| setup)
}

/// The mean of that over the programs.
fn average(runs: &Runs, system: System) -> Found<f64> {
    mean(App::CHAPTER_5.map(|app| relative(runs, system, app)))
}

pub(super) fn claims() -> Vec<Claim<Runs>> {
    [one_processor(), four_processors(), multiplexed()].concat()
}

fn one_processor() -> Vec<Claim<Runs>> {
    vec![
        Claim {
            id: "s-coma-over-hurricane-average",
            says: "S-COMA improves performance over Hurricane with one processor by 32 % on average.",
            published: "32 %",
            reading: gain(32.0),
            derive: |e| {
                let gain = |app| Ok(100.0 * (100.0 / relative(e, hurricane(1), app)? - 1.0));
                one(mean(App::CHAPTER_5.map(gain)))
            },
            ..stated_in(SECTION, F58, "%", "mean gain of S-COMA over the seven programs")
        },
        Claim {
            id: "hurricane-1-up-to-89",
            says: "S-COMA improves performance over Hurricane-1 with one processor by up to 89 %.",
            published: "89 %",
            reading: Reading::Rewritten(89.0),
            derive: |e| {
                let losses = App::CHAPTER_5.map(|app| minus(Ok(100.0), relative(e, hurricane_1(1), app)));
                one(super::derive::greatest(losses))
            },
            ..stated_in(
                SECTION,
                F58,
                "%",
                "by how much Hurricane-1 is slower, the greatest of the seven programs; as a gain 89 % would not agree \
                 with the 25 % of S-COMA that the same section gives for its best program of three",
            )
        },
        Claim {
            id: "hurricane-deficit",
            says: "Hurricane with one processor is within 24 % of S-COMA.",
            published: "24 %",
            reading: Reading::Rewritten(76.0),
            derive: |e| one(average(e, hurricane(1))),
            ..stated_in(
                "6.1",
                F58,
                "%",
                "mean performance relative to S-COMA over the seven programs, which is 76 % if 24 % is a deficit",
            )
        },
        Claim {
            id: "hurricane-1-deficit",
            says: "Hurricane-1 with one processor is within 53 % of S-COMA.",
            published: "53 %",
            reading: Reading::Rewritten(47.0),
            derive: |e| one(average(e, hurricane_1(1))),
            ..stated_in(
                "6.1",
                F58,
                "%",
                "mean performance relative to S-COMA over the seven programs, which is 47 % if 53 % is a deficit, as the \
                 24 % beside it is",
            )
        },
    ]
}

fn four_processors() -> Vec<Claim<Runs>> {
    vec![
        Claim {
            id: "hurricane-4-average",
            says: "Hurricane with four processors increases speedups by 12 % over S-COMA on average.",
            published: "12 %",
            reading: gain(12.0),
            derive: |e| one(minus(average(e, hurricane(4)), Ok(100.0))),
            ..stated_in(SECTION, F58, "%", "mean gain over S-COMA over the seven programs")
        },
        Claim {
            id: "hurricane-4-at-least-95",
            says: "Hurricane with four processors outperforms S-COMA or performs within 95 % of it.",
            published: "at least 95 %",
            reading: Reading::MoreThan(95.0),
            derive: |e| each(App::CHAPTER_5, |app| relative(e, hurricane(4), app)),
            ..stated_in("5.5", F58, "%", "performance relative to S-COMA")
        },
        Claim {
            id: "hurricane-1-4-average",
            says: "Hurricane-1 with four processors performs within 76 % of S-COMA on average.",
            published: "76 %",
            reading: Reading::Rewritten(76.0),
            derive: |e| one(average(e, hurricane_1(4))),
            ..stated_in(SECTION, F58, "%", AVERAGE)
        },
    ]
}

fn multiplexed() -> Vec<Claim<Runs>> {
    vec![
        Claim {
            id: "mult-average",
            says: "Hurricane-1 Mult performs within 74 % of S-COMA on average, without extra processors.",
            published: "74 %",
            reading: Reading::Rewritten(74.0),
            derive: |e| one(average(e, System::Mult)),
            ..stated_in(SECTION, F58, "%", AVERAGE)
        },
        Claim {
            id: "mult-close-to-dedicated",
            says: "On nodes of eight and more, Mult outperforms or comes close to up to four dedicated processors.",
            published: "close",
            reading: Reading::MoreThan(-10.0),
            derive: |e| {
                let mult = || average(e, System::Mult);
                at([1, 2, 4].map(|n| {
                    (format!("{n} dedicated"), super::derive::above(mult(), average(e, hurricane_1(n))))
                }))
            },
            ..stated_in(
                "6.1",
                F58,
                "%",
                "mean performance above that of the dedicated processors; 10 % below counts as close",
            )
        },
    ]
}
