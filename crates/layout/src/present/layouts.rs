//! The layouts beside each other: a chart, a table, and what luck decides.

use super::luck::Luck;
use super::study::Study;
use super::words::{change, count, percent};
use crate::simulate::Summary;
use warmcore_record::chart::{Axis, Direction, Look, Mark, Point, Series, Style, Unit, View};
use warmcore_record::table::{Cell, HeaderCell, Row};
use warmcore_record::{Block, Chart, Section, Table};
use warmcore_units::{Bytes, Estimate};

/// What the present layout is called.
pub(super) const PRESENT: &str = "as it lies";

/// The layouts' names and figures, the present one first.
fn all(study: &Study) -> Vec<(String, &Summary)> {
    let others = study.others.iter().map(|layout| (layout.arrangement.name(), &layout.summary));
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
    let marks = study.luck.iter().flat_map(|luck| {
        let mark = |label: &str, at| Mark { label: label.to_owned(), axis: Direction::Y, at };
        [mark("mCPI of lucky orders", luck.mcpi.low), mark("mCPI of unlucky orders", luck.mcpi.high)]
    });
    let view = View {
        series: vec![
            series("iCPI: the processor itself", 6, Summary::icpi),
            series("mCPI: waiting for memory", 1, Summary::mcpi),
        ],
        marks: marks.collect(),
        ..View::default()
    };
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
        views: vec![view],
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
    let columns = [
        "Layout",
        "iCPI",
        "mCPI",
        "Cycles",
        "Change",
        "Instruction misses",
        "Replacement misses",
        "Unused words, %",
    ];
    let columns = columns.into_iter().chain(["Memory, bytes", "Gaps, bytes"]);
    let mut rows = vec![row(study, PRESENT, &study.present, None)];
    rows.extend(study.others.iter().map(|layout| {
        row(study, &layout.arrangement.name(), &layout.summary, Some((layout.extent, layout.gaps)))
    }));
    Table {
        id: "layout-figures".to_owned(),
        caption: "What the path costs under each layout".to_owned(),
        header: vec![columns.map(HeaderCell::new).collect()],
        rows,
        notes: vec![
            "Change: of cycles, against the present layout. Memory: from the first executed function's beginning to the last \
             one's end."
                .to_owned(),
        ],
    }
}

fn row(study: &Study, name: &str, summary: &Summary, place: Option<(Bytes, Bytes)>) -> Row {
    let value = |value: f64, decimals| Cell::value(Estimate::published(value), decimals);
    let misses = &summary.columns[0];
    let bytes = |of: fn((Bytes, Bytes)) -> Bytes| match place {
        Some(place) => value(of(place).0 as f64, 0),
        None => Cell::text("–"),
    };
    let before = study.present.cycles().0;
    let cells = vec![
        value(summary.icpi(), 2),
        value(summary.mcpi(), 2),
        value(summary.cycles().0 as f64, 0),
        if place.is_some() { Cell::text(change(summary.cycles().0, before)) } else { Cell::text("–") },
        value(misses.misses as f64, 0),
        value(misses.replacements as f64, 0),
        value(100.0 * summary.words.unused_part(), 1),
        bytes(|(extent, _)| extent),
        bytes(|(_, gaps)| gaps),
    ];
    Row::new(name, cells)
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
