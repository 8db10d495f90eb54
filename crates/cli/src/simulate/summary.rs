//! The summary of a simulated point, for readers who see one for the first time.

use crate::costs::ChosenProfile;
use crate::terminal::{OF_THE_SIMULATION, estimate, parts, table};
use warmcore_costs::Situation;
use warmcore_scenario::{LimitScope, PacketScenario, Process, ProcessorPolicy, RunLength, Service};
use warmcore_sim::packet::observe::{QuantileFigure, SlowerShare};
use warmcore_sim::packet::{Ended, Outcome, PairedComparison, PointResult};
use warmcore_units::{Estimate, Nanos};

/// Another policy, and how it compares; no comparison if either is saturated.
pub(super) struct Against {
    pub(super) policy: ProcessorPolicy,
    pub(super) comparison: Option<PairedComparison>,
}

/// The summary of `scenario` with these `costs`; simulating it took `seconds`.
pub(super) fn summary(
    scenario: &PacketScenario,
    costs: &ChosenProfile,
    result: &PointResult,
    seconds: f64,
) -> String {
    let capture = result.capture.map(|capture| format!("\nThe trace: {capture}.")).unwrap_or_default();
    let host = format!("{}\n{}{capture}", host(scenario, result), costs.in_words());
    match &result.outcome {
        None => format!("{host}\n\n{}\n", saturated(result)),
        Some(outcome) => {
            let is_closed = matches!(scenario.traffic.process, Process::Closed(_));
            let figures = figures(result, outcome, is_closed);
            let ended = match &result.capture {
                Some(_) => replayed(result, outcome, seconds),
                None => ended(scenario, result, outcome, seconds),
            };
            format!("{host}\n\n{figures}\n\n{}\n\n{ended}\n", found(outcome))
        }
    }
}

/// How the mean delay differs from that under another policy, on the same packets.
pub(super) fn difference(against: &Against) -> String {
    let Against { policy, comparison } = against;
    let Some(PairedComparison { difference, relative }) = comparison else {
        return format!("\nAgainst {policy} no difference can be given: one of the two is saturated.\n");
    };
    let [mean, half] = [difference.mean, difference.half_width].map(|nanos| Nanos(nanos.abs()));
    if half.0.is_infinite() {
        return format!(
            "\nAgainst {policy}, on the same packets, the mean delays of {} runs differ by {mean} on average; no interval \
             holds: times have infinite variance, or runs are short so near the capacity.\n",
            difference.count
        );
    }
    let direction = if difference.mean < 0.0 { "shorter" } else { "longer" };
    let relative_half = match relative.half_width {
        half if half.is_finite() => format!("{:.2}%", half * 100.0),
        _ => "unknown".to_owned(),
    };
    let decided =
        if difference.mean.abs() > difference.half_width { "" } else { ": no difference can be told" };
    format!(
        "\nAgainst {policy}, on the same packets: the mean delay is {mean} ± {half} {direction} ({:.2}% ± {relative_half}){decided}. {} runs \
         of each.\n",
        relative.mean.abs() * 100.0,
        difference.count
    )
}

/// The share of packets that take longer than a limit.
pub(super) fn slower(slower: &SlowerShare) -> String {
    let half = slower.half_width.map_or_else(|| "unknown".to_owned(), |half| format!("{:.3}%", half * 100.0));
    format!(
        "\nSlower than {}: {:.3}% of the packets, ± {half}\n",
        Nanos(slower.limit_ns),
        slower.share * 100.0
    )
}

/// The quantiles asked for, each with its interval or what it would take.
pub(super) fn quantiles(figures: &[QuantileFigure]) -> String {
    let mut table = table(["fraction", "delay", "95% ±", ""]);
    for figure in figures {
        let time = |ns: Option<f64>| ns.map_or_else(|| "unknown".to_owned(), |ns| Nanos(ns).to_string());
        let needed = figure.packets_needed.map(|packets| {
            format!("an interval needs about {packets} packets in a run: --packets {packets}")
        });
        let half = time(figure.half_width_ns);
        table.add_row([
            figure.probability.to_string(),
            time(figure.delay_ns),
            half,
            needed.unwrap_or_default(),
        ]);
    }
    format!("\n{table}\n")
}

/// `Locking, MRU on 8 processors; 20.0 k/s (poisson, 8 streams)`.
fn host(scenario: &PacketScenario, result: &PointResult) -> String {
    let plural = if scenario.processors == 1 { "" } else { "s" };
    let process = scenario.traffic.process.name();
    let batch = match scenario.traffic.batch.mean {
        1.0 => String::new(),
        mean => format!(" in batches of {mean}"),
    };
    let arriving = match &scenario.traffic.process {
        Process::Closed(closed) => format!(
            "{} clients of {} request{} each, which think for {} on average, send {}",
            scenario.traffic.streams,
            closed.window,
            if closed.window == 1 { "" } else { "s" },
            closed.think,
            result.rate
        ),
        _ => format!("packets arrive at {}{batch} ({process})", result.rate),
    };
    format!(
        "{} on {} processor{plural}; {arriving}{}",
        scenario.scheduling,
        scenario.processors,
        extensions(scenario)
    )
}

/// What else goes beyond Salehi 1994, as in `; exponential service times, at most 8 waiting in each queue`.
fn extensions(scenario: &PacketScenario) -> String {
    let mut parts = Vec::new();
    if scenario.service != Service::default() {
        parts.push(format!("{} service times", scenario.service.distribution.name()));
    }
    if let Some(limit) = scenario.queues.limit {
        let scope = match scenario.queues.scope {
            LimitScope::Each => "in each queue",
            LimitScope::Host => "in all queues together",
        };
        parts.push(format!("at most {limit} waiting {scope}"));
    }
    if !scenario.priorities.is_empty() {
        parts.push("priorities".to_owned());
    }
    if !scenario.speeds.is_empty() {
        let speeds: Vec<String> = scenario.speeds.iter().map(f64::to_string).collect();
        parts.push(format!("processors of speed {}", speeds.join(", ")));
    }
    if parts.is_empty() { String::new() } else { format!("; {}", parts.join(", ")) }
}

fn saturated(result: &PointResult) -> String {
    if result.rate.0 <= result.capacity.rate.mean.0 {
        return format!(
            "Saturated: the queues grew in every independent run, though packets come at less than the {} that the host \
             processes when it is never idle. It keeps up with less than that, because packets then find caches \
             and pools in another state; how much less is not known.",
            result.capacity.rate.mean
        );
    }
    format!(
        "Saturated: more packets arrive than can be processed, and they would wait ever longer.\nThe host keeps up \
         with {}; a packet then takes {} to process.",
        estimate(&result.capacity.rate),
        estimate(&result.capacity.service)
    )
}

fn figures(result: &PointResult, outcome: &Outcome, is_closed: bool) -> String {
    let quantiles = outcome.quantiles;
    let fairness = outcome.fairness;
    let percent = percent_of(outcome.utilisation);
    let mut table = table(["", "", "95% ±", "what it is"]);
    let mut row = |name: &str, [mean, half]: [String; 2], meaning: &str| {
        table.add_row([name.to_owned(), mean, half, meaning.to_owned()]);
    };
    row("mean delay", parts(&outcome.delay), "from a packet's arrival to the end of its processing");
    row("mean service", parts(&outcome.service), "the part of it in which a processor works");
    row("p50", parts(&quantiles.p50), "half of the packets are faster");
    row("p99", parts(&quantiles.p99), "one in a hundred is slower");
    row("p99.9", parts(&quantiles.p999), "one in a thousand is slower");
    row("utilisation", percents(&percent, 1), "the processors' time that goes into protocol work");
    row("throughput", [outcome.throughput.to_string(), String::new()], "packets finished");
    if let Some(lost) = outcome.extensions.lost {
        row("lost", percents(&percent_of(lost), 3), "packets that found a full queue; they have no delay");
    }
    for (class, delay) in (1..).zip(outcome.extensions.classes.as_slice()) {
        let meaning =
            if class == 1 { "mean delay of the most urgent class" } else { "mean delay of that class" };
        row(&format!("class {class}"), parts(delay), meaning);
    }
    if !is_closed {
        row("capacity", parts(&result.capacity.rate), "the highest rate at which no queue grows for ever");
    }
    let fair = format!(
        "1 if all streams are treated alike; their means: {} to {}",
        fairness.least, fairness.greatest
    );
    row("fairness", [format!("{:.3}", fairness.jain), String::new()], &fair);
    table.to_string()
}

/// What most packets found in the caches.
fn found(outcome: &Outcome) -> String {
    let total: u64 = outcome.situations.iter().sum();
    let mut shares: Vec<(Situation, f64)> = Situation::all()
        .map(|situation| (situation, outcome.situations[situation.index()] as f64 / total.max(1) as f64))
        .filter(|(_, share)| *share > 0.0)
        .collect();
    shares.sort_by(|one, other| other.1.total_cmp(&one.1));
    let shares: Vec<String> =
        shares.iter().map(|(situation, share)| format!("{:.1}% {situation}", share * 100.0)).collect();
    format!("What packets found written where (Table 2 of Salehi 1994): {}", shares.join("; "))
}

/// What can be said about a trace.
fn replayed(result: &PointResult, outcome: &Outcome, seconds: f64) -> String {
    let overloaded = match result.load() > 1.0 {
        true if result.is_overloaded() => {
            "\nMore packets come than the host keeps up with: the longer that lasts, the longer they wait."
        }
        true => "\nThey are too few to say whether the host would keep up with more like them.",
        false => "",
    };
    format!(
        "All {} packets of the trace in {seconds:.2} s, none left out as warm-up.{overloaded}\nThe figures \
         describe this trace alone. Nothing shows how much another trace would differ, so no figure has an interval.",
        outcome.packets
    )
}

fn ended(scenario: &PacketScenario, result: &PointResult, outcome: &Outcome, seconds: f64) -> String {
    let RunLength { packets, max_packets, precision, .. } = scenario.run;
    let precision = format!("{}%", precision * 100.0);
    let limit = match packets {
        Some(packets) => format!("each run took the {packets} --packets asked for"),
        None => format!("--max-packets ({max_packets}) came before the precision of {precision}"),
    };
    let reason = match outcome.ended {
        Ended::Precise => format!("the mean delay is known to within {precision}"),
        Ended::Exhausted => format!("{limit}: the half-widths show what was reached"),
        Ended::FixedLength => limit,
        Ended::NearCapacity => format!(
            "{limit}: the host keeps up, but this near to its \
             capacity delays fluctuate over longer times than this run. No interval of them would hold, and \
             none is given; true delays tend to be longer"
        ),
        Ended::Unknown => format!(
            "{} came before it was decided whether the host keeps up with {}: the figures are those of \
             this run, and longer ones may differ",
            packets.map_or_else(
                || format!("--max-packets ({max_packets})"),
                |packets| format!("--packets ({packets})")
            ),
            result.rate
        ),
        Ended::HeavyTailed => "all packets asked for are processed. No interval holds, and none is given: the sources' times \
                               have infinite variance, so the means of a run hardly converge, and a mean delay \
                               may not exist. Runs with another --seed show how much they vary"
            .to_owned(),
        Ended::NoMoreArrivals => "all packets of the trace are processed".to_owned(),
    };
    format!(
        "Ended because {reason}. {} packets in {seconds:.2} s; the first {} are left out as warm-up.\n{OF_THE_SIMULATION}",
        outcome.packets, outcome.warmup
    )
}

/// The same in percent.
fn percent_of(fraction: Estimate<f64>) -> Estimate<f64> {
    fraction.map(|fraction| fraction * 100.0)
}

fn percents(estimate: &Estimate<f64>, digits: usize) -> [String; 2] {
    let half = match estimate.half_width {
        Some(half) if half.is_finite() => format!("{half:.digits$}%"),
        Some(_) => "unknown".to_owned(),
        None => "none".to_owned(),
    };
    [format!("{:.digits$}%", estimate.mean), half]
}
