//! `warmcore capacity packet`.

use crate::args::capacity::CapacityPacketArguments;
use crate::costs::{Chosen, ChosenProfile};
use crate::json::{self, Versioned};
use crate::misuse::misuse;
use crate::terminal::{OF_THE_SIMULATION, estimate, parts, table};
use crate::unused_options::{check_unused, refuse};
use crate::{flags, interrupt, point};
use serde::Serialize;
use std::fmt::Write;
use std::time::Instant;
use warmcore_scenario::PacketScenario;
use warmcore_scenario::document::Checked;
use warmcore_sim::packet::limit::{LimitVerdict, RateWithin, rate_within};
use warmcore_sim::packet::{Bound, ServerKind, highest_bound};
use warmcore_study::point::NamedFigures;
use warmcore_units::{Estimate, Nanos, PerSecond};

/// Version of what `--json` prints.
const SCHEMA: u32 = 1;

pub(crate) fn run(arguments: &CapacityPacketArguments) -> miette::Result<()> {
    interrupt::end_at_once()?;
    let (scenario, chosen) = scenario(arguments)?;
    let costs = ChosenProfile::read(&scenario, chosen)?;
    let began = Instant::now();
    let traffic = point::traffic(&scenario)?;
    let bound = highest_bound(&scenario, &traffic, &costs.profile).map_err(point::explained)?;
    let within = arguments.p99_below.map(Nanos).map(|limit| {
        rate_within(&scenario, &traffic, &costs.profile, bound.capacity, limit).map_err(point::explained)
    });
    let within = within.transpose()?;
    let seconds = began.elapsed().as_secs_f64();
    if arguments.json {
        let figures = Figures {
            scenario: NamedFigures::from_scenario(&scenario)
                .followed_by(NamedFigures::from_profile(&costs.profile, costs.chosen())),
            capacity: CapacityFigures::from(&bound),
            within: within.as_ref().map(WithinFigures::from),
            wall_seconds: seconds,
        };
        return crate::output::print(json::pretty(&Versioned::new(SCHEMA, figures))?.as_bytes());
    }
    crate::output::print(summary(&scenario, &costs, &bound, within.as_ref(), seconds).as_bytes())
}

/// The scenario. Its rate is what is asked for, and how long runs are is decided here.
fn scenario(arguments: &CapacityPacketArguments) -> miette::Result<(PacketScenario, Chosen)> {
    let (mut scenario, chosen) = point::unchecked(&arguments.point)?;
    point::set(&mut scenario.processors, arguments.processors);
    scenario.check().map_err(|fault| flags::refused(&fault))?;
    let given = &arguments.point.scenario.given;
    if scenario.extensions().are_bounded() {
        return Err(misuse(
            "a closed loop and limited queues have no highest rate, as no queue grows for ever: expected neither `closed` \
             traffic nor --queue-limit (in a scenario: `traffic.process`, `queues.limit`)",
        ));
    }
    refuse("rate", given.has("rate"), "the highest rate is what is asked for")?;
    let reason = "runs grow until they decide what is asked";
    for option in ["precision", "packets"] {
        refuse(option, given.has(option), reason)?;
    }
    let reason = "the capacity is measured in one run; only --p99-below makes others";
    for option in ["max-packets", "warmup-packets", "replications"] {
        refuse(option, given.has(option) && arguments.p99_below.is_none(), reason)?;
    }
    check_unused(given, &scenario.unused())?;
    Ok((scenario, chosen))
}

fn summary(
    scenario: &PacketScenario,
    costs: &ChosenProfile,
    bound: &Bound,
    within: Option<&RateWithin>,
    seconds: f64,
) -> String {
    let plural = if scenario.processors == 1 { "" } else { "s" };
    let mut table = table(["", "rate", "95% ±", "what it is"]);
    let mut row = |name: &str, rate: &Estimate<PerSecond>, meaning: &str| {
        let [mean, half] = parts(rate);
        table.add_row([name.to_owned(), mean, half, meaning.to_owned()]);
    };
    row("capacity", &bound.capacity.rate, "the highest rate at which no queue grows for ever");
    row("all processors", &bound.all, "what they process together when none is ever idle");
    if let Some(server) = &bound.busiest {
        row("busiest server", &server.rate, &format!("what {server} keeps up with"));
    }
    if let Some(rate) = within.and_then(RateWithin::rate) {
        row("within the limit", &rate, "the highest rate at which the p99 of the delay is short enough");
    }
    let binds = match &bound.busiest {
        None => {
            "All processors together set the capacity: more of them, or cheaper packets, raise it.".to_owned()
        }
        Some(server) => format!(
            "It is set by {}, which takes {:.1}% of the packets, while others are idle at times: streams spread more \
             evenly, or a policy that moves work, raise it.",
            server,
            server.share * 100.0
        ),
    };
    let mut text = format!(
        "{} on {} processor{plural}; packets like those of the process `{}`\n{}\n\n{table}\n\n{binds}\nService at capacity: {}.\n",
        scenario.scheduling,
        scenario.processors,
        scenario.traffic.process.name(),
        costs.in_words(),
        estimate(&bound.capacity.service),
    );
    if let Some(within) = within {
        text += &limit_in_words(within);
    }
    let _ = writeln!(text, "{seconds:.2} s. {OF_THE_SIMULATION}");
    text
}

fn limit_in_words(within: &RateWithin) -> String {
    let RateWithin { limit, least, most, trials } = within;
    let tried = trials.len();
    let undecided = trials.iter().filter(|trial| trial.verdict == LimitVerdict::Undecided).count();
    match least {
        None => format!(
            "At none of the {tried} rates tried, from {} on, is the p99 of the delay certainly within {limit}.\n",
            lowest(within)
        ),
        Some(least) => {
            let unsure = match undecided {
                0 => String::new(),
                _ => format!(
                    " {undecided} of them could not be decided by the longest run: more --max-packets may narrow it."
                ),
            };
            format!(
                "At {least} the p99 of the delay is within {limit}; at {most} it is not, or the host does not keep up. {tried} rates were \
                 tried.{unsure}\n"
            )
        }
    }
}

fn lowest(within: &RateWithin) -> PerSecond {
    within
        .trials
        .iter()
        .map(|trial| trial.rate)
        .min_by(|one, other| one.0.total_cmp(&other.0))
        .unwrap_or(within.most)
}

/// What `--json` prints.
#[derive(Serialize)]
struct Figures {
    #[serde(flatten)]
    scenario: NamedFigures,
    #[serde(flatten)]
    capacity: CapacityFigures,
    /// Only with `--p99-below`.
    #[serde(skip_serializing_if = "Option::is_none")]
    within: Option<WithinFigures>,
    wall_seconds: f64,
}

#[derive(Serialize)]
struct CapacityFigures {
    capacity_per_s: f64,
    capacity_half_width_per_s: Option<f64>,
    capacity_service_us: f64,
    capacity_service_half_width_us: Option<f64>,
    /// `all-processors`, `stack` or `processor`.
    bound_by: &'static str,
    all_processors_per_s: f64,
    all_processors_half_width_per_s: Option<f64>,
    /// The number of the busiest stack or processor, if it sets the capacity, and its share of the packets.
    busiest: Option<u32>,
    busiest_share: Option<f64>,
}

#[derive(Serialize)]
struct WithinFigures {
    p99_below_us: f64,
    rate_per_s: Option<f64>,
    rate_half_width_per_s: Option<f64>,
    /// The highest rate known to be within the limit, and the lowest above it known to be beyond it.
    least_per_s: Option<f64>,
    most_per_s: f64,
    trials: Vec<TrialFigures>,
}

#[derive(Serialize)]
struct TrialFigures {
    rate_per_s: f64,
    p99_us: Option<f64>,
    p99_half_width_us: Option<f64>,
    /// The share of packets that took longer than the limit.
    slower_share: Option<f64>,
    slower_share_half_width: Option<f64>,
    packets: u64,
    verdict: LimitVerdict,
}

fn finite(half: Option<f64>) -> Option<f64> {
    half.filter(|half| half.is_finite())
}

impl From<&Bound> for CapacityFigures {
    fn from(bound: &Bound) -> Self {
        let half = |rate: &Estimate<PerSecond>| finite(rate.half_width.map(|half| half.0));
        let service = bound.capacity.service;
        Self {
            capacity_per_s: bound.capacity.rate.mean.0,
            capacity_half_width_per_s: half(&bound.capacity.rate),
            capacity_service_us: service.mean.micros(),
            capacity_service_half_width_us: finite(service.half_width.map(Nanos::micros)),
            bound_by: match bound.busiest.map(|server| server.kind) {
                None => "all-processors",
                Some(ServerKind::Stack) => "stack",
                Some(ServerKind::Processor) => "processor",
            },
            all_processors_per_s: bound.all.mean.0,
            all_processors_half_width_per_s: half(&bound.all),
            busiest: bound.busiest.map(|server| server.number),
            busiest_share: bound.busiest.map(|server| server.share),
        }
    }
}

impl From<&RateWithin> for WithinFigures {
    fn from(within: &RateWithin) -> Self {
        let rate = within.rate();
        let trials = within.trials.iter().map(|trial| TrialFigures {
            rate_per_s: trial.rate.0,
            p99_us: trial.p99.map(|p99| p99.mean.micros()),
            p99_half_width_us: trial.p99.and_then(|p99| finite(p99.half_width.map(Nanos::micros))),
            slower_share: trial.slower.map(|share| share.mean),
            slower_share_half_width: trial.slower.and_then(|share| finite(share.half_width)),
            packets: trial.packets,
            verdict: trial.verdict,
        });
        Self {
            p99_below_us: within.limit.micros(),
            rate_per_s: rate.map(|rate| rate.mean.0),
            rate_half_width_per_s: rate.map(|rate| rate.half()),
            least_per_s: within.least.map(|rate| rate.0),
            most_per_s: within.most.0,
            trials: trials.collect(),
        }
    }
}
