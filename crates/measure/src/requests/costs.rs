//! The costs that the values of all experiments make.

use crate::requests::experiment::{BURST, Gap, Part, RequestExperiment};
use crate::requests::rounds::RequestRounds;
use crate::requests::service::Service;
use warmcore_costs::Measured;
use warmcore_costs::server::{AloneTimes, BurstTimes, ServerCosts, SourceTimes, Waiting};
use warmcore_costs::socket::{LastUsed, SoftirqCpu};
use warmcore_units::Nanos;

/// The costs; `None` if what sources take could not be measured.
pub(crate) fn costs(
    rounds: &RequestRounds<'_>,
    experiments: &[RequestExperiment],
    service: &Service,
    flows: usize,
) -> Option<ServerCosts> {
    let alone = experiments.iter().flat_map(|&experiment| alone(rounds, experiment)).collect();
    let bursts = experiments.iter().filter_map(|&experiment| burst(rounds, experiment)).collect();
    let source = source(rounds)?;
    let (state_bytes, payload_bytes) = (service.state_bytes(), service.payloads.mean_bytes());
    let (library, requests) = (service.library().cloned(), service.payloads.capture().cloned());
    let transport = service.transport;
    Some(ServerCosts {
        transport,
        state_bytes,
        payload_bytes,
        library,
        requests,
        flows,
        source,
        alone,
        bursts,
    })
}

/// Requests are alone if nothing runs for at least this share of the time between two. A slow handler is not yet done with one
/// when the next comes.
const ALONE: f64 = 0.2;

fn alone(rounds: &RequestRounds<'_>, experiment: RequestExperiment) -> Vec<AloneTimes> {
    let gap = match experiment {
        RequestExperiment::Alone { gap, .. } | RequestExperiment::Turns { gap, .. } => gap,
        _ => return Vec::new(),
    };
    let row = |waiting, softirq_cpu, socket, state| {
        let value = |part| rounds.value(experiment, softirq_cpu, part);
        let idle = value(Part::Idle)?.mean;
        if idle.0 < ALONE * gap.time().as_nanos() as f64 && gap != Gap::LONGEST {
            return None;
        }
        Some(AloneTimes {
            waiting,
            softirq_cpu,
            socket,
            state,
            idle: idle.max(Nanos::ZERO),
            late: value(Part::Late)?,
            call: value(Part::Call)?,
            reply: value(Part::Reply)?,
            worker_cpu: value(Part::WorkerCpu)?,
        })
    };
    let places: &[SoftirqCpu] = match experiment {
        RequestExperiment::Alone { waiting, softirq, .. } => {
            return row(waiting, softirq, LastUsed::Here, LastUsed::Here).into_iter().collect();
        }
        RequestExperiment::Turns { .. } => &[SoftirqCpu::Reader, SoftirqCpu::OtherCore],
        _ => &[],
    };
    let RequestExperiment::Turns { state, .. } = experiment else { return Vec::new() };
    places.iter().filter_map(|&place| row(Waiting::Fifo, place, LastUsed::Elsewhere, state)).collect()
}

fn burst(rounds: &RequestRounds<'_>, experiment: RequestExperiment) -> Option<BurstTimes> {
    let RequestExperiment::Burst { waiting, softirq } = experiment else { return None };
    let value = |part| rounds.value(experiment, softirq, part);
    Some(BurstTimes {
        waiting,
        softirq_cpu: softirq,
        requests: BURST,
        call: value(Part::Call)?,
        last_reply: value(Part::Reply)?,
        worker_cpu: value(Part::WorkerCpu)?,
    })
}

/// The single requests whose replies' reading is counted in what sources take.
const USUAL: RequestExperiment =
    RequestExperiment::Alone { waiting: Waiting::Own, softirq: SoftirqCpu::Reader, gap: Gap::ALL[1] };

/// The experiments from which it follows what sources take.
pub(crate) const fn needed_by_sources() -> [RequestExperiment; 2] {
    [RequestExperiment::Source, USUAL]
}

/// What sources take, the reading of replies included.
fn source(rounds: &RequestRounds<'_>) -> Option<SourceTimes> {
    let value = |part| rounds.value(RequestExperiment::Source, SoftirqCpu::Reader, part);
    let read = rounds.value(USUAL, SoftirqCpu::Reader, Part::Read)?;
    Some(SourceTimes {
        late_busy: value(Part::Late)?,
        stolen: sum(value(Part::Stolen)?, read),
        stolen_more: sum(value(Part::StolenMore)?, read),
    })
}

/// The sum of two independent times.
fn sum(one: Measured, other: Measured) -> Measured {
    let half = |time: &Measured| time.half_width.map_or(0.0, |half| half.0);
    Measured {
        mean: one.mean + other.mean,
        half_width: Some(Nanos(half(&one).hypot(half(&other)))),
        runs: one.runs.min(other.runs),
        missed_target: one.missed_target || other.missed_target,
        ..one
    }
}
