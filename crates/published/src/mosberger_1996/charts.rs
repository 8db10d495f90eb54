//! The published tables with our values beside, and charts of them.

mod caches;
mod round_trips;
mod savings;
mod starting_point;

use super::points::{Build, Measurements, Protocols};
use super::tables::table_7;
use super::values::{Found, Quantity};
use crate::Value;
use warmcore_record::chart::{Axis, Choice, Look, Point, Series, Style, Unit, View};
use warmcore_record::table::{Cell, Row};
use warmcore_record::{Block, Chart, Table};
use warmcore_units::Estimate;

/// Explains the cells of [`beside`].
const CELLS: &str = "A cell is: printed | ours, and by how much ours differs. In [ ] is the range in which 95 % of random orders lie, as a linker may \
    make them; for BAD, PIN and ALL also over what the text leaves open. A value without one is the only one.";

/// The charts and tables of `figure`.
pub(super) fn blocks(m: &Measurements, figure: &str) -> Vec<Block> {
    match figure {
        "table-1" => starting_point::table_1(m),
        "table-2" => starting_point::table_2(m),
        "table-3" => starting_point::table_3(m),
        "classifier" => starting_point::classifier(m),
        "figure-2" => caches::figure_2(m),
        "table-4" => round_trips::table_4(m),
        "table-5" => round_trips::table_5(m),
        "table-6" => caches::table_6(m),
        "table-7" => caches::table_7(m),
        "table-8" => savings::table_8(m),
        "table-9" => savings::table_9(m),
        _ => Vec::new(),
    }
}

/// Cycles per instruction of every build, published and ours.
pub(super) fn lead(m: &Measurements) -> Option<Chart> {
    let published = |part: fn(&super::tables::Costs) -> f64| {
        move |stack, build| Some(Estimate { mean: part(&table_7(stack, build)), half_width: None })
    };
    let ours = |quantity| move |stack, build| drawn(m.spread(stack, build, quantity).ok()?.value());
    let view = |(pick, stack): (usize, Protocols)| {
        let series = vec![
            bars(stack, ("waiting for memory (mCPI), published", 0, 1), published(|row| row.memory_cpi)),
            bars(stack, ("waiting for memory (mCPI), ours", 0, 0), ours(Quantity::MemoryCpi)),
            bars(
                stack,
                ("with a perfect memory (iCPI), published", 1, 1),
                published(|row| row.instruction_cpi),
            ),
            bars(stack, ("with a perfect memory (iCPI), ours", 1, 0), ours(Quantity::InstructionCpi)),
        ];
        View { picks: vec![pick], series, ..View::default() }
    };
    let is_found = |point: &super::Point| !point.runs.is_empty();
    m.points.iter().any(is_found).then(|| {
        by_stack(
            "cycles-per-instruction",
            "Cycles per instruction, by build",
            "Both parts together are the cycles of an instruction. Whiskers span random orders, and what the text leaves open.",
            builds(),
            Axis::linear("cycles per instruction", Unit::plain("")),
            Protocols::ALL.into_iter().enumerate().map(view).collect(),
        )
    })
}

/// A chart with a view for each stack.
fn by_stack(id: &str, title: &str, caption: &str, x: Axis, y: Axis, views: Vec<View>) -> Chart {
    let options = Protocols::ALL.map(|stack| stack.to_string()).to_vec();
    let [id, title, caption] = [id, title, caption].map(str::to_owned);
    let choices = vec![Choice { label: "Protocols".to_owned(), options, initial: 0 }];
    Chart { id, title, caption, x, y, choices, views }
}

/// The axis of builds.
fn builds() -> Axis {
    Axis::categories("build", Build::ALL.map(|build| build.to_string()))
}

/// A bar for each build of a stack that has a value; `of` is the series' name, colour and pattern.
fn bars(
    stack: Protocols,
    (name, colour, pattern): (&str, usize, usize),
    value: impl Fn(Protocols, Build) -> Option<Estimate<f64>>,
) -> Series {
    let point = |(index, build): (usize, Build)| Some(Point::new(index as f64, value(stack, build)?));
    let points = Build::ALL.into_iter().enumerate().filter_map(point).collect();
    Series { look: Some(Look { colour, pattern }), ..Series::new(name, Style::Bars, points) }
}

/// A value for a chart: its half-width is that of the wider side.
fn drawn(value: Value) -> Option<Estimate<f64>> {
    let half = (value.mean - value.low).max(value.high - value.mean);
    let half_width = (half > 0.0).then_some(half);
    value.mean.is_finite().then_some(Estimate { mean: value.mean, half_width })
}

/// `printed | ours [range], difference`, or why ours is missing.
fn beside(printed: f64, ours: Found<impl Into<Value>>, decimals: usize) -> Cell {
    match ours {
        Ok(ours) => {
            let ours = ours.into();
            let differs = match printed == 0.0 {
                true => String::new(),
                false => format!(", {:+.0} %", 100.0 * (ours.mean / printed - 1.0)),
            };
            Cell::text(format!("{printed:.decimals$} | {}{differs}", figure(ours, decimals)))
        }
        Err(reason) => Cell::missing(reason),
    }
}

/// A value with its range, if it has one.
fn figure(value: Value, decimals: usize) -> String {
    let Value { mean, low, high } = value;
    match low == high {
        true => format!("{mean:.decimals$}"),
        false if low.is_infinite() || high.is_infinite() => format!("{mean:.decimals$} (no range)"),
        false => format!("{mean:.decimals$} [{low:.decimals$}, {high:.decimals$}]"),
    }
}

fn table(id: &str, caption: &str, header: &[&str], rows: Vec<Row>, notes: &[&str]) -> Block {
    Block::Table(Table {
        id: id.to_owned(),
        caption: caption.to_owned(),
        header: Table::simple_header(header.iter().copied()),
        rows,
        notes: notes.iter().map(|note| (*note).to_owned()).collect(),
    })
}

/// A row for each build of both stacks.
fn rows(cells: impl Fn(Protocols, Build) -> Vec<Cell>) -> Vec<Row> {
    let all = Protocols::ALL.into_iter().flat_map(|stack| Build::ALL.map(|build| (stack, build)));
    all.map(|(stack, build)| Row::new(super::points::name(stack, build), cells(stack, build))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mosberger_1996::example::{changed, of_the_source};
    use crate::mosberger_1996::source;
    use crate::page::document;
    use warmcore_record::{Document, Manifest};

    fn report(measurements: Measurements) -> Document {
        let all = source().figures_named(&[]).expect("all figures");
        let document = document(&source().conclude(measurements, all), Manifest::now("test", "0"));
        document.validate().expect("a sound document");
        document
    }

    #[test]
    fn every_table_shows_the_published_value_beside_ours() {
        let document = report(of_the_source());
        let charts: Vec<&str> = document.charts().map(|chart| chart.id.as_str()).collect();
        assert_eq!(
            charts,
            ["cycles-per-instruction", "gaps", "slowdowns", "replacement-misses", "memory-distance"]
        );
        let page = warmcore_report::render(&document);
        for cell in
            ["324 | 324, +0 %", "1.58 | 1.58, +0 %", "5841 | 5841, +0 %", "Throughput is not measured."]
        {
            assert!(page.contains(cell), "{cell}");
        }
    }

    #[test]
    fn a_range_of_orders_is_shown_and_a_missing_value_explained() {
        assert_eq!(
            beside(10.0, Ok(Value { mean: 11.0, low: 9.0, high: 13.0 }), 0),
            Cell::text("10 | 11 [9, 13], +10 %")
        );
        assert_eq!(beside(0.0, Ok(Value::exact(2.0)), 1), Cell::text("0.0 | 2.0"));
        assert_eq!(beside(1.0, Err::<Value, _>("no run".to_owned()), 1), Cell::missing("no run"));
    }

    #[test]
    fn a_report_without_runs_is_sound() {
        let mut empty = of_the_source();
        empty.points.clear();
        empty.savings.clear();
        empty.by_memory.clear();
        (empty.improvement, empty.stages) = (None, None);
        let page = warmcore_report::render(&report(empty));
        assert!(page.contains("Nothing was found of TCP/IP STD."));
    }

    #[test]
    fn a_conclusion_that_all_its_claims_contradict_is_said_to_be() {
        let slow = [Build::Clo, Build::Pin].into_iter().fold(of_the_source(), |all, build| {
            changed(all, (Protocols::Rpc, build), |run| run.stall_cycles += 5000)
        });
        let words = "Contradicted here: “Cloning and path-inlining serve";
        assert!(warmcore_report::render(&report(slow)).contains(words));
        assert!(!warmcore_report::render(&report(of_the_source())).contains(words));
    }
}
