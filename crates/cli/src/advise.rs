//! `warmcore advise dedicated`.

use crate::args::advise::DedicatedArguments;
use crate::documents;
use crate::json::{self, Versioned};
use crate::misuse::misuse;
use crate::progress;
use crate::terminal::table;
use serde::Serialize;
use warmcore_costs::profile::Profile;
use warmcore_costs::{Approach, Situation};
use warmcore_sim::protocol::{Border, Comparison, Demand, Sleepers, Winner, decide};
use warmcore_units::{Estimate, Fault, Nanos};

/// Version of what `--json` prints.
const SCHEMA: u32 = 2;

/// How much of their time processors would compute if no request met another: the amounts of computing that are tried.
const UTILISATIONS: [f64; 11] = [0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99];

/// For whom a processor would be set aside.
const THREADS: &str = "The processor would be that of a thread that polls, such as a DPDK poll-mode thread, the kernel's thread of an \
                       io_uring with SQPOLL, or a dedicated network thread.";

pub(crate) fn dedicated(arguments: &DedicatedArguments) -> miette::Result<()> {
    let costs = costs(arguments)?;
    let demand = costs.demand(arguments, 0.0);
    let refused =
        |Fault { field, found, expected }| misuse(format!("--{field} is {found}, expected {expected}"));
    demand.check().map_err(refused)?;
    let mut computes = tried(&demand).map_err(refused)?;
    computes.extend(arguments.compute.map(Nanos));
    computes.sort_by(Nanos::total_cmp);
    let bar = progress::open_ended("simulating");
    let decided = decide(&demand, &computes, arguments.seed).and_then(|(compared, borders)| {
        let at_ends = costs
            .ends()
            .into_iter()
            .map(|end| Ok(decide(&costs.demand(arguments, end), &computes, arguments.seed)?.1));
        Ok((compared, widened(borders, &at_ends.collect::<Result<Vec<_>, Fault>>()?)))
    });
    bar.finish_and_clear();
    let (compared, borders) = decided.map_err(refused)?;
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

/// What getting a processor's attention costs, and what else the profile may say.
struct Costs {
    occupancy: Nanos,
    interrupt: Estimate<Nanos>,
    wake_up: Estimate<Nanos>,
    handover: Nanos,
}

impl Costs {
    /// At -1 the cheapest attention that the intervals allow, at 0 the means, at 1 the dearest.
    fn demand(&self, arguments: &DedicatedArguments, end: f64) -> Demand {
        let at = |cost: Estimate<Nanos>| Nanos((cost.mean.0 + end * cost.half()).max(0.0));
        Demand {
            processors: arguments.processors,
            compute: Nanos(arguments.compute.unwrap_or(0.0)),
            occupancy: self.occupancy,
            latency: Nanos(arguments.latency),
            interrupt: at(self.interrupt),
            wake_up: at(self.wake_up),
            handover: self.handover,
        }
    }

    /// The ends of the intervals, if there are any.
    fn ends(&self) -> Vec<f64> {
        let are_exact = self.interrupt.half() == 0.0 && self.wake_up.half() == 0.0;
        if are_exact { Vec::new() } else { vec![-1.0, 1.0] }
    }
}

/// The costs that the arguments give, and else those of the profile.
fn costs(arguments: &DedicatedArguments) -> miette::Result<Costs> {
    let profile = arguments.profile.as_ref().map(documents::profile).transpose()?;
    let profile = profile.as_ref();
    let missing = |flag: &str| {
        misuse(format!(
            "--{flag} is missing: give a time such as 2us, or a --profile that has it; `warmcore calibrate` measures one"
        ))
    };
    let given = |time: Option<f64>| time.map(|time| Estimate::published(Nanos(time)));
    let interrupt = given(arguments.interrupt).or_else(|| profile?.provenance.interrupt);
    let wake_up = given(arguments.wake_up).or_else(|| profile?.provenance.wake_up);
    let occupancy = arguments.occupancy.map(Nanos).or_else(|| receive_time(profile?));
    let handover = arguments.hand_over.map(Nanos).or_else(|| profile?.provenance.handover);
    Ok(Costs {
        occupancy: occupancy.ok_or_else(|| missing("occupancy"))?,
        interrupt: interrupt.ok_or_else(|| missing("interrupt"))?,
        wake_up: wake_up.unwrap_or(Estimate::published(Nanos::ZERO)),
        handover: handover.unwrap_or(Nanos::ZERO),
    })
}

/// What is known of borders when those `at_ends` of the costs' intervals are, too: their widest reach. Where the faster one
/// changes otherwise there, nothing is.
fn widened(borders: Vec<Border>, at_ends: &[Vec<Border>]) -> Borders {
    let alike = |others: &Vec<Border>| {
        let winners =
            |borders: &[Border]| borders.iter().map(|one| (one.below, one.above)).collect::<Vec<_>>();
        winners(others) == winners(&borders)
    };
    if !at_ends.iter().all(alike) {
        return Borders { known: borders, agree: false };
    }
    let widest = |(place, border): (usize, Border)| {
        let all = || at_ends.iter().map(|others| others[place]).chain([border]);
        let from = all().map(|one| one.from.0).fold(f64::INFINITY, f64::min);
        let to = all().map(|one| one.to.0).fold(0.0, f64::max);
        Border { from: Nanos(from), to: Nanos(to), ..border }
    };
    Borders { known: borders.into_iter().enumerate().map(widest).collect(), agree: true }
}

/// Where the faster one changes, and whether it does so over the whole intervals of the costs.
struct Borders {
    known: Vec<Border>,
    agree: bool,
}

/// The time to receive a packet with everything in the cache.
fn receive_time(profile: &Profile) -> Option<Nanos> {
    let warm = Situation::all().next()?;
    Some(profile.times.get(Approach::IndependentStacks).get(warm)?.hot.mean)
}

fn text(demand: &Demand, compared: &[Comparison], borders: &Borders, asked: Option<&Comparison>) -> String {
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
    let spared = compared.iter().filter(|one| one.sleepers == Sleepers::Spared).count();
    let avoided = match spared {
        0 => "",
        all if all == compared.len() => {
            " No sleeper is woken for an event while one computes that can be interrupted: more requests complete so."
        }
        _ => {
            " Whether a sleeper is woken for an event, or one that computes is interrupted, is chosen for each row: whatever completes more."
        }
    };
    format!(
        "{}\n\n{shown}\n\nTwo nodes of {processors} processors; a request is three protocol events of {}, and {} each way. An interrupt \
         takes {}, a wake-up {}, fetching a request, an answer or the protocol's state from another cache {}.{avoided} One event at a time. ± is the half-width of the 95% interval over \
         ten runs; only the borders above also hold the uncertainty of a profile's interrupts and wake-ups.\n",
        answer(demand, compared, borders, asked),
        time(occupancy),
        time(latency),
        time(interrupt),
        time(wake_up),
        time(handover),
    )
}

/// What to do, first for the amount of computing that was asked about.
fn answer(demand: &Demand, compared: &[Comparison], borders: &Borders, asked: Option<&Comparison>) -> String {
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
    lines.push(match (decided.next(), &borders.known[..]) {
        (None, _) => {
            "The runs do not tell the two apart at any amount of computing that was tried.".to_owned()
        }
        (Some(winner), []) => {
            format!("{} {extent}.", capitalised(advice(winner)))
        }
        (Some(_), borders) => borders.iter().map(sentence).collect::<Vec<_>>().join("\n"),
    });
    if !borders.agree {
        lines.push("At the ends of the costs' 95 % intervals the answer is another: measure them again on a quieter machine.".to_owned());
    }
    if demand.wake_up == Nanos::ZERO {
        lines.push("This holds if processors that wait poll: give --wake-up if they sleep.".to_owned());
    }
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
    if !half.is_finite() {
        return "not told by the runs".to_owned();
    }
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
    /// Whether the costs' intervals leave the borders where they are, but for their width.
    borders_agree: bool,
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
    fn new(demand: &Demand, compared: &[Comparison], borders: &Borders, asked: Option<&Comparison>) -> Self {
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
            borders: borders.known.iter().map(border).collect(),
            borders_agree: borders.agree,
            compared: compared.iter().map(row).collect(),
        }
    }
}
