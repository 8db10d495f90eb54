//! The figures of a run for other programs, named as those of a simulated point, so that the two can be
//! compared. A figure that is not known is null.

use super::finished::Finished;
use serde::Serialize;
use std::collections::BTreeMap;
use warmcore_costs::Situation;
use warmcore_runtime::tally::{Block, PacketStats, Served};
use warmcore_scenario::Live;
use warmcore_study::point::NamedFigures as Described;
use warmcore_units::{Estimate, Nanos};

#[derive(Serialize)]
pub(super) struct RunFigures<'a> {
    #[serde(flatten)]
    scenario: Described,
    #[serde(flatten)]
    live: &'a Live,
    /// The processors, where none were named.
    placed_on: Vec<u32>,
    /// The rate of arrivals; null if packets came as fast as they were taken in, or from a network.
    rate_per_s: Option<f64>,
    interrupted: bool,
    /// What ended the run early; null unless it failed.
    failure: Option<&'a str>,
    /// How often the trace was replayed; null without one.
    trace_rounds: Option<f64>,
    /// The rates at which packets arrived and were processed, in the steady part.
    came_per_s: Option<f64>,
    processed_per_s: Option<f64>,
    #[serde(flatten)]
    steady: SteadyFigures,
    #[serde(flatten)]
    whole_run: WholeRunFigures,
    #[serde(flatten)]
    counts: PacketCounts,
    workers: Vec<Worker>,
    wall_seconds: f64,
}

/// Figures of the steady part of a run.
#[derive(Serialize)]
struct SteadyFigures {
    steady_seconds: f64,
    /// Of all packets, disturbed or not.
    overall_mean_delay_us: Option<f64>,
    overall_delay_half_width_us: Option<f64>,
    /// The share of packets that met a time in which a worker was kept from running; null without packets.
    /// Delays, service times and situations from here on are those of the others.
    disturbed_share: Option<f64>,
    mean_delay_us: Option<f64>,
    delay_half_width_us: Option<f64>,
    mean_service_us: Option<f64>,
    service_half_width_us: Option<f64>,
    p50_us: Option<f64>,
    p50_half_width_us: Option<f64>,
    p99_us: Option<f64>,
    p99_half_width_us: Option<f64>,
    p999_us: Option<f64>,
    p999_half_width_us: Option<f64>,
    utilisation: Option<f64>,
    throughput_per_s: Option<f64>,
    throughput_half_width_per_s: Option<f64>,
    /// Packets by what they found, as a simulated point has them.
    situations: BTreeMap<String, u64>,
    /// Their share, and mean time in service.
    situation_share: BTreeMap<String, f64>,
    situation_mean_service_us: BTreeMap<String, f64>,
}

/// Figures of all packets from the start of a run to its end.
#[derive(Serialize)]
struct WholeRunFigures {
    whole_run_mean_delay_us: Option<f64>,
    whole_run_mean_service_us: Option<f64>,
    whole_run_p50_us: Option<f64>,
    whole_run_p99_us: Option<f64>,
}

/// What became of the packets of the whole run.
#[derive(Serialize)]
struct PacketCounts {
    /// What the driver delivered or lost: the sum of the six below.
    offered: u64,
    delivered: u64,
    refused: BTreeMap<String, u64>,
    overflowed: u64,
    failed: u64,
    given_up: u64,
    lost: u64,
    /// Of those delivered: whose answer could not be sent.
    unanswered: u64,
    /// Received by one worker and forwarded to another, the home of their stream.
    forwarded: u64,
    /// Idle streams that were closed for new senders, and senders that were refused for want of one; null from memory.
    streams_closed: Option<u64>,
    senders_refused: Option<u64>,
}

/// What one worker did.
#[derive(Serialize)]
struct Worker {
    cpu: u32,
    packets: u64,
    utilisation: f64,
    stalls: u64,
    longest_stall_us: f64,
    /// Where it was found when somebody had moved it.
    moved_to: Option<u32>,
}

impl<'a> RunFigures<'a> {
    pub(super) fn new(finished: &'a Finished) -> Self {
        let Finished { scenario, setup, report, interrupted, failure, .. } = finished;
        let total = report.total();
        let [came, processed] = finished.achieved();
        Self {
            scenario: Described::from_scenario(scenario),
            live: &scenario.live,
            placed_on: setup.options.cpus.iter().map(|cpu| cpu.0).collect(),
            rate_per_s: setup.rate.map(|rate| rate.0),
            interrupted: *interrupted,
            failure: failure.as_deref(),
            trace_rounds: finished.rounds(),
            came_per_s: finite(came.0),
            processed_per_s: finite(processed.0),
            steady: SteadyFigures::new(finished),
            whole_run: WholeRunFigures::new(&total),
            counts: PacketCounts::new(finished, &total),
            workers: workers(finished),
            wall_seconds: report.duration.secs(),
        }
    }
}

impl SteadyFigures {
    fn new(finished: &Finished) -> Self {
        let steady = finished.report.steady();
        let total = steady.total();
        let seen = &total.clean;
        let [overall, delay, service, p50, p99, p999] = [
            steady.overall_delay(),
            steady.delay(),
            steady.service(),
            steady.quantile(0.5),
            steady.quantile(0.99),
            steady.quantile(0.999),
        ]
        .map(|time| micros(finished.held(time)));
        let throughput = steady.throughput();
        let processor_time = steady.duration() * finished.setup.options.cpus.len() as f64;
        Self {
            steady_seconds: steady.duration().secs(),
            overall_mean_delay_us: overall.0,
            overall_delay_half_width_us: overall.1,
            disturbed_share: (total.packets() > 0).then(|| steady.disturbed()),
            mean_delay_us: delay.0,
            delay_half_width_us: delay.1,
            mean_service_us: service.0,
            service_half_width_us: service.1,
            p50_us: p50.0,
            p50_half_width_us: p50.1,
            p99_us: p99.0,
            p99_half_width_us: p99.1,
            p999_us: p999.0,
            p999_half_width_us: p999.1,
            utilisation: finite(total.busy() / processor_time),
            throughput_per_s: finite(throughput.mean.0),
            throughput_half_width_per_s: throughput.half_width.and_then(|half| finite(half.0)),
            situations: by_situation(seen, |served| Some(served.packets)),
            situation_share: by_situation(seen, |served| {
                finite(served.packets as f64 / seen.packets() as f64)
            }),
            situation_mean_service_us: by_situation(seen, |served| {
                finite((served.time / served.packets as f64).micros())
            }),
        }
    }
}

impl WholeRunFigures {
    fn new(total: &Block) -> Self {
        let seen = total.all_packets();
        let quantile = |p| finite(Nanos(seen.delays.quantile(p)).micros());
        Self {
            whole_run_mean_delay_us: each(seen.delay, total),
            whole_run_mean_service_us: each(total.busy(), total),
            whole_run_p50_us: quantile(0.5),
            whole_run_p99_us: quantile(0.99),
        }
    }
}

impl PacketCounts {
    fn new(finished: &Finished, total: &Block) -> Self {
        let Finished { setup, report, senders, .. } = finished;
        Self {
            offered: setup.driver.received() + report.lost,
            delivered: total.packets(),
            refused: total.refused.iter().map(|(reason, &count)| (format!("{reason:?}"), count)).collect(),
            overflowed: total.overflowed,
            failed: total.failed,
            given_up: report.given_up,
            lost: report.lost,
            unanswered: total.unanswered,
            forwarded: total.forwarded,
            streams_closed: senders.map(|senders| senders.closed),
            senders_refused: senders.map(|senders| senders.refused),
        }
    }
}

fn workers(finished: &Finished) -> Vec<Worker> {
    let of = |(worker, cpu): (&warmcore_runtime::tally::Blocks, &warmcore_units::CpuId)| Worker {
        cpu: cpu.0,
        packets: worker.total.packets(),
        utilisation: worker.total.busy() / finished.report.duration,
        stalls: worker.total.stalls.count,
        longest_stall_us: worker.total.stalls.longest.micros(),
        moved_to: worker.total.moved.map(|cpu| cpu.0),
    };
    finished.report.workers.iter().zip(&finished.setup.options.cpus).map(of).collect()
}

/// A value of each situation; of those that were not met only where there is one.
fn by_situation<T>(seen: &PacketStats, value: impl Fn(Served) -> Option<T>) -> BTreeMap<String, T> {
    let of = |situation: Situation| Some((situation.to_string(), value(seen.situations[situation.index()])?));
    Situation::all().filter_map(of).collect()
}

/// What one packet of `done` has of `time`, in microseconds.
fn each(time: Nanos, done: &Block) -> Option<f64> {
    finite((time / done.packets() as f64).micros())
}

/// Mean and half-width in microseconds.
fn micros(time: Estimate<Nanos>) -> (Option<f64>, Option<f64>) {
    (finite(time.mean.micros()), time.half_width.and_then(|half| finite(half.micros())))
}

fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}
