//! Where each policy puts a packet, found by searching what the policy sees.

use super::adaptive::Verdicts;
use warmcore_policy::Request;
use warmcore_policy::assignment::hashed;
use warmcore_policy::policies::adaptive::Strategy;
use warmcore_scenario::{Parallelism, ProcessorPolicy};
use warmcore_sim::packet::{Packet, SimulatedHost};
use warmcore_units::{CpuId, StackId};
use warmcore_workload::Purpose;
use warmcore_workload::random::Random;

/// What a policy knows of one processor.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Seen {
    /// Packets at the processor; under IPS, stacks that have one.
    pub load: usize,
    /// When its load last changed, counted in changes of all processors.
    pub since: usize,
}

/// A policy and what it has seen.
#[derive(Debug)]
pub(crate) struct Chooser {
    policy: ProcessorPolicy,
    approach: Parallelism,
    cold_to_hot: f64,
    random: Random,
    verdicts: Verdicts,
    seen: Vec<Seen>,
    changes: usize,
    /// The idle processors, in the order in which they became idle.
    pub idle: Vec<CpuId>,
    /// The idle processors, in the order in which the central queue draws from them. When one starts, the
    /// last one takes its place.
    pool: Vec<CpuId>,
}

/// Where a packet goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    Run(CpuId),
    Wait(CpuId),
}

impl Chooser {
    pub(crate) fn new(host: &SimulatedHost) -> Self {
        let all: Vec<CpuId> = (0..host.shape.processors).map(CpuId).collect();
        Self {
            policy: host.scheduling.policy,
            approach: host.scheduling.approach,
            cold_to_hot: host.model.cold_to_hot(),
            verdicts: Verdicts::new(host),
            random: host.key.stream(Purpose::Policy),
            // All have been idle equally long; lower numbers come first.
            seen: (0..all.len()).map(|since| Seen { load: 0, since }).collect(),
            changes: all.len(),
            idle: all.clone(),
            pool: all,
        }
    }

    /// Updates the numbers of packets at the processors to `loads`.
    pub(crate) fn see(&mut self, loads: &[usize]) {
        for (cpu, &load) in loads.iter().enumerate() {
            let seen = &mut self.seen[cpu];
            if seen.load != load {
                *seen = Seen { load, since: self.changes };
                self.changes += 1;
            }
        }
    }

    pub(crate) fn starts(&mut self, cpu: CpuId) {
        self.idle.retain(|&other| other != cpu);
        if let Some(place) = self.pool.iter().position(|&other| other == cpu) {
            self.pool.swap_remove(place);
        }
    }

    pub(crate) fn stops(&mut self, cpu: CpuId) {
        self.idle.push(cpu);
        self.pool.push(cpu);
    }

    /// A packet has arrived and waits for its stack.
    pub(crate) fn joins(&mut self, request: Request) {
        self.verdicts.hear(request);
    }

    /// Where the packet of `request` goes while `waiting` others wait in queues.
    pub(crate) fn place(&mut self, request: Request, waiting: usize) -> Place {
        use ProcessorPolicy as Named;
        let home = request.home;
        let (newest, oldest) = (self.idle.last().copied(), self.idle.first().copied());
        let somewhere = match self.policy {
            Named::Mru => newest,
            Named::Lru => oldest,
            Named::WiredStreams if self.approach == Parallelism::Hybrid => self.if_idle(home).or(newest),
            Named::WiredStreams | Named::Hash => self.if_idle(home),
            Named::HashStealing => self.if_idle(home).or(newest),
            Named::CentralQueue if self.pool.is_empty() => None,
            Named::CentralQueue => {
                let place = self.draw(self.pool.len());
                Some(self.pool[place])
            }
            Named::Patient => {
                let busy = self.seen.len() - self.idle.len();
                newest.filter(|_| (waiting + 1) as f64 > busy as f64 * self.cold_to_hot)
            }
            Named::ShortestQueue => return self.join(self.shortest()),
            Named::PowerOfTwo => {
                let two = self.draw_two();
                return self.join(two);
            }
            Named::Adaptive => {
                self.verdicts.hear(request);
                return self.follow(self.verdicts.strategy(), home);
            }
        };
        somewhere.map_or(Place::Wait(home), Place::Run)
    }

    /// What the adaptive policy does with a packet for `home`.
    fn follow(&self, choice: Strategy, home: CpuId) -> Place {
        let newest = self.idle.last().copied();
        let first = CpuId(0);
        let few = (self.seen[0].load as f64) < self.cold_to_hot;
        let (somewhere, otherwise) = match choice {
            Strategy::Recent => (newest, first),
            Strategy::Gather if few => (self.if_idle(first), first),
            Strategy::Gather => (self.if_idle(first).or(newest), first),
            Strategy::Home if self.stays_home() => (self.if_idle(home), home),
            Strategy::Home => (self.if_idle(home).or(newest), home),
        };
        somewhere.map_or(Place::Wait(otherwise), Place::Run)
    }

    /// The processor from whose queue a processor without work takes a packet.
    pub(crate) fn victim(&self) -> Option<CpuId> {
        // One of them is in service.
        let stay = match self.policy {
            ProcessorPolicy::Adaptive if self.verdicts.strategy() == Strategy::Home && self.stays_home() => 2,
            ProcessorPolicy::HashStealing | ProcessorPolicy::Adaptive => 1,
            _ => return None,
        };
        let most = self.seen.iter().map(|seen| seen.load).max()?;
        self.first_with(most).filter(|_| most > stay)
    }

    /// Whether a packet that should run at home waits there while home is busy.
    fn stays_home(&self) -> bool {
        self.approach == Parallelism::Ips
    }

    fn if_idle(&self, cpu: CpuId) -> Option<CpuId> {
        self.idle.contains(&cpu).then_some(cpu)
    }

    fn join(&self, cpu: CpuId) -> Place {
        if self.idle.contains(&cpu) { Place::Run(cpu) } else { Place::Wait(cpu) }
    }

    fn shortest(&self) -> CpuId {
        let fewest = self.seen.iter().map(|seen| seen.load).min();
        fewest.and_then(|fewest| self.first_with(fewest)).expect("there are processors")
    }

    /// Of the processors with `load` packets, the one that has had that many for the longest time.
    fn first_with(&self, load: usize) -> Option<CpuId> {
        let with = self.seen.iter().enumerate().filter(|(_, seen)| seen.load == load);
        with.min_by_key(|(_, seen)| seen.since).map(|(cpu, _)| CpuId::from(cpu))
    }

    /// Of two different processors drawn at random, the one with fewer packets; the first if they are equal.
    fn draw_two(&mut self) -> CpuId {
        let mut all: Vec<usize> = (0..self.seen.len()).collect();
        let first = all.remove(self.draw(all.len()));
        if all.is_empty() {
            return CpuId::from(first);
        }
        let second = all[self.draw(all.len())];
        CpuId::from(if self.seen[second].load < self.seen[first].load { second } else { first })
    }

    /// A number below `bound`: the upper half of the product with the next 32 random bits.
    fn draw(&mut self, bound: usize) -> usize {
        use rand::Rng;
        (self.random.next_u32() as usize * bound) >> 32
    }
}

/// The stack that processes `packet`, if it does not depend on the processor.
pub(crate) fn stack_of(host: &SimulatedHost, packet: &Packet) -> Option<StackId> {
    match host.scheduling.approach {
        Parallelism::Locking => Some(StackId(0)),
        Parallelism::Ips => Some(StackId(assigned(host, packet, host.shape.stacks))),
        Parallelism::Hybrid => None,
    }
}

/// The processor to which the stream of `packet` (under IPS: its stack) is assigned.
pub(crate) fn home_of(host: &SimulatedHost, packet: &Packet) -> CpuId {
    let processors = host.shape.processors;
    match (host.scheduling.approach, stack_of(host, packet)) {
        (Parallelism::Ips, Some(stack)) => CpuId(stack.0 % processors),
        _ => CpuId(assigned(host, packet, processors)),
    }
}

/// The place of the packet's stream among `places`: assigned in turn, or by its hash.
fn assigned(host: &SimulatedHost, packet: &Packet, places: u32) -> u32 {
    if host.scheduling.policy.hashes() {
        hashed(host.shape.streams, places)[packet.stream.index()]
    } else {
        packet.stream.0 % places
    }
}
