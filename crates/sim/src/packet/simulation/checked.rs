//! Checks what models of one's own return. The first impossible answer is noted, a possible one takes its place, and no more
//! packets arrive: so the run ends soon, and its caller learns why.

use crate::packet::host::Packet;
use crate::packet::service::ServiceDistribution;
use rand::Rng;
use std::sync::{Arc, OnceLock};
use warmcore_costs::{CostModel, Found};
use warmcore_policy::{Decision, Policy, Queues, Request, View};
use warmcore_units::{CpuId, Fault, Nanos};
use warmcore_workload::random::Random;
use warmcore_workload::{Arrival, Arrivals};

/// Packets that may wait in a common queue while no processor runs any: a policy may wait for company.
const MOST_WAITING_IDLE: u32 = 10_000;
/// The longest time that a packet may cost: a second. While it lasts arrivals go on, and all are kept.
const LONGEST_COST: Nanos = Nanos(1e9);

/// The first fault of a run.
#[derive(Clone, Default)]
pub(super) struct Faults(Arc<OnceLock<Fault>>);

impl Faults {
    pub(super) fn first(&self) -> Option<Fault> {
        self.0.get().cloned()
    }

    #[cold]
    fn note(&self, fault: Fault) {
        // Later ones may follow from the first.
        let _ = self.0.set(fault);
    }

    /// `time` if it is possible, and nothing otherwise.
    #[inline]
    fn checked(&self, field: &str, time: Nanos) -> Nanos {
        if time.0 >= 0.0 && time.0 < f64::INFINITY {
            return time;
        }
        self.note(Fault::new(field, time.0, "a finite number of nanoseconds, not negative"));
        Nanos::ZERO
    }

    /// `time` if a packet may cost that, and nothing otherwise.
    #[inline]
    fn checked_cost(&self, time: Nanos) -> Nanos {
        if time.0 >= 0.0 && time <= LONGEST_COST {
            return time;
        }
        let expected = format!("a number of nanoseconds between 0 and {:e}, a second", LONGEST_COST.0);
        self.note(Fault::new("costs", time.0, expected));
        Nanos::ZERO
    }
}

/// A policy whose decisions are checked.
#[derive(Clone)]
pub(super) struct CheckedPolicy<P> {
    policy: P,
    faults: Faults,
}

impl<P> CheckedPolicy<P> {
    pub(super) fn new(policy: P, faults: &Faults) -> Self {
        Self { policy, faults: faults.clone() }
    }

    fn refuse(&self, found: impl core::fmt::Display, expected: &str) {
        self.faults.note(Fault::new("policy", found, expected));
    }

    /// The decision to let a packet wait at `cpu`, unless nobody would ever take it from there.
    #[inline]
    fn waits(&self, cpu: CpuId, view: &impl View) -> Decision
    where
        P: Policy,
    {
        let is_stranded = match P::QUEUES {
            Queues::PerProcessor => view.is_idle(cpu),
            Queues::Common => view.busy() == 0 && view.waiting() >= MOST_WAITING_IDLE,
        };
        if !is_stranded {
            return Decision::Wait(cpu);
        }
        match P::QUEUES {
            Queues::PerProcessor => self.refuse(
                format_args!("to wait in the queue of cpu {}, which is idle", cpu.0),
                "to run it there, or to wait at a busy processor: an idle one takes nothing from its queue",
            ),
            Queues::Common => self.refuse(
                format_args!("to wait while {} packets wait and every processor is idle", view.waiting()),
                "to run a packet: idle processors take nothing from the queue",
            ),
        }
        if view.is_idle(cpu) { Decision::Run(cpu) } else { Decision::Wait(cpu) }
    }
}

impl<P: Policy> Policy for CheckedPolicy<P> {
    const QUEUES: Queues = P::QUEUES;
    const HOME_ONLY: bool = P::HOME_ONLY;
    const USES_LOAD: bool = P::USES_LOAD;

    #[inline]
    fn place(&mut self, request: Request, view: &impl View, random: &mut impl Rng) -> Decision {
        let processors = view.processors();
        match self.policy.place(request, view, random) {
            Decision::Run(cpu) if cpu.0 < processors && view.is_idle(cpu) => Decision::Run(cpu),
            Decision::Wait(cpu) if cpu.0 < processors => self.waits(cpu, view),
            Decision::Run(cpu) if cpu.0 < processors => {
                self.refuse(
                    format_args!("to run a packet on cpu {}, which is busy", cpu.0),
                    "an idle processor, or to wait",
                );
                Decision::Wait(request.home)
            }
            Decision::Run(cpu) | Decision::Wait(cpu) => {
                self.refuse(
                    format_args!("cpu {} of {processors}", cpu.0),
                    "a processor of the host: they are numbered from 0",
                );
                Decision::Wait(request.home)
            }
        }
    }

    #[inline]
    fn steal(&mut self, cpu: CpuId, view: &impl View) -> Option<CpuId> {
        let victim = self.policy.steal(cpu, view)?;
        if victim.0 < view.processors() && P::QUEUES == Queues::PerProcessor {
            return Some(victim);
        }
        self.refuse(
            format_args!("to steal from cpu {}", victim.0),
            "a processor of the host, under queues per processor",
        );
        None
    }

    #[inline]
    fn poller(&self, view: &impl View) -> Option<CpuId> {
        self.policy.poller(view)
    }

    #[inline]
    fn joined(&mut self, request: Request) {
        self.policy.joined(request);
    }

    #[inline]
    fn loaded(&mut self, cpu: CpuId, load: u32) {
        self.policy.loaded(cpu, load);
    }

    #[inline]
    fn finished(&mut self, now: Nanos, sojourn: Nanos) {
        self.policy.finished(now, sojourn);
    }
}

/// A cost model whose times are checked.
pub(super) struct CheckedCosts<'a, C> {
    costs: &'a C,
    faults: Faults,
}

impl<'a, C> CheckedCosts<'a, C> {
    pub(super) fn new(costs: &'a C, faults: &Faults) -> Self {
        Self { costs, faults: faults.clone() }
    }
}

impl<C: CostModel> CostModel for CheckedCosts<'_, C> {
    #[inline]
    fn receive(&self, found: &Found, idle: impl Fn(usize) -> Nanos) -> Nanos {
        self.faults.checked_cost(self.costs.receive(found, idle))
    }

    #[inline]
    fn receive_hot(&self, found: &Found) -> Nanos {
        self.faults.checked_cost(self.costs.receive_hot(found))
    }

    #[inline]
    fn receive_after(&self, found: &Found, x: Nanos) -> Nanos {
        self.faults.checked_cost(self.costs.receive_after(found, x))
    }

    fn sharers(&self) -> Vec<u32> {
        self.costs.sharers()
    }

    fn is_private(&self) -> bool {
        self.costs.is_private()
    }

    fn acquire_overhead(&self) -> Nanos {
        self.faults.checked_cost(self.costs.acquire_overhead())
    }

    fn release_overhead(&self) -> Nanos {
        self.faults.checked_cost(self.costs.release_overhead())
    }
}

/// A service distribution whose times are checked.
#[derive(Clone)]
pub(super) struct CheckedService<S> {
    service: S,
    faults: Faults,
}

impl<S> CheckedService<S> {
    pub(super) fn new(service: S, faults: &Faults) -> Self {
        Self { service, faults: faults.clone() }
    }
}

impl<S: ServiceDistribution> ServiceDistribution for CheckedService<S> {
    #[inline]
    fn draw(&mut self, packet: &Packet, costs: Nanos, random: &mut Random) -> Nanos {
        self.faults.checked("service", self.service.draw(packet, costs, random))
    }

    fn is_deterministic(&self) -> bool {
        self.service.is_deterministic()
    }
}

/// Arrivals whose times and streams are checked. They end with the first fault of any model.
pub(super) struct CheckedArrivals<'a> {
    source: &'a mut dyn Arrivals,
    streams: u32,
    latest: Nanos,
    faults: Faults,
}

impl<'a> CheckedArrivals<'a> {
    pub(super) fn new(source: &'a mut dyn Arrivals, streams: u32, faults: &Faults) -> Self {
        Self { source, streams, latest: Nanos::ZERO, faults: faults.clone() }
    }

    /// Notes what is impossible about `arrival`, which follows one at `latest`.
    fn fault(&self, arrival: &Arrival) -> Option<Fault> {
        let Arrival { at, stream, packets, .. } = *arrival;
        if !(at.0 >= self.latest.0 && at.0 < f64::INFINITY) {
            let expected = format!("a finite time, not before the arrival at {}", self.latest.0);
            return Some(Fault::new("arrivals.at", at.0, expected));
        }
        if stream.0 >= self.streams {
            let expected = format!("below {}, the number of streams", self.streams);
            return Some(Fault::new("arrivals.stream", stream.0, expected));
        }
        (packets == 0).then(|| Fault::new("arrivals.packets", 0, "at least 1"))
    }
}

impl Arrivals for CheckedArrivals<'_> {
    fn fill(&mut self, block: &mut [Arrival]) -> usize {
        if self.faults.0.get().is_some() {
            return 0;
        }
        let filled = self.source.fill(block);
        if filled > block.len() {
            let expected = format!("at most {}, the length of the block", block.len());
            self.faults.note(Fault::new("arrivals", format_args!("{filled} arrivals"), expected));
            return 0;
        }
        for (index, arrival) in block[..filled].iter().enumerate() {
            if let Some(fault) = self.fault(arrival) {
                self.faults.note(fault);
                return index;
            }
            self.latest = arrival.at;
        }
        filled
    }
}
