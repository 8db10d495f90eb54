//! The highest rate of a host whose packets wait for certain processors or stacks, for a policy of one's own.
//!
//! Nothing is known of such a policy, and so not which share of the packets a processor takes: it may depend on the rate.
//! At a rate that is tried, all packets arrive, all are finished, and the work W of a server is its time in service for each
//! packet of the whole host. It keeps up with 1/W packets of the host. The highest rate R of the host is where R times the
//! greatest W is 1. It is found by trying rates just above the last estimate of it, and followed to the rate itself along the
//! line through the last two trials; how far that is widens the interval.
//!
//! Which server has the greatest W is not known for sure. Its [interval](mod@warmcore_stats::greatest) holds for whichever it is.
//! A server with too much to do bounds the host only if nobody helps it. Others do where packets are stolen from its queue, or where
//! its streams move elsewhere when it is late. So the host is tried at a rate that such a server would not keep up with: if all packets
//! are finished soon after the last one has come, it has been helped, and all processors together set the rate.
//!
//! If the streams' shares of the packets are known, the work for each stream counts by its share (post-stratification),
//! so that chance in how many packets each one sends does not matter.

use super::work::{PacketWork, WorkRecord};
use crate::packet::busiest::{BusiestServer, JUST_OVERLOADED, ServerKind};
use warmcore_stats::batches::BatchMeans;
use warmcore_stats::{Interval, greatest};
use warmcore_units::{Estimate, Nanos, PerSecond};

/// Rates that are tried, at most.
const TRIALS: usize = 6;
/// Servers whose intervals are computed: those with the most work.
const OBSERVED: usize = 64;
/// One in this many packets is left out at the start, when caches are cold and the busiest server is idle at times.
const COLD: usize = 4;
/// Fewer expected packets of a stream say too little of its work: it counts with others.
const FEW_PACKETS: f64 = 20.0;
/// A trial is near enough if it is above the rate that follows from it by at most this factor,
const NEAR: f64 = 1.12;
/// and if the rate moves by at most this fraction from there to where the host just keeps up.
const MOVES_LITTLE: f64 = 0.01;

/// A server that has less than this fraction of its work left has been helped.
const LITTLE: f64 = 0.5;

/// A trial, and what follows from it.
struct Trial {
    rate: f64,
    bound: BusiestServer,
}

/// The busiest server, from trials that begin at the rate `from`. `try_at` records the work at a rate; `shares` are those of
/// the streams, if known. `None` if no server has any work.
///
/// # Errors
/// Of `try_at`.
pub(super) fn busiest<E>(
    try_at: impl Fn(PerSecond) -> Result<WorkRecord, E>,
    shares: &[f64],
    from: PerSecond,
) -> Result<Option<BusiestServer>, E> {
    let (mut rate, mut last, mut found) = (from, None::<Trial>, None);
    for _ in 0..TRIALS {
        let Some(bound) = try_at(rate)?.bound(shares) else { break };
        let trial = Trial { rate: rate.0, bound };
        let moved = last.as_ref().map(|last| trial.crossing(last));
        let mean = moved.unwrap_or(bound.rate.mean.0);
        let moves = (mean - bound.rate.mean.0).abs();
        let half = PerSecond(bound.rate.half() + moves);
        found = Some(BusiestServer { rate: Estimate::new(PerSecond(mean), half), ..bound });
        let is_near = (1.0..NEAR).contains(&(rate.0 / mean));
        if is_near && moved.is_some() && moves <= MOVES_LITTLE * mean {
            break;
        }
        rate = PerSecond(mean * JUST_OVERLOADED);
        last = Some(trial);
    }
    Ok(found.filter(|server| server.rate.mean.0.is_finite()))
}

/// Whether others help `server` at a rate that it does not keep up with, though `all` together do.
///
/// # Errors
/// Of `try_at`.
pub(super) fn is_helped<E>(
    try_at: impl Fn(PerSecond) -> Result<WorkRecord, E>,
    server: &BusiestServer,
    all: Estimate<PerSecond>,
) -> Result<bool, E> {
    let (most, least_of_all) = (server.rate.mean.0 + server.rate.half(), all.mean.0 - all.half());
    if most >= least_of_all || !most.is_finite() {
        return Ok(false);
    }
    let rate = f64::midpoint(most, least_of_all);
    // What it has left to do when the last packet comes, as a fraction of the time until then.
    let left = rate / server.rate.mean.0 - 1.0;
    Ok(try_at(PerSecond(rate))?.late < LITTLE * left)
}

impl Trial {
    /// The rate that equals what follows from it, on the line through this trial and the one before.
    fn crossing(&self, before: &Self) -> f64 {
        let [own, other] = [self, before].map(|trial| trial.bound.rate.mean.0);
        let slope = (own - other) / (self.rate - before.rate);
        // With a slope of 1 there is none.
        let slope = if slope.is_finite() { slope.clamp(-4.0, 0.75) } else { 0.0 };
        (own - slope * self.rate) / (1.0 - slope)
    }
}

/// The streams whose work is weighed together, and what their packets weigh.
struct Strata {
    /// By stream; empty if there is one stratum.
    of: Vec<u32>,
    weights: Vec<f64>,
    packets: Vec<f64>,
}

impl Strata {
    fn new(shares: &[f64], packets: &[PacketWork]) -> Self {
        let all = packets.len() as f64;
        let mut known = vec![0.0];
        let place = |&share: &f64| {
            if share * all >= FEW_PACKETS {
                known.push(share);
                return known.len() as u32 - 1;
            }
            known[0] += share;
            0
        };
        let mut strata =
            Self { of: shares.iter().map(place).collect(), weights: Vec::new(), packets: Vec::new() };
        strata.packets = vec![0.0; known.len()];
        for packet in packets {
            let stratum = strata.of(packet);
            strata.packets[stratum] += 1.0;
        }
        if strata.of.is_empty() {
            known[0] = 1.0;
        }
        // Streams that have sent nothing cannot count.
        let seen: f64 = known.iter().zip(&strata.packets).filter(|of| *of.1 > 0.0).map(|of| of.0).sum();
        let weight =
            |(share, count): (&f64, &f64)| if *count > 0.0 { share / seen * all / count } else { 0.0 };
        strata.weights = known.iter().zip(&strata.packets).map(weight).collect();
        strata
    }

    fn of(&self, packet: &PacketWork) -> usize {
        self.of.get(packet.stream as usize).map_or(0, |&stratum| stratum as usize)
    }
}

impl WorkRecord {
    /// The rate at which the busiest server keeps up.
    fn bound(&self, shares: &[f64]) -> Option<BusiestServer> {
        let packets = &self.packets[self.packets.len() / COLD..];
        let strata = Strata::new(shares, packets);
        let kinds = [(self.processors, ServerKind::Processor), (self.stacks, ServerKind::Stack)];
        let mut servers: Vec<(ServerKind, u32, f64)> = Vec::new();
        for (_, kind) in kinds.into_iter().filter(|kind| kind.0) {
            let mut work: Vec<f64> = Vec::new();
            for packet in packets {
                let server = number(kind, packet) as usize;
                if work.len() <= server {
                    work.resize(server + 1, 0.0);
                }
                work[server] += packet.service.0 * strata.weights[strata.of(packet)];
            }
            servers.extend((0..).zip(work).map(|(number, work)| (kind, number, work)));
        }
        servers.sort_by(|one, other| other.2.total_cmp(&one.2));
        let of = servers.len();
        servers.truncate(OBSERVED);
        let works: Vec<Interval> =
            servers.iter().map(|&(kind, number, _)| work(packets, &strata, kind, number)).collect();
        let busiest = greatest(&works, of)?;
        let (kind, number, _) = servers[busiest.index];
        let mean = PerSecond::every(Nanos(busiest.interval.mean));
        let rate = Estimate::new(mean, mean * busiest.interval.relative());
        Some(BusiestServer { kind, number, share: share(packets, &strata, kind, number), rate })
    }
}

fn number(kind: ServerKind, packet: &PacketWork) -> u32 {
    match kind {
        ServerKind::Processor => packet.cpu,
        ServerKind::Stack => packet.stack,
    }
}

/// The time of a server for each of `packets`, whoever takes it.
fn work(packets: &[PacketWork], strata: &Strata, kind: ServerKind, server: u32) -> Interval {
    let own = |packet: &PacketWork| if number(kind, packet) == server { packet.service.0 } else { 0.0 };
    let mut means = vec![0.0; strata.weights.len()];
    for packet in packets {
        let stratum = strata.of(packet);
        means[stratum] += own(packet) / strata.packets[stratum];
    }
    let weighed = strata.weights.iter().zip(&strata.packets).zip(&means);
    let mean =
        weighed.map(|((weight, count), mean)| weight * count * mean).sum::<f64>() / packets.len() as f64;
    // What a packet adds to the mean, beyond what its stratum adds in any case.
    let mut rest = BatchMeans::<1>::default().with_warmup(Some(0));
    for packet in packets {
        let stratum = strata.of(packet);
        rest.push([strata.weights[stratum] * (own(packet) - means[stratum])]);
    }
    let [interval] = rest.steady().intervals;
    Interval { mean, ..interval }
}

/// The share of the packets that a server takes.
fn share(packets: &[PacketWork], strata: &Strata, kind: ServerKind, server: u32) -> f64 {
    let own = packets.iter().filter(|packet| number(kind, packet) == server);
    own.map(|packet| strata.weights[strata.of(packet)]).sum::<f64>() / packets.len() as f64
}
