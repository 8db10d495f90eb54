//! `warmcore run` with `--driver udp-socket` or `tcp-socket`.

use super::{Served, check_effects};
use crate::args::live::RunLiveArguments;
use crate::json::Versioned;
use crate::misuse::misuse;
use crate::unused_options::refuse;
use crate::{interrupt, json, messages};
use miette::{IntoDiagnostic, miette};
use serde::Serialize;
use std::sync::atomic::Ordering;
use warmcore_measure::requests::load::{Load, LoadFigures, LoadSite};
use warmcore_scenario::ServerPolicy;
use warmcore_study::server::compare::mechanism;
use warmcore_units::{PerSecond, Transport};

/// Version of what `--json` prints.
const SCHEMA: u32 = 1;
/// How long the load is run, in seconds.
const SECONDS: f64 = 5.0;
const HIGHEST_RATE: f64 = 10e6;
/// Requests whose fate is remembered.
const MOST_REQUESTS: f64 = 5e6;

/// What `--json` prints.
#[derive(Serialize)]
struct Ran {
    transport: Transport,
    sharing: String,
    processors: usize,
    rate_per_s: f64,
    seconds: f64,
    requests: usize,
    lost: usize,
    /// Requests to which the handler gave no reply.
    unanswered: usize,
    disturbed_share: f64,
    /// Whether sources were so late that they gave up.
    fell_behind: bool,
    throughput_per_s: f64,
    mean_delay_us: f64,
    p50_delay_us: f64,
    p99_delay_us: f64,
    worker_cpu_us: f64,
    call_us: f64,
    handled_where_received: f64,
    /// By worker: the share of the requests that it handled.
    shares: Vec<f64>,
}

pub(crate) fn run(arguments: &RunLiveArguments, transport: Transport) -> miette::Result<()> {
    let flags = &arguments.runnable;
    check_effects(&flags.scenario.given, &["rate"])?;
    let reason = "policies of servers weigh no costs";
    refuse("profile", flags.scenario.given.has("profile"), reason)?;
    let sharing = arguments.sharing.unwrap_or_default();
    sharing
        .is_possible(transport)
        .map_err(|reason| misuse(format!("--sharing {sharing} does not fit {transport}: {reason}")))?;
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
    let load = Load {
        policy: mechanism(sharing),
        cpus: served.cpus,
        service: served.service,
        rate: PerSecond(rate),
        long: served.long,
        seed: served.seed,
    };
    let stop = interrupt::catch()?;
    let site = LoadSite::new().into_diagnostic()?;
    if let Some(reason) = site.instead() {
        messages::note(format_args!("requests cross loopback, because {reason}"));
    }
    messages::detail(format_args!("running {sharing} on {} cpus for {:?}", load.cpus.len(), load.long));
    let figures = site.run(&load, stop).into_diagnostic()?;
    let Some(figures) = figures else {
        return Err(miette!("no request was answered"));
    };
    if let Some(reason) = &figures.without_priority {
        messages::note(format_args!(
            "sources had no real-time priority ({reason}), so the kernel decided when they ran"
        ));
    }
    if figures.fell_behind {
        messages::note(
            "requests could not be sent as fast as they were due, and the rest was not sent: ask for a lower --rate",
        );
    }
    let shown = match arguments.json {
        true => json::pretty(&Versioned::new(SCHEMA, &Ran::new(sharing, &load, &figures)))?,
        false => words(sharing, &load, &figures),
    };
    crate::output::print(shown.as_bytes())?;
    if stop.load(Ordering::SeqCst) { Err(miette!("interrupted")) } else { Ok(()) }
}

impl Ran {
    fn new(sharing: ServerPolicy, load: &Load, figures: &LoadFigures) -> Self {
        Self {
            transport: load.service.transport,
            sharing: sharing.to_string(),
            processors: load.cpus.len(),
            rate_per_s: load.rate.0,
            seconds: load.long.as_secs_f64(),
            requests: figures.requests,
            lost: figures.lost,
            unanswered: figures.unanswered,
            disturbed_share: figures.disturbed,
            fell_behind: figures.fell_behind,
            throughput_per_s: figures.throughput.0,
            mean_delay_us: figures.delay.micros(),
            p50_delay_us: figures.p50.micros(),
            p99_delay_us: figures.p99.micros(),
            worker_cpu_us: figures.worker_cpu.micros(),
            call_us: figures.call.micros(),
            handled_where_received: figures.here,
            shares: figures.shares.clone(),
        }
    }
}

fn words(sharing: ServerPolicy, load: &Load, figures: &LoadFigures) -> String {
    let LoadFigures { requests, lost, delay, p50, p99, worker_cpu, call, here, throughput, shares, .. } =
        figures;
    let shares: Vec<String> = shares.iter().map(|share| format!("{:.0}%", share * 100.0)).collect();
    let disturbed = match (figures.disturbed * 100.0).round() {
        0.0 => String::new(),
        share => format!(
            "A source was kept from running, though it outranks all: {share}% of the requests are left out of the delays.\n"
        ),
    };
    let unanswered = match figures.unanswered {
        0 => String::new(),
        some => {
            format!("The handler gave {some} of them no reply; an empty one of ours says when it was done.\n")
        }
    };
    format!(
        "{sharing} on {} processors at {}: {requests} requests, {lost} lost, {throughput} answered.\n\
         Delay from when a request was due until its reply was back: mean {delay}, median {p50}, 99th percentile {p99}.\n\
         Processor time for a request: {worker_cpu} of the workers, {call} of the call that sends it, softirq included.\n\
         {:.0}% were handled on the processor that received them; shares of the workers: {}.\n{unanswered}{disturbed}",
        load.cpus.len(),
        load.rate,
        here * 100.0,
        shares.join(", ")
    )
}
