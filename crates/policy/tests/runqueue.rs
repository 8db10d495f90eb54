//! The indexed run queue decides as the search through all candidates does, and its log replays; the fair scheduler is fair.

mod fair;

use proptest::prelude::*;
use warmcore_policy::runqueue::{
    Affinity, AffinityForm, Decay, Divergence, Event, Parameters, Record, RunQueue, StopCause, Task, Ticks,
    choose, replay,
};
use warmcore_units::{CpuId, TaskId};

const CPUS: u32 = 3;

#[derive(Clone, Copy, Debug)]
enum Step {
    Add { base: i32, attached: Option<u32> },
    Pick { cpu: u32 },
    Tick { cpu: u32, count: u32 },
    Stop { cpu: u32, cause: StopCause },
    Wake,
    Decay,
    Pass(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let cause = prop::sample::select(vec![
        StopCause::Quantum,
        StopCause::Preempted,
        StopCause::Yield,
        StopCause::Reschedule,
        StopCause::Block,
        StopCause::Exit,
    ]);
    let attached = prop::option::weighted(0.2, 0..CPUS);
    let step = prop_oneof![
        1 => (0..3_i32, attached).prop_map(|(base, attached)| Step::Add { base, attached }),
        6 => (0..CPUS).prop_map(|cpu| Step::Pick { cpu }),
        3 => (0..CPUS, 1..30_u32).prop_map(|(cpu, count)| Step::Tick { cpu, count }),
        6 => (0..CPUS, cause).prop_map(|(cpu, cause)| Step::Stop { cpu, cause }),
        3 => Just(Step::Wake),
        1 => Just(Step::Decay),
        2 => (1..5_u64).prop_map(Step::Pass),
    ];
    prop::collection::vec(step, 1..300)
}

/// A queue, what runs and blocks beside it, and the log of both.
struct Machine {
    queue: RunQueue,
    running: [Option<TaskId>; CPUS as usize],
    blocked: Vec<TaskId>,
    now: Ticks,
    log: Vec<Record>,
    /// Names of the tasks in the log: each is used once, while ids are used again.
    names: Vec<u32>,
}

impl Machine {
    fn new(parameters: Parameters) -> Self {
        let queue = RunQueue::new(parameters, CPUS).unwrap();
        let log = Vec::new();
        Self { queue, running: [None; 3], blocked: Vec::new(), now: Ticks(0), log, names: Vec::new() }
    }

    fn log(&mut self, event: Event) {
        self.log.push(Record { at: self.now, event });
    }

    fn name(&self, id: TaskId) -> TaskId {
        TaskId(self.names[id.index()])
    }

    fn take(&mut self, step: Step) -> Result<(), TestCaseError> {
        match step {
            Step::Add { base, attached } => self.add(base, attached.map(CpuId)),
            Step::Pick { cpu } if self.running[cpu as usize].is_none() => self.pick(CpuId(cpu))?,
            Step::Tick { cpu, count } => {
                if let Some(id) = self.running[cpu as usize] {
                    for _ in 0..count {
                        self.queue.tick(id);
                        self.log(Event::Tick(self.name(id)));
                    }
                }
            }
            Step::Stop { cpu, cause } => {
                if let Some(id) = self.running[cpu as usize].take() {
                    self.log(Event::Stop { task: self.name(id), cpu: CpuId(cpu), cause });
                    self.queue.stop(id, CpuId(cpu), self.now, cause);
                    self.blocked.extend((cause == StopCause::Block).then_some(id));
                }
            }
            Step::Wake => {
                if let Some(id) = self.blocked.pop() {
                    self.queue.enqueue(id);
                    self.log(Event::Enqueue(self.name(id)));
                }
            }
            Step::Decay => {
                self.queue.decay();
                self.log(Event::Decay);
            }
            Step::Pass(ticks) => self.now = Ticks(self.now.0 + ticks),
            Step::Pick { .. } => {}
        }
        Ok(())
    }

    fn add(&mut self, base: i32, attached: Option<CpuId>) {
        let id = self.queue.add(Task { base, attached, ..Task::default() });
        let name = u32::try_from(self.log.len()).unwrap() + 1000;
        self.names.resize(self.names.len().max(id.index() + 1), 0);
        self.names[id.index()] = name;
        self.log(Event::Add { task: TaskId(name), base, attached });
        self.queue.enqueue(id);
        self.log(Event::Enqueue(TaskId(name)));
    }

    fn pick(&mut self, cpu: CpuId) -> Result<(), TestCaseError> {
        let candidates: Vec<_> = self.queue.candidates().collect();
        let search = self.queue.search(cpu, self.now);
        let expected =
            choose(self.queue.parameters().affinity, search, &candidates).map(|index| candidates[index].id);
        let picked = self.queue.pick(cpu, self.now);
        prop_assert_eq!(picked, expected, "{:?} of {:?}", search, candidates);
        prop_assert_eq!(self.queue.waiting(), candidates.len() - usize::from(picked.is_some()));
        self.running[cpu.index()] = picked;
        let chosen = picked.map(|id| self.name(id));
        self.log(Event::Pick { cpu, chosen });
        Ok(())
    }
}

fn parameters() -> impl Strategy<Value = Parameters> {
    (0..20_u32, 0..20_u32, any::<bool>(), any::<bool>(), 1..300_u32).prop_map(
        |(a_p, a_t, is_complex, exclude_yielder, cap)| {
            let form = if is_complex { AffinityForm::Complex } else { AffinityForm::Simple };
            let affinity = Affinity { a_p, a_t, form };
            let decay = Decay { numerator: 2, denominator: 3, ..Decay::default() };
            Parameters { affinity, decay, cap, exclude_yielder, ..Parameters::default() }
        },
    )
}

proptest! {
    #[test]
    fn every_pick_is_that_of_a_full_search_and_the_log_replays(parameters in parameters(), steps in steps()) {
        let mut machine = Machine::new(parameters);
        for step in steps {
            machine.take(step)?;
        }
        let lines: Vec<String> = machine.log.iter().map(ToString::to_string).collect();
        let read: Vec<Record> = lines.iter().map(|line| line.parse().unwrap()).collect();
        prop_assert_eq!(&read, &machine.log);
        let picks = machine.log.iter().filter(|record| matches!(record.event, Event::Pick { .. })).count();
        prop_assert_eq!(replay(parameters, CPUS, read), Ok(picks));
    }
}

#[test]
fn a_wrong_pick_or_an_impossible_event_is_found() {
    let log = |last: &str| -> Vec<Record> {
        let lines =
            ["0 add task7 base 0", "0 add task9 base 0 attached cpu1", "0 enqueue task9", "0 enqueue task7"];
        lines.into_iter().chain([last]).map(|line| line.parse().unwrap()).collect()
    };
    let parameters = Parameters::default();
    assert_eq!(replay(parameters, 2, log("1 pick cpu0 task7")), Ok(1));
    assert_eq!(replay(parameters, 2, log("1 pick cpu1 task9")), Ok(1));
    let wrong = replay(parameters, 2, log("1 pick cpu0 task9")).unwrap_err();
    assert_eq!(wrong.to_string(), "record 4, `1 pick cpu0 task9`: expected task7");
    for impossible in ["1 pick cpu2 task7", "1 stop task7 cpu0 block", "1 tick task7", "1 enqueue task7"] {
        let found = replay(parameters, 2, log(impossible));
        assert!(matches!(found, Err(Divergence::Impossible { index: 4, .. })), "{impossible}: {found:?}");
    }
    for line in ["", "1 pick", "x decay", "1 decay now", "1 stop task1 cpu0 tired"] {
        assert!(line.parse::<Record>().is_err(), "{line}");
    }
}

/// §4: with two tasks on a processor, a task reaches an effective time slice of about 40 a_t ms; ours in ticks of
/// 10 ms, from quanta of 3 ticks.
#[test]
fn two_tasks_on_one_processor_alternate_after_about_forty_a_t_milliseconds() {
    for a_t in [6, 16] {
        let affinity = Affinity::simple(a_t);
        // Without decay, to see the threshold alone.
        let parameters = Parameters { affinity, cap: 100_000, ..Parameters::default() };
        let mut queue = RunQueue::new(parameters, 1).unwrap();
        let tasks = [0, 1].map(|_| queue.add(Task::default()));
        tasks.iter().for_each(|id| queue.enqueue(*id));
        let (mut slices, mut slice, mut last) = (Vec::new(), 0, None);
        for quantum in 0..3000 {
            let now = Ticks(3 * quantum);
            let id = queue.pick(CpuId(0), now).unwrap();
            if last.is_some_and(|last| last != id) {
                slices.push(slice);
                slice = 0;
            }
            last = Some(id);
            (0..3).for_each(|_| queue.tick(id));
            slice += 30;
            queue.stop(id, CpuId(0), Ticks(now.0 + 3), StopCause::Quantum);
        }
        slices.sort_unstable();
        let (median, expected) = (slices[slices.len() / 2], 40 * a_t);
        assert!(median >= expected - 30 && median <= expected + 30, "{median} ms for a_t = {a_t}");
    }
}
