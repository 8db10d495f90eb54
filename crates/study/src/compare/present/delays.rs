//! Delays in charts: lines are predicted, markers measured.

use crate::compare::figures::LoadFigures;
use crate::compare::point::{ComparedPoint, PredictionModel};
use crate::compare::{Compared, Comparison};
use warmcore_record::chart::{Axis, Choice, Look, Point, Series, Style, Unit, View};
use warmcore_record::{Block, Chart, Section};
use warmcore_units::{Estimate, Nanos};

pub(super) fn section(comparison: &Comparison, doubts: &[String]) -> Section {
    let all = &comparison.compared;
    let charts = [
        chart(all, "median", "median packet delay", |figures| figures.p50),
        chart(all, "p99", "99th percentile of packet delay", |figures| figures.p99),
        chart(all, "stack", "mean time in the stack", |figures| figures.stack),
    ];
    let fitted: Vec<_> =
        comparison.costs.iter().map(|costs| format!("{} at {}", costs.scheduling, costs.rate)).collect();
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
                 stack costs from a calibration, and what the runtime itself costs from runs under {}. \
                 That is all that was fitted; the runs shown here were predicted and made afterwards.",
                fitted.join(" and ")
            ),
            "The null model is the same simulation, in which all packets take as long in the stack as they did on average in \
            those runs: it knows nothing of caches. Whatever the prediction does better comes from the model of caches."
                .to_owned(),
        ],
        blocks: doubts.iter().cloned().map(Block::Note).chain(charts.map(Block::Chart)).collect(),
        folded: false,
    }
}

pub(super) fn chart(
    all: &[Compared],
    id: &str,
    quantity: &str,
    of: fn(&LoadFigures) -> Estimate<Nanos>,
) -> Chart {
    let series = |compared: &Compared,
                  name: &str,
                  style: Style,
                  colour: usize,
                  pick: fn(&ComparedPoint) -> Option<&LoadFigures>| {
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
            series(compared, "predicted", Style::Curve, 0, |point| point.by(PredictionModel::Caches)),
            series(compared, "null model", Style::Curve, 2, |point| point.by(PredictionModel::Null)),
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
