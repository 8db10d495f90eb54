//! What a run came to, for other programs: named as a simulated point's figures are, so that the
//! two can be compared.
//!
//! Delays, service times, shares and the throughput are those of the steady part of the run;
//! packets are those of the whole run. A figure that could not be had is null.

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
    /// How often a trace came; null without one.
    trace_rounds: Option<f64>,
    /// What came a second, of the whole run, and what was processed of it.
    came_per_s: Option<f64>,
    processed_per_s: Option<f64>,

    /// Of the steady part, like those below, but of all packets: whatever disturbed them.
    all_mean_delay_us: Option<f64>,
    all_delay_half_width_us: Option<f64>,
    /// The share of packets that nothing disturbed, which all figures from here on are of.
    undisturbed_packets: Option<f64>,
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

    /// Of the whole run, with all that disturbed it.
    overall_mean_delay_us: Option<f64>,
    overall_mean_service_us: Option<f64>,
    overall_p50_us: Option<f64>,
    overall_p99_us: Option<f64>,

    /// What the driver showed or lost: the sum of the six below.
    offered: u64,
    delivered: u64,
    refused: BTreeMap<String, u64>,
    overflowed: u64,
    failed: u64,
    given_up: u64,
    lost: u64,
    /// Of those delivered: whose answer could not be sent.
    unanswered: u64,

    workers: Vec<Worker>,
    steady_seconds: f64,
    /// The share of packets of the steady part that met a time in which a worker was kept from running.
    disturbed_packets: Option<f64>,
    wall_seconds: f64,
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
        let Finished { scenario, setup, report, interrupted } = finished;
        let (total, steady) = (report.total(), report.steady());
        let (all, steady_all) = (total.all_packets(), steady.total());
        let seen = &steady_all.clean;
        let all_delay = micros(finished.held(steady.overall_delay()));
        let [delay, service, p50, p99, p999] = [
            steady.delay(),
            steady.service(),
            steady.quantile(0.5),
            steady.quantile(0.99),
            steady.quantile(0.999),
        ]
        .map(|time| micros(finished.held(time)));
        let throughput = steady.throughput();
        let [came, processed] = finished.achieved();
        let processor_time = steady.duration() * setup.options.cpus.len() as f64;
        Self {
            scenario: Described::of_scenario(scenario),
            live: &scenario.live,
            placed_on: setup.options.cpus.iter().map(|cpu| cpu.0).collect(),
            rate_per_s: setup.rate.map(|rate| rate.0),
            interrupted: *interrupted,
            trace_rounds: finished.rounds(),
            came_per_s: finite(came.0),
            processed_per_s: finite(processed.0),
            all_mean_delay_us: all_delay.0,
            all_delay_half_width_us: all_delay.1,
            undisturbed_packets: finite(1.0 - steady.disturbed()).filter(|_| steady_all.packets() > 0),
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
            utilisation: finite(steady_all.busy() / processor_time),
            throughput_per_s: finite(throughput.mean.0),
            throughput_half_width_per_s: throughput.half_width.and_then(|half| finite(half.0)),
            situations: by_situation(seen, |served| Some(served.packets)),
            situation_share: by_situation(seen, |served| {
                finite(served.packets as f64 / seen.packets() as f64)
            }),
            situation_mean_service_us: by_situation(seen, |served| {
                finite((served.time / served.packets as f64).micros())
            }),
            overall_mean_delay_us: each(all.delay, &total),
            overall_mean_service_us: each(total.busy(), &total),
            overall_p50_us: finite(Nanos(all.delays.quantile(0.5)).micros()),
            overall_p99_us: finite(Nanos(all.delays.quantile(0.99)).micros()),
            offered: setup.driver.received() + report.lost,
            delivered: total.packets(),
            refused: total.refused.iter().map(|(reason, &count)| (format!("{reason:?}"), count)).collect(),
            overflowed: total.overflowed,
            failed: total.failed,
            given_up: report.given_up,
            lost: report.lost,
            unanswered: total.unanswered,
            workers: workers(finished),
            steady_seconds: steady.duration().secs(),
            disturbed_packets: finite(steady.disturbed()),
            wall_seconds: report.duration.secs(),
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
