//! `warmcore advise dedicated`.

use crate::args::advise::DedicatedArguments;
use crate::documents;
use crate::json::{self, Versioned};
use crate::misuse::misuse;
use crate::terminal::table;
use serde::Serialize;
use warmcore_costs::profile::Profile;
use warmcore_costs::{Approach, Situation};
use warmcore_sim::protocol::{Border, Comparison, Demand, Winner, decide};
use warmcore_units::{Estimate, Fault, Nanos};

/// Version of what `--json` prints.
const SCHEMA: u32 = 1;

/// How much of their time processors would compute if no request met another: the amounts of computing that are tried.
const UTILISATIONS: [f64; 11] = [0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99];

/// For whom a processor would be set aside.
const THREADS: &str = "The processor would be that of a thread that polls, such as a DPDK poll-mode thread, the kernel's thread of an \
                       io_uring with SQPOLL, or a dedicated network thread.";

pub(crate) fn dedicated(arguments: &DedicatedArguments) -> miette::Result<()> {
    let demand = demand(arguments)?;
    let refused =
        |Fault { field, found, expected }| misuse(format!("--{field} is {found}, expected {expected}"));
    demand.check().map_err(refused)?;
    let mut computes = tried(&demand).map_err(refused)?;
    computes.extend(arguments.compute.map(Nanos));
    computes.sort_by(Nanos::total_cmp);
    let (compared, borders) = decide(&demand, &computes, arguments.seed).map_err(refused)?;
    let asked = arguments.compute.and_then(|asked| compared.iter().find(|one| one.compute.0 == asked));
    if arguments.json {
        let figures = Figures::new(&demand, &compared, &borders, asked);
        return crate::output::print(json::pretty(&Versioned::new(SCHEMA, figures))?.as_bytes());
    }
    crate::output::print(text(&demand, &compared, &borders, asked).as_bytes())
}

/// The amounts of computing that are tried.
///
/// # Errors
/// If one of them is impossible, as a request takes too long: the greater part of that is named.
fn tried(demand: &Demand) -> Result<Vec<Nanos>, Fault> {
    let round_trip = demand.round_trip();
    let computes = UTILISATIONS.map(|part| Nanos(round_trip.0 * part / (1.0 - part)));
    if computes.iter().all(|&compute| Demand { compute, ..*demand }.check().is_ok()) {
        return Ok(computes.into());
    }
    let is_far = 2.0 * demand.latency.0 > 3.0 * demand.occupancy.0;
    let (name, time) = if is_far { ("latency", demand.latency) } else { ("occupancy", demand.occupancy) };
    let expected = format!(
        "less: three of --occupancy and two of --latency make a request of {round_trip}, and computing for 99 times as long, \
         which is tried, would be more than an hour"
    );
    Err(Fault::new(name, time, expected))
}

/// The costs that the arguments give, and else those of the profile.
fn demand(arguments: &DedicatedArguments) -> miette::Result<Demand> {
    let profile = arguments.profile.as_ref().map(documents::profile).transpose()?;
    let measured = |of: fn(&Profile) -> Option<Nanos>| profile.as_ref().and_then(of);
    let required = |flag: &str, given: Option<f64>, of: fn(&Profile) -> Option<Nanos>| {
        given.map(Nanos).or_else(|| measured(of)).ok_or_else(|| {
            misuse(format!(
                "--{flag} is missing: give a time such as 2us, or a --profile that has it; `warmcore calibrate` measures one"
            ))
        })
    };
    let or_zero = |given: Option<f64>, of: fn(&Profile) -> Option<Nanos>| {
        given.map(Nanos).or_else(|| measured(of)).unwrap_or(Nanos::ZERO)
    };
    Ok(Demand {
        processors: arguments.processors,
        compute: Nanos(arguments.compute.unwrap_or(0.0)),
        occupancy: required("occupancy", arguments.occupancy, receive_time)?,
        latency: Nanos(arguments.latency),
        interrupt: required("interrupt", arguments.interrupt, |profile| {
            profile.provenance.interrupt.map(|cost| cost.mean)
        })?,
        wake_up: or_zero(arguments.wake_up, |profile| profile.provenance.wake_up.map(|cost| cost.mean)),
        handover: or_zero(arguments.hand_over, |profile| profile.provenance.handover),
    })
}

/// The time to receive a packet with everything in the cache.
fn receive_time(profile: &Profile) -> Option<Nanos> {
    let warm = Situation::all().next()?;
    Some(profile.times.get(Approach::IndependentStacks).get(warm)?.hot.mean)
}

fn text(demand: &Demand, compared: &[Comparison], borders: &[Border], asked: Option<&Comparison>) -> String {
    let mut shown = table([
        "computing for each request",
        "requests/s, one dedicated",
        "all in turn",
        "dedicated completes",
        "interrupts for each request",
    ]);
    for one in compared {
        let [dedicated, multiplexed] = &one.rates;
        shown.add_row([
            time(one.compute),
            rate(dedicated),
            rate(multiplexed),
            gain(one),
            format!("{:.2} ± {:.2}", one.interrupts.mean, one.interrupts.half()),
        ]);
    }
    let Demand { processors, occupancy, latency, interrupt, wake_up, handover, .. } = *demand;
    let avoided = match wake_up > interrupt {
        true => " Waking takes longer than interrupting: one that computes is interrupted while any does.",
        false => "",
    };
    format!(
        "{}\n\n{shown}\n\nTwo nodes of {processors} processors; a request is three protocol events of {}, and {} each way. An interrupt \
         takes {}, a wake-up {}, fetching a request, an answer or the protocol's state from another cache {}.{avoided} One event at a time. ± is the half-width of the 95% interval over \
         ten runs; the costs' own uncertainty is not in it.\n",
        answer(compared, borders, asked),
        time(occupancy),
        time(latency),
        time(interrupt),
        time(wake_up),
        time(handover),
    )
}

/// What to do, first for the amount of computing that was asked about.
fn answer(compared: &[Comparison], borders: &[Border], asked: Option<&Comparison>) -> String {
    let mut lines = Vec::new();
    if let Some(one) = asked {
        lines.push(match one.winner() {
            Winner::Dedicated => format!(
                "Set a processor aside: with {} of computing for each request a node completes {}.",
                time(one.compute),
                gain(one)
            ),
            Winner::Multiplexed => format!(
                "Let all processors do protocol work in turn: with {} of computing for each request a dedicated one completes {}.",
                time(one.compute),
                gain(one)
            ),
            Winner::Undecided => format!(
                "Either: with {} of computing for each request they are within a percent of each other, or the runs do not tell ({}).",
                time(one.compute),
                gain(one)
            ),
        });
    }
    let extent = match compared.iter().any(|one| one.winner() == Winner::Undecided) {
        true => "wherever the runs tell the two apart",
        false => "at every amount of computing that was tried",
    };
    let mut decided = compared.iter().map(Comparison::winner).filter(|winner| *winner != Winner::Undecided);
    lines.push(match (decided.next(), borders) {
        (None, _) => {
            "The runs do not tell the two apart at any amount of computing that was tried.".to_owned()
        }
        (Some(winner), []) => {
            format!("{} {extent}.", capitalised(advice(winner)))
        }
        (Some(_), borders) => borders.iter().map(sentence).collect::<Vec<_>>().join("\n"),
    });
    lines.push(THREADS.to_owned());
    lines.join("\n")
}

fn sentence(border: &Border) -> String {
    format!(
        "{} if there are less than {} of computing for each request, and {} if there are more than {}.",
        capitalised(advice(border.below)),
        time(border.from),
        advice(border.above),
        time(border.to)
    )
}

const fn advice(winner: Winner) -> &'static str {
    match winner {
        Winner::Dedicated => "set a processor aside",
        Winner::Multiplexed => "let all processors do protocol work in turn",
        Winner::Undecided => "either will do",
    }
}

fn capitalised(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn gain(one: &Comparison) -> String {
    let (percent, half) = (100.0 * one.gain.mean, 100.0 * one.gain.half_width);
    let word = if percent < 0.0 { "less" } else { "more" };
    format!("{:.1} ± {half:.1} % {word}", percent.abs())
}

fn rate(estimate: &Estimate<f64>) -> String {
    format!("{:.0} ± {:.0}", estimate.mean, estimate.half())
}

/// With three digits, in the unit that suits it.
fn time(time: Nanos) -> String {
    match time.0 {
        ns if ns < 1e3 => format!("{ns:.0} ns"),
        ns if ns < 1e6 => format!("{:.2} us", ns / 1e3),
        ns => format!("{:.2} ms", ns / 1e6),
    }
}

/// What `--json` prints. Times are in nanoseconds.
#[derive(Serialize)]
struct Figures<'a> {
    processors: u32,
    occupancy_ns: f64,
    latency_ns: f64,
    interrupt_ns: f64,
    wake_up_ns: f64,
    handover_ns: f64,
    asked: Option<Row>,
    borders: Vec<BorderFigures<'a>>,
    compared: Vec<Row>,
}

#[derive(Serialize)]
struct BorderFigures<'a> {
    from_ns: f64,
    to_ns: f64,
    below: &'a str,
    above: &'a str,
}

#[derive(Serialize)]
struct Row {
    compute_ns: f64,
    dedicated_per_s: Estimate<f64>,
    multiplexed_per_s: Estimate<f64>,
    dedicated_response_ns: Estimate<f64>,
    multiplexed_response_ns: Estimate<f64>,
    interrupts: Estimate<f64>,
    gain_percent: Estimate<f64>,
    faster: &'static str,
}

impl Row {
    const fn new(one: &Comparison, faster: &'static str) -> Self {
        Self {
            compute_ns: one.compute.0,
            dedicated_per_s: one.rates[0],
            multiplexed_per_s: one.rates[1],
            dedicated_response_ns: one.responses[0],
            multiplexed_response_ns: one.responses[1],
            interrupts: one.interrupts,
            gain_percent: Estimate::new(100.0 * one.gain.mean, 100.0 * one.gain.half_width),
            faster,
        }
    }
}

/// As a word for programs.
const fn name(winner: Winner) -> &'static str {
    match winner {
        Winner::Dedicated => "dedicated",
        Winner::Multiplexed => "multiplexed",
        Winner::Undecided => "undecided",
    }
}

impl Figures<'_> {
    fn new(demand: &Demand, compared: &[Comparison], borders: &[Border], asked: Option<&Comparison>) -> Self {
        let row = |one: &Comparison| Row::new(one, name(one.winner()));
        let border = |border: &Border| BorderFigures {
            from_ns: border.from.0,
            to_ns: border.to.0,
            below: name(border.below),
            above: name(border.above),
        };
        Self {
            processors: demand.processors,
            occupancy_ns: demand.occupancy.0,
            latency_ns: demand.latency.0,
            interrupt_ns: demand.interrupt.0,
            wake_up_ns: demand.wake_up.0,
            handover_ns: demand.handover.0,
            asked: asked.map(row),
            borders: borders.iter().map(border).collect(),
            compared: compared.iter().map(row).collect(),
        }
    }
}
