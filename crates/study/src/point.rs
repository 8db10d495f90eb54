//! The figures of simulated points for other programs: of one point as a JSON object, of several as a table.
//!
//! A value that is not known is null, never a number: every delay of a saturated point, and a half-width that
//! too few observations leave unknown.

use core::fmt;
use serde::ser::{Serialize, SerializeMap, Serializer};
use warmcore_costs::{Profile, Situation, ThreadStack};
use warmcore_record::columns::ColumnsError;
use warmcore_record::{Column, Columns, Estimate};
use warmcore_scenario::{Extensions, PacketScenario, Process, ProcessorPolicy, Service};
use warmcore_sim::packet::columns::columns as outcome_columns;
use warmcore_sim::packet::{ExtensionFigures, Outcome, PairedComparison, PointResult};
use warmcore_units::Nanos;
use warmcore_workload::{Capture, Popularity};

/// Figures in the order in which they are shown.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct NamedFigures(Vec<NamedFigure>);

/// One figure.
#[derive(Clone, PartialEq, Debug)]
struct NamedFigure {
    /// Its name in JSON and in a table. It ends in the unit, if there is one.
    name: &'static str,
    /// The unit's symbol.
    unit: &'static str,
    value: Value,
}

#[derive(Clone, PartialEq, Debug)]
enum Value {
    Quantity(Option<f64>),
    Count(Option<u64>),
    Flag(Option<bool>),
    Name(String),
    /// The number of packets that found each situation.
    Situations(Option<[u64; Situation::COUNT]>),
}

impl NamedFigures {
    /// The scenario, in the terms of its document.
    #[must_use]
    pub fn from_scenario(scenario: &PacketScenario) -> Self {
        let PacketScenario { scheduling, traffic, effects, run, .. } = scenario;
        let is_trace = matches!(traffic.process, Process::Trace(_));
        let zipf = match traffic.popularity {
            Popularity::Uniform => None,
            Popularity::Zipf(exponent) => Some(exponent),
        };
        let mut figures = vec![
            name("profile", &scenario.profile),
            count("seed", Some(scenario.seed)),
            name("approach", &scheduling.approach),
            name("policy", &scheduling.policy),
            name("queue", &scheduling.queue),
            name("threads", &scheduling.threads),
            name("thread_order", &scheduling.thread_order),
            name("memory", &scheduling.memory),
            count("processors", Some(scenario.processors.into())),
            name("stacks", &scenario.stacks),
            count("streams", Some(traffic.streams.into()).filter(|_| !is_trace)),
            quantity("zipf", "", zipf),
            name("process", traffic.process.name()),
            quantity("batch", "packets", Some(traffic.batch.mean)),
            name("batch_distribution", &traffic.batch.distribution),
            quantity("send_fraction", "", Some(traffic.send_fraction)),
            quantity("checksum_ns_per_byte", "ns", Some(effects.checksum_ns_per_byte)),
            quantity("copy_ns_per_byte", "ns", Some(effects.copy_ns_per_byte)),
            quantity("send_path", "", Some(effects.send_path)),
            quantity("map_lock_ns", "ns", Some(effects.map_lock_ns)),
            quantity("session_lock_ns", "ns", Some(effects.session_lock_ns)),
            quantity("decision_ns", "ns", Some(effects.decision_ns)),
            quantity("start_ns", "ns", Some(effects.start_ns)),
            quantity("staleness_ns", "ns", Some(effects.staleness_ns)),
            quantity("precision", "", Some(run.precision)),
            count("max_packets", Some(run.max_packets)),
            count("replications", Some(run.replications.into())),
        ];
        // Where they are given, so that they change nothing elsewhere.
        figures.extend(run.packets.map(|packets| count("fixed_packets", Some(packets))));
        figures.extend(run.warmup_packets.map(|packets| count("fixed_warmup_packets", Some(packets))));
        // Only where they are given: they are no part of most scenarios.
        if scenario.service != Service::default() {
            figures.push(name("service", scenario.service.distribution.name()));
        }
        if let Some(limit) = scenario.queues.limit {
            figures.push(count("queue_limit", Some(limit.into())));
            figures.push(name("queue_scope", &scenario.queues.scope));
        }
        Self(figures)
    }

    /// The machine whose costs were used, and who `chose` them.
    #[must_use]
    pub fn from_profile(profile: &Profile, chose: &str) -> Self {
        Self(vec![name("machine", &profile.name), name("profile_chosen", chose)])
    }

    /// The result of the point.
    #[must_use]
    pub fn from_result(result: &PointResult) -> Self {
        let capacity = result.capacity;
        let outcome = result.outcome.as_ref();
        let plain = |of: fn(&Outcome) -> f64| outcome.map(of);
        let mut figures = vec![
            quantity("rate_per_s", "/s", Some(result.rate.0)),
            flag("saturated", is_saturated(result)),
            quantity("capacity_per_s", "/s", Some(capacity.rate.mean.0)),
            quantity("capacity_half_width_per_s", "/s", capacity.rate.half_width.map(|half| half.0)),
        ];
        figures
            .extend(time(["capacity_service_us", "capacity_service_half_width_us"], Some(capacity.service)));
        let times: [(_, fn(&Outcome) -> _); 5] = [
            (["mean_delay_us", "delay_half_width_us"], |outcome| outcome.delay),
            (["mean_service_us", "service_half_width_us"], |outcome| outcome.service),
            (["p50_us", "p50_half_width_us"], |outcome| outcome.quantiles.p50),
            (["p99_us", "p99_half_width_us"], |outcome| outcome.quantiles.p99),
            (["p999_us", "p999_half_width_us"], |outcome| outcome.quantiles.p999),
        ];
        figures.extend(times.into_iter().flat_map(|(names, of)| time(names, outcome.map(of))));
        figures.extend([
            quantity("utilisation", "", plain(|outcome| outcome.utilisation.mean)),
            quantity(
                "utilisation_half_width",
                "",
                outcome.and_then(|outcome| outcome.utilisation.half_width),
            ),
            quantity("throughput_per_s", "/s", plain(|outcome| outcome.throughput.0)),
            quantity("fairness", "", plain(|outcome| outcome.fairness.jain)),
            quantity("least_stream_delay_us", "µs", plain(|outcome| outcome.fairness.least.micros())),
            quantity("greatest_stream_delay_us", "µs", plain(|outcome| outcome.fairness.greatest.micros())),
            count("warmup_packets", outcome.map(|outcome| outcome.warmup)),
            count("packets", outcome.map(|outcome| outcome.packets)),
            flag("precise", outcome.is_some_and(Outcome::is_precise)),
        ]);
        figures.extend(outcome.map(|outcome| of_extensions(&outcome.extensions)).unwrap_or_default());
        Self(figures).followed_by(Self::from_capture(result)).followed_by(Self::from_outcome(result))
    }

    /// The difference of its mean delay from that under `policy`; null if either is saturated.
    #[must_use]
    pub fn from_comparison(policy: ProcessorPolicy, comparison: Option<&PairedComparison>) -> Self {
        let micros = |of: fn(&PairedComparison) -> f64| comparison.map(|all| Nanos(of(all)).micros());
        let plain = |of: fn(&PairedComparison) -> f64| comparison.map(of);
        Self(vec![
            name("against", &policy),
            quantity("difference_us", "µs", micros(|all| all.difference.mean)),
            quantity("difference_half_width_us", "µs", micros(|all| all.difference.half_width)),
            quantity("relative_difference", "", plain(|all| all.relative.mean)),
            quantity("relative_difference_half_width", "", plain(|all| all.relative.half_width)),
        ])
    }

    /// How the trace was read. Null for other traffic; a file that ends with a complete packet is not cut.
    fn from_capture(result: &PointResult) -> Self {
        let capture = result.capture.as_ref();
        let some = |of: fn(&Capture) -> usize| capture.map(|capture| of(capture) as u64);
        let cut = capture.and_then(|capture| capture.cut).map(|cut| cut.byte as u64);
        Self(vec![
            count("trace_packets", some(|capture| capture.packets)),
            count("trace_streams", some(|capture| capture.streams as usize)),
            count("trace_packets_not_ip", some(|capture| capture.not_ip)),
            count("trace_cut_at_byte", cut),
        ])
    }

    /// How the run ended, and the situations that packets found.
    fn from_outcome(result: &PointResult) -> Self {
        let outcome = result.outcome.as_ref();
        let situations = outcome.map(|outcome| outcome.situations);
        Self(vec![
            NamedFigure { name: "ended", unit: "", value: Value::Name(ended(outcome)) },
            NamedFigure { name: "situations", unit: "", value: Value::Situations(situations) },
        ])
    }

    /// These figures, followed by `more`.
    #[must_use]
    pub fn followed_by(mut self, more: Self) -> Self {
        self.0.extend(more.0);
        self
    }

    /// Each figure by its name, with its value as a text; an unknown one is a dash.
    pub fn in_words(&self) -> impl Iterator<Item = (&'static str, String)> {
        let dash = || "–".to_owned();
        self.0.iter().map(move |figure| {
            let value = match &figure.value {
                Value::Quantity(quantity) => quantity.map_or_else(dash, |quantity| format!("{quantity:.6}")),
                Value::Count(count) => count.map_or_else(dash, |count| count.to_string()),
                Value::Flag(flag) => {
                    flag.map_or_else(dash, |flag| if flag { "yes" } else { "no" }.to_owned())
                }
                Value::Name(name) => name.clone(),
                Value::Situations(None) => dash(),
                Value::Situations(Some(counts)) => {
                    let shown = Situation::all().filter(|situation| counts[situation.index()] > 0);
                    shown
                        .map(|situation| format!("{situation}: {}", counts[situation.index()]))
                        .collect::<Vec<_>>()
                        .join("; ")
                }
            };
            (figure.name, value)
        })
    }

    /// How long the simulation took, which is not a property of the point.
    #[must_use]
    pub fn with_wall_time(mut self, seconds: f64) -> Self {
        self.0.push(quantity("wall_seconds", "s", Some(seconds)));
        self
    }
}

/// A table with one row for each of `points`: its scenario and its result.
///
/// # Errors
/// Never, as long as every column has its own name.
pub fn columns(points: &[(PacketScenario, PointResult)]) -> Result<Columns, ColumnsError> {
    let scenarios: Vec<_> =
        points.iter().map(|(scenario, _)| NamedFigures::from_scenario(scenario)).collect();
    let mut columns = columns_of(&scenarios);
    columns.extend(result_columns(points.iter().map(|(_, result)| result)));
    Columns::new(columns)
}

/// The columns of `results` alone, one row for each.
pub(crate) fn result_columns<'a>(results: impl Iterator<Item = &'a PointResult> + Clone) -> Vec<Column> {
    let end = |result| NamedFigures::from_capture(result).followed_by(NamedFigures::from_outcome(result));
    let ends: Vec<_> = results.clone().map(end).collect();
    let outcomes: Vec<_> = results.clone().map(|result| (result.capacity, result.outcome)).collect();
    let mut columns = vec![Column::floats("arrival_rate", "/s", results.map(|result| Some(result.rate.0)))];
    columns.extend(outcome_columns(&outcomes));
    columns.extend(columns_of(&ends));
    columns
}

/// The columns of `rows`, which have the same figures.
fn columns_of(rows: &[NamedFigures]) -> Vec<Column> {
    let figures = rows.first().map_or(&[][..], |first| &first.0);
    let columns = figures.iter().enumerate().flat_map(|(index, figure)| {
        let values: Vec<&Value> = rows.iter().filter_map(|row| Some(&row.0.get(index)?.value)).collect();
        figure.columns(&values)
    });
    columns.collect()
}

impl NamedFigure {
    /// The column, or columns, of this figure with `values`.
    fn columns(&self, values: &[&Value]) -> Vec<Column> {
        let Self { name, unit, .. } = *self;
        let values = values.iter().copied();
        let integer = |count: u64| i64::try_from(count).ok();
        match self.value {
            Value::Quantity(_) => vec![Column::floats(name, unit, values.map(Value::as_quantity))],
            Value::Count(_) => {
                vec![Column::integers(name, values.map(|value| value.as_count().and_then(integer)))]
            }
            Value::Flag(_) => vec![Column::flags(name, values.map(Value::as_flag))],
            Value::Name(_) => vec![Column::texts(name, values.map(Value::as_name))],
            Value::Situations(_) => {
                let column = |situation: Situation| {
                    let counts = values.clone().map(|value| Some(value.as_situations()?[situation.index()]));
                    Column::integers(column_name(situation), counts.map(|count| count.and_then(integer)))
                };
                Situation::all().map(column).collect()
            }
        }
    }
}

/// `situation_a1_cached`, `situation_b3_migrates`.
fn column_name(situation: Situation) -> String {
    let stack = match situation.thread_stack {
        ThreadStack::Cached => "cached",
        ThreadStack::Migrates => "migrates",
    };
    format!("situation_{}_{stack}", situation.experiment.to_string().to_lowercase())
}

impl Value {
    fn as_quantity(&self) -> Option<f64> {
        if let Self::Quantity(quantity) = self { *quantity } else { None }
    }

    fn as_count(&self) -> Option<u64> {
        if let Self::Count(count) = self { *count } else { None }
    }

    fn as_flag(&self) -> Option<bool> {
        if let Self::Flag(flag) = self { *flag } else { None }
    }

    fn as_name(&self) -> Option<String> {
        if let Self::Name(name) = self { Some(name.clone()) } else { None }
    }

    fn as_situations(&self) -> Option<[u64; Situation::COUNT]> {
        if let Self::Situations(counts) = self { *counts } else { None }
    }
}

/// What is lost, and the mean delay of each class; nothing where there is no such.
fn of_extensions(figures: &ExtensionFigures) -> Vec<NamedFigure> {
    let mut named = Vec::new();
    if let Some(lost) = figures.lost {
        named.push(quantity("lost_fraction", "", Some(lost.mean)));
        named.push(quantity("lost_fraction_half_width", "", lost.half_width));
    }
    let classes = CLASS_DELAYS.into_iter().zip(figures.classes.as_slice());
    named.extend(classes.flat_map(|(names, delay)| time(names, Some(*delay))));
    named
}

/// The names of the delays of each class.
const CLASS_DELAYS: [[&str; 2]; Extensions::MAX_CLASSES] = [
    ["class_1_delay_us", "class_1_delay_half_width_us"],
    ["class_2_delay_us", "class_2_delay_half_width_us"],
    ["class_3_delay_us", "class_3_delay_half_width_us"],
    ["class_4_delay_us", "class_4_delay_half_width_us"],
    ["class_5_delay_us", "class_5_delay_half_width_us"],
    ["class_6_delay_us", "class_6_delay_half_width_us"],
    ["class_7_delay_us", "class_7_delay_half_width_us"],
    ["class_8_delay_us", "class_8_delay_half_width_us"],
];

fn quantity(name: &'static str, unit: &'static str, value: Option<f64>) -> NamedFigure {
    NamedFigure { name, unit, value: Value::Quantity(value.filter(|value| value.is_finite())) }
}

fn count(name: &'static str, value: Option<u64>) -> NamedFigure {
    NamedFigure { name, unit: "", value: Value::Count(value) }
}

fn flag(name: &'static str, value: impl Into<Option<bool>>) -> NamedFigure {
    NamedFigure { name, unit: "", value: Value::Flag(value.into()) }
}

fn name<T: Serialize + ?Sized>(name: &'static str, value: &T) -> NamedFigure {
    NamedFigure { name, unit: "", value: Value::Name(Name(value).to_string()) }
}

/// Whether the host is saturated; `None` where that is not decided.
#[must_use]
pub fn is_saturated(result: &PointResult) -> Option<bool> {
    let is_decided =
        result.capture.is_some() || result.outcome.is_none_or(|outcome| outcome.steady().is_some());
    is_decided.then(|| result.is_overloaded())
}

/// Why the simulation of a point ended, as a word for programs. A saturated point has no `outcome`.
#[must_use]
pub fn ended(outcome: Option<&Outcome>) -> String {
    outcome.map_or("saturated".to_owned(), |outcome| Name(&outcome.ended).to_string())
}

/// A time and its half-width.
fn time([mean, half_width]: [&'static str; 2], value: Option<Estimate<Nanos>>) -> [NamedFigure; 2] {
    let half = value.and_then(|time| time.half_width);
    [
        quantity(mean, "µs", value.map(|time| time.mean.micros())),
        quantity(half_width, "µs", half.map(Nanos::micros)),
    ]
}

/// A value by its name in a document.
struct Name<'a, T: ?Sized>(&'a T);

impl<T: Serialize + ?Sized> fmt::Display for Name<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.serialize(f)
    }
}

impl Serialize for NamedFigures {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for figure in &self.0 {
            map.serialize_entry(figure.name, &figure.value)?;
        }
        map.end()
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Quantity(quantity) => quantity.serialize(serializer),
            Self::Count(count) => count.serialize(serializer),
            Self::Flag(flag) => flag.serialize(serializer),
            Self::Name(name) => name.serialize(serializer),
            Self::Situations(None) => serializer.serialize_none(),
            Self::Situations(Some(counts)) => serializer.collect_map(
                Situation::all().map(|situation| (situation.to_string(), counts[situation.index()])),
            ),
        }
    }
}
