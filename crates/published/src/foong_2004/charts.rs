//! The charts and tables of the figures of Foong 2004.

use super::points::{Affinity, Direction, Point, Quantity};
use warmcore_record::chart::{Axis, Choice, Series, Style, Unit, View};
use warmcore_record::table::{Cell, Row};
use warmcore_record::{Block, Chart, Table};
use warmcore_stats::blocks::ChangeVerdict as Visible;
use warmcore_stats::paired::Change;

/// Throughput and cpu use against size, and the changes of throughput.
pub(super) fn figure_2(points: &[Point]) -> Vec<Block> {
    let throughput =
        chart(points, "throughput", "Throughput by size", "throughput", "Gbit/s", Quantity::Throughput, 1e-9);
    let cpu_use = chart(points, "cpu-use", "Cpu use by size", "cpu use", "%", Quantity::CpuUse, 100.0);
    let table = changes(points, "gains", "Throughput against no affinity", Quantity::Throughput);
    [throughput, cpu_use, table].concat()
}

/// Cost against size, and its changes.
pub(super) fn figure_3(points: &[Point]) -> Vec<Block> {
    let cost = chart(points, "cost", "Cost by size", "cost", "cycles per bit", Quantity::Cost, 1.0);
    let table = changes(points, "savings", "Cost against no affinity", Quantity::Cost);
    [cost, table, notes(points, |point| &point.cycles)].concat()
}

/// The changes of cost and of cache misses.
pub(super) fn figure_5(points: &[Point]) -> Vec<Block> {
    let row = |point: &Point| {
        let cell = |(quantity, why): (Quantity, &str)| {
            changed(point.compared(Affinity::Full, Affinity::Nobody, quantity), why)
        };
        let cells = [
            (Quantity::Cost, "cost not measured"),
            (Quantity::L2Misses, "not counted here"),
            (Quantity::L3Misses, "not counted here"),
        ];
        Row::new(point.place(), cells.map(cell).to_vec())
    };
    let table = Table {
        id: "reductions".to_owned(),
        caption: "Changes from no to full affinity, for each bit, with 95 % intervals".to_owned(),
        header: Table::simple_header(["", "time (cycles)", "L2 misses", "L3 misses"]),
        rows: points.iter().map(row).collect(),
        notes: vec![MARKS.to_owned()],
    };
    [vec![Block::Table(table)], notes(points, |point| &point.counters)].concat()
}

/// The notes of the points, each text once.
fn notes(points: &[Point], note: fn(&Point) -> &String) -> Vec<Block> {
    let mut told: Vec<&String> = points.iter().map(note).collect();
    told.dedup();
    told.into_iter().map(|note| Block::Note(note.clone())).collect()
}

/// One line per model, against size; one view per direction.
fn chart(
    points: &[Point],
    id: &str,
    title: &str,
    label: &str,
    unit: &str,
    quantity: Quantity,
    scale: f64,
) -> Vec<Block> {
    let mut directions: Vec<Direction> = points.iter().map(|point| point.direction).collect();
    directions.dedup();
    let view = |(pick, &direction): (usize, &Direction)| {
        let line = |affinity: Affinity| {
            let of_model = points.iter().filter(|point| point.direction == direction);
            let drawn = of_model.filter_map(|point| {
                let value = point.runs.get(&affinity)?.estimate(quantity)?.map(|value| value * scale);
                Some(warmcore_record::chart::Point::new(point.size as f64, value))
            });
            Series::new(affinity.to_string(), Style::Line, drawn.collect())
        };
        let series = Affinity::ALL.map(line).into_iter().filter(|series| !series.points.is_empty()).collect();
        View { picks: vec![pick], series, ..View::default() }
    };
    let views: Vec<View> = directions.iter().enumerate().map(view).collect();
    if views.iter().all(|view| view.series.is_empty()) {
        return vec![Block::Note(format!(
            "{title}: not shown, because the kernel does not provide what it needs."
        ))];
    }
    let options = directions.iter().map(ToString::to_string).collect();
    vec![Block::Chart(Chart {
        id: id.to_owned(),
        title: title.to_owned(),
        caption: "Means over the blocks, with the half-widths of their 95 % intervals.".to_owned(),
        x: Axis::log("size of a write", Unit::plain("B")),
        y: Axis::linear(label, Unit::plain(unit)),
        choices: vec![Choice { label: "Direction".to_owned(), options, initial: 0 }],
        views,
    })]
}

/// Each model against no affinity, at every point.
fn changes(points: &[Point], id: &str, caption: &str, quantity: Quantity) -> Vec<Block> {
    let models = [Affinity::ProcessOnly, Affinity::InterruptOnly, Affinity::Full, Affinity::Today];
    let row = |point: &Point| {
        let why = "not measured";
        let cell = |model| changed(point.compared(model, Affinity::Nobody, quantity), why);
        let itself = point.itself(quantity);
        let itself = itself.map_or_else(|| Cell::missing(why), |change| Cell::text(change.to_string()));
        Row::new(point.place(), [itself].into_iter().chain(models.map(cell)).collect())
    };
    let first = ["", "no affinity, again"].map(str::to_owned);
    let names = first.into_iter().chain(models.map(|model| model.to_string()));
    vec![Block::Table(Table {
        id: id.to_owned(),
        caption: format!("{caption}, with 95 % intervals"),
        header: Table::simple_header(names),
        rows: points.iter().map(row).collect(),
        notes: vec![MARKS.to_owned()],
    })]
}

/// Explains the marks of [`changed`].
const MARKS: &str = "All of the interval of a change without a mark is larger than no affinity may differ from itself. \
    ‡ cannot be told from that difference.";

/// A change, with its mark if it is not significant; `why` is shown if it is missing.
fn changed(compared: Option<(Change, Visible)>, why: &str) -> Cell {
    let Some((change, visible)) = compared else { return Cell::missing(why) };
    let mark = match visible {
        Visible::More | Visible::Less => "",
        Visible::NotVisible => " ‡",
    };
    Cell::text(format!("{change}{mark}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::foong_2004::{Measurements, Runs, source};
    use crate::page::document;
    use warmcore_record::{Document, Manifest};

    fn points(cost: &[f64]) -> Vec<Point> {
        let runs = Runs {
            throughput: vec![1e10, 1.1e10],
            cpu_use: vec![0.9, 1.0],
            cost: cost.to_vec(),
            ..Runs::default()
        };
        let each = [Direction::Transmit, Direction::Receive].map(|direction| {
            let of_model = Affinity::ALL.map(|affinity| (affinity, runs.clone()));
            [64, 65_536].map(|size| Point {
                direction,
                size,
                runs: of_model.clone().into(),
                control: runs.clone(),
                cycles: "Cycles are busy time.".to_owned(),
                counters: "No counters here: the system said so.".to_owned(),
            })
        });
        each.concat()
    }

    fn report(points: &[Point]) -> Document {
        let measurements = Measurements { machine: "a test".to_owned(), points: points.to_vec() };
        let all = source().figures_named(&[]).expect("all figures");
        let document = document(&source().conclude(measurements, all), Manifest::now("test", "0"));
        document.validate().expect("a sound document");
        document
    }

    #[test]
    fn every_figure_is_shown_and_missing_counts_are_explained() {
        let document = report(&points(&[1.0, 1.1]));
        let charts: Vec<&str> = document.charts().map(|chart| chart.id.as_str()).collect();
        assert_eq!(charts, ["throughput", "cpu-use", "cost"]);
        assert!(document.charts().all(|chart| chart.views.len() == 2 && chart.views[0].series.len() == 5));
        let page = warmcore_report::render(&document);
        assert!(page.contains("No counters here: the system said so.") && page.contains("not counted here"));
        assert!(page.contains("Cycles are busy time."));
    }

    #[test]
    fn a_change_that_chance_may_have_made_is_marked() {
        let runs = |around: f64| Runs {
            throughput: [0.98, 1.0, 1.02].map(|of| of * around).to_vec(),
            ..Runs::default()
        };
        let tables = |full: f64, control: f64| {
            let each = [(Affinity::Nobody, runs(1e10)), (Affinity::Full, runs(full))];
            let (direction, size) = (Direction::Transmit, 64);
            let [cycles, counters] = ["by a clock rate", "none"].map(str::to_owned);
            let control = runs(control);
            let point = Point { direction, size, runs: each.into(), control, cycles, counters };
            warmcore_report::render(&report(&[point]))
        };
        let marked = |page: &str, mark: &str| page.contains(&format!("] {mark}<"));
        let page = tables(1.4e10, 1e10);
        assert!(page.contains("no affinity, again") && !marked(&page, "‡"), "{page}");
        assert!(marked(&tables(1e10, 1e10), "‡"));
        assert!(marked(&tables(1.4e10, 1.4e10), "‡"), "no affinity differs from itself by as much");
    }

    #[test]
    fn a_missing_cost_is_explained_and_other_figures_stay() {
        let document = report(&points(&[]));
        assert_eq!(document.charts().count(), 2);
        assert!(report(&[]).charts().next().is_none());
    }
}
