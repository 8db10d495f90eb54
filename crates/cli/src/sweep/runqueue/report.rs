//! The report of a sweep: the picture that answers first, then what affinity, quanta and slices do to misses and waits, then each
//! application.

use super::tables::{longest, meaning};
use super::{Swept, points};
use crate::simulate::runqueue::advice::{losers, not_advised, sentence, starving};
use warmcore_record::chart::{Axis, Direction, Mark, Point, Series, Style, Unit, View};
use warmcore_record::document::{KeyFigure, ReportVerdict, Section};
use warmcore_record::table::{Cell, Row};
use warmcore_record::{Block, Chart, Document, Manifest, Table};
use warmcore_sim::runqueue::advice::{
    Alternative, GREATEST_LOSS_PERCENT, RunFigures, STARVED_FACTOR, STARVED_S, WORTH_PERCENT, advise,
    longest_wait,
};
use warmcore_units::Estimate;

/// How many applications the first chart shows at once; the reader shows the others from the legend.
const SHOWN: usize = 6;

pub(super) fn report(swept: &Swept, manifest: Manifest) -> Document {
    let scenario = &swept.scenario;
    let name =
        if scenario.name.is_empty() { "A mix in a run queue".to_owned() } else { scenario.name.clone() };
    Document {
        title: name,
        subtitle: format!(
            "{} processes on {} cpus under {}",
            scenario.processes(),
            scenario.machine.cpus,
            points::name(&scenario.scheduler, scenario.machine.cpus)
        ),
        verdict: verdict(swept),
        sections: vec![harm(swept), causes(swept)],
        manifest,
    }
}

fn verdict(swept: &Swept) -> ReportVerdict {
    ReportVerdict {
        headline: sentence(&swept.scenario, swept.base(), &swept.assessed),
        confidence: None,
        scope: format!(
            "{} All use the same random demands. ± is the half-width of the 95 % interval over the runs, and holds nothing of \
             how sure the scenario's own figures are.",
            meaning(swept)
        ),
        chart: (!swept.assessed.is_empty()).then(|| gains(swept)),
        figures: key_figures(swept),
        ..ReportVerdict::default()
    }
}

/// Of the scheduler that the advice names, or else of the fastest: what the mix gains, what the application gains that gains
/// least, and the longest wait.
fn key_figures(swept: &Swept) -> Vec<KeyFigure> {
    let known = swept.assessed.iter().filter(|one| !one.gain.mean.is_nan());
    let fastest = known.max_by(|one, other| one.gain.mean.total_cmp(&other.gain.mean));
    let Some(one) = advise(swept.base(), &swept.assessed).about().or(fastest) else { return Vec::new() };
    let percent = |gain: &Estimate<f64>, meaning: String| KeyFigure {
        value: format!("{:+.2} %", gain.mean).replace('-', "−"),
        half_width: half_width(gain, "%"),
        meaning,
    };
    let mut figures = vec![percent(&one.gain, format!("gain of the mix, with {}", one.alternative.name))];
    let places = one.gains.iter().zip(&swept.scenario.applications).filter(|(gain, _)| !gain.mean.is_nan());
    let least = places.min_by(|one, other| one.0.mean.total_cmp(&other.0.mean));
    figures.extend(least.map(|(gain, application)| {
        percent(gain, format!("gain of {}, the least of an application", application.name))
    }));
    let waits = |waits: &[Estimate<f64>]| waits.iter().copied().max_by(|a, b| a.mean.total_cmp(&b.mean));
    let own: Vec<Estimate<f64>> =
        (0..one.longest_waits.len()).map(|place| longest_wait(swept.base(), place)).collect();
    if let (Some(now), Some(then)) = (waits(&own), waits(&one.longest_waits)) {
        figures.push(KeyFigure {
            value: format!("{:.2} s", then.mean),
            half_width: half_width(&then, "s"),
            meaning: format!(
                "the longest wait in the queue, {:.2} s with the scenario's scheduler",
                now.mean
            ),
        });
    }
    figures
}

fn half_width(estimate: &Estimate<f64>, unit: &str) -> String {
    match estimate.half() {
        half if half.is_finite() => format!("± {half:.2} {unit}"),
        _ => String::new(),
    }
}

/// The gain of the mix and of each application with each scheduler.
fn gains(swept: &Swept) -> Chart {
    let point = |(place, gain): (usize, &Estimate<f64>)| {
        (!gain.mean.is_nan()).then(|| Point::new(place as f64, *gain))
    };
    let mix = swept.assessed.iter().map(|one| &one.gain).enumerate().filter_map(point);
    let mut series = vec![Series { emphasised: true, ..Series::new("the mix", Style::Bars, mix.collect()) }];
    for (place, application) in swept.scenario.applications.iter().enumerate() {
        let points = swept.assessed.iter().map(|one| &one.gains[place]).enumerate().filter_map(point);
        let one = Series::new(application.name.clone(), Style::Points, points.collect());
        series.push(Series { hidden: place >= SHOWN, ..one });
    }
    let marks = vec![Mark {
        label: format!("{WORTH_PERCENT} %: the least that is advised"),
        axis: Direction::Y,
        at: WORTH_PERCENT,
    }];
    Chart {
        id: "gains".to_owned(),
        title: "What other schedulers would gain".to_owned(),
        caption: format!("Bars are the whole mix, points its applications. {}", meaning(swept)),
        x: schedulers(swept, swept.assessed.iter().map(|one| &one.alternative)),
        y: Axis::linear("gain over the scenario's scheduler", Unit::plain("%")),
        choices: Vec::new(),
        views: vec![View { series, marks, ..View::default() }],
    }
}

/// An axis of schedulers, in a word or two each.
fn schedulers<'a>(swept: &Swept, all: impl Iterator<Item = &'a Alternative>) -> Axis {
    let cpus = swept.scenario.machine.cpus;
    let names = all.map(|one| match one.name.as_str() {
        points::OWN => "now".to_owned(),
        _ => points::label(&one.scheduler, cpus),
    });
    Axis::categories("affinity and quantum, or slice", names)
}

/// What each scheduler does to each application.
fn harm(swept: &Swept) -> Section {
    let base = swept.base();
    let mut intro = vec![format!(
        "An alternative is not advised if it makes an application slower by more than {GREATEST_LOSS_PERCENT} %, or wait longer \
         than {STARVED_S} s and {STARVED_FACTOR} times as long as now."
    )];
    intro.extend(losers(&swept.scenario, base, &swept.assessed));
    intro.extend(not_advised(&swept.scenario, base, &swept.assessed));
    intro.extend(starving(&swept.scenario, base, &swept.assessed));
    let mut rows = Vec::new();
    for ((one, runs), assessed) in swept.all.iter().zip(swept.assessments()) {
        for (place, application) in swept.scenario.applications.iter().enumerate() {
            let gain = assessed.map(|assessed| assessed.gains[place]);
            let gain = match gain {
                None => Cell::text("–"),
                Some(gain) if gain.mean.is_nan() => Cell::missing("it computed nothing"),
                Some(gain) => Cell::value(gain, 2),
            };
            let wait = Cell::value(longest_wait(runs, place), 3);
            rows.push(Row::new(one.name.clone(), vec![Cell::text(application.name.clone()), gain, wait]));
        }
    }
    let table = Table {
        id: "applications".to_owned(),
        caption: "Gain in percent, and the longest wait in the queue in seconds".to_owned(),
        header: Table::simple_header(["scheduler", "application", "gain, %", "longest wait, s"]),
        rows,
        notes: Vec::new(),
    };
    Section {
        heading: "Whom it helps, and whom it harms".to_owned(),
        anchor: "harm".to_owned(),
        intro,
        blocks: vec![Block::Table(table)],
        folded: false,
    }
}

/// What is behind the gains.
fn causes(swept: &Swept) -> Section {
    let chart = |id: &str, title: &str, label: &str, unit: &str, of: fn(&RunFigures) -> f64| {
        let points =
            swept.figures(of).enumerate().map(|(place, (_, figure))| Point::new(place as f64, figure));
        let series = vec![Series::new(label, Style::Bars, points.collect())];
        Block::Chart(Chart {
            id: id.to_owned(),
            title: title.to_owned(),
            caption: "Means over independent runs, with the half-widths of their 95 % intervals.".to_owned(),
            x: schedulers(swept, swept.all.iter().map(|(one, _)| one)),
            y: Axis::linear(label, Unit::plain(unit)),
            choices: Vec::new(),
            views: vec![View { series, ..View::default() }],
        })
    };
    Section {
        heading: "What is behind the gains".to_owned(),
        anchor: "causes".to_owned(),
        intro: Vec::new(),
        blocks: vec![
            chart("misses", "Cache misses", "misses", "million", |run| run.misses / 1e6),
            chart("migrations", "Dispatches on another cpu than before", "migrations", "/s", |run| {
                run.migrations_per_s
            }),
            chart("waits", "Longest wait in the queue", "longest wait", "s", longest),
        ],
        folded: false,
    }
}
