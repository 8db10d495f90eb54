//! The fair scheduler: whoever can run gets its share, soon, and no processor is idle for long while tasks wait.

use proptest::prelude::*;
use warmcore_policy::fair::weight::of_nice;
use warmcore_policy::fair::{Fair, Parameters, Spec, Waker};
use warmcore_policy::runqueue::StopCause;
use warmcore_units::{CpuId, TaskId};

/// A machine on which tasks compute without end, but for those that are told to stop.
struct Machine {
    fair: Fair,
    now: u64,
    running: Vec<Option<TaskId>>,
    ran: Vec<u64>,
}

impl Machine {
    fn new(cpus: u32, parameters: Parameters) -> Self {
        let fair = Fair::new(parameters, cpus, 1).unwrap();
        Self { fair, now: 0, running: vec![None; cpus as usize], ran: Vec::new() }
    }

    fn start(&mut self, spec: Spec, parent: u32) -> TaskId {
        let id = self.fair.add(spec, self.now);
        self.ran.resize(self.ran.len().max(id.index() + 1), 0);
        let woken = self.fair.start(id, CpuId(parent), self.now);
        self.notice(woken.cpu.index(), woken.preempts);
        id
    }

    fn wake(&mut self, id: TaskId, waker: u32) {
        if let Some(woken) = self.fair.wake(id, Waker::Task(CpuId(waker)), self.now) {
            self.notice(woken.cpu.index(), woken.preempts);
        }
    }

    fn notice(&mut self, cpu: usize, preempts: bool) {
        match self.running[cpu] {
            None => self.dispatch(cpu),
            Some(_) if preempts => self.stop(cpu, StopCause::Preempted),
            Some(_) => {}
        }
    }

    fn dispatch(&mut self, cpu: usize) {
        self.running[cpu] = self.fair.pick(CpuId::from(cpu), self.now);
        assert!(
            self.running[cpu].is_some() || self.fair.load(CpuId::from(cpu)) == 0,
            "cpu {cpu} leaves tasks waiting"
        );
    }

    fn stop(&mut self, cpu: usize, cause: StopCause) {
        if let Some(id) = self.running[cpu] {
            self.fair.stop(id, CpuId::from(cpu), cause, self.now);
            self.dispatch(cpu);
        }
    }

    /// Lets what runs compute for `time`, and takes the ticks in it.
    fn pass(&mut self, time: u64) {
        let (end, tick) = (self.now + time, self.fair.parameters().tick);
        while self.now < end {
            let next = ((self.now / tick + 1) * tick).min(end);
            for id in self.running.iter().flatten() {
                self.ran[id.index()] += next - self.now;
            }
            self.now = next;
            if next % tick == 0 {
                self.tick();
            }
        }
    }

    fn tick(&mut self) {
        for cpu in 0..self.running.len() {
            let id = CpuId::from(cpu);
            let is_over = self.fair.tick(id, self.now);
            let employed = self.fair.balance(id, self.now);
            if is_over {
                self.stop(cpu, StopCause::Quantum);
            }
            if let Some(idle) = employed {
                self.dispatch(idle.index());
            }
        }
    }
}

const SECOND: u64 = 1_000_000_000;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// On one processor, tasks that always can run get it in proportion to their weights, and are never far from that.
    #[test]
    fn shares_are_those_of_weights_and_lags_are_bounded(
        nices in prop::collection::vec(-10..=10_i32, 2..8),
        slice in 500_000..8_000_000_u64,
    ) {
        let parameters = Parameters { slice, ..Parameters::linux(1) };
        let mut machine = Machine::new(1, parameters);
        let tasks: Vec<TaskId> =
            nices.iter().map(|&nice| machine.start(Spec { nice, ..Spec::default() }, 0)).collect();
        let all: u64 = nices.iter().map(|&nice| of_nice(nice)).sum();
        // A request ends at the next tick only.
        let bound = 2.0 * (slice.next_multiple_of(parameters.tick) + parameters.tick) as f64;
        for _ in 0..200 {
            machine.pass(SECOND / 5);
            for (&task, &nice) in tasks.iter().zip(&nices) {
                let lag = machine.fair.lag(task) as f64 * of_nice(nice) as f64 / 1024.0;
                prop_assert!(lag.abs() <= bound, "{lag} of nice {nice}, bound {bound}");
            }
        }
        for (&task, &nice) in tasks.iter().zip(&nices) {
            let share = of_nice(nice) as f64 / all as f64;
            let expected = share * machine.now as f64;
            let ran = machine.ran[task.index()] as f64;
            prop_assert!((ran - expected).abs() <= 3.0 * bound, "nice {nice} ran {ran} of {expected}");
        }
    }

    /// Tasks that start, block, wake up and end at random: whoever can run does so within a bounded time, no processor is
    /// idle for long while others' tasks wait, and whom a processor runs is one of its own.
    #[test]
    fn nobody_waits_for_ever_and_no_processor_is_idle_for_long(
        choices in prop::collection::vec((0..5_u8, any::<u16>(), 1..6_000_000_u64), 50..300),
    ) {
        let cpus = 3_u32;
        let mut machine = Machine::new(cpus, Parameters::linux(cpus));
        let (mut alive, mut blocked) = (Vec::new(), Vec::new());
        let (mut idle_since, mut waits) = (0, vec![]);
        for (choice, which, time) in choices {
            let cpu = usize::from(which) % machine.running.len();
            match choice {
                0 if alive.len() < 12 => {
                    let group = u32::from(which % 3);
                    let id = machine.start(Spec { group, ..Spec::default() }, u32::from(which) % cpus);
                    alive.push(id);
                    waits.resize(machine.ran.len(), machine.now);
                }
                1 => {
                    if let Some(id) = machine.running[cpu] {
                        machine.stop(cpu, StopCause::Block);
                        blocked.push(id);
                    }
                }
                2 => {
                    if let Some(id) = machine.running[cpu] {
                        machine.stop(cpu, StopCause::Exit);
                        alive.retain(|&one| one != id);
                    }
                }
                _ if !blocked.is_empty() => {
                    let id = blocked.swap_remove(usize::from(which) % blocked.len());
                    machine.wake(id, u32::from(which) % cpus);
                }
                _ => {}
            }
            machine.pass(time);
            let can_run = |id: &&TaskId| machine.fair.is_runnable(**id);
            let runnable = alive.iter().filter(can_run).count();
            let running = machine.running.iter().flatten().count();
            if running == runnable.min(machine.running.len()) {
                idle_since = machine.now;
            }
            prop_assert!(machine.now - idle_since < SECOND / 2, "{running} of {runnable} run for half a second");
            for id in &alive {
                if machine.running.contains(&Some(*id)) || !machine.fair.is_runnable(*id) {
                    waits[id.index()] = machine.now;
                }
                let waited = machine.now - waits[id.index()];
                prop_assert!(waited < SECOND, "{id:?} waits for {waited} ns");
            }
            for (cpu, id) in machine.running.iter().enumerate() {
                if let Some(id) = id {
                    prop_assert_eq!(machine.fair.cpu(*id).index(), cpu);
                }
            }
        }
    }
}

/// Groups share as tasks do, however many tasks they have.
#[test]
fn a_group_of_nine_gets_no_more_than_a_group_of_one() {
    let mut machine = Machine::new(1, Parameters::linux(1));
    let lone = machine.start(Spec { group: 1, ..Spec::default() }, 0);
    for _ in 0..9 {
        machine.start(Spec { group: 2, ..Spec::default() }, 0);
    }
    machine.pass(20 * SECOND);
    let share = machine.ran[lone.index()] as f64 / machine.now as f64;
    assert!((share - 0.5).abs() < 0.01, "{share}");
}

/// Three tasks on two processors: load is balanced by moving one of them now and then, and nobody is left behind.
#[test]
fn three_tasks_on_two_processors_get_two_thirds_each() {
    let mut machine = Machine::new(2, Parameters::linux(2));
    let tasks: Vec<TaskId> = (0..3).map(|_| machine.start(Spec::default(), 0)).collect();
    machine.pass(60 * SECOND);
    for task in tasks {
        let share = machine.ran[task.index()] as f64 / machine.now as f64;
        assert!((share - 2.0 / 3.0).abs() < 0.1, "{share}");
    }
}

/// A task that slept is not owed what it slept through, but runs soon.
#[test]
fn a_sleeper_runs_soon_and_gets_no_more_than_its_share() {
    let mut machine = Machine::new(1, Parameters::linux(1));
    let sleeper = machine.start(Spec::default(), 0);
    let other = machine.start(Spec::default(), 0);
    let mut longest = 0;
    for _ in 0..200 {
        while machine.running[0] != Some(sleeper) {
            machine.pass(100_000);
        }
        machine.pass(300_000);
        if machine.running[0] == Some(sleeper) {
            machine.stop(0, StopCause::Block);
        }
        machine.pass(5_300_000);
        let (woken, before) = (machine.now, machine.ran[other.index()]);
        machine.wake(sleeper, 0);
        while machine.running[0] != Some(sleeper) {
            machine.pass(100_000);
        }
        longest = longest.max(machine.now - woken);
        assert!(machine.ran[other.index()] - before <= longest, "nobody else runs");
    }
    assert!(longest <= 8_000_000, "{longest}");
    let share = machine.ran[sleeper.index()] as f64 / machine.now as f64;
    assert!(share < 0.1, "{share}");
}

/// Fixed tasks stay where they are, whatever the load is.
#[test]
fn a_fixed_task_runs_on_its_processor_only() {
    let mut machine = Machine::new(2, Parameters::linux(2));
    let fixed: Vec<TaskId> =
        (0..3).map(|_| machine.start(Spec { attached: Some(CpuId(1)), ..Spec::default() }, 0)).collect();
    for _ in 0..100 {
        machine.pass(10_000_000);
        assert_eq!(machine.running[0], None);
        assert!(fixed.iter().all(|&id| machine.fair.cpu(id) == CpuId(1)));
    }
}

#[test]
fn a_task_of_a_processor_that_is_not_there_is_refused() {
    let absent = Some(CpuId(2));
    for spec in [Spec { attached: absent, ..Spec::default() }, Spec { last_cpu: absent, ..Spec::default() }] {
        let added = std::panic::catch_unwind(|| Fair::new(Parameters::linux(2), 2, 1).unwrap().add(spec, 0));
        assert!(added.is_err(), "{spec:?}");
    }
}
