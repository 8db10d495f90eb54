//! The tables: the error of each prediction, and what another scheduling changes.

use super::words::{error_words, in_micros, load, meaning_of_marks, percent};
use crate::compare::Compared;
use crate::compare::differences::{Difference, LIMIT, differences};
use crate::compare::point::{ComparedPoint, JudgedQuantity, PredictionModel, Term};
use core::iter;
use warmcore_record::table::{Cell, Row};
use warmcore_record::{Block, Section, Table};

pub(super) fn errors(all: &[Compared]) -> Section {
    let rows =
        all.iter().flat_map(|compared| compared.points.iter().map(move |point| error_row(compared, point)));
    let left_out = "Packets that arrived while the machine kept a worker from running, or shortly after, \
                    are left out of the measurement.";
    let [delay, stack, p99] = [JudgedQuantity::Delay, JudgedQuantity::Stack, JudgedQuantity::P99]
        .map(|quantity| quantity.limit() * 100.0);
    Section {
        heading: "How far off each prediction is".to_owned(),
        anchor: "errors".to_owned(),
        intro: vec![format!(
            "An error is the predicted time divided by the measured one, minus one. It is good if its whole interval lies \
            within {delay:.0}% for the mean delay, {stack:.0}% for the time in the stack, and {p99:.0}% for the 99th \
            percentile; it is off if its whole interval lies outside. A point is good if both mean delay and time in the stack are: \
            if the time in the stack is wrong, a right mean is right by chance.",
        )],
        blocks: vec![Block::Table(Table {
            id: "errors-table".to_owned(),
            caption: "Errors by way to schedule and load (as a share of the predicted capacity)".to_owned(),
            header: Table::simple_header([
                "",
                "measured mean delay, µs",
                "mean delay",
                "time in the stack",
                "99th percentile",
                "the point",
                "null model: mean delay",
                "null model: stack",
                "null model: 99th percentile",
                "most of it",
                "packets left out",
            ]),
            rows: rows.collect(),
            notes: iter::once(left_out.to_owned()).chain(meaning_of_marks(all)).collect(),
        })],
        folded: false,
    }
}

/// The errors of one point.
fn error_row(compared: &Compared, point: &ComparedPoint) -> Row {
    let measured = point
        .figures()
        .map_or(Cell::missing("not known"), |figures| Cell::value(in_micros(figures.delay), 3));
    let term = point.term().map_or("not known".to_owned(), |term: Term| term.to_string());
    Row::new(
        format!("{}, {}", compared.scheduling, load(point)),
        vec![
            measured,
            judged(point, JudgedQuantity::Delay, PredictionModel::Caches),
            judged(point, JudgedQuantity::Stack, PredictionModel::Caches),
            judged(point, JudgedQuantity::P99, PredictionModel::Caches),
            Cell::text(
                point
                    .judgement(PredictionModel::Caches)
                    .map_or("not judged".to_owned(), |verdict| verdict.to_string()),
            ),
            judged(point, JudgedQuantity::Delay, PredictionModel::Null),
            judged(point, JudgedQuantity::Stack, PredictionModel::Null),
            judged(point, JudgedQuantity::P99, PredictionModel::Null),
            Cell::text(term),
            Cell::text(format!("{:.0}%", point.disturbed() * 100.0)),
        ],
    )
}

/// An error and its judgement.
fn judged(point: &ComparedPoint, quantity: JudgedQuantity, source: PredictionModel) -> Cell {
    let words = error_words(point, quantity, source);
    match point.judged(quantity, source) {
        Some(judgement) => Cell::text(format!("{words}: {judgement}")),
        None => Cell::text(words),
    }
}

pub(super) fn between(all: &[Compared]) -> Section {
    let row = |difference: &Difference| {
        let null =
            difference.null.as_ref().map_or(Cell::missing("not known"), |null| Cell::text(percent(null)));
        let order = match difference.order_is_right() {
            Some(true) => "right",
            Some(false) => "wrong",
            None => "undecided",
        };
        Row::new(
            format!("{}, {}", difference.scheduling, difference.rate),
            vec![
                Cell::text(percent(&difference.measured)),
                Cell::text(percent(&difference.predicted)),
                null,
                Cell::text(difference.judged().to_string()),
                Cell::text(order),
            ],
        )
    };
    let first = all.first().map_or_else(String::new, |first| first.scheduling.to_string());
    Section {
        heading: "What choosing another way changes".to_owned(),
        anchor: "differences".to_owned(),
        intro: vec![format!(
            "The mean delay under each scheduling divided by that under {first} at the same rate, minus one. A predicted difference is \
            good if it is within {:.0}% of the delay from the measured one, including its interval.",
            LIMIT * 100.0
        )],
        blocks: vec![Block::Table(Table {
            id: "differences-table".to_owned(),
            caption: format!("Mean delay compared with {first}"),
            header: Table::simple_header([
                "",
                "measured",
                "predicted",
                "null model",
                "by how much",
                "which is better",
            ]),
            rows: differences(all).iter().map(row).collect(),
            notes: Vec::new(),
        })],
        folded: false,
    }
}
