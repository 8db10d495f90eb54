//! The highest rate at which the busiest server of a host keeps up.
//!
//! A server is an independent stack, or a processor that streams are wired to. It takes one packet at a time
//! and shares its streams with no other server. With a share p of the packets and a mean service time S it
//! keeps up with 1/(p S) packets of the whole host, however idle the other servers are. S depends on what the
//! caches hold, and so on how idle the servers are: it is observed at the rate at which the busiest server is
//! just never idle.

use crate::packet::capacity::wanted;
use crate::packet::dispatch::{SystemTask, dispatch};
use crate::packet::features::ModelFeatures;
use crate::packet::feed::Feed;
use crate::packet::host::{Packet, SimulatedHost};
use crate::packet::run::next;
use crate::packet::system::{Finished, System};
use core::fmt;
use serde::{Deserialize, Serialize};
use warmcore_policy::Policy;
use warmcore_policy::dispatch::Waiting;
use warmcore_scenario::Parallelism;
use warmcore_stats::batches::BatchMeans;
use warmcore_units::{Estimate, Nanos, PerSecond};
use warmcore_workload::{Arrival, Arrivals};

/// How many servers of a kind are observed: the busiest ones.
const OBSERVED: usize = 8;
/// Rates that are tried: a server that is idle at times at one is quicker than it seemed, and gets a higher one.
const TRIALS: usize = 5;
/// At this multiple of its highest rate a server is never idle.
pub(super) const JUST_OVERLOADED: f64 = 1.05;

/// A host whose busiest server keeps up with less than this part of what all do is tried near what that server may keep up with.
const FAR_SLOWER: f64 = 0.05;

/// A kind of server.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ServerKind {
    /// An independent stack.
    Stack,
    /// A processor that streams are wired to.
    Processor,
}

/// The server that keeps up with the least.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct BusiestServer {
    /// What it is.
    pub kind: ServerKind,
    /// Its number, from 0.
    pub number: u32,
    /// The share of all packets that it takes.
    pub share: f64,
    /// The rate of the whole host at which it keeps up, in packets per second.
    pub rate: Estimate<PerSecond>,
}

impl fmt::Display for BusiestServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            ServerKind::Stack => "stack",
            ServerKind::Processor => "processor",
        };
        write!(f, "{kind} {}", self.number)
    }
}

/// The rate at which the busiest server of `host` keeps up; `None` if that is not below `whole`, the capacity
/// of all processors together. `shares` are the streams' shares of the packets. `begins` starts a new,
/// endless source of packets at the rate `own`; their times are scaled to other rates.
///
/// # Errors
/// If the source cannot be made.
pub(super) fn busiest<E>(
    host: &SimulatedHost,
    shares: &[f64],
    begins: impl Fn() -> Result<Box<dyn Arrivals>, E>,
    [own, whole]: [PerSecond; 2],
) -> Result<Option<BusiestServer>, E> {
    let kinds = host.scheduling.servers(&host.layout());
    let has_stacks = host.scheduling.approach == Parallelism::Ips;
    let kinds = kinds.iter().enumerate().filter_map(|(index, of)| {
        let kind = if has_stacks && index == 0 { ServerKind::Stack } else { ServerKind::Processor };
        // A stack may run on any processor.
        let speeds = if kind == ServerKind::Processor { host.extensions.speeds } else { &[] };
        Servers::new(kind, of, shares, speeds)
    });
    let kinds: Vec<Servers> = kinds.collect();
    if kinds.is_empty() {
        return Ok(None);
    }
    let bound_at = |rate: PerSecond| -> Result<_, E> {
        let mut arrivals = ScaledArrivals { source: begins()?, scale: own.0 / rate.0 };
        let observed = ServerObserver { host, feed: Feed::new(&mut arrivals), kinds: kinds.clone() };
        Ok(dispatch(host, observed))
    };
    let speeds = host.extensions.speeds;
    let speed = if speeds.is_empty() { f64::from(host.shape.processors) } else { speeds.iter().sum() };
    let part = kinds.iter().map(|kind| 1.0 / (kind.most * speed)).fold(1.0, f64::min);
    // A server that is far slower than its share would finish nothing while all others are overloaded.
    let first = if part < FAR_SLOWER { part * JUST_OVERLOADED } else { 1.0 };
    let (mut found, mut rate) = (None, whole * first);
    for trial in usize::from(first < 1.0)..TRIALS {
        let Some(bound) = bound_at(rate)? else { break };
        let is_overloaded = bound.rate.mean.0 < rate.0;
        if is_overloaded {
            found = Some(bound);
        }
        // The first trial overloads all servers: what they find then is not what they find at the busiest one's rate.
        if is_overloaded == (trial > 0) {
            break;
        }
        rate = PerSecond(whole.0.min(bound.rate.mean.0 * JUST_OVERLOADED));
    }
    Ok(found)
}

/// A source whose arrival times are scaled.
struct ScaledArrivals {
    source: Box<dyn Arrivals>,
    scale: f64,
}

impl Arrivals for ScaledArrivals {
    fn fill(&mut self, block: &mut [Arrival]) -> usize {
        let filled = self.source.fill(block);
        block[..filled].iter_mut().for_each(|arrival| arrival.at = arrival.at * self.scale);
        filled
    }
}

/// The servers of one kind. Each stream belongs to one of them.
#[derive(Clone)]
struct Servers {
    /// By stream: the index of its server in `servers`, if that is observed.
    observed: Vec<Option<u8>>,
    servers: Vec<Server>,
    /// The greatest share of a server, divided by its speed.
    most: f64,
}

/// A server, its share of the packets, and the service times it has shown.
#[derive(Clone)]
struct Server {
    kind: ServerKind,
    number: u32,
    share: f64,
    services: BatchMeans,
}

impl Servers {
    /// The servers, given the server and the share of each stream, and the `speeds` of the servers, which are 1 if there are
    /// none. `None` if all servers are equally busy: then they are as busy as the host as a whole.
    fn new(kind: ServerKind, server_of: &[u32], shares: &[f64], speeds: &[f64]) -> Option<Self> {
        let count = server_of.iter().max().map_or(0, |&last| last as usize + 1);
        let mut of_server = vec![0.0; count];
        server_of.iter().zip(shares).for_each(|(&server, share)| of_server[server as usize] += share);
        let speed = |server: usize| speeds.get(server).copied().unwrap_or(1.0);
        let loads = of_server.iter().enumerate().map(|(server, share)| (server, share / speed(server)));
        let mut ranked: Vec<(usize, f64)> = loads.filter(|of| of.1 > 0.0).collect();
        ranked.sort_by(|one, other| other.1.total_cmp(&one.1));
        let (&(_, most), &(_, least)) = (ranked.first()?, ranked.last()?);
        if most - least <= 1e-9 * most {
            return None;
        }
        ranked.truncate(OBSERVED);
        let mut rank = vec![None; count];
        ranked.iter().zip(0..).for_each(|(&(server, _), place)| rank[server] = Some(place));
        let server = |&(number, _): &(usize, f64)| Server {
            kind,
            number: number as u32,
            share: of_server[number],
            services: BatchMeans::default(),
        };
        Some(Self {
            observed: server_of.iter().map(|&server| rank[server as usize]).collect(),
            servers: ranked.iter().map(server).collect(),
            most,
        })
    }

    fn push(&mut self, finished: &Finished) {
        if let Some(server) = self.observed[finished.packet.stream.index()] {
            self.servers[usize::from(server)].services.push([finished.service().0]);
        }
    }
}

impl Server {
    /// The server with the rate of the whole host at which it keeps up, if it is never idle.
    /// If it is idle at times, that exceeds the rate that was simulated.
    fn bound(&self) -> BusiestServer {
        let [service] = self.services.steady().intervals;
        let rate = PerSecond::every(Nanos(service.mean * self.share));
        let rate = Estimate::new(rate, rate * service.relative());
        BusiestServer { kind: self.kind, number: self.number, share: self.share, rate }
    }
}

/// Observes the service times of servers under arrivals.
struct ServerObserver<'a, 's> {
    host: &'a SimulatedHost<'a>,
    feed: Feed<'s>,
    kinds: Vec<Servers>,
}

impl SystemTask for ServerObserver<'_, '_> {
    type Output = Option<BusiestServer>;

    fn run<P: Policy, W: Waiting<Job = Packet>, F: ModelFeatures>(
        mut self,
        mut system: System<P, W, F>,
    ) -> Self::Output {
        for _ in 0..wanted(self.host.shape) {
            let finished = next(&mut self.feed, &mut system)?;
            self.kinds.iter_mut().for_each(|kind| kind.push(&finished));
        }
        let bounds = self.kinds.iter().flat_map(|kind| kind.servers.iter().map(Server::bound));
        let known = bounds.filter(|bound| bound.rate.mean.0.is_finite());
        known.min_by(|one, other| one.rate.mean.0.total_cmp(&other.rate.mean.0))
    }
}
