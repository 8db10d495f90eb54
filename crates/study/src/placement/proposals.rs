//! The placements that are worth a comparison.
//!
//! Queues stay where they are, are spread over the cores near their device, or, where every reader is pinned to a
//! core, go to those cores or beside them: a thread whose queue is on its cpu finds in its cache what the protocol
//! wrote for it; on a neighbouring core behind the same cache, lines have to move, but the two work in parallel.
//! Packets are processed where they arrive, follow their readers (RFS), or are spread (RPS). Which of all these is
//! best, and whether it is good enough, `worth` decides.

use super::context::{Assignment, Context, Proposal};
use super::cost_model::CostModel;
use super::device_queues::{DeviceQueue, Steering};
use super::layout::Crossing;
use super::performance::NoPrediction;
use super::queues::{self, Colocation};
use super::threads::{self, FULL_CPU};
use super::{Goal, Unplaceable, interrupt_cores, masks, spread, target_threads};
use std::collections::BTreeMap;
use warmcore_topology::CpuSet;
use warmcore_units::{CpuId, Estimate, Nanos, PerSecond};

/// A cpu that spends this part of its time on packets is short of time for more.
const BUSY_WITH_PACKETS: f64 = 0.5;

/// Where the queues go, and why.
struct Queues {
    cpus: Vec<CpuId>,
    why: String,
}

/// Every placement worth a comparison, those that change least first.
pub(super) fn find(context: &Context<'_>) -> Result<Vec<Proposal>, Unplaceable> {
    if let Some(count) = context.request.interrupt_cores {
        return interrupt_cores::propose(context, count).map(|proposal| vec![proposal]);
    }
    let unmoved: Vec<CpuSet> = context.threads.iter().map(|thread| thread.current.clone()).collect();
    let mut ways = vec![unmoved, readers(context)];
    ways.dedup();
    if context.request.pin {
        ways.remove(0);
    }
    let mut proposals = Vec::new();
    for readers in &ways {
        for queues in placements(context, readers) {
            for steering in steerings(context, readers, &queues.cpus) {
                let assignment = Assignment {
                    threads: readers.clone(),
                    queues: queues.cpus.clone(),
                    steering,
                    why: queues.why.clone(),
                };
                proposals.push(context.propose(assignment));
            }
        }
    }
    Ok(proposals)
}

/// The cpus of each reader.
fn readers(context: &Context<'_>) -> Vec<CpuSet> {
    if !context.request.pin {
        return masks::choose(context, &CpuSet::default());
    }
    let node = threads::busiest_node(&context.queues);
    let single =
        threads::choose(&context.pool, context.request.goal, &context.threads, &context.queues, node);
    let mask = |(thread, cpu): (&target_threads::TargetThread<'_>, CpuId)| match thread.dedicated {
        true => thread.current.clone(),
        false => CpuSet::from_iter([cpu]),
    };
    context.threads.iter().zip(single).map(mask).collect()
}

fn placements(context: &Context<'_>, readers: &[CpuSet]) -> Vec<Queues> {
    let spread = Queues {
        cpus: spread::choose(context, readers, None),
        why: "one of the cores near the device, over which queues are spread".to_owned(),
    };
    if !context.request.interfaces.is_empty() {
        return vec![spread];
    }
    let as_it_is = context.as_it_is();
    let stays = Queues { cpus: as_it_is.queues, why: as_it_is.why };
    let homes = homes(context, readers).map(|homes| at_homes(context, &homes));
    [Some(stays), homes, Some(spread)].into_iter().flatten().collect()
}

/// The core of each reader, if every one is pinned to a core that may take interrupts.
fn homes(context: &Context<'_>, readers: &[CpuSet]) -> Option<Vec<CpuId>> {
    let home = |cpus: &CpuSet| {
        let first = context.pool.first(cpus)?;
        let core = context.pool.cores_of(&CpuSet::from_iter([first]));
        (cpus.difference(&core).is_empty() && !context.pool.reserved.contains(first)).then_some(first)
    };
    if readers.is_empty() { None } else { readers.iter().map(home).collect() }
}

/// Queues on or beside the cpus of pinned readers.
fn at_homes(context: &Context<'_>, homes: &[CpuId]) -> Queues {
    let cpus: CpuSet = homes.iter().copied().collect();
    let (colocation, why) = colocation(context, homes, &cpus);
    Queues { cpus: queues::choose(&context.pool, colocation, homes, &context.queues), why }
}

/// Whether queues share the cpus of pinned readers, and why.
fn colocation(context: &Context<'_>, homes: &[CpuId], cpus: &CpuSet) -> (Colocation, String) {
    if queues::neighbours(&context.pool, cpus).is_empty() {
        return (Colocation::SameCpu, "on a cpu of its readers: no other core is free".to_owned());
    }
    if let Some(cpu) = overloaded(context, homes, cpus) {
        let why = format!("beside its readers: cpu {} could not take packets in as well", cpu.0);
        return (Colocation::NeighbourCore, why);
    }
    if context.request.goal == Goal::Latency && is_neighbour_faster(context) {
        let why = "beside its reader: a packet need not wait until its reader is done".to_owned();
        return (Colocation::NeighbourCore, why);
    }
    let why = "on a cpu of its readers, who then find in its cache what the protocol wrote".to_owned();
    (Colocation::SameCpu, why)
}

/// The first cpu that could not do the work of its threads and an equal share of the packets.
fn overloaded(context: &Context<'_>, homes: &[CpuId], cpus: &CpuSet) -> Option<CpuId> {
    let packets = context.packet_load() / cpus.len().max(1) as f64;
    homes.iter().copied().find(|&cpu| {
        let on_cpu = context.threads.iter().zip(homes).filter(|&(_, &chosen)| chosen == cpu);
        let work: f64 = on_cpu.map(|(thread, _)| thread.share()).sum();
        work <= FULL_CPU && work + packets > FULL_CPU
    })
}

/// Whether the simulator predicts shorter delays with queues on neighbouring cores.
fn is_neighbour_faster(context: &Context<'_>) -> bool {
    let (Ok(costs), Some(rate)) = (&context.costs, context.rate.filter(|rate| rate.0 > 0.0)) else {
        return false;
    };
    delays(context, costs, rate).is_ok_and(|[same, neighbour]| is_longer(same, neighbour))
}

/// A delay, or `None` where a cpu cannot keep up.
type Delay = Option<Estimate<Nanos>>;

/// The delay of a packet until the busiest thread is done with it: with its queue on the same cpu, and
/// on a neighbouring core.
fn delays(context: &Context<'_>, costs: &CostModel<'_>, rate: PerSecond) -> Result<[Delay; 2], NoPrediction> {
    let all = context.thread_load();
    let Some(busiest) = context
        .threads
        .first()
        .map(target_threads::TargetThread::share)
        .filter(|share| *share > 0.0 && all > 0.0)
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

/// The ways in which the packets of `queues` may be steered, the present one first.
fn steerings(context: &Context<'_>, readers: &[CpuSet], queues: &[CpuId]) -> Vec<Vec<Steering>> {
    let each = |steering: Steering| vec![steering; context.queues.len()];
    let mut steerings = vec![context.as_it_is().steering];
    if !context.request.interfaces.is_empty() {
        return steerings;
    }
    steerings.push(each(Steering::None));
    // Without costs, packets follow only readers that the queues are too few to reach.
    let busy = context.threads.iter().filter(|thread| target_threads::is_busy(context.rates, thread.thread));
    let are_few = context.queues.len() < busy.count();
    if can_follow_readers(context, readers)
        && (context.costs.is_ok() || are_few)
        && is_spread(context, readers, queues)
    {
        steerings.push(each(Steering::ToReader));
    }
    steerings.extend(spread_packets(context, readers, queues));
    steerings.dedup();
    steerings
}

/// Whether every queue can steer, and every reader's cpus may process packets.
fn can_follow_readers(context: &Context<'_>, readers: &[CpuSet]) -> bool {
    let can_steer = |queue: &DeviceQueue<'_>| {
        queue.receive().is_some_and(|queue| queue.rps.is_some() && queue.rfs_flows.is_some())
    };
    let is_free = |cpus: &CpuSet| cpus.intersection(&context.pool.reserved).is_empty();
    context.picture.rfs_flows.is_some()
        && !readers.is_empty()
        && context.queues.iter().all(can_steer)
        && readers.iter().all(is_free)
}

/// Whether no cpu of `queues` is interrupted for more packets than if they were spread. Only then are packets handed over:
/// the work of the interrupt itself stays where it is, and no profile has its price.
fn is_spread(context: &Context<'_>, readers: &[CpuSet], queues: &[CpuId]) -> bool {
    const ROUNDING: f64 = 1e-9;
    let parts = || context.queues.iter().map(|queue| queue.part);
    let most = |queues: &[CpuId]| by_cpu(queues, parts()).into_values().fold(0.0, f64::max);
    most(queues) <= most(&spread::choose(context, readers, None)) + ROUNDING
}

/// Packets of queues whose cpu has no time for them, spread over the cores near their devices; where queues that are
/// spread leave no cpu short of time, none are.
fn spread_packets(context: &Context<'_>, readers: &[CpuSet], queues: &[CpuId]) -> Option<Vec<Steering>> {
    let can_steer = |queue: &DeviceQueue<'_>| queue.receive().is_some_and(|receive| receive.rps.is_some());
    if !context.queues.iter().all(can_steer) {
        return None;
    }
    let times = context.queue_times();
    let interrupted = |queues: &[CpuId]| by_cpu(queues, times.iter().copied());
    let is_short = |time: f64| time > BUSY_WITH_PACKETS;
    if !interrupted(&spread::choose(context, readers, None)).values().any(|&time| is_short(time)) {
        return None;
    }
    let interrupted = interrupted(queues);
    let steering = |(queue, cpu): (&DeviceQueue<'_>, &CpuId)| {
        let near = near_device(context, queue);
        match is_short(interrupted[cpu]) && near.len() > 1 {
            true => Steering::Spread(near),
            false => Steering::None,
        }
    };
    Some(context.queues.iter().zip(queues).map(steering).collect())
}

/// The sum of what the queues on each cpu have of `parts`.
fn by_cpu(queues: &[CpuId], parts: impl Iterator<Item = f64>) -> BTreeMap<CpuId, f64> {
    let mut sums = BTreeMap::new();
    for (&cpu, part) in queues.iter().zip(parts) {
        *sums.entry(cpu).or_default() += part;
    }
    sums
}

/// The first hardware threads of the fast cores near the device of `queue`; of all, where that is near no node.
fn near_device(context: &Context<'_>, queue: &DeviceQueue<'_>) -> CpuSet {
    let node = queue.interface.node;
    let near = context.pool.available().filter(|cpu| node.is_none_or(|node| cpu.node == node) && !cpu.slow);
    near.filter(|cpu| cpu.smt_index == 0).map(|cpu| cpu.id).collect()
}
