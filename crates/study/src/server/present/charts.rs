//! Figures of a server against the rate of requests.

use crate::server::figures::ServerFigures;
use warmcore_record::Chart;
use warmcore_record::chart::{Axis, Choice, Look, Point, Series, Style, Unit, View};
use warmcore_units::{Estimate, Nanos, PerSecond};

/// A quantity of a chart.
#[derive(Clone, Copy)]
pub(super) struct Quantity {
    pub(super) id: &'static str,
    pub(super) name: &'static str,
    pub(super) of: fn(&ServerFigures) -> Estimate<Nanos>,
}

pub(super) const CPU: Quantity =
    Quantity { id: "server-cpu", name: "processor time for a request", of: ServerFigures::cpu };
pub(super) const DELAY: Quantity =
    Quantity { id: "server-delay", name: "mean delay", of: |figures| figures.delay };
pub(super) const P99: Quantity =
    Quantity { id: "server-p99", name: "99th percentile of delay", of: |figures| figures.p99 };

/// A line of a chart.
pub(super) struct Line {
    pub(super) name: String,
    pub(super) style: Style,
    pub(super) colour: usize,
    pub(super) figures: Vec<(PerSecond, ServerFigures)>,
}

impl Quantity {
    /// A chart with one view for each of `views`: its name, and its lines.
    pub(super) fn chart(self, caption: &str, choice: &str, views: Vec<(String, Vec<Line>)>) -> Chart {
        let options: Vec<String> = views.iter().map(|(name, _)| name.clone()).collect();
        let several = options.len() > 1;
        let view = |(index, (_, lines)): (usize, (String, Vec<Line>))| View {
            picks: if several { vec![index] } else { Vec::new() },
            series: lines.into_iter().map(|line| self.series(line)).collect(),
            ..View::default()
        };
        Chart {
            id: self.id.to_owned(),
            title: format!("{}{} against rate", self.name[..1].to_uppercase(), &self.name[1..]),
            caption: caption.to_owned(),
            x: Axis::log("requests per second", Unit::per_second()),
            y: Axis::log(self.name, Unit::seconds()),
            choices: if several {
                vec![Choice { label: choice.to_owned(), options, initial: 0 }]
            } else {
                Vec::new()
            },
            views: views.into_iter().enumerate().map(view).collect(),
        }
    }

    fn series(self, line: Line) -> Series {
        let point = |(rate, figures): &(PerSecond, ServerFigures)| {
            let time = (self.of)(figures);
            let half = time.half_width.map(Nanos::secs).filter(|half| half.is_finite());
            let mean = time.mean.secs();
            (mean.is_finite() && mean > 0.0).then(|| Point::new(rate.0, Estimate { mean, half_width: half }))
        };
        let points = line.figures.iter().filter_map(point).collect();
        Series {
            look: Some(Look { colour: line.colour, pattern: 0 }),
            ..Series::new(line.name, line.style, points)
        }
    }
}
