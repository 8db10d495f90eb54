//! How predictions for a server compare with runs of it.

use super::charts::{CPU, DELAY, Line, P99};
use super::in_words;
use crate::compare::judge::Judgement;
use crate::compare::present::percent;
use crate::server::best::{Best, EQUAL, best};
use crate::server::compare::{ComparedPolicy, ServerComparison};
use crate::server::figures::ServerFigures;
use crate::server::point::{JudgedQuantity, LIMIT, ServerPoint, Term};
use warmcore_record::chart::Style;
use warmcore_record::document::{Confidence, ConfidenceLevel, ReportVerdict, Statement};
use warmcore_record::table::{Cell, Row};
use warmcore_record::{Block, Document, Manifest, Section, Table};
use warmcore_units::{Estimate, Nanos};

/// The report on `comparison`, made with the costs of `machine`.
#[must_use]
pub fn document(comparison: &ServerComparison, machine: &str, manifest: Manifest) -> Document {
    let caption = "Choose a policy above the chart. Lines are predicted, markers measured.";
    let charts = [DELAY, P99].map(|quantity| quantity.chart(caption, "Policy", views(comparison)));
    Document {
        title: "How predictions for a server compare with measurements".to_owned(),
        subtitle: format!("{} ways to share a UDP port, predicted with the costs of the {machine}", comparison.compared.len()),
        verdict: ReportVerdict {
            headline: headline(comparison),
            scope: "This speaks for servers of warmcore_runtime::server on this machine, whose requests come from sources on \
                    the same processors."
                .to_owned(),
            chart: Some(CPU.chart(caption, "Policy", views(comparison))),
            statements: comparison.compared.iter().map(statement).collect(),
            ..ReportVerdict::default()
        },
        sections: vec![
            Section {
                heading: "Delay, predicted and measured".to_owned(),
                anchor: "delays".to_owned(),
                intro: vec![
                    "The server ran under each policy at each rate. Random requests came from one source on each processor, \
                     which sends each when it is due, whatever became of those before. A delay counts from that time until the \
                     reply is back at the source."
                        .to_owned(),
                    "The predictions know what single requests and short bursts cost, from a calibration. Nothing was \
                     fitted to the runs shown here."
                        .to_owned(),
                ],
                blocks: comparison.notes.iter().cloned().map(Block::Note).chain(charts.map(Block::Chart)).collect(),
                folded: false,
            },
            errors(comparison),
            choices(comparison),
        ],
        manifest,
    }
}

/// The result in a few sentences.
#[must_use]
pub fn headline(comparison: &ServerComparison) -> String {
    let points = || comparison.compared.iter().flat_map(|compared| &compared.points);
    let count = |judgement| points().filter(|point| point.judgement() == Some(judgement)).count();
    let judged = points().filter(|point| point.judgement().is_some()).count();
    if judged == 0 {
        let reason = points().find_map(ServerPoint::unjudged).unwrap_or("there were no loads");
        return format!("Nothing could be judged: {reason}.");
    }
    let within = |quantity| {
        let good = |point: &&ServerPoint| {
            point.judgement().is_some()
                && point.error(quantity).is_some_and(|error| error.mean.abs() <= LIMIT)
        };
        points().filter(good).count()
    };
    let mut text = format!(
        "The mean delay was predicted within {limit:.0}% at {} of {judged} points, the processor time at {}. Intervals \
         included, good in both: {}; off: {}; undecided: {}.",
        within(JudgedQuantity::Delay),
        within(JudgedQuantity::Cpu),
        count(Judgement::Good),
        count(Judgement::Off),
        count(Judgement::Undecided),
        limit = LIMIT * 100.0,
    );
    let all = best(comparison);
    let matter: Vec<&Best> = all.iter().filter(|best| best.matters()).collect();
    if !matter.is_empty() {
        let right = matter.iter().filter(|best| best.is_right()).count();
        text += &format!(
            " Where policies differed by more than {:.0}% and their intervals, the best was named right in {right} of {} cases.",
            EQUAL * 100.0,
            matter.len()
        );
    }
    text
}

fn views(comparison: &ServerComparison) -> Vec<(String, Vec<Line>)> {
    let lines = |compared: &ComparedPolicy| {
        let of = |pick: fn(&ServerPoint) -> Option<ServerFigures>| {
            compared.points.iter().filter_map(|point| Some((point.rate, pick(point)?))).collect()
        };
        vec![
            Line {
                name: "predicted".to_owned(),
                style: Style::Curve,
                colour: 0,
                figures: of(|point| point.predicted),
            },
            Line {
                name: "measured".to_owned(),
                style: Style::Points,
                colour: 1,
                figures: of(|point| point.measured),
            },
        ]
    };
    comparison.compared.iter().map(|compared| (compared.policy.to_string(), lines(compared))).collect()
}

/// The statement about one policy.
fn statement(compared: &ComparedPolicy) -> Statement {
    let judged = || compared.points.iter().filter_map(ServerPoint::judgement);
    let good = judged().filter(|judgement| *judgement == Judgement::Good).count();
    let undecided = judged().filter(|judgement| *judgement == Judgement::Undecided).count();
    let evidence = compared.points.iter().map(|point| match point.unjudged() {
        Some(reason) => format!("at {}: not judged, {reason}", point.rate),
        None => {
            let error = |quantity| point.error(quantity).map_or_else(String::new, |error| percent(&error));
            let [delay, cpu] = JudgedQuantity::ALL.map(error);
            format!("at {}: mean delay {delay}, cpu time {cpu}", point.rate)
        }
    });
    Statement {
        text: format!("With {}: good points {good} of {}.", in_words(compared.policy), judged().count()),
        evidence: evidence.collect(),
        confidence: Confidence {
            level: if undecided == 0 { ConfidenceLevel::High } else { ConfidenceLevel::Moderate },
            reason: format!("{undecided} of {} points are undecided", judged().count()),
        },
    }
}

fn errors(comparison: &ServerComparison) -> Section {
    let rows = comparison
        .compared
        .iter()
        .flat_map(|compared| compared.points.iter().map(move |point| error_row(compared, point)));
    Section {
        heading: "How far off each prediction is".to_owned(),
        anchor: "errors".to_owned(),
        intro: vec![format!(
            "An error is the predicted time divided by the measured one, minus one. It is good if its whole interval lies within \
             {:.0}%, and off if its whole interval lies outside. The last column names what is furthest off.",
            LIMIT * 100.0
        )],
        blocks: vec![Block::Table(Table {
            id: "server-errors".to_owned(),
            caption: "Predictions and measurements by policy and load; times in µs".to_owned(),
            header: Table::simple_header([
                "",
                "delay, predicted",
                "delay, measured",
                "error",
                "cpu, predicted",
                "cpu, measured",
                "error",
                "the point",
                "term at fault",
            ]),
            rows: rows.collect(),
            notes: Vec::new(),
        })],
        folded: false,
    }
}

fn error_row(compared: &ComparedPolicy, point: &ServerPoint) -> Row {
    let time = |figures: Option<ServerFigures>, of: fn(&ServerFigures) -> Estimate<Nanos>| {
        figures.map_or(Cell::missing("not known"), |figures| {
            let time = of(&figures);
            let half = time.half_width.map(Nanos::micros).filter(|half| half.is_finite());
            Cell::value(Estimate { mean: time.mean.micros(), half_width: half }, 1)
        })
    };
    let error = |quantity| {
        let error = point.error(quantity).filter(|_| point.unjudged().is_none());
        error.map_or(Cell::missing(point.unjudged().unwrap_or("not known")), |error| {
            Cell::text(percent(&error))
        })
    };
    let verdict = point.judgement().map_or_else(|| "not judged".to_owned(), |verdict| verdict.to_string());
    Row::new(
        format!("{}, {:.0}%, {}", compared.policy, point.load * 100.0, point.rate),
        vec![
            time(point.predicted, |figures| figures.delay),
            time(point.measured, |figures| figures.delay),
            error(JudgedQuantity::Delay),
            time(point.predicted, ServerFigures::cpu),
            time(point.measured, ServerFigures::cpu),
            error(JudgedQuantity::Cpu),
            Cell::text(verdict),
            Cell::text(point.term().unwrap_or(Term::None).to_string()),
        ],
    )
}

fn choices(comparison: &ServerComparison) -> Section {
    let row = |best: Best| {
        let share = |value: f64| format!("{:.1}%", value * 100.0);
        Row::new(
            format!("{}, {}", best.rate, best.quantity),
            vec![
                Cell::text(best.predicted.to_string()),
                Cell::text(best.measured.to_string()),
                Cell::text(share(best.spread)),
                Cell::text(share(best.regret)),
                Cell::text(match (best.matters(), best.is_right()) {
                    (false, _) => "they hardly differ",
                    (true, true) => "right",
                    (true, false) => "wrong",
                }),
            ],
        )
    };
    Section {
        heading: "Whether the best policy was named".to_owned(),
        anchor: "best".to_owned(),
        intro: vec![format!(
            "The best policy is the one with the least mean delay, or the least processor time. A prediction is right if what it \
             names measured at most {:.0}% more than the best.",
            EQUAL * 100.0
        )],
        blocks: vec![Block::Table(Table {
            id: "server-best".to_owned(),
            caption: "The best policy at each rate".to_owned(),
            header: Table::simple_header([
                "",
                "predicted",
                "measured",
                "worst over best",
                "predicted over best",
                "",
            ]),
            rows: best(comparison).into_iter().map(row).collect(),
            notes: Vec::new(),
        })],
        folded: false,
    }
}
