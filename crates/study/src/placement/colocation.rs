//! Threads, queues and packet steering together, for throughput or for latency.
//!
//! A thread whose queue is on the same cpu finds in its cache what the protocol wrote for it. On a
//! neighbouring core behind the same cache, lines have to move, but the two work in parallel. Queues
//! go to neighbouring cores where one cpu cannot do both; for latency, also where the simulator
//! predicts shorter delays.

use super::context::{Assignment, Context, Proposal};
use super::cost_model::{CostModel, NoPrediction};
use super::device_queues::{self, DeviceQueue, Steering};
use super::layout::{Crossing, Layout};
use super::queues::{self, Colocation};
use super::threads::{self, FULL_CPU};
use super::{Goal, target_threads};
use warmcore_topology::CpuSet;
use warmcore_units::{CpuId, Estimate, Nanos, PerSecond};

/// Chooses the cpus of threads and queues, and the steering.
pub(super) fn choose(context: &Context<'_>) -> Proposal {
    let threads = threads::choose(&context.pool, context.goal, &context.threads, &context.queues);
    let cpus: CpuSet = threads.iter().copied().collect();
    let (colocation, why) = colocation(context, &threads, &cpus);
    let queues = queues::choose(&context.pool, colocation, &threads, &context.queues);
    let steering = vec![Steering::None; context.queues.len()];
    let unsteered = context.propose(Assignment { threads, queues, steering, why });
    match colocation {
        Colocation::SameCpu => steer_to_readers(context, unsteered, &cpus),
        Colocation::NeighbourCore => spread(context, unsteered, &cpus),
    }
}

/// Whether queues share the cpus of threads, and why.
fn colocation(context: &Context<'_>, threads: &[CpuId], cpus: &CpuSet) -> (Colocation, String) {
    if queues::neighbours(&context.pool, cpus).is_empty() {
        return (Colocation::SameCpu, "on a cpu of its readers: no other core is free".to_owned());
    }
    if let Some(cpu) = overloaded(context, threads, cpus) {
        let why = format!("beside its readers: cpu {} could not take packets in as well", cpu.0);
        return (Colocation::NeighbourCore, why);
    }
    if context.goal == Goal::Latency && is_neighbour_faster(context) {
        let why = "beside its reader: a packet need not wait until its reader is done".to_owned();
        return (Colocation::NeighbourCore, why);
    }
    let why = "on a cpu of its readers, who then find in its cache what the protocol wrote".to_owned();
    (Colocation::SameCpu, why)
}

/// The cpus' worth of time spent on processing packets: as counted by the kernel or as computed from
/// the profile, whichever is more.
fn packet_load(context: &Context<'_>) -> f64 {
    let counted = device_queues::softirq_load(context.picture).unwrap_or(0.0);
    let costs = context.costs.as_ref().ok().zip(context.rate);
    let computed = costs.map(|(costs, rate)| costs.packet(Crossing::default()).mean.secs() * rate.0);
    counted.max(computed.unwrap_or(0.0))
}

/// The first cpu that could not do the work of its threads and an equal share of the packets.
fn overloaded(context: &Context<'_>, threads: &[CpuId], cpus: &CpuSet) -> Option<CpuId> {
    let packets = packet_load(context) / cpus.len().max(1) as f64;
    threads.iter().copied().find(|&cpu| {
        let on_cpu = context.threads.iter().zip(threads).filter(|&(_, &chosen)| chosen == cpu);
        let work: f64 = on_cpu.map(|(thread, _)| thread.share()).sum();
        work <= FULL_CPU && work + packets > FULL_CPU
    })
}

/// Whether the simulator predicts shorter delays with queues on neighbouring cores.
fn is_neighbour_faster(context: &Context<'_>) -> bool {
    let (Ok(costs), Some(rate)) = (&context.costs, context.rate) else { return false };
    delays(context, costs, rate).is_ok_and(|[same, neighbour]| is_longer(same, neighbour))
}

/// A delay, or `None` where a cpu cannot keep up.
type Delay = Option<Estimate<Nanos>>;

/// The delay of a packet until the busiest thread is done with it: with its queue on the same cpu, and
/// on a neighbouring core.
fn delays(context: &Context<'_>, costs: &CostModel<'_>, rate: PerSecond) -> Result<[Delay; 2], NoPrediction> {
    let all = context.thread_load();
    let Some(busiest) =
        context.threads.first().map(target_threads::TargetThread::share).filter(|_| all > 0.0)
    else {
        return Ok([None, None]);
    };
    let rate = rate * (busiest / all);
    let work = Nanos::from_secs(busiest / rate.0);
    let crossing = |session| Crossing { session, ..Crossing::default() };
    let same = costs.delay(crossing(0.0), rate, work)?;
    let neighbour = costs.delay(crossing(1.0), rate, Nanos::ZERO)?.zip(costs.delay_of_work(rate, work)?);
    let sum = |(protocol, work): (Estimate<Nanos>, Estimate<Nanos>)| Estimate {
        mean: protocol.mean + work.mean,
        half_width: protocol.half_width.zip(work.half_width).map(|(one, other)| one + other),
    };
    Ok([same, neighbour.map(sum)])
}

/// Whether the delay `one` is longer than `other` by more than their intervals.
fn is_longer(one: Delay, other: Delay) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => one.mean > other.mean && !one.agrees_with(&other),
        (None, Some(_)) => true,
        _ => false,
    }
}

/// Packets follow their readers (RFS) where moving the frame costs less than what would cross
/// otherwise, or, without costs, where queues are too few to reach every reader.
fn steer_to_readers(context: &Context<'_>, unsteered: Proposal, cpus: &CpuSet) -> Proposal {
    if unsteered.layout.crossing.session == 0.0 || !can_follow_readers(context, cpus) {
        return unsteered;
    }
    let Assignment { threads, queues, why, .. } = &unsteered.assignment;
    let steered = context.propose(Assignment {
        threads: threads.clone(),
        queues: queues.clone(),
        steering: vec![Steering::ToReader; context.queues.len()],
        why: why.clone(),
    });
    let follows = match &context.costs {
        Ok(costs) => is_cheaper(costs, &steered.layout, &unsteered.layout),
        Err(_) => queues.iter().copied().collect::<CpuSet>().len() < cpus.len(),
    };
    if follows { steered } else { unsteered }
}

fn is_cheaper(costs: &CostModel<'_>, one: &Layout, other: &Layout) -> bool {
    let saving = costs.saving(other.crossing, one.crossing);
    saving.mean > saving.half_width.unwrap_or(0.0) || one.busiest < other.busiest && saving.mean >= 0.0
}

/// Whether every queue can steer, and every reader's cpu may process packets.
fn can_follow_readers(context: &Context<'_>, cpus: &CpuSet) -> bool {
    let can_steer = |queue: &DeviceQueue<'_>| {
        queue.receive().is_some_and(|queue| queue.rps.is_some() && queue.rfs_flows.is_some())
    };
    context.picture.rfs_flows.is_some()
        && context.queues.iter().all(can_steer)
        && cpus.intersection(&context.pool.reserved).is_empty()
}

/// On neighbouring cores: spreads packets (RPS) where one cpu per queue cannot process them all.
fn spread(context: &Context<'_>, unsteered: Proposal, cpus: &CpuSet) -> Proposal {
    let busiest = unsteered.layout.busiest * packet_load(context);
    let neighbours: CpuSet = queues::neighbours(&context.pool, cpus).iter().map(|cpu| cpu.id).collect();
    if busiest <= FULL_CPU || context.queues.len() >= neighbours.len() {
        return unsteered;
    }
    let steering = vec![Steering::Spread(neighbours); context.queues.len()];
    context.propose(Assignment { steering, ..unsteered.assignment })
}
