//! A comparison in words and charts, for a reader who has never seen the sources.

use super::point::{ComparedPoint, Figures, GOOD, Term};
use super::quiet::QUIET;
use super::{Compared, packets};
use core::iter;
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

/// The report on `all`, with its provenance.
#[must_use]
pub fn document(all: &[Compared], profile: &Profile, manifest: Manifest) -> Document {
    Document {
        title: "How predictions of protocol scheduling compare with the clock".to_owned(),
        subtitle: format!("{} ways to schedule, predicted with the costs of the {}", all.len(), profile.name),
        verdict: verdict(all),
        sections: vec![delays(all, packets::doubt(profile)), errors(all), explained(all), limits()],
        manifest,
    }
}

fn verdict(all: &[Compared]) -> Verdict {
    let points = || all.iter().flat_map(|compared| &compared.points);
    let judged = points().filter_map(ComparedPoint::is_good).count();
    let good = points().filter(|point| point.is_good() == Some(true)).count();
    let mut headline = match judged {
        0 => "Nothing could be judged: the machine kept the workers from running too often.".to_owned(),
        _ => format!(
            "{good} of {judged} predicted mean delays are within {:.0}% of the measured ones.",
            GOOD * 100.0
        ),
    };
    let noisy = points().filter(|point| is_noisy(point)).count();
    if noisy > 0 {
        headline += &format!(
            " At {noisy} of {}, the machine did too much else for that to be judged.",
            points().count()
        );
    }
    let apart = points().filter(|point| !point.near).count();
    if apart > 0 {
        headline += &format!(
            " The processors were not as near as the prediction takes them to be at {apart} of {}.",
            points().count()
        );
    }
    Verdict { headline, statements: all.iter().filter_map(statement).collect(), ..Verdict::default() }
}

fn statement(compared: &Compared) -> Option<Statement> {
    let errors: Vec<_> = compared.points.iter().filter_map(|point| Some((point, point.error()?))).collect();
    let (worst, error) =
        errors.iter().max_by(|one, other| one.1.mean.abs().total_cmp(&other.1.mean.abs()))?;
    let confident = error.half_width.is_some_and(|half| half < GOOD / 2.0);
    Some(Statement {
        text: format!(
            "{}: the prediction is off by {} at most, at {:.0}% of capacity{}.",
            compared.scheduling,
            percent(error),
            worst.load * 100.0,
            match worst.term() {
                Some(term) if term != Term::None => format!("; most of that is {term}"),
                _ => String::new(),
            }
        ),
        evidence: errors
            .iter()
            .map(|(point, error)| format!("at {} of capacity: {}", load(point), percent(error)))
            .collect(),
        confidence: Confidence {
            level: if confident { Level::High } else { Level::Low },
            reason: "the half-widths of prediction and measurement together, taken as independent".to_owned(),
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
    let apart = if point.near { String::new() } else { format!(" {APART}") };
    let noisy = if is_noisy(point) { format!(" {NOISY}") } else { String::new() };
    format!("{:.0}%{apart}{noisy}", point.load * 100.0)
}

/// Whether `point` cannot be judged because of what else the machine did.
fn is_noisy(point: &ComparedPoint) -> bool {
    point.near && !point.is_quiet()
}

/// What the marks of [`load`]s mean, as far as points of `all` bear them.
#[must_use]
pub fn meaning_of_marks(all: &[Compared]) -> Vec<String> {
    let noisy = all.iter().flat_map(|compared| &compared.points).any(is_noisy).then(|| {
        format!(
            "{NOISY} More than {:.0}% of the packets, in the run or in the rehearsal for it, met a time in which the \
             machine kept a worker from running, or came while what had piled up was worked off. Such a point \
             tells of the machine more than of the prediction, and is not judged: compare again when it has less \
             else to do.",
            QUIET * 100.0
        )
    });
    meaning_of_apart(all).into_iter().chain(noisy).collect()
}

/// `None` if no point of `all` bears that mark.
fn meaning_of_apart(all: &[Compared]) -> Option<String> {
    let mut points = all.iter().flat_map(|compared| &compared.points);
    points.any(|point| !point.near).then(|| {
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

fn delays(all: &[Compared], doubt: Option<String>) -> Section {
    let charts = [
        chart(all, "mean", "mean packet delay", |figures| figures.delay),
        chart(all, "median", "median packet delay", |figures| figures.p50),
        chart(all, "p99", "99th percentile of packet delay", |figures| figures.p99),
        chart(all, "stack", "mean time in the stack", |figures| figures.stack),
    ];
    Section {
        heading: "Delay, predicted and measured".to_owned(),
        anchor: "delays".to_owned(),
        intro: [
            "Each way to schedule protocol work was simulated, and run on this machine with the same policy code, \
             the same traffic and the same other work on its processors. Lines are predictions, markers are what \
             the clock said, both with 95% intervals.",
            "A packet's delay lasts from its arrival to the end of its processing. The prediction knows what the \
             stack costs from a calibration, and what the runtime itself costs from a rehearsal with packets that \
             only pass the time; nothing is fitted to the runs shown here.",
        ]
        .map(str::to_owned)
        .to_vec(),
        blocks: doubt.map(Block::Note).into_iter().chain(charts.map(Block::Chart)).collect(),
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
            series(compared, "predicted", Style::Curve, 0, |point| point.predicted.as_ref()),
            series(compared, "measured", Style::Points, 1, |point| point.measured.as_ref()),
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

fn errors(all: &[Compared]) -> Section {
    let row = |compared: &Compared, point: &ComparedPoint| {
        let micros = |figures: Option<&Figures>| match figures {
            Some(figures) => Cell::value(in_micros(figures.delay), 3),
            None => Cell::missing("not known"),
        };
        let error = point.error().map_or(Cell::missing("not known"), |error| Cell::text(percent(&error)));
        let term = point.term().map_or("not known".to_owned(), |term| term.to_string());
        Row::new(
            format!("{}, {}", compared.scheduling, load(point)),
            vec![
                micros(point.predicted.as_ref()),
                micros(point.measured.as_ref()),
                error,
                Cell::text(term),
                Cell::text(format!("{:.0}%", point.disturbed * 100.0)),
            ],
        )
    };
    let rows = all.iter().flat_map(|compared| compared.points.iter().map(move |point| row(compared, point)));
    let left_out = "Packets that met a time in which the machine kept a worker from running, or came shortly after, \
                    are left out of what was measured.";
    Section {
        heading: "How far off each prediction is".to_owned(),
        anchor: "errors".to_owned(),
        intro: vec![format!(
            "The error is the predicted mean delay over the measured one, less one. Where it exceeds {:.0}% and its \
             own interval, the last but one column says where most of it comes from.",
            GOOD * 100.0
        )],
        blocks: vec![Block::Table(Table {
            id: "errors-table".to_owned(),
            caption: "Mean delays in µs, by way to schedule and load (as a share of the predicted capacity)"
                .to_owned(),
            header: Table::simple_header([
                "",
                "predicted",
                "measured",
                "error",
                "most of it",
                "packets left out",
            ]),
            rows: rows.collect(),
            notes: iter::once(left_out.to_owned()).chain(meaning_of_marks(all)).collect(),
        })],
        folded: false,
    }
}

fn in_micros(time: Estimate<Nanos>) -> Estimate<f64> {
    let half = time.half_width.map(Nanos::micros).filter(|half| half.is_finite());
    Estimate { mean: time.mean.micros(), half_width: half }
}

fn explained(all: &[Compared]) -> Section {
    let costs = |compared: &Compared| {
        let value = |time| Cell::value(in_micros(time), 3);
        let of_point = |point: &ComparedPoint| {
            let costs = point.costs;
            let name = format!("{}, {:.0}%", compared.scheduling, point.load * 100.0);
            Row::new(name, vec![value(costs.deciding), value(costs.turning)])
        };
        compared.points.iter().map(of_point).collect::<Vec<_>>()
    };
    let mix = |compared: &Compared| {
        let point = compared.points.get(compared.points.len() / 2)?;
        let share = |figures: Option<&Figures>, situation: Situation| match figures {
            Some(figures) => Cell::text(format!("{:.1}%", figures.situations[situation.index()] * 100.0)),
            None => Cell::missing("not known"),
        };
        let cells = Situation::all().filter(|situation| situation.index() < 6).flat_map(|situation| {
            [share(point.predicted.as_ref(), situation), share(point.measured.as_ref(), situation)]
        });
        Some(Row::new(format!("{}, {:.0}%", compared.scheduling, point.load * 100.0), cells.collect()))
    };
    let situations = ["A1", "A2", "A3", "B1", "B2", "B3"];
    let columns =
        situations.into_iter().flat_map(|name| [format!("{name} predicted"), format!("{name} measured")]);
    Section {
        heading: "What the predictions are made of".to_owned(),
        anchor: "explained".to_owned(),
        intro: [
            "Beside the stack, a packet costs what the runtime does: deciding where it goes or, where it finds \
             one idle, turning a processor to it. Both were measured at the very rate of each point, between its runs, \
             with packets that only pass the time. That packets in one stack at once wait for each other's locks is not in the prediction.",
            "What a packet finds in cache depends on who wrote its session lines last (A: this processor, B: \
             another) and on the stack's history lines (1: not written, 2: last written here, 3: elsewhere). \
             The simulator and the runtime keep the same books of it.",
        ]
        .map(str::to_owned)
        .to_vec(),
        blocks: vec![
            Block::Table(Table {
                id: "overheads".to_owned(),
                caption: "What the runtime costs, in µs, measured with packets that only pass the time".to_owned(),
                header: Table::simple_header([
                    "",
                    "deciding, each packet",
                    "turning, packets that find an idle processor",
                ]),
                rows: all.iter().flat_map(costs).collect(),
                notes: Vec::new(),
            }),
            Block::Table(Table {
                id: "situations".to_owned(),
                caption: "Shares of packets in each situation, the thread's stack being in cache".to_owned(),
                header: Table::simple_header(iter::once(String::new()).chain(columns)),
                rows: all.iter().filter_map(mix).collect(),
                notes: Vec::new(),
            }),
        ],
        folded: false,
    }
}

fn limits() -> Section {
    let notes = [
        "The simulator has packets wait for processors, not for locks that others hold.",
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
    use crate::compare::overheads::RuntimeCosts;
    use warmcore_scenario::Scheduling;
    use warmcore_units::PerSecond;

    /// A point for each load in percent, at which the processors were near or not.
    fn compared(points: &[(u32, bool)]) -> Vec<Compared> {
        let nothing = Estimate::new(Nanos::ZERO, Nanos::ZERO);
        let point = |&(load, near): &(u32, bool)| ComparedPoint {
            load: f64::from(load) / 100.0,
            rate: PerSecond(1.0),
            predicted: None,
            measured: None,
            costs: RuntimeCosts { deciding: nothing, turning: nothing },
            disturbed: 0.0,
            rehearsal_disturbed: 0.0,
            near,
        };
        vec![Compared {
            scheduling: Scheduling::default(),
            capacity: Estimate::new(PerSecond(1.0), PerSecond(0.0)),
            points: points.iter().map(point).collect(),
        }]
    }

    /// The loads of the table of errors, as they are marked, and whether the mark is explained below it.
    fn marked(all: &[Compared]) -> (Vec<String>, bool) {
        let Section { blocks, .. } = errors(all);
        let [Block::Table(table)] = &blocks[..] else { panic!("one table") };
        let load = |row: &Row| row.header.rsplit(", ").next().map(str::to_owned);
        let is_explained = table.notes.iter().any(|note| note.starts_with(APART));
        (table.rows.iter().filter_map(load).collect(), is_explained)
    }

    #[test]
    fn points_at_another_distance_are_marked_and_the_mark_explained() {
        let all = compared(&[(20, true), (60, false), (80, true)]);
        assert_eq!(marked(&all), (["20%", "60% ‡", "80%"].map(str::to_owned).to_vec(), true));
        assert!(verdict(&all).headline.ends_with("at 1 of 3."), "{}", verdict(&all).headline);
    }

    #[test]
    fn where_all_were_near_nothing_is_said_of_it() {
        let all = compared(&[(20, true), (60, true)]);
        assert_eq!(marked(&all), (["20%", "60%"].map(str::to_owned).to_vec(), false));
        assert!(!verdict(&all).headline.contains("near"), "{}", verdict(&all).headline);
    }

    #[test]
    fn points_of_a_machine_that_did_too_much_else_are_marked_and_not_judged() {
        let mut all = compared(&[(20, true), (80, true), (90, true)]);
        all[0].points[1].disturbed = 0.3;
        all[0].points[2].rehearsal_disturbed = 0.3;
        assert_eq!(marked(&all).0, ["20%", "80% §", "90% §"].map(str::to_owned));
        assert_eq!(meaning_of_marks(&all).len(), 1);
        assert!(verdict(&all).headline.contains("At 2 of 3"), "{}", verdict(&all).headline);
    }
}
