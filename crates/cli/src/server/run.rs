//! `warmcore run` with `--driver udp-socket` or `tcp-socket`.

use super::{Served, check_effects};
use crate::args::live::RunLiveArguments;
use crate::json::Versioned;
use crate::misuse::misuse;
use crate::terminal::estimate;
use crate::unused_options::refuse;
use crate::{interrupt, json, messages};
use core::fmt::Display;
use miette::{IntoDiagnostic, miette};
use serde::Serialize;
use std::sync::atomic::Ordering;
use warmcore_measure::requests::load::{Load, LoadSite};
use warmcore_scenario::ServerPolicy;
use warmcore_study::server::compare::mechanism;
use warmcore_study::server::figures::{Fates, ServerFigures};
use warmcore_study::server::results::FiguresSummary;
use warmcore_units::{Estimate, PerSecond, Transport};

/// Version of what `--json` prints.
const SCHEMA: u32 = 2;
/// How long the load is run, in seconds.
const SECONDS: f64 = 5.0;
const HIGHEST_RATE: f64 = 10e6;
/// Requests whose fate is remembered.
const MOST_REQUESTS: f64 = 5e6;
/// Runs of the load, from whose spread the intervals come; fewer if each would have fewer requests than this.
const ROUNDS: usize = 5;
const LEAST_REQUESTS: f64 = 50.0;
/// The share of lost requests above which a reader is told whose delays are shown.
const LOST: f64 = 0.005;

/// What `--json` prints.
#[derive(Serialize)]
struct Ran {
    transport: Transport,
    sharing: String,
    processors: usize,
    rate_per_s: f64,
    seconds: f64,
    rounds: usize,
    requests: usize,
    lost: usize,
    /// Requests to which the handler gave no reply.
    unanswered: usize,
    disturbed_share: f64,
    /// Whether sources were so late that they gave up.
    fell_behind: bool,
    throughput_per_s: f64,
    #[serde(flatten)]
    figures: FiguresSummary,
    /// By worker: the share of the requests that it handled.
    shares: Vec<f64>,
}

pub(crate) fn run(arguments: &RunLiveArguments, transport: Transport) -> miette::Result<()> {
    let flags = &arguments.runnable;
    check_effects(&flags.scenario.given, &["rate"])?;
    let reason = "policies of servers weigh no costs";
    refuse("profile", flags.scenario.given.has("profile"), reason)?;
    let sharing = arguments.sharing.unwrap_or_default();
    if let Err(reason) = sharing.is_possible(transport) {
        let fits = |policy: &ServerPolicy| policy.is_possible(transport).is_ok();
        let fitting: Vec<String> =
            ServerPolicy::ALL.iter().filter(|policy| fits(policy)).map(ToString::to_string).collect();
        return Err(misuse(format!(
            "--sharing {sharing} does not fit {transport}: {reason}; expected one of {}",
            fitting.join(", ")
        )));
    }
    let served = Served::of(flags, transport, SECONDS)?;
    let Some(rate) = flags.scenario.traffic.rate else {
        return Err(misuse(
            "--rate is missing: the requests per second that are sent, whatever becomes of them",
        ));
    };
    if !(1.0..=HIGHEST_RATE).contains(&rate) {
        return Err(misuse(format!("--rate is {rate}, expected 1 to {HIGHEST_RATE} requests per second")));
    }
    let requests = rate * served.long.as_secs_f64();
    if requests > MOST_REQUESTS {
        return Err(misuse(format!(
            "--rate {rate} for {:?} are {requests:.0} requests, expected at most {MOST_REQUESTS}: lower --rate or --seconds",
            served.long
        )));
    }
    let rounds = ((requests / LEAST_REQUESTS) as usize).clamp(1, ROUNDS);
    let load = Load {
        policy: mechanism(sharing),
        cpus: served.cpus,
        service: served.service,
        rate: PerSecond(rate),
        long: served.long / rounds as u32,
        seed: served.seed,
    };
    let stop = interrupt::catch()?;
    let site = LoadSite::new().into_diagnostic()?;
    if let Some(reason) = site.instead() {
        messages::note(format_args!("requests cross loopback, because {reason}"));
    }
    messages::detail(format_args!("running {sharing} on {} cpus for {:?}", load.cpus.len(), served.long));
    let mut runs = Vec::new();
    for round in 0..rounds {
        if stop.load(Ordering::SeqCst) {
            break;
        }
        let load = Load { seed: load.seed.wrapping_add(round as u64), ..load.clone() };
        runs.extend(site.run(&load, stop).into_diagnostic()?);
    }
    let Some(figures) = ServerFigures::from_runs(&runs) else {
        return Err(miette!("no request was answered"));
    };
    let fates = Fates::of(&runs);
    if let Some(reason) = &fates.without_priority {
        messages::note(format_args!(
            "sources had no real-time priority ({reason}), so workers gave way to them instead (SCHED_IDLE)"
        ));
    }
    if fates.fell_behind {
        messages::note(
            "requests could not be sent as fast as they were due, and the rest was not sent: ask for a lower --rate",
        );
    }
    if sharing == ServerPolicy::Exclusive {
        messages::note(
            "who accepts a connection was decided while they were opened, all from one processor after another: the shares \
             of the workers are of that, not of the load",
        );
    }
    let ran = Run { sharing, load: &load, rounds: runs.len(), figures, fates };
    let shown = match arguments.json {
        true => json::pretty(&Versioned::new(SCHEMA, &ran.summary()))?,
        false => ran.words(),
    };
    crate::output::print(shown.as_bytes())?;
    if stop.load(Ordering::SeqCst) { Err(miette!("interrupted")) } else { Ok(()) }
}

/// A load that was run in rounds.
struct Run<'a> {
    sharing: ServerPolicy,
    /// That of a round.
    load: &'a Load,
    rounds: usize,
    figures: ServerFigures,
    fates: Fates,
}

impl Run<'_> {
    fn summary(&self) -> Ran {
        let Fates { requests, lost, unanswered, disturbed, fell_behind, throughput, .. } = self.fates;
        Ran {
            transport: self.load.service.transport,
            sharing: self.sharing.to_string(),
            processors: self.load.cpus.len(),
            rate_per_s: self.load.rate.0,
            seconds: self.load.long.as_secs_f64() * self.rounds as f64,
            rounds: self.rounds,
            requests,
            lost,
            unanswered,
            disturbed_share: disturbed,
            fell_behind,
            throughput_per_s: throughput.0,
            figures: FiguresSummary::new(&self.figures),
            shares: self.fates.shares.clone(),
        }
    }

    fn words(&self) -> String {
        let Self { sharing, load, figures, fates, .. } = self;
        let Fates { requests, lost, unanswered, throughput, .. } = fates;
        let shares: Vec<String> = fates.shares.iter().map(|share| format!("{:.0}%", share * 100.0)).collect();
        let disturbed = match (fates.disturbed * 100.0).round() {
            0.0 => String::new(),
            share => format!(
                "A source was kept from running, though it outranks all: {share}% of the requests are left out of the delays.\n"
            ),
        };
        let unanswered = match unanswered {
            0 => String::new(),
            some => {
                format!(
                    "The handler gave {some} of them no reply; an empty one of ours says when it was done.\n"
                )
            }
        };
        let rounds = match self.rounds {
            1 => "one run, too short for intervals".to_owned(),
            rounds => {
                format!("{rounds} runs, whose spread the intervals are; another hour may differ by more")
            }
        };
        let lost_more = match *lost as f64 > LOST * *requests as f64 {
            true => "Delays are those of the requests that were answered.\n",
            false => "",
        };
        format!(
            "{sharing} on {} processors at {}: {requests} {} requests, {lost} lost, {} answered; {rounds}.\n\
             Delay from when a request was due until its reply was back: median {}, 99th percentile {}, mean {}.\n\
             Processor time for a request: {} of the workers, {} of the call that sends it, softirq included.\n\
             {:.0}% were handled on the processor that received them; shares of the workers: {}.\n{lost_more}{unanswered}{disturbed}",
            load.cpus.len(),
            load.rate,
            load.service.transport,
            throughput,
            shown(&figures.p50),
            shown(&figures.p99),
            shown(&figures.delay),
            shown(&figures.worker_cpu),
            shown(&figures.call),
            figures.here * 100.0,
            shares.join(", ")
        )
    }
}

/// An estimate; of one run, without an interval. None of these figures can be below zero.
fn shown<Q: Copy + Display + Into<f64>>(of: &Estimate<Q>) -> String {
    let half_width = of.half_width.filter(|half| (*half).into().is_finite());
    if half_width.is_some_and(|half| half.into() >= of.mean.into()) {
        return format!("{} (runs differ by more than that)", of.mean);
    }
    estimate(&Estimate { mean: of.mean, half_width })
}
