//! §4.3.3.2 and Table 4.2: the interrupt overhead.

use super::derive::{each, greatest, minus, one, stated_in};
use crate::falsafi_1998::Runs;
use crate::falsafi_1998::charts::column_4_2;
use crate::falsafi_1998::plan::{HIGHEST, floating, single};
use crate::falsafi_1998::runs::Found;
use crate::falsafi_1998::setup::Setup;
use crate::falsafi_1998::work::App;
use crate::{Claim, Finding, Reading};

const TABLE: &[&str] = &["table-4-2"];
const SECTION: &str = "4.3.3.2";

/// By how many percent slow interrupts lengthen the time.
fn slowdown(runs: &Runs, setup: Setup) -> Found<f64> {
    runs.gain(&setup, &setup.interrupted(HIGHEST))
}

pub(super) fn claims() -> Vec<Claim<Runs>> {
    [entries(), statements()].concat()
}

fn entry<const APP: usize, const COLUMN: usize>(runs: &Runs) -> Option<Finding> {
    one(column_4_2(runs, *App::CHAPTER_4.get(APP)?, COLUMN))
}

/// An entry: the place of its program and its column, and what is printed there.
macro_rules! entry {
    ($app:literal $name:literal, $column:literal $system:literal $overhead:literal, $printed:literal) => {
        Claim {
            id: concat!("table-4-2-", $name, "-", $system, "-", $overhead),
            says: concat!($name, " under ", $system, ", interrupts of ", $overhead, " µs, against Fixed."),
            published: stringify!($printed),
            reading: Reading::Rewritten($printed),
            derive: entry::<$app, $column>,
            ..stated_in(SECTION, TABLE, "", "execution time over that of Fixed with two processors per node")
        }
    };
}

fn entries() -> Vec<Claim<Runs>> {
    vec![
        entry!(0 "barnes", 0 "Single" "0.5", 1.17),
        entry!(0 "barnes", 1 "Single" "5", 1.45),
        entry!(0 "barnes", 2 "Single" "50", 3.25),
        entry!(0 "barnes", 3 "Floating" "0.5", 0.69),
        entry!(0 "barnes", 4 "Floating" "5", 0.76),
        entry!(0 "barnes", 5 "Floating" "50", 1.00),
        entry!(1 "em3d", 0 "Single" "0.5", 1.41),
        entry!(1 "em3d", 1 "Single" "5", 1.85),
        entry!(1 "em3d", 2 "Single" "50", 5.44),
        entry!(1 "em3d", 3 "Floating" "0.5", 1.04),
        entry!(1 "em3d", 4 "Floating" "5", 1.05),
        entry!(1 "em3d", 5 "Floating" "50", 1.12),
        entry!(2 "gauss", 0 "Single" "0.5", 1.01),
        entry!(2 "gauss", 1 "Single" "5", 1.04),
        entry!(2 "gauss", 2 "Single" "50", 1.57),
        entry!(2 "gauss", 3 "Floating" "0.5", 0.72),
        entry!(2 "gauss", 4 "Floating" "5", 0.75),
        entry!(2 "gauss", 5 "Floating" "50", 0.75),
        entry!(3 "lu", 0 "Single" "0.5", 1.06),
        entry!(3 "lu", 1 "Single" "5", 1.17),
        entry!(3 "lu", 2 "Single" "50", 1.99),
        entry!(3 "lu", 3 "Floating" "0.5", 0.69),
        entry!(3 "lu", 4 "Floating" "5", 0.74),
        entry!(3 "lu", 5 "Floating" "50", 0.92),
        entry!(4 "water-sp", 0 "Single" "0.5", 1.03),
        entry!(4 "water-sp", 1 "Single" "5", 1.10),
        entry!(4 "water-sp", 2 "Single" "50", 1.59),
        entry!(4 "water-sp", 3 "Floating" "0.5", 0.54),
        entry!(4 "water-sp", 4 "Floating" "5", 0.56),
        entry!(4 "water-sp", 5 "Floating" "50", 0.70),
    ]
}

fn statements() -> Vec<Claim<Runs>> {
    vec![
        Claim {
            id: "single-over-400",
            says: "Interrupts that take a hundred times as long can increase running time under Single by over 400 %.",
            published: "over 400 %",
            reading: Reading::MoreThan(400.0),
            derive: |e| one(greatest(App::CHAPTER_4.map(|app| slowdown(e, single(app))))),
            contradicts: Some(
                "Table 4.2 has 1.41 and 5.44 for em3d, 286 % more; 444 % only relative to Fixed.",
            ),
            ..stated_in(SECTION, TABLE, "%", "the greatest of the five programs")
        },
        Claim {
            id: "floating-at-most-45",
            says: "The same slows programs down by at most 45 % under Floating.",
            published: "at most 45 %",
            reading: Reading::AtMost(45.0),
            derive: |e| each(App::CHAPTER_4, |app| slowdown(e, floating(2, app))),
            ..stated_in(SECTION, TABLE, "%", "each of the five programs, two processors per node")
        },
        Claim {
            id: "barnes-hurt-most",
            says: "Under Floating, slow interrupts have the largest impact on barnes, whose communication is asynchronous.",
            published: "largest",
            derive: |e| {
                let of = |app| slowdown(e, floating(2, app));
                let others = App::CHAPTER_4.into_iter().filter(|&app| app != App::Barnes);
                one(minus(of(App::Barnes), greatest(others.map(of))))
            },
            ..stated_in(SECTION, TABLE, "%", "slowdown of barnes minus the greatest of the others")
        },
        Claim {
            id: "single-hurt-more",
            says: "The interrupt overhead has a much higher impact on Single than on Floating.",
            published: "much higher",
            derive: |e| {
                each(App::CHAPTER_4, |app| minus(slowdown(e, single(app)), slowdown(e, floating(2, app))))
            },
            ..stated_in(
                "4.5",
                TABLE,
                "%",
                "slowdown under Single minus that under Floating, from 0.5 to 50 µs",
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
        let printed = App::CHAPTER_4.into_iter().filter_map(tables::table_4_2).flatten();
        let claimed = entries().into_iter().map(|claim| claim.reading);
        assert!(claimed.eq(printed.map(Reading::Rewritten)));
    }
}
