//! The report on a sweep.

use super::Swept;
use core::cmp::Ordering;
use warmcore_record::chart::{Axis, Choice, Look, Point, Series, Style, Unit, View};
use warmcore_record::document::{Confidence, ConfidenceLevel, ReportVerdict, Statement};
use warmcore_record::table::{Cell, Row};
use warmcore_record::{Block, Chart, Document, Manifest, Section, Table};
use warmcore_scenario::PacketScenario;
use warmcore_sim::packet::{Outcome, PointResult};
use warmcore_units::{Estimate, Nanos};

/// The points of one curve.
type Curve<'a> = &'a [(PacketScenario, PointResult)];

/// The report on `swept`, with its provenance. `costs` says whose costs were used, and why those.
#[must_use]
pub fn document(swept: &Swept, costs: &str, manifest: Manifest) -> Document {
    Document {
        title: "How policies compare on one host".to_owned(),
        subtitle: format!("{} points of {} curves. {costs}", swept.points.len(), swept.curves().count()),
        verdict: verdict(swept),
        sections: vec![delays(swept), capacities(swept), limits(swept)],
        manifest,
    }
}

/// Which curves have the highest capacity, on each host.
fn verdict(swept: &Swept) -> ReportVerdict {
    let statements: Vec<Statement> =
        hosts(swept).iter().filter_map(|host| most_capable(swept, host)).collect();
    let headline =
        statements.first().map_or_else(|| "Nothing was simulated.".to_owned(), |first| first.text.clone());
    ReportVerdict { headline, statements, ..ReportVerdict::default() }
}

fn most_capable(swept: &Swept, host: &ViewHost) -> Option<Statement> {
    let capacity = |curve: Curve| Some((name(curve)?, curve.first()?.1.capacity.rate));
    let mut ranked: Vec<_> = host.curves(swept).filter_map(capacity).collect();
    ranked.sort_by(|one, other| other.1.mean.0.total_cmp(&one.1.mean.0));
    let (_, most) = ranked.first()?;
    let best: Vec<&str> =
        ranked.iter().filter(|(_, rate)| rate.agrees_with(most)).map(|(name, _)| name.as_str()).collect();
    let (verb, reason) = match best.len() {
        1 => ("keeps", "its interval lies above that of every other"),
        _ => ("keep", "their intervals overlap with the highest, and lie above those of all others"),
    };
    Some(Statement {
        text: format!(
            "{}, {} {verb} up with the highest rate: {}.",
            host.in_words(),
            best.join(" / "),
            most.mean
        ),
        evidence: ranked.iter().map(|(name, rate)| format!("{name}: {rate}")).collect(),
        confidence: Confidence { level: ConfidenceLevel::High, reason: reason.to_owned() },
    })
}

fn delays(swept: &Swept) -> Section {
    Section {
        heading: "How long packets take".to_owned(),
        anchor: "delays".to_owned(),
        intro: [
            "Each curve is one way to schedule protocol work: how the stack is made parallel (Locking: one stack, \
             shared under locks; IPS: independent stacks; Hybrid: independent stacks whose streams are open in all \
             of them), and how a processor is chosen for a packet.",
            "At low rates curves rise to the left because other work displaces the protocol's code and data between \
             packets; at high rates they rise to the right because packets wait for each other. A curve ends where \
             its host can no longer keep up.",
        ]
        .map(str::to_owned)
        .to_vec(),
        blocks: vec![
            Block::Chart(chart(swept, "delay", "mean packet delay", "From a packet's arrival to the end of its processing.", |outcome| outcome.delay)),
            Block::Chart(chart(swept, "p99", "99th percentile of packet delay", "One packet in a hundred takes longer.", |outcome| outcome.quantiles.p99)),
            Block::Chart(chart(swept, "service", "mean processing time", "The part of the delay in which a processor works on the packet: what the caches cost.", |outcome| outcome.service)),
        ],
        folded: false,
    }
}

fn chart(
    swept: &Swept,
    id: &str,
    quantity: &str,
    caption: &str,
    of: fn(&Outcome) -> Estimate<Nanos>,
) -> Chart {
    let view = |host: &ViewHost| View {
        picks: host.picks.clone(),
        series: host.curves(swept).filter_map(|curve| series(curve, of)).collect(),
        ..View::default()
    };
    Chart {
        id: id.to_owned(),
        title: format!("{}{} against arrival rate", quantity[..1].to_uppercase(), &quantity[1..]),
        caption: caption.to_owned(),
        x: Axis::log("arrival rate", Unit::per_second()),
        y: Axis::log(quantity, Unit::seconds()),
        choices: choices(swept),
        views: hosts(swept).iter().map(view).collect(),
    }
}

/// A line with a point at each rate that the host keeps up with.
fn series(curve: Curve, of: fn(&Outcome) -> Estimate<Nanos>) -> Option<Series> {
    let scheduling = curve.first()?.0.scheduling;
    let point = |(_, result): &(PacketScenario, PointResult)| {
        let outcome = result.outcome.as_ref()?;
        let time = of(outcome);
        let half = time.half_width.map(Nanos::secs).filter(|half| half.is_finite());
        let y = Estimate { mean: time.mean.secs(), half_width: half };
        Some(Point {
            missed_target: result.capture.is_none() && !outcome.is_precise(),
            ..Point::new(result.rate.0, y)
        })
    };
    let mut points: Vec<Point> = curve.iter().filter_map(point).collect();
    points.sort_by(|one, other| one.x.total_cmp(&other.x));
    let look = Look { colour: scheduling.policy as usize, pattern: scheduling.approach as usize };
    Some(Series { look: Some(look), ..Series::new(scheduling.to_string(), Style::Line, points) })
}

fn capacities(swept: &Swept) -> Section {
    let row = |curve: Curve| {
        let (scenario, result) = curve.first()?;
        let rate = result.capacity.rate;
        let rate = Estimate { mean: rate.mean.0, half_width: rate.half_width.map(|half| half.0) };
        let cells = vec![
            Cell::text(scenario.processors.to_string()),
            Cell::text(scenario.traffic.batch.mean.to_string()),
            Cell::value(rate, 0),
        ];
        Some(Row::new(scenario.scheduling.to_string(), cells))
    };
    Section {
        heading: "What each keeps up with".to_owned(),
        anchor: "capacities".to_owned(),
        intro: vec![
            "The rate at which packets leave when more arrive than can be processed. If the busiest stack, or the busiest \
            processor with wired streams, is overloaded at a lower rate, that rate."
                .to_owned(),
        ],
        blocks: vec![Block::Table(Table {
            id: "capacity".to_owned(),
            caption: "Capacity in packets per second".to_owned(),
            header: Table::simple_header(["Scheduling", "Processors", "Packets in a batch", "Capacity"]),
            rows: swept.curves().filter_map(row).collect(),
            notes: Vec::new(),
        })],
        folded: false,
    }
}

fn limits(swept: &Swept) -> Section {
    let mut notes = vec![
        "All points of one rate see the same arrivals, so differences between curves are known better than the half-widths \
        of the two suggest.",
        "A half-width is that of a 95% confidence interval. It includes the uncertainty of the simulation, not that of \
        the measured costs.",
    ];
    if swept.points.iter().any(|(_, result)| result.capture.is_some()) {
        notes.push(
            "A trace is simulated once, as a whole. Its delays are those of its packets; nothing shows how far another \
            trace would differ, so they have no intervals. Since a trace ends, it also has delays at rates that the host \
            does not keep up with; those depend on its length.",
        );
    }
    Section {
        heading: "What to keep in mind".to_owned(),
        anchor: "limits".to_owned(),
        intro: Vec::new(),
        blocks: notes.into_iter().map(|note| Block::Note(note.to_owned())).collect(),
        folded: false,
    }
}

/// What the curves of one view have in common.
struct ViewHost {
    picks: Vec<usize>,
    processors: u32,
    batch: f64,
}

impl ViewHost {
    fn curves<'a>(&self, swept: &'a Swept) -> impl Iterator<Item = Curve<'a>> {
        swept.curves().filter(|curve| curve.first().is_some_and(|(scenario, _)| self.has(scenario)))
    }

    fn has(&self, scenario: &PacketScenario) -> bool {
        scenario.processors == self.processors && scenario.traffic.batch.mean == self.batch
    }

    fn in_words(&self) -> String {
        let plural = if self.processors == 1 { "" } else { "s" };
        let batch = if self.batch == 1.0 { String::new() } else { format!(" and batches of {}", self.batch) };
        format!("With {} processor{plural}{batch}", self.processors)
    }
}

/// One view for each combination of processors and batches, which the reader selects.
fn hosts(swept: &Swept) -> Vec<ViewHost> {
    let (processors, batches) = (processors(swept), batches(swept));
    let host = |(index, &processors): (usize, &u32)| {
        let batches = batches.iter().enumerate();
        let with =
            move |(pick, &batch): (usize, &f64)| ViewHost { picks: vec![index, pick], processors, batch };
        batches.map(with).collect::<Vec<_>>()
    };
    processors.iter().enumerate().flat_map(host).collect()
}

fn choices(swept: &Swept) -> Vec<Choice> {
    let choice = |label: &str, options: Vec<String>| Choice { label: label.to_owned(), options, initial: 0 };
    vec![
        choice("Processors", processors(swept).iter().map(u32::to_string).collect()),
        choice("Packets in a batch", batches(swept).iter().map(f64::to_string).collect()),
    ]
}

fn processors(swept: &Swept) -> Vec<u32> {
    distinct(swept.request.curves().iter().map(|curve| curve.processors))
}

fn batches(swept: &Swept) -> Vec<f64> {
    distinct(swept.request.curves().iter().map(|curve| curve.traffic.batch.mean))
}

/// The distinct values, in ascending order.
fn distinct<T: PartialOrd>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut values: Vec<T> = values.collect();
    values.sort_by(|one, other| one.partial_cmp(other).unwrap_or(Ordering::Equal));
    values.dedup();
    values
}

fn name(curve: Curve) -> Option<String> {
    Some(curve.first()?.0.scheduling.to_string())
}
