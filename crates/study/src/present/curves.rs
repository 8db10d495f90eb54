//! Charts of the predictions: delay and service time against rate, and capacity.

use super::shading::shading;
use crate::Findings;
use crate::decide::Advice;
use crate::predictions::{Curve, HostPredictions, PointMetric};
use warmcore_record::chart::{Axis, Choice, Look, Point, Scale, Series, Style, Unit, View};
use warmcore_record::{Block, Chart, Section};
use warmcore_scenario::{Combination, Organisation};
use warmcore_units::{Estimate, Nanos};

/// What the half-widths of predictions include.
pub(super) const RESAMPLED: &str =
    "The ± of every figure holds the uncertainty of the costs as well as that of the simulation.";

/// The section with the predictions.
#[must_use]
pub fn section(findings: &Findings) -> Section {
    Section {
        heading: "What each policy would do to the traffic".to_owned(),
        anchor: "prediction".to_owned(),
        intro: [
            "Each curve is one combination: how the stack is made parallel (Locking: one stack, shared under \
             locks; IPS: independent stacks, one for each processor), how a processor is chosen for a packet \
             (MRU: the one that processed a packet last; LRU: the one that processed a packet longest ago; \
             Wired-Streams: the one the packet's stream belongs to), and whether threads and free memory are \
             kept for each processor or in one global pool. Curves of global pools start hidden: the legend \
             shows them.",
            "At low rates the curves rise to the left because other work displaces the protocol's code and \
             data between packets; at high rates they rise to the right because packets wait for each other. \
             A curve ends where its combination can no longer keep up.",
        ]
        .map(str::to_owned)
        .to_vec(),
        blocks: vec![
            Block::Chart(delay(findings)),
            Block::Chart(service(findings)),
            Block::Chart(capacity(findings)),
        ],
        folded: false,
    }
}

fn delay(findings: &Findings) -> Chart {
    let view = |(index, host), (pick, delay): (usize, Delay)| View {
        picks: vec![index, pick],
        series: rate_series(host, findings.advice.get(index), delay.figure),
        ..shading(findings.advice.get(index).map_or(&[][..], |advice| &advice.regions))
    };
    let hosts = || findings.hosts.iter().enumerate();
    Chart {
        id: "delay".to_owned(),
        title: "Packet delay against arrival rate, for every combination".to_owned(),
        caption: format!(
            "From a packet's arrival to the end of its processing. What the verdict advises is drawn bold; the \
             shading says where. {RESAMPLED}"
        ),
        x: Axis::log("arrival rate", Unit::per_second()),
        y: Axis::log("packet delay", Unit::seconds()),
        choices: vec![processors(findings), Delay::choice()],
        views: hosts()
            .flat_map(|host| Delay::ALL.into_iter().enumerate().map(move |delay| view(host, delay)))
            .collect(),
    }
}

/// A figure of the delays of many packets.
#[derive(Clone, Copy)]
pub(super) struct Delay {
    name: &'static str,
    pub(super) figure: PointMetric,
}

impl Delay {
    pub(super) const ALL: [Self; 2] = [
        Self { name: "mean", figure: PointMetric::Delay },
        Self { name: "99th percentile", figure: PointMetric::P99 },
    ];

    /// The selector for them.
    pub(super) fn choice() -> Choice {
        let options = Self::ALL.map(|delay| delay.name.to_owned()).to_vec();
        Choice { label: "Delay".to_owned(), options, initial: 0 }
    }
}

fn service(findings: &Findings) -> Chart {
    Chart {
        id: "service".to_owned(),
        title: "Mean processing time against arrival rate".to_owned(),
        caption: format!(
            "The part of the delay in which a processor works on the packet, without waiting: what the caches \
             cost. {RESAMPLED}"
        ),
        x: Axis::log("arrival rate", Unit::per_second()),
        y: Axis::linear("mean processing time", Unit::seconds()),
        choices: vec![processors(findings)],
        views: views(findings, |index, host| View {
            series: rate_series(host, findings.advice.get(index), PointMetric::Service),
            ..View::default()
        }),
    }
}

fn capacity(findings: &Findings) -> Chart {
    let policies = findings.hosts.first().map_or_else(Vec::new, |host| {
        let mut names: Vec<String> = host.curves.iter().map(|curve| row(curve.combination)).collect();
        names.dedup();
        names.truncate(Combination::COUNT / 4);
        names
    });
    Chart {
        id: "capacity".to_owned(),
        title: "The highest rate each combination keeps up with".to_owned(),
        caption: format!(
            "Packets per second when more arrive than can be processed, by the organisation of pools. {RESAMPLED}"
        ),
        x: Axis::categories("approach and policy", policies),
        y: Axis { scale: Scale::Linear, ..Axis::log("capacity", Unit::per_second()) },
        choices: vec![processors(findings)],
        views: views(findings, |_, host| View { series: capacity_series(host), ..View::default() }),
    }
}

/// The row of the capacity chart that a combination belongs to.
fn row(combination: Combination) -> String {
    format!("{}, {}", combination.approach.short(), combination.policy)
}

/// One bar for each approach and policy, one series for each organisation of pools.
fn capacity_series(host: &HostPredictions) -> Vec<Series> {
    let mut rows: Vec<String> = host.curves.iter().map(|curve| row(curve.combination)).collect();
    rows.dedup();
    let point = |index: usize| {
        let place = rows.iter().position(|name| *name == row(host.curves[index].combination))?;
        let rate = host.capacity(index);
        let height = Estimate { mean: rate.mean.0, half_width: rate.half_width.map(|half| half.0) };
        Some(Point::new(place as f64, height))
    };
    let series = |(index, (name, curves)): (usize, (&str, Vec<usize>))| {
        let look = Some(Look { colour: index, pattern: index });
        Series { look, ..Series::new(name, Style::Bars, curves.into_iter().filter_map(point).collect()) }
    };
    by_pools(host).into_iter().enumerate().map(series).collect()
}

/// The indices in `host` of the curves with each organisation of pools, per-processor pools first.
fn by_pools(host: &HostPredictions) -> [(&'static str, Vec<usize>); 4] {
    use Organisation::{Global, PerProcessor};
    [
        ("per-processor pools", PerProcessor, PerProcessor),
        ("global memory pool", PerProcessor, Global),
        ("global thread pool", Global, PerProcessor),
        ("both pools global", Global, Global),
    ]
    .map(|(name, threads, memory)| {
        let is_so = |&curve: &usize| {
            let Combination { threads: of_threads, memory: of_memory, .. } = host.curves[curve].combination;
            (of_threads, of_memory) == (threads, memory)
        };
        (name, (0..host.curves.len()).filter(is_so).collect())
    })
}

/// The selector for the number of processors.
fn processors(findings: &Findings) -> Choice {
    let options = findings.hosts.iter().map(|host| host.processors.to_string());
    Choice { label: "Processors".to_owned(), options: options.collect(), initial: 0 }
}

fn views(findings: &Findings, view: impl Fn(usize, &HostPredictions) -> View) -> Vec<View> {
    let hosts = findings.hosts.iter().enumerate();
    hosts.map(|(index, host)| View { picks: vec![index], ..view(index, host) }).collect()
}

/// One line per combination, grouped by the organisation of pools. Lines with a global pool start hidden
/// unless they are advised.
fn rate_series(host: &HostPredictions, advice: Option<&Advice>, figure: PointMetric) -> Vec<Series> {
    let advised = |combination| {
        advice.is_some_and(|advice| advice.regions.iter().any(|region| region.best == combination))
    };
    let line = |pools: &str, curve: usize| {
        let combination = host.curves[curve].combination;
        let emphasised = advised(combination);
        Series {
            group: Some(pools.to_owned()),
            hidden: !combination.has_own_pools() && !emphasised,
            emphasised,
            ..rate_line(row(combination), host, curve, figure)
        }
    };
    let groups = by_pools(host).into_iter();
    groups
        .flat_map(|(pools, curves)| curves.into_iter().map(|curve| line(pools, curve)).collect::<Vec<_>>())
        .collect()
}

/// The line of a curve of `host`, with the colour of its policy and the dash of its approach. A point is
/// hollow if the simulation was not precise, or if costs as likely as the measured ones saturate it.
pub(super) fn rate_line(name: String, host: &HostPredictions, curve: usize, figure: PointMetric) -> Series {
    let Curve { combination, points, .. } = &host.curves[curve];
    let point = |rate: usize| {
        let outcome = points[rate].as_ref()?;
        let time = host.figure(figure, curve, rate)?;
        let half_width = time.half_width.map(Nanos::secs);
        let missed_target = !outcome.is_precise() || !host.always_keeps_up(curve, rate);
        let y = Estimate { mean: time.mean.secs(), half_width };
        Some(Point { missed_target, ..Point::new(host.rates[rate].0, y) })
    };
    let points = (0..host.rates.len()).filter_map(point).collect();
    let look = Look { colour: combination.policy as usize, pattern: combination.approach as usize };
    Series { look: Some(look), ..Series::new(name, Style::Line, points) }
}
