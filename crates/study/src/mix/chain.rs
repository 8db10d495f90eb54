//! What a thread did, step by step, without what the scheduler decided: how long it computed between the things that it did.

use warmcore_scenario::runqueue::{RecordedThread, Step, Steps};
use warmcore_units::{CpuId, Nanos};

/// The priority of nice 0.
const NICE_0: i32 = 120;

/// The steps of a thread so far. Other threads are named by the order in which they were first seen.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Chain {
    steps: Vec<Step>,
    /// Computing since the last step.
    computed: Nanos,
    /// Since when it runs, or was last accounted for.
    since: Nanos,
    runs: bool,
    blocked: Nanos,
    /// Where it was before it first ran.
    cpu: Option<CpuId>,
    first_priority: Option<i32>,
    priority: i32,
}

impl Chain {
    /// A thread that is known since `born`, and runs until it is said that it does not.
    pub(super) const fn new(born: Nanos) -> Self {
        Self {
            steps: Vec::new(),
            computed: Nanos::ZERO,
            since: born,
            runs: true,
            blocked: born,
            cpu: None,
            first_priority: None,
            priority: NICE_0,
        }
    }

    /// The priority that it last had, 120 for nice 0.
    pub(super) const fn priority(&self) -> i32 {
        self.priority
    }

    fn account(&mut self, at: Nanos) {
        if self.runs {
            self.computed += Nanos((at.0 - self.since.0).max(0.0));
        }
        self.since = at;
    }

    fn push(&mut self, step: Step) {
        let us = microseconds(self.computed);
        self.computed = Nanos::ZERO;
        if us > 0 {
            self.steps.push(Step::Run(us));
        }
        self.steps.push(step);
    }

    fn note_priority(&mut self, priority: i32) {
        if self.first_priority.is_none() {
            self.first_priority = Some(priority);
        } else if priority != self.priority {
            self.push(Step::Nice(nice(priority)));
        }
        self.priority = priority;
    }

    /// It begins to run on `cpu`.
    pub(super) fn runs(&mut self, at: Nanos, cpu: CpuId, priority: i32) {
        self.note_place(cpu);
        self.note_priority(priority);
        self.since = at;
        self.runs = true;
    }

    /// It has run on `cpu` until now.
    pub(super) fn ran(&mut self, at: Nanos, cpu: CpuId, priority: i32) {
        self.note_place(cpu);
        self.account(at);
        self.note_priority(priority);
    }

    /// Where one that is older than the recording was when it began.
    fn note_place(&mut self, cpu: CpuId) {
        if self.steps.is_empty() && self.computed == Nanos::ZERO {
            self.cpu.get_or_insert(cpu);
        }
    }

    /// It waits for a cpu.
    pub(super) const fn wait(&mut self) {
        self.runs = false;
    }

    /// It blocks.
    pub(super) fn block(&mut self, at: Nanos) {
        self.push(Step::Block);
        self.runs = false;
        self.blocked = at;
    }

    /// It was blocked before it was first seen.
    pub(super) fn was_blocked(&mut self, cpu: CpuId) {
        self.cpu = Some(cpu);
        self.push(Step::Block);
        self.runs = false;
    }

    /// No other thread ended its last block, but an interrupt: of `cpu` if that is not where it last ran.
    pub(super) fn slept(&mut self, at: Nanos, cpu: Option<CpuId>) {
        if let Some(step @ Step::Block) = self.steps.last_mut() {
            *step = Step::Sleep(microseconds(at - self.blocked), cpu);
        }
    }

    pub(super) fn exec(&mut self, at: Nanos) {
        self.account(at);
        self.push(Step::Exec);
    }

    /// It woke another up, itself or in deferred work.
    pub(super) fn wake(&mut self, thread: usize, is_deferred: bool, at: Nanos) {
        self.account(at);
        let thread = number(thread);
        self.push(if is_deferred { Step::WakeLate(thread) } else { Step::Wake(thread) });
    }

    pub(super) fn start(&mut self, thread: usize, at: Nanos) {
        self.account(at);
        self.push(Step::Start(number(thread)));
    }

    pub(super) fn exit(&mut self) {
        self.push(Step::Exit);
    }

    /// The recording ends before it does.
    pub(super) fn run_on(&mut self) {
        self.push(Step::RunOn);
    }

    /// The thread, with `numbers` for those that it names.
    pub(super) fn thread(
        self,
        is_new: bool,
        group: u32,
        attached: Option<CpuId>,
        numbers: &[u32],
    ) -> RecordedThread {
        let renumbered = self.steps.into_iter().map(|step| match step {
            Step::Wake(thread) => Step::Wake(numbers[thread as usize]),
            Step::WakeLate(thread) => Step::WakeLate(numbers[thread as usize]),
            Step::Start(thread) => Step::Start(numbers[thread as usize]),
            other => other,
        });
        RecordedThread {
            nice: nice(self.first_priority.unwrap_or(NICE_0)),
            group,
            attached,
            cpu: self.cpu.filter(|_| !is_new),
            steps: Steps(renumbered.collect()),
        }
    }
}

/// The nice value of a priority; that of real-time threads is the most urgent.
const fn nice(priority: i32) -> i32 {
    if priority < 100 { -20 } else { priority - NICE_0 }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative, and below a day")]
fn microseconds(time: Nanos) -> u64 {
    (time.0 / 1e3).round() as u64
}

#[expect(clippy::cast_possible_truncation, reason = "the kernel has at most 2^22 threads at a time")]
const fn number(thread: usize) -> u32 {
    thread as u32
}
