//! The layouts beside each other: a chart, a table, and what random orders cost.

use super::words::{count, percent};
use crate::compare::{Comparison, Layout, LayoutRow, RandomOrders};
use warmcore_record::chart::{Axis, Look, Point, Series, Style, Unit, View};
use warmcore_record::table::{Cell, Row};
use warmcore_record::{Block, Chart, Section, Table};
use warmcore_units::Estimate;

/// What the present layout is called.
pub(super) const PRESENT: &str = "as it lies";

/// What a row's layout is called.
fn name(row: &LayoutRow<'_>) -> String {
    row.layout.map_or_else(|| PRESENT.to_owned(), |layout| layout.strategy.to_string())
}

/// Cycles per instruction of all layouts but the pessimal one, beside which the others would look alike.
fn chart(comparison: &Comparison) -> Chart {
    let (left_out, rows): (Vec<LayoutRow<'_>>, Vec<LayoutRow<'_>>) =
        comparison.layout_rows().into_iter().partition(|row| row.layout.is_some_and(Layout::is_pessimal));
    let bars = |name: &str, look: usize, of: fn(&LayoutRow<'_>) -> f64| {
        let point = |(at, row): (usize, &LayoutRow<'_>)| {
            let note = format!(
                "{} of {} instruction misses are replacement misses",
                count(row.replacements),
                count(row.misses)
            );
            Point { note: Some(note), ..Point::new(at as f64, Estimate::published(of(row))) }
        };
        let look = Some(Look { colour: look, pattern: look });
        Series { look, ..Series::new(name, Style::Bars, rows.iter().enumerate().map(point).collect()) }
    };
    let flat = |name: &str, look: usize, value: f64| {
        let points = (0..rows.len()).map(|at| Point::new(at as f64, Estimate::published(value)));
        let look = Some(Look { colour: look, pattern: 0 });
        Series { look, ..Series::new(name, Style::Curve, points.collect()) }
    };
    let mut all = vec![
        bars("iCPI: the processor itself", 6, |row| row.icpi),
        bars("mCPI: waiting for memory", 1, |row| row.mcpi),
    ];
    all.extend(comparison.random_orders.iter().flat_map(|random| {
        let ends = [("low", 2, random.mcpi.low), ("high", 4, random.mcpi.high)];
        ends.map(|(end, look, value)| flat(&format!("mCPI of random orders, {end} end"), look, value))
    }));
    let lines = match &comparison.random_orders {
        Some(random) => format!(
            " The two lines say between which values of mCPI {} random orders lie: a difference smaller than \
             theirs may be chance.",
            random.range()
        ),
        None => String::new(),
    };
    let left_out: String = left_out
        .iter()
        .map(|row| {
            format!(" The pessimal layout, with {:.2} cycles, is in the table alone.", row.icpi + row.mcpi)
        })
        .collect();
    Chart {
        id: "cpi".to_owned(),
        title: "Cycles per instruction under each layout".to_owned(),
        caption: format!(
            "An instruction takes iCPI cycles in the processor and waits mCPI cycles for memory; both together are what the \
             simulated path takes.{lines}{left_out}"
        ),
        x: Axis::categories("layout", rows.iter().map(name)),
        y: Axis::linear("cycles per instruction", Unit::plain("")),
        choices: Vec::new(),
        views: vec![View { series: all, ..View::default() }],
    }
}

/// The section with all layouts.
pub(super) fn section(comparison: &Comparison) -> Section {
    let mut blocks = vec![Block::Table(table(comparison)), Block::Chart(chart(comparison))];
    blocks.extend(comparison.random_orders.iter().map(|random| Block::Paragraph(random_orders(random))));
    Section {
        heading: "What other layouts would change".to_owned(),
        anchor: "layouts".to_owned(),
        intro: vec![format!(
            "The same instructions and data, with functions at other addresses. The pessimal layout is there for scale: it \
                 puts all functions at the same place of the cache.{}",
            pessimal(comparison)
        )],
        blocks,
        folded: false,
    }
}

/// Why the pessimal layout is better than the present one, if it is.
fn pessimal(comparison: &Comparison) -> &'static str {
    let present = comparison.present.cycles();
    let is_better = |layout: &Layout| layout.is_pessimal() && layout.summary.cycles() < present;
    if comparison.layouts.iter().any(is_better) {
        " Here even it takes fewer simulated cycles than the code as it lies: how densely the functions lie counts for more \
         than which lines compete."
    } else {
        ""
    }
}

fn table(comparison: &Comparison) -> Table {
    let header = [
        "Layout",
        "Misses",
        "Removed",
        "Replacement misses",
        "Code pages",
        "Change, %",
        "Cycles",
        "iCPI",
        "mCPI",
        "Unused, %",
    ];
    Table {
        id: "layout-figures".to_owned(),
        caption: "What the path costs under each layout".to_owned(),
        header: Table::simple_header(header),
        rows: comparison.layout_rows().iter().map(row).collect(),
        notes: notes(comparison),
    }
}

fn row(row: &LayoutRow<'_>) -> Row {
    let value = |value: f64, decimals| Cell::value(Estimate::published(value), decimals);
    let cells = vec![
        value(row.misses as f64, 0),
        value(row.removed as f64, 0),
        value(row.replacements as f64, 0),
        value(row.pages as f64, 0),
        value(100.0 * row.change, 1),
        value(row.cycles.0 as f64, 0),
        value(row.icpi, 2),
        value(row.mcpi, 2),
        value(100.0 * row.unused, 1),
    ];
    Row::new(name(row), cells)
}

/// What the table's columns are, and which layouts have gaps.
fn notes(comparison: &Comparison) -> Vec<String> {
    let gaps: Vec<String> = comparison
        .layouts
        .iter()
        .map(|layout| (layout.strategy, layout.placement.gaps().0, layout.placement.extent().0))
        .filter(|&(_, gaps, _)| gaps > 0)
        .map(|(strategy, gaps, extent)| format!("{strategy} {} of {}", count(gaps), count(extent)))
        .collect();
    let columns = "Misses are those of the instruction cache; removed: by how many there are fewer than in the present layout. Code \
                   pages: of 4 KiB, with executed lines; their TLB is not simulated. Change: of simulated cycles, a ranking aid \
                   that predicts no time. Unused: words that came into the cache.";
    let gaps = (!gaps.is_empty()).then(|| format!("Bytes in gaps between functions: {}.", gaps.join(", ")));
    std::iter::once(columns.to_owned()).chain(gaps).collect()
}

/// `text` with a capital first letter.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// What random orders cost, in words.
fn random_orders(random: &RandomOrders) -> String {
    let RandomOrders { orders, seed, mcpi, misses, replacements, faster, .. } = random;
    format!(
        "What chance decides: of {orders} random orders of the functions without gaps (seeds from {seed}), the mean has an mCPI of \
         {:.2}, {:.0} misses and {:.0} replacement misses. {} lie between {:.2} and {:.2}, {:.0} and {:.0}, and {:.0} and {:.0}. \
         {} take fewer simulated cycles than the present layout.",
        mcpi.mean,
        misses.mean,
        replacements.mean,
        capital(&random.range()),
        mcpi.low,
        mcpi.high,
        misses.low,
        misses.high,
        replacements.low,
        replacements.high,
        percent(f64::from(*faster) / f64::from(*orders)),
    )
}
