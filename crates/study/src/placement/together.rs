//! Threads and queues together, for throughput or for latency.
//!
//! With its queue on its own cpu a thread finds what the protocol wrote for it in its cache. Beside
//! each other, on two cores behind one cache, lines have to move, but one can work while the other
//! does. Which is better is not a matter of taste: beside each other where one cpu cannot do both;
//! for latency also where the simulator sees shorter delays.

use super::crossing::Layout;
use super::forecast::{Costs, Unforeseen};
use super::queues::{self, Side};
use super::threads::{self, WHOLE};
use super::traffic::{self, Steering};
use super::{Chosen, Goal, Scene};
use warmcore_topology::CpuSet;
use warmcore_units::{CpuId, Estimate, Nanos, PerSecond};

/// Where everything goes.
pub(super) fn choose(scene: &Scene<'_>) -> Chosen {
    let threads = threads::choose(&scene.ground, scene.goal, &scene.meant, &scene.flows);
    let cpus: CpuSet = threads.iter().copied().collect();
    let (side, why) = side(scene, &threads);
    let queues = queues::choose(&scene.ground, side, &threads, &scene.flows);
    let unsteered = Chosen { threads, queues, steering: vec![Steering::None; scene.flows.len()], why };
    match side {
        Side::With => steered(scene, unsteered, &cpus),
        Side::Beside => spread(scene, unsteered, &cpus),
    }
}

/// On which side of the threads queues go, and why.
fn side(scene: &Scene<'_>, threads: &[CpuId]) -> (Side, String) {
    if queues::beside(&scene.ground, &threads.iter().copied().collect()).is_empty() {
        return (Side::With, "on a cpu of its readers: no other core is free".to_owned());
    }
    if let Some(cpu) = overloaded(scene, threads) {
        let why = format!("beside its readers: cpu {} could not take packets in as well", cpu.0);
        return (Side::Beside, why);
    }
    let with = "on a cpu of its readers, who then find in its cache what the protocol wrote".to_owned();
    match (scene.goal, scene.costs.as_ref(), scene.rate) {
        (Goal::Latency, Ok(costs), Some(rate)) => match delays(scene, costs, rate) {
            Ok([with, beside]) if is_longer(with, beside) => {
                let why = "beside its reader: a packet need not wait until its reader is done".to_owned();
                (Side::Beside, why)
            }
            _ => (Side::With, with),
        },
        _ => (Side::With, with),
    }
}

/// The cpus' worth of time that goes into taking packets in, as counted or as the profile has it.
fn load(scene: &Scene<'_>) -> f64 {
    let counted = traffic::load(scene.picture).unwrap_or(0.0);
    let costs = scene.costs.as_ref().ok().zip(scene.rate);
    let computed =
        costs.map(|(costs, rate)| costs.packet(super::crossing::Crossing::default()).mean.secs() * rate.0);
    counted.max(computed.unwrap_or(0.0))
}

/// The first cpu that could not do the work of its threads and of as many packets as the others.
fn overloaded(scene: &Scene<'_>, threads: &[CpuId]) -> Option<CpuId> {
    let cpus: CpuSet = threads.iter().copied().collect();
    let packets = load(scene) / cpus.len().max(1) as f64;
    threads.iter().copied().find(|&cpu| {
        let of_cpu = scene.meant.iter().zip(threads).filter(|&(_, &chosen)| chosen == cpu);
        let work: f64 = of_cpu.map(|(of, _)| of.share()).sum();
        work <= WHOLE && work + packets > WHOLE
    })
}

/// A delay, or `None` where a cpu cannot keep up.
type Delay = Option<Estimate<Nanos>>;

/// The delay of a packet for the busiest thread until that is done with it: on its cpu, and beside it.
fn delays(scene: &Scene<'_>, costs: &Costs<'_>, rate: PerSecond) -> Result<[Delay; 2], Unforeseen> {
    let all: f64 = scene.meant.iter().map(super::subject::Meant::share).sum();
    let Some(busiest) = scene.meant.first().filter(|_| all > 0.0) else { return Ok([None, None]) };
    let rate = rate * (busiest.share() / all);
    let work = Nanos::from_secs(busiest.share() / rate.0);
    let crossing = |session| super::crossing::Crossing { session, ..Default::default() };
    let with = costs.delay(crossing(0.0), rate, work)?;
    let beside = costs.delay(crossing(1.0), rate, Nanos::ZERO)?.zip(costs.delay_of_work(rate, work)?);
    let sum = |(protocol, work): (Estimate<Nanos>, Estimate<Nanos>)| Estimate {
        mean: protocol.mean + work.mean,
        half_width: protocol.half_width.zip(work.half_width).map(|(one, other)| one + other),
    };
    Ok([with, beside.map(sum)])
}

/// Whether the delay `with` is longer beyond doubt.
fn is_longer(with: Delay, beside: Delay) -> bool {
    match (with, beside) {
        (Some(with), Some(beside)) => with.mean > beside.mean && !with.agrees_with(&beside),
        (None, Some(_)) => true,
        _ => false,
    }
}

/// Packets follow their readers (RFS) where that costs less than what else would cross, or where
/// queues are too few to reach every reader.
fn steered(scene: &Scene<'_>, unsteered: Chosen, cpus: &CpuSet) -> Chosen {
    let steering = scene.flows.iter().map(|_| Steering::ToReader).collect();
    let Chosen { threads, queues, why, .. } = &unsteered;
    let steered = Chosen { threads: threads.clone(), queues: queues.clone(), steering, why: why.clone() };
    let reached: CpuSet = queues.iter().copied().collect();
    let can = can_follow(scene, cpus) && scene.then(&unsteered).crossing(&scene.ground).session > 0.0;
    let [with, without] = [&steered, &unsteered].map(|chosen| scene.then(chosen));
    let follows = can
        && match &scene.costs {
            Ok(costs) => is_cheaper(scene, costs, &with, &without),
            Err(_) => reached.len() < cpus.len(),
        };
    if follows { steered } else { unsteered }
}

fn is_cheaper(scene: &Scene<'_>, costs: &Costs<'_>, one: &Layout, other: &Layout) -> bool {
    let saving = costs.saving(other.crossing(&scene.ground), one.crossing(&scene.ground));
    saving.mean > saving.half_width.unwrap_or(0.0) || one.busiest() < other.busiest() && saving.mean >= 0.0
}

/// Whether every queue can steer, and no reader runs where no packets may be taken in.
fn can_follow(scene: &Scene<'_>, cpus: &CpuSet) -> bool {
    let steers = |flow: &traffic::Flow<'_>| {
        let queue = flow.interface.receive.iter().find(|queue| queue.number == flow.number);
        queue.is_some_and(|queue| queue.rps.is_some() && queue.rfs_flows.is_some())
    };
    scene.picture.rfs_flows.is_some()
        && scene.flows.iter().all(steers)
        && cpus.intersection(&scene.ground.apart).is_empty()
}

/// Beside the threads: packets of queues that one cpu each cannot take in are spread (RPS).
fn spread(scene: &Scene<'_>, unsteered: Chosen, cpus: &CpuSet) -> Chosen {
    let busiest = scene.then(&unsteered).busiest() * load(scene);
    let beside: CpuSet = queues::beside(&scene.ground, cpus).iter().map(|seat| seat.cpu).collect();
    if busiest <= WHOLE || scene.flows.len() >= beside.len() {
        return unsteered;
    }
    let steering = scene.flows.iter().map(|_| Steering::Spread(beside.clone())).collect();
    Chosen { steering, ..unsteered }
}
