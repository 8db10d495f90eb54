//! Two nodes whose processors compute, ask each other, and execute each other's protocol events.

mod agenda;

use super::demand::Demand;
use agenda::{Agenda, Asker, ProtocolEvent, Stage, Step};
use rand_distr::{Distribution, Exp1};
use std::collections::VecDeque;
use warmcore_policy::protocol::{Activity, Invocation, Invoker, ProtocolScheduling};
use warmcore_units::{CpuId, Nanos, PerSecond};
use warmcore_workload::Purpose;
use warmcore_workload::random::{Key, Random};

const NODES: usize = 2;

/// What came out of a run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Figures {
    /// Requests that a node's processors completed.
    pub rate: PerSecond,
    /// From asking to going on, on average.
    pub response: Nanos,
    /// Interrupts for each request.
    pub interrupts: f64,
    /// The part of their time that a node's processors executed protocol events, in processors.
    pub handling: f64,
}

/// What becomes of an event that finds nobody awake without work, while others compute.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sleepers {
    /// One that sleeps is woken for it.
    Woken,
    /// One that computes is interrupted for it.
    Spared,
}

struct Processor {
    activity: Activity,
    segment: u64,
    /// When it will have computed enough.
    computes_until: f64,
    /// Computing that is left to one that was interrupted.
    left: Option<f64>,
    /// When it asked, while it waits.
    asked: Option<f64>,
    /// Its answer came while it executed an event.
    answered: bool,
    random: Random,
}

struct Node {
    processors: Vec<Processor>,
    queue: VecDeque<ProtocolEvent>,
    invoker: Invoker,
    /// Who executed the last event.
    holder: Option<usize>,
}

struct Cluster<'d> {
    demand: &'d Demand,
    sleepers: Sleepers,
    nodes: [Node; NODES],
    agenda: Agenda,
    now: f64,
    completed: u64,
    responses: f64,
    interrupts: u64,
    handling: f64,
}

/// Simulates `requests` requests after a tenth as many that are not counted. `None` if no processor computes, or if the
/// demand is impossible.
#[must_use]
pub fn simulate(
    demand: &Demand,
    scheduling: ProtocolScheduling,
    sleepers: Sleepers,
    requests: u64,
    key: Key,
) -> Option<Figures> {
    demand.check().ok()?;
    let mut cluster = Cluster::new(demand, scheduling, sleepers, key)?;
    cluster.run(requests / 10);
    let began = cluster.now;
    (cluster.completed, cluster.responses, cluster.interrupts, cluster.handling) = (0, 0.0, 0, 0.0);
    cluster.run(requests.max(1));
    let elapsed = Nanos(cluster.now - began);
    let completed = cluster.completed as f64;
    Some(Figures {
        rate: PerSecond(completed / NODES as f64 / elapsed.secs()),
        response: Nanos(cluster.responses / completed),
        interrupts: cluster.interrupts as f64 / completed,
        handling: cluster.handling / NODES as f64 / elapsed.0,
    })
}

impl<'d> Cluster<'d> {
    fn new(demand: &'d Demand, scheduling: ProtocolScheduling, sleepers: Sleepers, key: Key) -> Option<Self> {
        let count = demand.processors;
        let computes = |cpu: u32| scheduling.computes(CpuId(cpu), count);
        if !(0..count).any(computes) {
            return None;
        }
        let processor = |node: u32, cpu: u32| Processor {
            activity: if computes(cpu) { Activity::Computing } else { Activity::Idle },
            segment: 0,
            computes_until: 0.0,
            left: None,
            asked: None,
            answered: false,
            // The same processor computes for the same times under every scheduling.
            random: Key { point: u64::from(node * count + cpu), ..key }.stream(Purpose::Process),
        };
        let node = |node| Node {
            processors: (0..count).map(|cpu| processor(node, cpu)).collect(),
            queue: VecDeque::new(),
            invoker: Invoker::new(scheduling),
            holder: None,
        };
        let mut cluster = Self {
            demand,
            sleepers,
            nodes: [node(0), node(1)],
            agenda: Agenda::default(),
            now: 0.0,
            completed: 0,
            responses: 0.0,
            interrupts: 0,
            handling: 0.0,
        };
        for node in 0..NODES {
            (0..count)
                .filter(|cpu| computes(*cpu))
                .for_each(|cpu| cluster.compute_afresh(node, cpu as usize));
        }
        Some(cluster)
    }

    /// Runs until so many requests are completed.
    fn run(&mut self, requests: u64) {
        while self.completed < requests {
            let Some((at, step)) = self.agenda.next() else { return };
            self.now = at;
            match step {
                Step::Computed { node, cpu, segment } => self.ask(node, cpu, segment),
                Step::Arrives { node, event } => {
                    self.nodes[node].queue.push_back(event);
                    self.invoke(node);
                }
                Step::Handled { node, cpu, event } => self.finish(node, cpu, event),
                Step::Answered { node, cpu } => self.answer(node, cpu),
            }
        }
    }

    fn foresee(&mut self, after: f64, step: Step) {
        self.agenda.add(self.now + after, step);
    }

    fn compute_afresh(&mut self, node: usize, cpu: usize) {
        let times: f64 = Exp1.sample(&mut self.nodes[node].processors[cpu].random);
        self.compute(node, cpu, times * self.demand.compute.0);
    }

    fn compute(&mut self, node: usize, cpu: usize, time: f64) {
        let until = self.now + time;
        let one = &mut self.nodes[node].processors[cpu];
        one.activity = Activity::Computing;
        one.segment += 1;
        one.computes_until = until;
        let segment = one.segment;
        self.foresee(time, Step::Computed { node, cpu, segment });
    }

    fn ask(&mut self, node: usize, cpu: usize, segment: u64) {
        let now = self.now;
        let one = &mut self.nodes[node].processors[cpu];
        if one.segment != segment {
            return;
        }
        one.activity = Activity::Idle;
        one.asked = Some(now);
        self.nodes[node].queue.push_back(ProtocolEvent { stage: Stage::Request, asker: Asker { node, cpu } });
        self.invoke(node);
    }

    /// Finds processors for the events that wait on `node`.
    fn invoke(&mut self, node: usize) {
        while !self.nodes[node].queue.is_empty() {
            let activities: Vec<Activity> =
                self.nodes[node].processors.iter().map(|one| self.activity(one)).collect();
            match self.nodes[node].invoker.invoke(&activities) {
                Invocation::Act(cpu) => {
                    let one = &self.nodes[node].processors[cpu.index()];
                    let wake_up = if self.sleeps(one) { self.demand.wake_up.0 } else { 0.0 };
                    self.handle(node, cpu.index(), wake_up);
                }
                Invocation::Interrupt(cpu) => {
                    let one = &mut self.nodes[node].processors[cpu.index()];
                    one.segment += 1;
                    one.left = Some(one.computes_until - self.now);
                    self.interrupts += 1;
                    self.handle(node, cpu.index(), self.demand.interrupt.0);
                }
                Invocation::Wait => return,
            }
        }
    }

    /// What `one` does, in the words of whoever decides.
    fn activity(&self, one: &Processor) -> Activity {
        let is_spared = self.sleeps(one) && self.sleepers == Sleepers::Spared;
        if is_spared && one.activity == Activity::Idle { Activity::Asleep } else { one.activity }
    }

    /// Whether `one`, which waits, has to be woken. Who has just asked is awake, and who is set aside polls.
    fn sleeps(&self, one: &Processor) -> bool {
        self.demand.wake_up > Nanos::ZERO && one.asked.is_some_and(|asked| asked < self.now)
    }

    /// `cpu` executes the first event that waits, after `overhead`.
    fn handle(&mut self, node: usize, cpu: usize, overhead: f64) {
        let here = &mut self.nodes[node];
        let Some(event) = here.queue.pop_front() else { return };
        let fetches_state = here.holder.is_some_and(|holder| holder != cpu);
        // Replies and responses come from the network, which is in nobody's cache.
        let fetches_request = matches!(event.stage, Stage::Request) && event.asker.cpu != cpu;
        here.holder = Some(cpu);
        here.processors[cpu].activity = Activity::Handling;
        let fetches = f64::from(u8::from(fetches_state) + u8::from(fetches_request));
        let time = overhead + self.demand.occupancy.0 + fetches * self.demand.handover.0;
        self.handling += time;
        self.foresee(time, Step::Handled { node, cpu, event });
    }

    fn finish(&mut self, node: usize, cpu: usize, event: ProtocolEvent) {
        let ProtocolEvent { stage, asker } = event;
        let latency = self.demand.latency.0;
        match stage {
            Stage::Request => {
                let event = ProtocolEvent { stage: Stage::Reply, asker };
                self.foresee(latency, Step::Arrives { node: NODES - 1 - node, event });
            }
            Stage::Reply => {
                let event = ProtocolEvent { stage: Stage::Response, asker };
                self.foresee(latency, Step::Arrives { node: asker.node, event });
            }
            Stage::Response if asker.cpu == cpu => self.nodes[node].processors[cpu].answered = true,
            Stage::Response => {
                // Who executes another event is awake.
                let is_awake = self.nodes[node].processors[asker.cpu].activity == Activity::Handling;
                let wake_up = if is_awake { 0.0 } else { self.demand.wake_up.0 };
                let after = wake_up + self.demand.handover.0;
                self.foresee(after, Step::Answered { node, cpu: asker.cpu });
            }
        }
        self.leave_or_go_on(node, cpu);
    }

    /// What `cpu` does after an event.
    fn leave_or_go_on(&mut self, node: usize, cpu: usize) {
        if self.nodes[node].processors[cpu].answered {
            self.go_on(node, cpu);
            self.invoke(node);
        } else if !self.nodes[node].queue.is_empty() {
            self.handle(node, cpu, 0.0);
        } else if let Some(left) = self.nodes[node].processors[cpu].left.take() {
            self.compute(node, cpu, left);
        } else {
            self.nodes[node].processors[cpu].activity = Activity::Idle;
        }
    }

    fn answer(&mut self, node: usize, cpu: usize) {
        if self.nodes[node].processors[cpu].activity == Activity::Handling {
            self.nodes[node].processors[cpu].answered = true;
        } else {
            self.go_on(node, cpu);
        }
    }

    /// `cpu` has its answer and computes on.
    fn go_on(&mut self, node: usize, cpu: usize) {
        let one = &mut self.nodes[node].processors[cpu];
        one.answered = false;
        let asked = one.asked.take();
        self.completed += 1;
        self.responses += asked.map_or(0.0, |asked| self.now - asked);
        self.compute_afresh(node, cpu);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::advice::{DEDICATED, MULTIPLEXED};

    const KEY: Key = Key { seed: 7, point: 0, replication: 0 };

    fn demand(processors: u32, compute: f64) -> Demand {
        Demand {
            processors,
            compute: Nanos(compute),
            occupancy: Nanos(300.0),
            latency: Nanos(250.0),
            interrupt: Nanos(900.0),
            wake_up: Nanos::ZERO,
            handover: Nanos::ZERO,
        }
    }

    fn figures(demand: &Demand, scheduling: ProtocolScheduling) -> Figures {
        simulate(demand, scheduling, Sleepers::Woken, 20_000, KEY).expect("possible")
    }

    fn near(found: f64, expected: f64, within: f64) {
        assert!((found / expected - 1.0).abs() < within, "{found}, expected {expected}");
    }

    /// A dedicated processor executes three events for each request of its node, and is never idle.
    #[test]
    fn a_saturated_dedicated_processor_bounds_the_rate() {
        let saturated = figures(&demand(12, 0.0), DEDICATED);
        near(saturated.rate.0, 1e9 / 900.0, 0.01);
        near(saturated.handling, 1.0, 0.01);
        assert!(saturated.interrupts == 0.0);
    }

    #[test]
    fn requests_that_never_meet_take_their_round_trip() {
        let rare = figures(&demand(2, 1e6), DEDICATED);
        near(rare.response.0, demand(2, 1e6).round_trip().0, 0.01);
        near(rare.rate.0, 1e9 / (1e6 + 1400.0), 0.03);
    }

    /// Who asks executes the request and the response itself, and one processor of the other node is interrupted.
    #[test]
    fn a_rare_request_interrupts_once_if_all_compute() {
        let rare = figures(&demand(4, 1e6), MULTIPLEXED);
        near(rare.interrupts, 1.0, 0.02);
        near(rare.response.0, 1400.0 + 900.0, 0.02);
    }

    #[test]
    fn computing_alone_scales_with_those_who_compute() {
        let [fixed, floating] = [DEDICATED, MULTIPLEXED].map(|one| figures(&demand(4, 1e7), one).rate.0);
        near(fixed / floating, 3.0 / 4.0, 0.02);
    }

    /// §4.3.2: on a node of one processor that is always waiting, nothing is interrupted.
    #[test]
    fn a_single_processor_that_waits_polls() {
        let waiting = figures(&demand(1, 0.0), MULTIPLEXED);
        assert!(waiting.interrupts < 0.01, "{waiting:?}");
        let busy = figures(&demand(1, 1e6), MULTIPLEXED);
        near(busy.interrupts, 1.0, 0.02);
    }

    /// The dedicated processor fetches the request, and who asked fetches the answer.
    #[test]
    fn requests_to_a_dedicated_processor_and_its_answers_are_handed_over() {
        let costly = |processors, compute| Demand { handover: Nanos(700.0), ..demand(processors, compute) };
        near(figures(&costly(2, 1e6), DEDICATED).response.0, 1400.0 + 2.0 * 700.0, 0.01);
        near(figures(&costly(12, 0.0), DEDICATED).rate.0, 1e9 / (900.0 + 700.0), 0.01);
    }

    /// Who asks executes the request and the response itself, and another node's processor is interrupted for the reply.
    /// Between two rare requests the state is in one of 64 caches, so it is fetched for the request and for the reply; when the
    /// response comes it is still where the request left it.
    #[test]
    fn the_protocols_state_is_handed_over_where_another_executed_the_last_event() {
        let rare = Demand { handover: Nanos(700.0), ..demand(64, 1e8) };
        near(figures(&rare, MULTIPLEXED).response.0, 1400.0 + 900.0 + 2.0 * 700.0, 0.02);
    }

    /// An interrupt of 900 ns: who waits for the answer is woken for its response, or another is interrupted for it and who
    /// asked is woken for the answer alone.
    #[test]
    fn sleepers_are_woken_or_spared() {
        let figures = |demand: &Demand, sleepers| {
            simulate(demand, MULTIPLEXED, sleepers, 20_000, KEY).expect("possible")
        };
        let rare = |wake_up| Demand { wake_up: Nanos(wake_up), ..demand(4, 1e6) };
        let woken = figures(&rare(500.0), Sleepers::Woken);
        near(woken.response.0, 1400.0 + 900.0 + 500.0, 0.02);
        near(woken.interrupts, 1.0, 0.02);
        let spared = figures(&rare(50_000.0), Sleepers::Spared);
        near(spared.response.0, 1400.0 + 2.0 * 900.0 + 50_000.0, 0.02);
        near(spared.interrupts, 2.0, 0.1);
        // One processor has nobody to interrupt when it sleeps: it is woken.
        let alone = figures(&Demand { processors: 1, ..rare(50_000.0) }, Sleepers::Spared);
        near(alone.interrupts, 1.0, 0.1);
    }

    #[test]
    fn the_same_key_gives_the_same_bits() {
        let one = demand(3, 2000.0);
        assert_eq!(figures(&one, MULTIPLEXED), figures(&one, MULTIPLEXED));
    }

    #[test]
    fn nobody_to_compute_gives_no_figures() {
        assert_eq!(simulate(&demand(1, 1.0), DEDICATED, Sleepers::Woken, 10, KEY), None);
    }
}
