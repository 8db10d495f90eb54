//! The layouts beside each other: a chart, a table, and what luck decides.

use super::luck::Luck;
use super::study::Study;
use super::words::{count, percent};
use crate::simulate::Summary;
use warmcore_record::chart::{Axis, Look, Point, Series, Style, Unit, View};
use warmcore_record::table::{Cell, Row};
use warmcore_record::{Block, Chart, Section, Table};
use warmcore_units::Estimate;

/// What the present layout is called.
pub(super) const PRESENT: &str = "as it lies";

/// The layouts' names and figures, the present one first.
fn all(study: &Study) -> Vec<(String, &Summary)> {
    let others = study.others.iter().map(|layout| (layout.strategy.to_string(), &layout.summary));
    std::iter::once((PRESENT.to_owned(), &study.present)).chain(others).collect()
}

/// Cycles per instruction of all layouts.
pub(super) fn chart(study: &Study) -> Chart {
    let layouts = all(study);
    let series = |name: &str, look: usize, of: fn(&Summary) -> f64| {
        let point = |(at, (_, summary)): (usize, &(String, &Summary))| {
            let note = format!(
                "{} of {} instruction misses are replacement misses",
                count(summary.columns[0].replacements),
                count(summary.columns[0].misses)
            );
            Point { note: Some(note), ..Point::new(at as f64, Estimate::published(of(summary))) }
        };
        let look = Some(Look { colour: look, pattern: look });
        Series { look, ..Series::new(name, Style::Bars, layouts.iter().enumerate().map(point).collect()) }
    };
    let flat = |name: &str, look: usize, value: f64| {
        let points = (0..layouts.len()).map(|at| Point::new(at as f64, Estimate::published(value)));
        let look = Some(Look { colour: look, pattern: 0 });
        Series { look, ..Series::new(name, Style::Curve, points.collect()) }
    };
    let mut all = vec![
        series("iCPI: the processor itself", 6, Summary::icpi),
        series("mCPI: waiting for memory", 1, Summary::mcpi),
    ];
    all.extend(study.luck.iter().flat_map(|luck| {
        let ends = [("low", 2, luck.mcpi.low), ("high", 4, luck.mcpi.high)];
        ends.map(|(end, look, value)| flat(&format!("mCPI of random orders, {end} end"), look, value))
    }));
    let lines = match &study.luck {
        Some(luck) => format!(
            " The two lines say between which values of mCPI {} random orders lie: a difference smaller than \
             theirs may be luck.",
            luck.range()
        ),
        None => String::new(),
    };
    Chart {
        id: "cpi".to_owned(),
        title: "Cycles per instruction under each layout".to_owned(),
        caption: format!(
            "An instruction takes iCPI cycles in the processor and waits mCPI cycles for memory; both together are what the \
             path takes.{lines}"
        ),
        x: Axis::categories("layout", layouts.iter().map(|(name, _)| name.clone())),
        y: Axis::linear("cycles per instruction", Unit::plain("")),
        choices: Vec::new(),
        views: vec![View { series: all, ..View::default() }],
    }
}

/// The section with all layouts.
pub(super) fn section(study: &Study) -> Section {
    let mut blocks = vec![Block::Table(table(study))];
    blocks.extend(study.luck.iter().map(|luck| Block::Paragraph(fortune(luck))));
    Section {
        heading: "What other layouts would change".to_owned(),
        anchor: "layouts".to_owned(),
        intro: vec![
            "The same instructions and data, with functions at other addresses. The pessimal layout is there for scale: it \
             puts all functions at the same place of the cache."
                .to_owned(),
        ],
        blocks,
        folded: false,
    }
}

fn table(study: &Study) -> Table {
    let header =
        ["Layout", "iCPI", "mCPI", "Cycles", "Change, %", "Misses", "Replacement misses", "Unused, %"];
    let before = study.present.cycles().0;
    Table {
        id: "layout-figures".to_owned(),
        caption: "What the path costs under each layout".to_owned(),
        header: Table::simple_header(header),
        rows: all(study).iter().map(|(name, summary)| row(name, summary, before)).collect(),
        notes: notes(study),
    }
}

/// A layout's row; the present one takes `before` cycles.
fn row(name: &str, summary: &Summary, before: u64) -> Row {
    let value = |value: f64, decimals| Cell::value(Estimate::published(value), decimals);
    let misses = &summary.columns[0];
    let cycles = summary.cycles().0 as f64;
    let cells = vec![
        value(summary.icpi(), 2),
        value(summary.mcpi(), 2),
        value(cycles, 0),
        value(100.0 * (cycles / before.max(1) as f64 - 1.0), 1),
        value(misses.misses as f64, 0),
        value(misses.replacements as f64, 0),
        value(100.0 * summary.words.unused_part(), 1),
    ];
    Row::new(name, cells)
}

/// What the table's columns are, and which layouts have gaps.
fn notes(study: &Study) -> Vec<String> {
    let gaps: Vec<String> = study
        .others
        .iter()
        .filter(|layout| layout.gaps.0 > 0)
        .map(|layout| {
            format!("{} {} of {}", layout.strategy, count(layout.gaps.0), count(layout.extent.0))
        })
        .collect();
    let columns = "Change: of cycles, against the present layout. Misses are those of the instruction cache; unused are words that \
                   came into it.";
    let gaps = (!gaps.is_empty()).then(|| format!("Bytes in gaps between functions: {}.", gaps.join(", ")));
    std::iter::once(columns.to_owned()).chain(gaps).collect()
}

/// `text` with a capital first letter.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// What luck decides, in words.
fn fortune(luck: &Luck) -> String {
    let Luck { orders, seed, mcpi, replacements, faster, .. } = luck;
    format!(
        "What luck decides: of {orders} random orders of the functions without gaps (seeds from {seed}), the mean has an mCPI of \
         {:.2} and {:.0} replacement misses. {} lie between {:.2} and {:.2} and between {:.0} and {:.0}. {} take fewer \
         cycles than the present layout.",
        mcpi.mean,
        replacements.mean,
        capital(&luck.range()),
        mcpi.low,
        mcpi.high,
        replacements.low,
        replacements.high,
        percent(f64::from(*faster) / f64::from(*orders)),
    )
}
