//! A host whose streams are wired to processors, rehearsed.

use super::costs::{Costs, History, Stacks};
use super::footprints::Footprints;
use super::rehearsal::Limit;
use crate::policy::Request;
use alloc::vec::Vec;
use warmcore_units::{CpuId, Nanos};

/// Each processor serves its own streams in order of arrival, so that the delay of a packet
/// follows from when its processor will be through with the one before (Lindley 1952).
#[derive(Clone, Debug)]
pub(super) struct WiredHost {
    wiring: Wiring,
    limit: Limit,
    /// By processor: when it has finished all packets so far.
    ends: Vec<Nanos>,
    footprints: Footprints,
    /// Where history lines are shared: the order in which packets start.
    starts: Option<Starts>,
}

/// Where streams are wired to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Wiring {
    /// Their homes.
    Homes,
    /// All to the first processor.
    First,
}

impl WiredHost {
    pub(super) fn new(wiring: Wiring, stacks: Stacks, processors: u32, limit: Limit) -> Self {
        Self {
            wiring,
            limit,
            ends: alloc::vec![Nanos(f64::NEG_INFINITY); processors as usize],
            footprints: Footprints::none(stacks, processors),
            starts: (stacks == Stacks::Shared).then(|| Starts::none(processors)),
        }
    }

    /// A packet arrives: its delay.
    #[inline]
    pub(super) fn arrive(&mut self, request: &Request, costs: &Costs) -> Nanos {
        let now = request.now;
        let cpu = match self.wiring {
            Wiring::Homes => request.home,
            Wiring::First => CpuId(0),
        };
        let end = &mut self.ends[cpu.index()];
        let start = now.max(*end);
        let mut found = self.footprints.visit(request, cpu);
        if let Some(starts) = &mut self.starts
            && starts.interleave(cpu, start)
        {
            found.history = History::Elsewhere;
        }
        *end = self.limit.on(now, start + costs.time(found, start - *end));
        *end - now
    }
}

/// When packets last started, and where: between two packets of one processor, another
/// processor's may start and take the history lines away.
#[derive(Clone, Debug)]
struct Starts {
    /// By processor.
    own: Vec<Nanos>,
    latest_on: CpuId,
    /// The latest start on any other processor than `latest_on`.
    runner_up: Nanos,
}

impl Starts {
    fn none(processors: u32) -> Self {
        let never = Nanos(f64::NEG_INFINITY);
        Self { own: alloc::vec![never; processors as usize], latest_on: CpuId(0), runner_up: never }
    }

    /// A packet starts on `cpu` at `start`: whether another processor's has started since the last
    /// one there.
    #[inline]
    fn interleave(&mut self, cpu: CpuId, start: Nanos) -> bool {
        let latest = self.own[self.latest_on.index()];
        let before = core::mem::replace(&mut self.own[cpu.index()], start);
        if cpu == self.latest_on {
            return self.runner_up.0 > before.0;
        }
        if start.0 > latest.0 {
            self.latest_on = cpu;
            self.runner_up = latest;
        } else {
            self.runner_up = self.runner_up.max(start);
        }
        latest.0 > before.0
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{costs, request};
    use super::*;

    fn host(wiring: Wiring, stacks: Stacks) -> WiredHost {
        WiredHost::new(wiring, stacks, 4, Limit::of(&costs()))
    }

    #[test]
    fn a_packet_waits_for_those_before_it_at_its_home() {
        let mut host = host(Wiring::Homes, Stacks::PerProcessor);
        // A first packet is cold and writes history, here for the first time: 1000 + 20.
        let delays = [(0.0, 1), (10.0, 2), (20.0, 1), (5_000.0, 1)]
            .map(|(now, stream)| host.arrive(&request(Nanos(now), stream), &costs()).0);
        assert_eq!(delays, [1_020.0, 1_020.0, 1_100.0, 1_000.0]);
    }

    #[test]
    fn on_one_processor_all_wait_for_all() {
        let mut host = host(Wiring::First, Stacks::PerProcessor);
        let delays = [(0.0, 1), (10.0, 1), (20.0, 2)]
            .map(|(now, stream)| host.arrive(&request(Nanos(now), stream), &costs()).0);
        assert_eq!(delays, [1_020.0, 1_110.0, 1_220.0]);
    }

    /// Two packets of one stream in a row leave the history as it is; with another processor's in
    /// between, it comes from there.
    #[test]
    fn other_processors_take_the_history_away() {
        let mut host = host(Wiring::Homes, Stacks::Shared);
        let mut service = |now: f64, stream| host.arrive(&request(Nanos(now), stream), &costs()).0;
        assert_eq!(service(0.0, 1), 1_050.0, "session and history elsewhere");
        assert_eq!(service(1_050.0, 1), 100.0, "hot, and all is here");
        assert_eq!(service(1_060.0, 2), 1_050.0);
        assert_eq!(service(1_150.0, 1), 120.0, "hot, history elsewhere");
    }
}
