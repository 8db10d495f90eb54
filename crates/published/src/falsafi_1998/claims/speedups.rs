//! Table 5.3 and §5.3.4: uniprocessor times and speedups.

use super::derive::{each, one, stated_in};
use crate::falsafi_1998::Runs;
use crate::falsafi_1998::runs::Found;
use crate::falsafi_1998::setup::{PROCESSORS, Setup};
use crate::falsafi_1998::system::System;
use crate::falsafi_1998::work::App;
use crate::{Basis, Claim, Finding, Reading};

const TABLE: &[&str] = &["table-5-3"];
const SECTION: &str = "5.3.4";

/// S-COMA's speedup on all processors.
fn speedup(runs: &Runs, app: App) -> Found<f64> {
    runs.speedup(&Setup::chapter_5(System::SComa, app), &Setup::uniprocessor(app))
}

/// The same in percent of the ideal one.
fn efficiency(runs: &Runs, app: App) -> Found<f64> {
    Ok(100.0 * speedup(runs, app)? / f64::from(PROCESSORS))
}

fn time_entry<const APP: usize>(runs: &Runs) -> Option<Finding> {
    let setup = Setup::uniprocessor(*App::CHAPTER_5.get(APP)?);
    one(runs.get(&setup).map(|measured| measured.cycles as f64 / 1e6))
}

fn speedup_entry<const APP: usize>(runs: &Runs) -> Option<Finding> {
    one(speedup(runs, *App::CHAPTER_5.get(APP)?))
}

/// The two entries of a program.
macro_rules! entries {
    ($app:literal $name:literal, $time:literal, $speedup:literal) => {
        [
            Claim {
                id: concat!("table-5-3-", $name, "-time"),
                says: concat!($name, " takes ", stringify!($time), " million cycles on one processor."),
                published: stringify!($time),
                reading: Reading::Rewritten($time),
                basis: Basis::Fitted,
                derive: time_entry::<$app>,
                ..stated_in(
                    SECTION,
                    TABLE,
                    "million cycles",
                    "execution time; the pace of the program is set by it",
                )
            },
            Claim {
                id: concat!("table-5-3-", $name, "-speedup"),
                says: concat!(
                    $name,
                    " is ",
                    stringify!($speedup),
                    " times as fast on 8 nodes of 8 with S-COMA."
                ),
                published: stringify!($speedup),
                reading: Reading::Rewritten($speedup),
                derive: speedup_entry::<$app>,
                ..stated_in(SECTION, TABLE, "×", "speedup over one processor")
            },
        ]
    };
}

pub(super) fn claims() -> Vec<Claim<Runs>> {
    [entries(), classes()].concat()
}

fn entries() -> Vec<Claim<Runs>> {
    [
        entries!(0 "barnes", 2284.0, 31.0),
        entries!(1 "cholesky", 976.0, 5.0),
        entries!(2 "em3d", 740.0, 34.0),
        entries!(3 "fft", 2489.0, 19.0),
        entries!(4 "fmm", 3351.0, 31.0),
        entries!(5 "radix", 903.0, 12.0),
        entries!(6 "water-sp", 3965.0, 61.0),
    ]
    .concat()
}

fn classes() -> Vec<Claim<Runs>> {
    let recipe = "speedup on 64 processors in percent of 64";
    vec![
        Claim {
            id: "half-efficient",
            says: "Barnes, fmm and em3d achieve an efficiency of 50 % with 64 processors.",
            published: "50 %",
            reading: Reading::About(50.0),
            derive: |e| each([App::Barnes, App::Fmm, App::Em3d], |app| efficiency(e, app)),
            ..stated_in(SECTION, TABLE, "%", recipe)
        },
        Claim {
            id: "water-near-linear",
            says: "Water-sp achieves near-linear speedups.",
            published: "near-linear",
            reading: Reading::MoreThan(90.0),
            derive: |e| one(efficiency(e, App::WaterSp)),
            ..stated_in(
                SECTION,
                TABLE,
                "%",
                "speedup on 64 processors in percent of 64; more than 90 % counts as near-linear",
            )
        },
        Claim {
            id: "cholesky-little",
            says: "Cholesky does not speed up much.",
            published: "not much",
            reading: Reading::AtMost(25.0),
            derive: |e| one(efficiency(e, App::Cholesky)),
            ..stated_in(
                SECTION,
                TABLE,
                "%",
                "speedup on 64 processors in percent of 64; up to a quarter counts as not much",
            )
        },
        Claim {
            id: "fft-radix-poor",
            says: "Fft and radix exhibit poor speedups.",
            published: "poor",
            reading: Reading::AtMost(35.0),
            derive: |e| each([App::Fft, App::Radix], |app| efficiency(e, app)),
            ..stated_in(
                SECTION,
                TABLE,
                "%",
                "speedup on 64 processors in percent of 64; up to 35 % counts as poor",
            )
        },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::falsafi_1998::tables;

    #[test]
    fn the_entries_are_those_of_the_table() {
        let printed = App::CHAPTER_5.into_iter().filter_map(tables::table_5_3).flatten();
        assert!(entries().into_iter().map(|claim| claim.reading).eq(printed.map(Reading::Rewritten)));
    }
}
