//! The marks and sentences of a comparison's report.

use super::tables::errors;
use super::words::APART;
use super::*;
use crate::compare::Compared;
use crate::compare::costs::RuntimeCosts;
use crate::compare::point::tests::point;
use crate::compare::point::{JudgedQuantity, PredictionModel};
use warmcore_record::table::Row;
use warmcore_record::{Block, Section};
use warmcore_scenario::Scheduling;
use warmcore_units::PerSecond;
use warmcore_units::{Estimate, Nanos};

/// A point for each load in percent, with processors at the usual distance or not.
fn compared(points: &[(u32, bool)]) -> Comparison {
    let point = |&(load, near): &(u32, bool)| {
        let mut point = point((1.0, 1.0), (1.0, 1.0));
        point.load = f64::from(load) / 100.0;
        point.measured.as_mut().unwrap().near = near;
        point
    };
    let time = Estimate::new(Nanos(1.0), Nanos(0.0));
    let (scheduling, rate) = (Scheduling::default(), PerSecond(1.0));
    Comparison {
        costs: vec![RuntimeCosts {
            deciding: time,
            starting: time,
            stack: time,
            scheduling,
            rate,
            alone: false,
        }],
        compared: vec![Compared {
            scheduling,
            capacity: Estimate::new(PerSecond(1.0), PerSecond(0.0)),
            points: points.iter().map(point).collect(),
        }],
    }
}

/// The loads as the table of errors marks them, and whether the mark is explained below it.
fn marked(all: &Comparison) -> (Vec<String>, bool) {
    let Section { blocks, .. } = errors(&all.compared);
    let [Block::Table(table)] = &blocks[..] else { panic!("one table") };
    let load = |row: &Row| row.header.rsplit(", ").next().map(str::to_owned);
    let is_explained = table.notes.iter().any(|note| note.starts_with(APART));
    (table.rows.iter().filter_map(load).collect(), is_explained)
}

#[test]
fn points_at_another_distance_are_marked_and_the_mark_explained() {
    let all = compared(&[(20, true), (60, false), (80, true)]);
    assert_eq!(marked(&all), (["20%", "60% ‡", "80%"].map(str::to_owned).to_vec(), true));
    assert!(headline(&all).ends_with("at 1 of 3."), "{}", headline(&all));
}

#[test]
fn where_all_were_near_nothing_is_said_of_it() {
    let all = compared(&[(20, true), (60, true)]);
    assert_eq!(marked(&all), (["20%", "60%"].map(str::to_owned).to_vec(), false));
    assert!(!headline(&all).contains("near"), "{}", headline(&all));
}

#[test]
fn where_nothing_can_be_judged_it_says_why_and_how_far_off_it_is_not() {
    let mut all = compared(&[(20, true), (60, false), (80, true)]);
    all.compared[0].points[0].measured.as_mut().unwrap().disturbed = 0.975;
    all.compared[0].points[2].predicted.model = None;
    let expected = "Nothing could be judged: at 1 of 3 loads packets come faster than they could be processed, as \
                    predicted; at 1 of 3 loads the machine was too busy with other work; at 1 of 3 loads the processors were \
                    not as near as the prediction takes them to be.";
    assert_eq!(nothing_judged(&all).as_deref(), Some(expected));
    assert_eq!(headline(&all), expected);
    let words = |place: usize| {
        error_words(&all.compared[0].points[place], JudgedQuantity::Delay, PredictionModel::Caches)
    };
    assert_eq!([words(0), words(1), words(2)], ["not judged", "not judged", "not known"]);
    assert_eq!(nothing_judged(&compared(&[(20, true), (60, false)])), None);
}

#[test]
fn points_of_a_machine_that_did_too_much_else_are_marked_and_not_judged() {
    let mut all = compared(&[(20, true), (80, true), (90, true)]);
    for point in &mut all.compared[0].points[1..] {
        point.measured.as_mut().unwrap().disturbed = 0.3;
    }
    assert_eq!(marked(&all).0, ["20%", "80% §", "90% §"].map(str::to_owned));
    assert_eq!(meaning_of_marks(&all.compared).len(), 1);
    assert!(headline(&all).starts_with("1 of 1 predictions are good"), "{}", headline(&all));
    assert!(headline(&all).contains("At 2 of 3"), "{}", headline(&all));
}

#[test]
fn points_at_which_workers_use_one_stack_together_are_marked_and_not_judged() {
    let mut all = compared(&[(20, true), (80, true)]);
    all.compared[0].points[1].predicted.together = 0.2;
    assert_eq!(marked(&all).0, ["20%", "80% ¶"].map(str::to_owned));
    assert_eq!(meaning_of_marks(&all.compared).len(), 1);
    assert!(headline(&all).starts_with("1 of 1 predictions are good"), "{}", headline(&all));
    assert!(headline(&all).contains("At 1 of 2, workers use one stack"), "{}", headline(&all));
}

#[test]
fn the_report_says_where_its_costs_were_fitted_and_shows_the_null_model() {
    let all = compared(&[(20, true)]);
    let text = format!("{:?}", [delays::section(&all, &[]), errors(&all.compared), explained::section(&all)]);
    assert!(
        text.contains("null model: mean delay") && text.contains("That is all that was fitted"),
        "{text}"
    );
}
