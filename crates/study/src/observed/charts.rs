//! The charts of one point.

use std::collections::BTreeMap;
use warmcore_record::chart::{Axis, Direction, Mark, Point, Region, Series, Style, Unit, View};
use warmcore_record::{Block, Chart, Section};
use warmcore_sim::packet::observe::{Distribution, TimeSeries, WarmupSeries};
use warmcore_sim::packet::{Observed, Outcome};
use warmcore_units::{Estimate, Nanos};

/// Points of a curve, at most.
const SHOWN: usize = 500;
/// Steps of a distribution, at most.
const STEPS: i64 = 160;

/// The distribution of delays and service times; `None` if it was not observed.
pub(super) fn distribution(outcome: &Outcome, observed: &Observed) -> Option<Chart> {
    let (delays, services) = (observed.delays.as_ref()?, observed.services.as_ref()?);
    let marks = [("mean", outcome.delay.mean), ("p99", outcome.quantiles.p99.mean)];
    let mark =
        |(label, at): (&str, Nanos)| Mark { label: label.to_owned(), axis: Direction::X, at: at.secs() };
    let per_octave = steps_per_octave([delays, services]);
    let curve = |name: &str, of: &Distribution| Series::new(name, Style::Curve, density(of, per_octave));
    Some(Chart {
        id: "distribution".to_owned(),
        title: "How delays are distributed".to_owned(),
        caption: format!(
            "How densely packets lie, after the warm-up: the share of them for each e-fold of time (a factor of 2.72), in steps of \
             {:.1}%. The area under a curve is 1. Where both curves meet, packets hardly wait.",
            ((1.0 / per_octave as f64).exp2() - 1.0) * 100.0
        ),
        x: Axis::log("time", Unit::seconds()),
        y: Axis::linear("share of packets for each e-fold", Unit::plain("")),
        choices: Vec::new(),
        views: vec![View {
            series: vec![curve("delay", delays), curve("time in service", services)],
            marks: marks.map(mark).to_vec(),
            ..View::default()
        }],
    })
}

/// The number of steps per octave, a power of two, that gives at most [`STEPS`] in all.
fn steps_per_octave(of: [&Distribution; 2]) -> i64 {
    let ends = |least: f64, of: &Distribution| {
        of.from_ns.iter().copied().find(|&from| from > 0.0).map_or(least, |from| from.min(least))
    };
    let least = of.iter().fold(f64::INFINITY, |least, of| ends(least, of));
    let most = of.iter().filter_map(|of| of.to_ns.last().copied()).fold(0.0, f64::max);
    let octaves = (most / least).log2().max(0.1);
    [64, 32, 16, 8, 4].into_iter().find(|&steps| octaves * steps as f64 <= STEPS as f64).unwrap_or(2)
}

/// The density of packets over the logarithm of time, in each step, with the empty steps between them and beside. Buckets are of other
/// widths than steps: the packets of one lie evenly between its ends.
fn density(of: &Distribution, per_octave: i64) -> Vec<Point> {
    let all = of.count().max(1) as f64;
    let per_octave = per_octave as f64;
    let mut steps: BTreeMap<i64, f64> = BTreeMap::new();
    for ((from, to), &packets) in of.from_ns.iter().zip(&of.to_ns).zip(&of.packets) {
        // Times below a nanosecond count as one.
        let [from, to] = [from, to].map(|end| end.max(1.0).log2() * per_octave);
        let share = packets as f64 / all;
        let (first, last) = (from.floor(), (to.ceil() - 1.0).max(from.floor()));
        for step in first as i64..=last as i64 {
            let within = to.min(step as f64 + 1.0) - from.max(step as f64);
            let part = if to > from { within / (to - from) } else { 1.0 };
            *steps.entry(step).or_default() += share * part;
        }
    }
    let (Some((&first, _)), Some((&last, _))) = (steps.first_key_value(), steps.last_key_value()) else {
        return Vec::new();
    };
    let width = core::f64::consts::LN_2 / per_octave;
    let point = |step: i64| {
        let middle = ((step as f64 + 0.5) / per_octave).exp2();
        let share = steps.get(&step).copied().unwrap_or(0.0);
        Point::new(Nanos(middle).secs(), Estimate::published(share / width))
    };
    (first - 1..=last + 1).map(point).collect()
}

/// How the delay settled, and what was cut.
pub(super) fn warmup(observed: &Observed) -> Option<Section> {
    let warmup = observed.warmup.as_ref()?;
    let replications: Vec<u64> = (0..).take(warmup.warmup_packets.len()).collect();
    let series = |&replication: &u64| Series {
        hidden: replication > 0,
        ..Series::new(format!("run {}", replication + 1), Style::Curve, settling(warmup, replication))
    };
    let ends = warmup.cut.iter().zip(&warmup.replication).zip(&warmup.end_ns);
    let cut = ends
        .filter(|((cut, replication), _)| **cut && **replication == 0)
        .map(|(_, &end)| Nanos(end).secs())
        .next_back();
    let region = cut.map(|to| Region { label: "left out".to_owned(), from: 0.0, to });
    let left_out = warmup.warmup_packets.first().copied().unwrap_or(0);
    Some(Section {
        heading: "The start that was cut".to_owned(),
        anchor: "settling".to_owned(),
        intro: vec![
            "A run begins with an empty host and cold caches. What packets experience then is not typical, so the start is \
             left out of every figure but this chart and the time series. If the curve still rises or falls right of the \
             shaded part, the cut is too short: --warmup-packets sets another."
                .to_owned(),
        ],
        blocks: vec![Block::Chart(Chart {
            id: "warm-up".to_owned(),
            title: "Mean delay from the start of a run".to_owned(),
            caption: format!("Each point is a batch of packets. The first {left_out} packets are left out."),
            x: Axis::linear("simulated time", Unit::seconds()),
            y: Axis::linear("mean delay", Unit::seconds()),
            choices: Vec::new(),
            views: vec![View {
                series: replications.iter().map(series).collect(),
                regions: region.into_iter().collect(),
                ..View::default()
            }],
        })],
        folded: false,
    })
}

fn settling(warmup: &WarmupSeries, replication: u64) -> Vec<Point> {
    let rows = warmup.replication.iter().zip(&warmup.end_ns).zip(&warmup.mean_delay_ns);
    let own = rows.filter(|((of, _), _)| **of == replication);
    own.map(|((_, &end), &delay)| Point::new(Nanos(end).secs(), Estimate::published(Nanos(delay).secs())))
        .collect()
}

/// What happened over time in the first run.
pub(super) fn series(observed: &Observed) -> Option<Section> {
    let series = observed.series.as_ref()?;
    let rows = series.replication.iter().take_while(|&&replication| replication == 0).count();
    let joined = rows.div_ceil(SHOWN).max(1);
    let parts: Vec<Vec<usize>> =
        (0..rows).collect::<Vec<_>>().chunks(joined).map(<[usize]>::to_vec).collect();
    let chart = |id: &str, title: &str, caption: &str, axis: Axis, curves: Vec<(&str, Reading)>| {
        let curve = |(name, read): (&str, Reading)| {
            let point = |part: &Vec<usize>| {
                let at = Nanos(series.start_ns[part[0]]).secs();
                Some(Point::new(at, Estimate::published(read(series, part)?)))
            };
            Series::new(name, Style::Curve, parts.iter().filter_map(point).collect())
        };
        Block::Chart(Chart {
            id: id.to_owned(),
            title: title.to_owned(),
            caption: caption.to_owned(),
            x: Axis::linear("simulated time", Unit::seconds()),
            y: axis,
            choices: Vec::new(),
            views: vec![View { series: curves.into_iter().map(curve).collect(), ..View::default() }],
        })
    };
    let window = Nanos(series.window_ns);
    let together =
        if joined > 1 { format!(" Each point stands for {joined} of them.") } else { String::new() };
    Some(Section {
        heading: "Over time".to_owned(),
        anchor: "time".to_owned(),
        intro: vec![format!("The first run, from the empty host on, in windows of {window}.{together}")],
        blocks: vec![
            chart(
                "time-delay",
                "Delay of the packets finished in a window",
                "From arrival to the end of service.",
                Axis::linear("delay", Unit::seconds()),
                vec![("mean", mean_delay), ("longest", longest)],
            ),
            chart(
                "time-present",
                "Packets present",
                "Those that have arrived and are not finished, averaged over the time of a window. If they keep growing, the host does not keep up.",
                Axis::linear("packets present", Unit::plain("")),
                vec![("mean over the window", |series, part| Some(mean(&series.mean_present, part)))],
            ),
            chart(
                "time-rate",
                "Packets that arrive and are finished",
                "Where fewer are finished than arrive, packets pile up.",
                Axis::linear("rate", Unit::per_second()),
                vec![
                    ("arrivals", |series, part| Some(rate(&series.arrivals, part, series.window_ns))),
                    ("finished", |series, part| Some(rate(&series.finished, part, series.window_ns))),
                ],
            ),
            chart(
                "time-utilisation",
                "Utilisation of the processors",
                "The share of their time in which processors work on packets.",
                Axis::linear("utilisation", Unit::plain("%")),
                vec![("all processors", |series, part| Some(mean(&series.utilisation, part) * 100.0))],
            ),
        ],
        folded: false,
    })
}

/// Reads a value from some windows of a series; `None` if they have none.
type Reading = fn(&TimeSeries, &[usize]) -> Option<f64>;

fn mean_delay(series: &TimeSeries, part: &[usize]) -> Option<f64> {
    let packets: u64 = part.iter().map(|&row| series.finished[row]).sum();
    let sum: f64 =
        part.iter().map(|&row| series.mean_delay_ns[row].unwrap_or(0.0) * series.finished[row] as f64).sum();
    (packets > 0).then(|| Nanos(sum / packets as f64).secs())
}

fn longest(series: &TimeSeries, part: &[usize]) -> Option<f64> {
    part.iter()
        .filter_map(|&row| series.max_delay_ns[row])
        .max_by(f64::total_cmp)
        .map(|time| Nanos(time).secs())
}

fn mean(of: &[f64], part: &[usize]) -> f64 {
    part.iter().map(|&row| of[row]).sum::<f64>() / part.len() as f64
}

fn rate(of: &[u64], part: &[usize], window_ns: f64) -> f64 {
    let packets: u64 = part.iter().map(|&row| of[row]).sum();
    packets as f64 / (Nanos(window_ns).secs() * part.len() as f64)
}

/// The mean delays of the streams, from the quickest to the slowest.
pub(super) fn streams(observed: &Observed) -> Option<Section> {
    let streams = observed.streams.as_ref()?;
    let mut ranked: Vec<(usize, f64)> = streams
        .mean_delay_ns
        .iter()
        .enumerate()
        .filter_map(|(stream, delay)| Some((stream, (*delay)?)))
        .collect();
    ranked.sort_by(|one, other| one.1.total_cmp(&other.1));
    let every = ranked.len().div_ceil(SHOWN).max(1);
    let last = ranked.len().saturating_sub(1);
    let shown = ranked.iter().enumerate().filter(|(rank, _)| rank % every == 0 || *rank == last);
    let point = |(rank, &(stream, delay)): (usize, &(usize, f64))| {
        let half = streams.delay_half_width_ns[stream].map(|half| Nanos(half).secs());
        let note = format!("stream {stream}, {} packets", streams.packets[stream]);
        let y = Estimate { mean: Nanos(delay).secs(), half_width: half };
        Point { note: Some(note), ..Point::new(rank as f64 + 1.0, y) }
    };
    Some(Section {
        heading: "Stream by stream".to_owned(),
        anchor: "streams".to_owned(),
        intro: vec![format!("{} streams, of which {} had packets.", streams.packets.len(), ranked.len())],
        blocks: vec![Block::Chart(Chart {
            id: "stream-delay".to_owned(),
            title: "Mean delay of each stream".to_owned(),
            caption: "Streams stand in the order of their mean delays.".to_owned(),
            x: Axis::linear("rank of the stream", Unit::plain("")),
            y: Axis::linear("mean delay", Unit::seconds()),
            choices: Vec::new(),
            views: vec![View {
                series: vec![Series::new("mean delay", Style::Points, shown.map(point).collect())],
                ..View::default()
            }],
        })],
        folded: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As many packets in each bucket as its width on a logarithmic axis: the density is the same everywhere, though no step holds
    /// whole buckets.
    #[test]
    fn an_even_distribution_has_an_even_density() {
        let bounds: Vec<f64> = (0..=256)
            .map(|i| 1024.0 * (1.0 + f64::from(i % 128) / 128.0) * f64::from(1 << (i / 128)))
            .collect();
        let packets = bounds.windows(2).map(|ends| ((ends[1] / ends[0]).ln() * 1e9) as u64).collect();
        let of = Distribution { from_ns: bounds[..256].to_vec(), to_ns: bounds[1..].to_vec(), packets };
        for per_octave in [64, 16, 4] {
            let points = density(&of, per_octave);
            let even = 1.0 / 4_f64.ln();
            for point in &points[1..points.len() - 1] {
                assert!((point.y.mean / even - 1.0).abs() < 0.02, "{per_octave}: {point:?}");
            }
            let area: f64 =
                points.iter().map(|point| point.y.mean).sum::<f64>() * 2_f64.ln() / per_octave as f64;
            assert!((area - 1.0).abs() < 1e-9, "{area}");
        }
    }
}
