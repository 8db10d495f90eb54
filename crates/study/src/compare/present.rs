//! A comparison in words and charts, for a reader who has never seen the sources.

use super::differences::{Difference, LIMIT, differences};
use super::figures::Figures;
use super::judge::Judgement;
use super::point::{ComparedPoint, Quantity, Source, Term};
use super::quiet::QUIET;
use super::{Compared, Comparison};
use core::iter;
use std::collections::BTreeSet;
use warmcore_costs::{Profile, Situation};
use warmcore_measure::Proximity;
use warmcore_record::chart::{Axis, Choice, Look, Point, Series, Style, Unit, View};
use warmcore_record::document::{Confidence, Level, Statement, Verdict};
use warmcore_record::table::{Cell, Row};
use warmcore_record::{Block, Chart, Document, Manifest, Section, Table};
use warmcore_units::{Estimate, Nanos};

/// What marks a point whose processors were at another distance. The dagger marks missed targets.
const APART: &str = "‡";
/// What marks a point at which the machine did too much else.
const NOISY: &str = "§";

/// The report on `comparison`, with what there is to [doubt](super::packets::doubts) and its provenance.
#[must_use]
pub fn document(
    comparison: &Comparison,
    profile: &Profile,
    doubts: &[String],
    manifest: Manifest,
) -> Document {
    let all = &comparison.compared;
    Document {
        title: "How predictions of protocol scheduling compare with the clock".to_owned(),
        subtitle: format!("{} ways to schedule, predicted with the costs of the {}", all.len(), profile.name),
        verdict: verdict(comparison, profile),
        sections: vec![
            delays(comparison, doubts),
            errors(all),
            between(all),
            explained(comparison),
            limits(),
        ],
        manifest,
    }
}

fn verdict(comparison: &Comparison, profile: &Profile) -> Verdict {
    let all = &comparison.compared;
    Verdict {
        headline: headline(comparison),
        scope: format!(
            "This speaks for the runtime and the user-space receive path of Warmcore on this machine, predicted with the \
             costs of the {}.",
            profile.name
        ),
        chart: Some(chart(all, "mean", "mean packet delay", |figures| figures.delay)),
        statements: all.iter().map(statement).chain(choice(all)).collect(),
        ..Verdict::default()
    }
}

/// What came of it in a few sentences.
#[must_use]
pub fn headline(comparison: &Comparison) -> String {
    let all = &comparison.compared;
    let points = || all.iter().flat_map(|compared| &compared.points);
    let count = |source, judgement| points().filter(|point| point.verdict(source) == Some(judgement)).count();
    let judged = points().filter(|point| point.verdict(Source::Model).is_some()).count();
    let [good, off, undecided] = [Judgement::Good, Judgement::Off, Judgement::Undecided]
        .map(|judgement| count(Source::Model, judgement));
    if let Some(nothing) = nothing_judged(comparison) {
        return nothing;
    }
    let mut headline = format!(
        "{good} of {judged} predictions are good: mean delay within {:.0}% and time in the stack within {:.0}% of \
             what was measured. {off} are not, and {undecided} cannot be told. Without a model of caches, {} would be \
             good.",
        Quantity::Delay.limit() * 100.0,
        Quantity::Stack.limit() * 100.0,
        count(Source::Null, Judgement::Good),
    );
    let noisy = points().filter(|point| is_noisy(point)).count();
    if noisy > 0 {
        headline += &format!(
            " At {noisy} of {}, the machine did too much else for that to be judged.",
            points().count()
        );
    }
    let apart = points().filter(|point| !point.is_near()).count();
    if apart > 0 {
        headline += &format!(
            " The processors were not as near as the prediction takes them to be at {apart} of {}.",
            points().count()
        );
    }
    headline
}

/// That nothing could be judged, and why; `None` if something could.
#[must_use]
pub fn nothing_judged(comparison: &Comparison) -> Option<String> {
    let points: Vec<&ComparedPoint> =
        comparison.compared.iter().flat_map(|compared| &compared.points).collect();
    if points.iter().any(|point| point.verdict(Source::Model).is_some()) {
        return None;
    }
    let reasons: Vec<&str> = points.iter().map(|point| unjudged(point)).collect();
    let distinct = BTreeSet::from_iter(&reasons);
    let told = distinct.into_iter().map(|reason| {
        let count = reasons.iter().filter(|other| *other == reason).count();
        format!("at {count} of {} loads {reason}", reasons.len())
    });
    let all = told.collect::<Vec<_>>().join("; ");
    Some(format!("Nothing could be judged: {all}."))
}

/// Why a point cannot be judged that cannot.
fn unjudged(point: &ComparedPoint) -> &'static str {
    if point.measured.is_none() {
        "no packet was finished while the workers ran"
    } else if !point.is_near() {
        "the processors were not as near as the prediction takes them to be"
    } else if !point.is_quiet() {
        "the machine did too much else"
    } else {
        "packets come faster than they could be processed, as predicted"
    }
}

/// The error of a prediction in words: none where it cannot be judged, as it would say nothing of the
/// prediction.
#[must_use]
pub fn error_words(point: &ComparedPoint, quantity: Quantity, source: Source) -> String {
    match point.error(quantity, source) {
        None => "not known".to_owned(),
        Some(_) if !point.is_quiet() => "not judged".to_owned(),
        Some(error) => percent(&error),
    }
}

/// What is claimed of one way to schedule: as much as its points bear.
fn statement(compared: &Compared) -> Statement {
    let share = |quantity: Quantity| {
        let judged = || compared.points.iter().filter_map(|point| point.judged(quantity, Source::Model));
        let good = judged().filter(|&judgement| judgement == Judgement::Good).count();
        format!("{quantity} within {:.0}% at {good} of {}", quantity.limit() * 100.0, judged().count())
    };
    let evidence = compared.points.iter().map(|point| {
        let error = |quantity| error_words(point, quantity, Source::Model);
        format!(
            "at {}: mean delay {}, time in the stack {}, 99th percentile {}",
            point.rate,
            error(Quantity::Delay),
            error(Quantity::Stack),
            error(Quantity::P99)
        )
    });
    let told = |point: &ComparedPoint| {
        point.verdict(Source::Model).is_some_and(|judgement| judgement != Judgement::Undecided)
    };
    let all_told = compared.points.iter().all(told);
    Statement {
        text: format!(
            "{}: {}, {}, {}.",
            compared.scheduling,
            share(Quantity::Delay),
            share(Quantity::Stack),
            share(Quantity::P99)
        ),
        evidence: evidence.collect(),
        confidence: Confidence {
            level: if all_told { Level::High } else { Level::Low },
            reason: "high where every load could be judged and is decided: a prediction counts as within a limit only \
                     if the whole interval of its error is"
                .to_owned(),
        },
    }
}

/// What is claimed of the differences between ways to schedule; nothing if there is one.
fn choice(all: &[Compared]) -> Option<Statement> {
    let differences = differences(all);
    if differences.is_empty() {
        return None;
    }
    let told: Vec<bool> = differences.iter().filter_map(Difference::order_is_right).collect();
    let right = told.iter().filter(|&&right| right).count();
    let good = differences.iter().filter(|difference| difference.judged() == Judgement::Good).count();
    let null =
        differences.iter().filter(|difference| difference.null_judged() == Some(Judgement::Good)).count();
    Some(Statement {
        text: format!(
            "Which of two ways is better is predicted right {right} of {} times that the clock can tell. By how much \
             is predicted within {:.0}% of the delay {good} of {} times; without a model of caches {null} times.",
            told.len(),
            LIMIT * 100.0,
            differences.len()
        ),
        evidence: Vec::new(),
        confidence: Confidence {
            level: if told.len() == differences.len() { Level::High } else { Level::Low },
            reason: "whether the clock itself can tell the ways apart at every rate".to_owned(),
        },
    })
}

/// An error as a percentage with its half-width, where that is known.
#[must_use]
pub fn percent(error: &Estimate<f64>) -> String {
    let half = match error.half_width.filter(|half| half.is_finite()) {
        Some(half) => format!(" ± {:.1}%", half * 100.0),
        None => " (how sure is not known)".to_owned(),
    };
    format!("{:+.1}%{half}", error.mean * 100.0)
}

/// The load of `point` as a percentage, marked if its processors were at another distance, or the machine did
/// too much else; what the marks mean is in [`meaning_of_marks`].
#[must_use]
pub fn load(point: &ComparedPoint) -> String {
    let apart = if point.is_near() { String::new() } else { format!(" {APART}") };
    let noisy = if is_noisy(point) { format!(" {NOISY}") } else { String::new() };
    let percent = point.load * 100.0;
    let decimals = if percent < 1.0 { 3 } else { 0 };
    format!("{percent:.decimals$}%{apart}{noisy}")
}

/// Whether `point` cannot be judged because of what else the machine did.
fn is_noisy(point: &ComparedPoint) -> bool {
    point.is_near() && !point.is_quiet()
}

/// What the marks of [`load`]s mean, as far as points of `all` bear them.
#[must_use]
pub fn meaning_of_marks(all: &[Compared]) -> Vec<String> {
    let noisy = all.iter().flat_map(|compared| &compared.points).any(is_noisy).then(|| {
        format!(
            "{NOISY} More than {:.0}% of the packets met a time in which the machine kept a worker from running, or \
             came while what had piled up was worked off. Such a point tells of the machine more than of the \
             prediction, and is not judged: compare again when it has less else to do.",
            QUIET * 100.0
        )
    });
    meaning_of_apart(all).into_iter().chain(noisy).collect()
}

/// `None` if no point of `all` bears that mark.
fn meaning_of_apart(all: &[Compared]) -> Option<String> {
    let mut points = all.iter().flat_map(|compared| &compared.points);
    points.any(|point| !point.is_near()).then(|| {
        format!(
            "{APART} While this was run, the processors were nearer to each other or farther apart than the \
             prediction takes them to be: what a cache line takes from one to the other differed by more than a \
             factor of {} from what it took when the costs were measured or, if the profile does not say, from what \
             it mostly took. A hypervisor does that when it moves virtual processors between physical ones. Packets \
             whose data migrates then take more or less than predicted, and the error says little about the \
             prediction: compare again at another time.",
            Proximity::TOLERANCE
        )
    })
}

fn delays(comparison: &Comparison, doubts: &[String]) -> Section {
    let all = &comparison.compared;
    let charts = [
        chart(all, "median", "median packet delay", |figures| figures.p50),
        chart(all, "p99", "99th percentile of packet delay", |figures| figures.p99),
        chart(all, "stack", "mean time in the stack", |figures| figures.stack),
    ];
    let costs = &comparison.costs;
    Section {
        heading: "Delay, predicted and measured".to_owned(),
        anchor: "delays".to_owned(),
        intro: vec![
            "Each way to schedule protocol work was simulated, and run on this machine with the same policy code, \
             the same traffic and the same other work on its processors. Lines are predictions, markers are what \
             the clock said, both with 95% intervals."
                .to_owned(),
            format!(
                "A packet's delay lasts from its arrival to the end of its processing. The prediction knows what the \
                 stack costs from a calibration, and what the runtime itself costs from runs under {} at {}. \
                 That is all that was fitted; the runs shown here were made, and each was predicted, after it.",
                costs.scheduling, costs.rate
            ),
            "The null model is the same simulation with packets that all take as long in the stack as they did in \
             those runs: it knows nothing of caches. What the prediction is better than that, it owes to knowing."
                .to_owned(),
        ],
        blocks: doubts.iter().cloned().map(Block::Note).chain(charts.map(Block::Chart)).collect(),
        folded: false,
    }
}

fn chart(all: &[Compared], id: &str, quantity: &str, of: fn(&Figures) -> Estimate<Nanos>) -> Chart {
    let series = |compared: &Compared,
                  name: &str,
                  style: Style,
                  colour: usize,
                  pick: fn(&ComparedPoint) -> Option<&Figures>| {
        let point = |point: &ComparedPoint| {
            let time = of(pick(point)?);
            let half = time.half_width.map(Nanos::secs).filter(|half| half.is_finite());
            let mean = time.mean.secs();
            mean.is_finite().then(|| Point::new(point.rate.0, Estimate { mean, half_width: half }))
        };
        let points = compared.points.iter().filter_map(point).collect();
        Series { look: Some(Look { colour, pattern: 0 }), ..Series::new(name, style, points) }
    };
    let view = |(index, compared): (usize, &Compared)| View {
        picks: vec![index],
        series: vec![
            series(compared, "predicted", Style::Curve, 0, |point| point.by(Source::Model)),
            series(compared, "null model", Style::Curve, 2, |point| point.by(Source::Null)),
            series(compared, "measured", Style::Points, 1, ComparedPoint::figures),
        ],
        ..View::default()
    };
    Chart {
        id: id.to_owned(),
        title: format!("{}{} against arrival rate", quantity[..1].to_uppercase(), &quantity[1..]),
        caption: "Choose a way to schedule above the chart.".to_owned(),
        x: Axis::log("arrival rate", Unit::per_second()),
        y: Axis::log(quantity, Unit::seconds()),
        choices: vec![Choice {
            label: "Scheduling".to_owned(),
            options: all.iter().map(|compared| compared.scheduling.to_string()).collect(),
            initial: 0,
        }],
        views: all.iter().enumerate().map(view).collect(),
    }
}

/// An error and what it is judged as.
fn judged(point: &ComparedPoint, quantity: Quantity, source: Source) -> Cell {
    let words = error_words(point, quantity, source);
    match point.judged(quantity, source) {
        Some(judgement) => Cell::text(format!("{words}: {judgement}")),
        None => Cell::text(words),
    }
}

fn errors(all: &[Compared]) -> Section {
    let row = |compared: &Compared, point: &ComparedPoint| {
        let measured = point
            .figures()
            .map_or(Cell::missing("not known"), |figures| Cell::value(in_micros(figures.delay), 3));
        let term = point.term().map_or("not known".to_owned(), |term: Term| term.to_string());
        Row::new(
            format!("{}, {}", compared.scheduling, load(point)),
            vec![
                measured,
                judged(point, Quantity::Delay, Source::Model),
                judged(point, Quantity::Stack, Source::Model),
                judged(point, Quantity::P99, Source::Model),
                Cell::text(
                    point
                        .verdict(Source::Model)
                        .map_or("not judged".to_owned(), |verdict| verdict.to_string()),
                ),
                judged(point, Quantity::Delay, Source::Null),
                judged(point, Quantity::Stack, Source::Null),
                judged(point, Quantity::P99, Source::Null),
                Cell::text(term),
                Cell::text(format!("{:.0}%", point.disturbed() * 100.0)),
            ],
        )
    };
    let rows = all.iter().flat_map(|compared| compared.points.iter().map(move |point| row(compared, point)));
    let left_out = "Packets that met a time in which the machine kept a worker from running, or came shortly after, \
                    are left out of what was measured.";
    let [delay, stack, p99] =
        [Quantity::Delay, Quantity::Stack, Quantity::P99].map(|quantity| quantity.limit() * 100.0);
    Section {
        heading: "How far off each prediction is".to_owned(),
        anchor: "errors".to_owned(),
        intro: vec![format!(
            "An error is the predicted time over the measured one, less one. It is good if its whole interval lies \
             within {delay:.0}% for the mean delay, {stack:.0}% for the time in the stack, and {p99:.0}% for the 99th \
             percentile; off, if nothing of its interval does. A point is good if mean delay and time in the stack are: \
             a mean that is right with a wrong time in the stack is right by chance.",
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

fn between(all: &[Compared]) -> Section {
    let row = |difference: &Difference| {
        let null =
            difference.null.as_ref().map_or(Cell::missing("not known"), |null| Cell::text(percent(null)));
        let order = match difference.order_is_right() {
            Some(true) => "right",
            Some(false) => "wrong",
            None => "the clock cannot tell",
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
            "The mean delay under each way over that under {first} at the same rate, less one. A predicted difference is \
             good if it is within {:.0}% of the delay from the measured one, its interval included.",
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

fn in_micros(time: Estimate<Nanos>) -> Estimate<f64> {
    let half = time.half_width.map(Nanos::micros).filter(|half| half.is_finite());
    Estimate { mean: time.mean.micros(), half_width: half }
}

fn explained(comparison: &Comparison) -> Section {
    let costs = &comparison.costs;
    let mix = |compared: &Compared| {
        let point = compared.points.get(compared.points.len() / 2)?;
        let share = |figures: Option<&Figures>, situation: Situation| match figures {
            Some(figures) => Cell::text(format!("{:.1}%", figures.situations[situation.index()] * 100.0)),
            None => Cell::missing("not known"),
        };
        let cells = Situation::all().filter(|situation| situation.index() < 6).flat_map(|situation| {
            [share(point.by(Source::Model), situation), share(point.figures(), situation)]
        });
        Some(Row::new(format!("{}, {}", compared.scheduling, load(point)), cells.collect()))
    };
    let situations = ["A1", "A2", "A3", "B1", "B2", "B3"];
    let columns =
        situations.into_iter().flat_map(|name| [format!("{name} predicted"), format!("{name} measured")]);
    let cost = |name: &str, time: Estimate<Nanos>| Row::new(name, vec![Cell::value(in_micros(time), 3)]);
    Section {
        heading: "What the predictions are made of".to_owned(),
        anchor: "explained".to_owned(),
        intro: [
            "Beside the stack, a packet costs what the runtime does: deciding where it goes or, where it finds \
             a processor at other work, starting it there. That packets in one stack at once wait for each other's \
             locks is not in the prediction.",
            "What a packet finds in cache depends on who wrote its session lines last (A: this processor, B: \
             another) and on the stack's history lines (1: not written, 2: last written here, 3: elsewhere). \
             The simulator and the runtime keep the same books of it.",
        ]
        .map(str::to_owned)
        .to_vec(),
        blocks: vec![
            Block::Table(Table {
                id: "costs".to_owned(),
                caption: format!(
                    "What the runtime costs, in µs, under {} at {}, and what the stack took there",
                    costs.scheduling, costs.rate
                ),
                header: Table::simple_header(["", "µs"]),
                rows: vec![
                    cost("deciding, each packet that follows another", costs.deciding),
                    cost("starting, each packet that finds its processor at other work", costs.starting),
                    cost("time in the stack, as the null model has it everywhere", costs.stack),
                ],
                notes: Vec::new(),
            }),
            Block::Table(Table {
                id: "situations".to_owned(),
                caption: "Shares of packets in each situation, the thread's stack being in cache".to_owned(),
                header: Table::simple_header(iter::once(String::new()).chain(columns)),
                rows: comparison.compared.iter().filter_map(mix).collect(),
                notes: Vec::new(),
            }),
        ],
        folded: false,
    }
}

fn limits() -> Section {
    let notes = [
        "The simulator has packets wait for processors, not for locks that others hold.",
        "What the runtime costs is taken to be the same at every load and under every policy. It is less where several \
         packets are handled at a time or workers share nothing, and more where its own code has been displaced.",
        "At low rates, what belongs to one stream alone is displaced the more the more streams there are; the calibration \
         and the model know one time since protocol work, for all. And workers look for packets between two pieces of \
         other work, which therefore displaces caches more slowly than in the calibration. The time in the stack is then \
         off either way.",
        "Arrival times are those of a schedule: a packet's delay counts from there, whether or not a worker looked.",
        "A worker that is kept from running by something else on the machine is noticed if that lasts longer than \
         8 µs; shorter interruptions stay in what was measured.",
    ];
    Section {
        heading: "What to keep in mind".to_owned(),
        anchor: "limits".to_owned(),
        intro: Vec::new(),
        blocks: notes.map(|note| Block::Note(note.to_owned())).to_vec(),
        folded: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::costs::RuntimeCosts;
    use crate::compare::point::tests::point;
    use warmcore_scenario::Scheduling;
    use warmcore_units::PerSecond;

    /// A point for each load in percent, at which the processors were near or not.
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
            costs: RuntimeCosts { deciding: time, starting: time, stack: time, scheduling, rate },
            compared: vec![Compared {
                scheduling,
                capacity: Estimate::new(PerSecond(1.0), PerSecond(0.0)),
                points: points.iter().map(point).collect(),
            }],
        }
    }

    /// The loads of the table of errors, as they are marked, and whether the mark is explained below it.
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
                        predicted; at 1 of 3 loads the machine did too much else; at 1 of 3 loads the processors were \
                        not as near as the prediction takes them to be.";
        assert_eq!(nothing_judged(&all).as_deref(), Some(expected));
        assert_eq!(headline(&all), expected);
        let words =
            |place: usize| error_words(&all.compared[0].points[place], Quantity::Delay, Source::Model);
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
    fn the_report_says_where_its_costs_were_fitted_and_shows_the_null_model() {
        let all = compared(&[(20, true)]);
        let text = format!("{:?}", [delays(&all, &[]), errors(&all.compared), explained(&all)]);
        assert!(
            text.contains("null model: mean delay") && text.contains("That is all that was fitted"),
            "{text}"
        );
    }
}
