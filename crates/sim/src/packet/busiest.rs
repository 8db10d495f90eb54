//! The highest rate that the busiest of a host's servers keeps up with.
//!
//! An independent stack, and a processor that streams are wired to, takes one packet at a time and
//! shares its streams with nobody. With a share p of the packets and a mean service time S it keeps up
//! with 1/(p S) packets of the whole host, however idle the others are. S depends on what the caches
//! hold, and so on how idle they are: it is observed where the busiest server just has no pause.

use crate::packet::capacity::wanted;
use crate::packet::dispatch::{SystemTask, dispatch};
use crate::packet::extent::Extent;
use crate::packet::feed::Feed;
use crate::packet::host::{Host, Packet};
use crate::packet::run::next;
use crate::packet::system::{Finished, System};
use warmcore_policy::Policy;
use warmcore_policy::dispatch::Waiting;
use warmcore_stats::batches::BatchMeans;
use warmcore_units::{Estimate, Nanos, PerSecond};
use warmcore_workload::{Arrival, Arrivals};

/// Servers of a kind whose services are observed: the busiest.
const OBSERVED: usize = 8;
/// A server that has so much more to do than it can has no pause.
const BARELY_MORE: f64 = 1.05;

/// The rate with which the busiest of the servers of `host` keeps up; `None` if it is not below `whole`,
/// that of all processors together. Streams have `shares` of the packets, which come as those of a
/// source that `begins` anew each time and has no end, but at whatever rate is asked for instead of `own`.
///
/// # Errors
/// If there are no such packets.
pub(super) fn busiest<E>(
    host: &Host,
    shares: &[f64],
    begins: impl Fn() -> Result<Box<dyn Arrivals>, E>,
    [own, whole]: [PerSecond; 2],
) -> Result<Option<Estimate<PerSecond>>, E> {
    let kinds = host.scheduling.servers(&host.layout());
    let kinds: Vec<Servers> = kinds.iter().filter_map(|of| Servers::new(of, shares)).collect();
    if kinds.is_empty() {
        return Ok(None);
    }
    let bound_at = |rate: PerSecond| -> Result<_, E> {
        let mut arrivals = Paced { source: begins()?, scale: own.0 / rate.0 };
        let observed = Observed { host, feed: Feed::new(&mut arrivals), kinds: kinds.clone() };
        Ok(dispatch(host, observed).filter(|bound| bound.mean.0 < rate.0))
    };
    match bound_at(whole)? {
        Some(roughly) => bound_at(roughly.mean * BARELY_MORE),
        None => Ok(None),
    }
}

/// A source whose times are scaled.
struct Paced {
    source: Box<dyn Arrivals>,
    scale: f64,
}

impl Arrivals for Paced {
    fn fill(&mut self, block: &mut [Arrival]) -> usize {
        let filled = self.source.fill(block);
        block[..filled].iter_mut().for_each(|arrival| arrival.at = arrival.at * self.scale);
        filled
    }
}

/// Servers of one kind: each stream has one of them.
#[derive(Clone)]
struct Servers {
    /// By stream: its server among those observed, if it is one.
    observed: Vec<Option<u8>>,
    servers: Vec<Server>,
}

/// A server with its share of the packets, and the service times of those it has finished.
#[derive(Clone)]
struct Server {
    share: f64,
    services: BatchMeans,
}

impl Servers {
    /// The servers that streams have, by stream; `None` if all share alike: then they are as busy as the
    /// whole host.
    fn new(server_of: &[u32], shares: &[f64]) -> Option<Self> {
        let count = server_of.iter().max().map_or(0, |&last| last as usize + 1);
        let mut loads = vec![0.0; count];
        server_of.iter().zip(shares).for_each(|(&server, share)| loads[server as usize] += share);
        let mut ranked: Vec<(usize, f64)> = loads.into_iter().enumerate().filter(|of| of.1 > 0.0).collect();
        ranked.sort_by(|one, other| other.1.total_cmp(&one.1));
        let ((_, most), (_, least)) = (ranked.first()?, ranked.last()?);
        if most - least <= 1e-9 * most {
            return None;
        }
        ranked.truncate(OBSERVED);
        let mut rank = vec![None; count];
        ranked.iter().zip(0..).for_each(|(&(server, _), place)| rank[server] = Some(place));
        let server = |&(_, share): &(usize, f64)| Server { share, services: BatchMeans::default() };
        Some(Self {
            observed: server_of.iter().map(|&server| rank[server as usize]).collect(),
            servers: ranked.iter().map(server).collect(),
        })
    }

    fn push(&mut self, finished: &Finished) {
        if let Some(server) = self.observed[finished.packet.stream.index()] {
            self.servers[usize::from(server)].services.push([finished.service().0]);
        }
    }
}

impl Server {
    /// Packets per second of the whole host with which it keeps up, if it is never idle; if it is, more
    /// than come.
    fn rate(&self) -> Estimate<PerSecond> {
        let [service] = self.services.steady().intervals;
        let rate = PerSecond::every(Nanos(service.mean * self.share));
        Estimate::new(rate, rate * service.relative())
    }
}

/// What servers do under arrivals.
struct Observed<'a, 's> {
    host: &'a Host<'a>,
    feed: Feed<'s>,
    kinds: Vec<Servers>,
}

impl SystemTask for Observed<'_, '_> {
    type Output = Option<Estimate<PerSecond>>;

    fn run<P: Policy, W: Waiting<Job = Packet>, E: Extent>(
        mut self,
        mut system: System<P, W, E>,
    ) -> Self::Output {
        for _ in 0..wanted(self.host.shape) {
            let finished = next(&mut self.feed, &mut system)?;
            self.kinds.iter_mut().for_each(|kind| kind.push(&finished));
        }
        let rates = self.kinds.iter().flat_map(|kind| kind.servers.iter().map(Server::rate));
        let known = rates.filter(|rate| rate.mean.0.is_finite());
        known.min_by(|one, other| one.mean.0.total_cmp(&other.mean.0))
    }
}
