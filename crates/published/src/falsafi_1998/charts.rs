//! The tables and charts of the report.

mod chapter_4;
mod chapter_5;
mod scatter;

pub(super) use chapter_4::column_4_2;

use super::runs::{Found, Runs};
use super::setup::Setup;
use super::tables::{our_input, published_input};
use super::work::App;
use warmcore_record::chart::{Axis, Choice, Point, Series, Style, Unit, View};
use warmcore_record::table::{Cell, Row};
use warmcore_record::{Block, Chart, Table};
use warmcore_units::Estimate;
use warmcore_workload::programs::Size;

/// The charts and tables of `figure`.
pub(super) fn blocks(runs: &Runs, figure: &str) -> Vec<Block> {
    match figure {
        "table-4-1" => vec![inputs("inputs-4", "Programs of chapter 4", &App::CHAPTER_4)],
        "4-2" => chapter_4::interrupts_paired(runs),
        "4-3" => chapter_4::processors_paired(runs),
        "4-4" => chapter_4::costs_paired(runs),
        "4-5" | "4-6" | "4-7" => chapter_4::speedups(runs, figure),
        "table-4-2" => chapter_4::table_4_2(runs),
        "4-8" => chapter_4::costs(runs),
        "table-5-1" => chapter_5::totals(runs),
        "table-5-1-rows" => chapter_5::rows(),
        "5-5" | "5-6" | "5-7" => chapter_5::bandwidths(runs, figure),
        "table-5-2" => vec![inputs("inputs-5", "Programs of chapter 5", &App::CHAPTER_5)],
        "table-5-3" => chapter_5::table_5_3(runs),
        "scatter" => vec![scatter::table_of(runs)],
        "5-8" | "5-9" | "5-10" | "5-11" | "5-12" | "5-13" => chapter_5::performance(runs, figure),
        _ => Vec::new(),
    }
}

/// Published inputs beside ours.
fn inputs(id: &str, caption: &str, apps: &[App]) -> Block {
    let row = |&app: &App| {
        let ours = [Size::Published, Size::Quick].map(|size| our_input(app, size));
        let cells = [published_input(app).to_owned()].into_iter().chain(ours).map(Cell::text);
        Row::new(app.name(), cells.collect())
    };
    table(id, caption, &["", "published", "ours", "ours with --quick"], apps.iter().map(row).collect(), "")
}

fn table(id: &str, caption: &str, header: &[&str], rows: Vec<Row>, note: &str) -> Block {
    Block::Table(Table {
        id: id.to_owned(),
        caption: caption.to_owned(),
        header: Table::simple_header(header.iter().copied()),
        rows,
        notes: if note.is_empty() { Vec::new() } else { vec![note.to_owned()] },
    })
}

/// `published | ours`, with the half-width if it has one, or why ours is missing.
fn beside(published: f64, ours: Found<Estimate<f64>>, decimals: usize) -> Cell {
    match ours {
        Ok(ours) => {
            let half = match ours.half() {
                0.0 => String::new(),
                half => format!(" ± {half:.decimals$}"),
            };
            Cell::text(format!("{published:.decimals$} | {:.decimals$}{half}", ours.mean))
        }
        Err(reason) => Cell::missing(reason),
    }
}

/// Options of a choice, with their names.
type Named<T> = Vec<(String, T)>;

/// Choices of a chart with a view for each combination: the first choice varies slowest.
struct Picks<'a, A, B> {
    first: (&'a str, &'a [(String, A)]),
    second: (&'a str, &'a [(String, B)]),
}

impl<A, B> Picks<'_, A, B> {
    fn choices(&self) -> Vec<Choice> {
        let names = |names: Vec<String>, label: &str| {
            (names.len() > 1).then(|| Choice { label: label.to_owned(), options: names, initial: 0 })
        };
        let first = self.first.1.iter().map(|(name, _)| name.clone()).collect();
        let second = self.second.1.iter().map(|(name, _)| name.clone()).collect();
        [names(first, self.first.0), names(second, self.second.0)].into_iter().flatten().collect()
    }

    /// A view for each combination, with the `series` of it.
    fn views(&self, series: impl Fn(&A, &B) -> Vec<Series>) -> Vec<View> {
        let (firsts, seconds) = (self.first.1, self.second.1);
        let view = |(first, second): (usize, usize)| View {
            picks: [(first, firsts.len()), (second, seconds.len())]
                .into_iter()
                .filter_map(|(pick, options)| (options > 1).then_some(pick))
                .collect(),
            series: series(&firsts[first].1, &seconds[second].1),
            ..View::default()
        };
        let all = (0..firsts.len()).flat_map(|first| (0..seconds.len()).map(move |second| (first, second)));
        all.map(view).collect()
    }
}

/// What charts have beside their views.
struct Frame<'a> {
    id: &'a str,
    title: &'a str,
    caption: &'a str,
    x: Axis,
    y: Axis,
}

impl Frame<'_> {
    fn block(self, choices: Vec<Choice>, views: Vec<View>) -> Block {
        let Self { id, title, caption, x, y } = self;
        let [id, title, caption] = [id, title, caption].map(str::to_owned);
        Block::Chart(Chart { id, title, caption, x, y, choices, views })
    }
}

/// A series of the values that there are, at `places`.
fn line(name: impl Into<String>, places: impl IntoIterator<Item = (f64, Found<Estimate<f64>>)>) -> Series {
    Series::new(name, Style::Line, points(places))
}

fn points(places: impl IntoIterator<Item = (f64, Found<Estimate<f64>>)>) -> Vec<Point> {
    let point = |(x, y): (f64, Found<Estimate<f64>>)| Some(Point::new(x, y.ok()?));
    places.into_iter().filter_map(point).collect()
}

/// How many times as fast `setup` is as `other`.
fn speedup(runs: &Runs, setup: Setup, other: Setup) -> Found<Estimate<f64>> {
    runs.estimate(&[setup, other], |runs| runs.speedup(&setup, &other))
}

fn plain(label: &str) -> Axis {
    Axis::linear(label, Unit::plain(""))
}

fn percent(label: &str) -> Axis {
    Axis::linear(label, Unit::plain("%"))
}
