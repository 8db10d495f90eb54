//! The decisions of the scheduler in the kernel, compiled natively, on logs of random machines and of simulated mixes:
//! every pick must be that of `policy::runqueue`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use warmcore_policy::runqueue::log::Event;
use warmcore_policy::runqueue::{
    Affinity, AffinityForm, Decay, Parameters, Record, RunQueue, StopCause, Task, Ticks,
};
use warmcore_scenario::RunQueueScenario;
use warmcore_scenario::document::parse;
use warmcore_scenario::runqueue::{Attachment, UnixScheduler};
use warmcore_sim::runqueue::simulate_logged;
use warmcore_units::{CpuId, TaskId};

const EVENTS: u32 = 40_000;
const CPUS: u32 = 4;
const TASKS: usize = 48;

/// The program that replays logs through `bpf/decide.h`.
struct Player {
    _folder: tempfile::TempDir,
    program: PathBuf,
}

impl Player {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let program = folder.path().join("replay");
        let compiled = Command::new("cc")
            .args(["-O1", "-Wall", "-Wextra", "-Werror", "-o"])
            .arg(&program)
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/replay.c"))
            .status();
        assert!(compiled.expect("a C compiler").success());
        Self { _folder: folder, program }
    }

    /// How many picks of the log it makes too, or the first line that it decides otherwise.
    fn replay(&self, parameters: &Parameters, log: &[Record]) -> Result<usize, String> {
        let Parameters { affinity, decay, cap, exclude_yielder, .. } = parameters;
        let form = u32::from(affinity.form == AffinityForm::Complex);
        let words = [
            decay.numerator,
            decay.denominator,
            affinity.a_p,
            affinity.a_t,
            form,
            *cap,
            u32::from(*exclude_yielder),
        ];
        let mut running = Command::new(&self.program)
            .args(words.map(|word| word.to_string()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it runs");
        let text: String = log.iter().map(|record| format!("{record}\n")).collect();
        // It may end at the first line that differs.
        let _ = running.stdin.take().expect("a pipe").write_all(text.as_bytes());
        let output = running.wait_with_output().expect("it ends");
        let said = String::from_utf8(output.stdout).expect("text").trim().to_owned();
        match output.status.code() {
            Some(0) => Ok(said.parse().expect("a count")),
            Some(1) => Err(said),
            _ => panic!("it could not read the log: {}", output.status),
        }
    }
}

/// Draws what happens to a machine; the queue decides.
struct Machine {
    queue: RunQueue,
    /// What runs on each processor.
    on: [Option<TaskId>; CPUS as usize],
    blocked: Vec<TaskId>,
    tasks: usize,
    generator: u64,
}

impl Machine {
    fn draw(&mut self, below: u64) -> u64 {
        self.generator ^= self.generator << 13;
        self.generator ^= self.generator >> 7;
        self.generator ^= self.generator << 17;
        self.generator % below
    }

    fn cpu(&mut self) -> CpuId {
        CpuId(u32::try_from(self.draw(u64::from(CPUS))).expect("small"))
    }

    fn add(&mut self) -> Event {
        let base = i32::try_from(4 * self.draw(3)).expect("small");
        let attached = (self.draw(4) == 0).then(|| self.cpu());
        let task = self.queue.add(Task { base, attached, ..Task::default() });
        self.tasks += 1;
        self.blocked.push(task);
        Event::Add { task, base, attached }
    }

    fn wake(&mut self) -> Option<Event> {
        let place = self.draw(self.blocked.len().max(1) as u64);
        let index = usize::try_from(place).expect("small");
        let task = (index < self.blocked.len()).then(|| self.blocked.swap_remove(index))?;
        self.queue.enqueue(task);
        Some(Event::Enqueue(task))
    }

    fn stop(&mut self, task: TaskId, cpu: CpuId, now: Ticks) -> Event {
        const CAUSES: [StopCause; 6] = [
            StopCause::Quantum,
            StopCause::Preempted,
            StopCause::Yield,
            StopCause::Reschedule,
            StopCause::Block,
            StopCause::Exit,
        ];
        let cause = CAUSES[usize::try_from(self.draw(6)).expect("small")];
        self.on[cpu.index()] = None;
        self.queue.stop(task, cpu, now, cause);
        match cause {
            StopCause::Block => self.blocked.push(task),
            StopCause::Exit => self.tasks -= 1,
            _ => {}
        }
        Event::Stop { task, cpu, cause }
    }

    fn event(&mut self, now: Ticks) -> Option<Event> {
        let cpu = self.cpu();
        let running = self.on[cpu.index()];
        match (self.draw(200), running) {
            (0, _) => {
                self.queue.decay();
                Some(Event::Decay)
            }
            (1..=20, _) if self.tasks < TASKS => Some(self.add()),
            (1..=40, _) => self.wake(),
            (41..=90, Some(task)) => Some(self.stop(task, cpu, now)),
            (91..=150, None) => {
                let chosen = self.queue.pick(cpu, now);
                self.on[cpu.index()] = chosen;
                Some(Event::Pick { cpu, chosen })
            }
            (151.., Some(task)) => {
                self.queue.tick(task);
                Some(Event::Tick(task))
            }
            _ => None,
        }
    }
}

fn random_log(seed: u64, parameters: Parameters) -> Vec<Record> {
    let queue = RunQueue::new(parameters, CPUS).expect("possible parameters");
    let mut machine =
        Machine { queue, on: [None; CPUS as usize], blocked: Vec::new(), tasks: 0, generator: seed * 2 + 1 };
    let mut at = Ticks(0);
    let mut log = Vec::new();
    for _ in 0..EVENTS {
        if machine.draw(4) == 0 {
            at.0 += machine.draw(3);
        }
        log.extend(machine.event(at).map(|event| Record { at, event }));
    }
    log
}

#[test]
fn every_pick_on_random_machines_is_that_of_the_policy() {
    let player = Player::new();
    let thirds = Decay { numerator: 2, denominator: 3, ..Decay::default() };
    let plain = Parameters::default();
    let variants = [
        plain,
        Parameters { affinity: Affinity::LIGHT, ..plain },
        Parameters { affinity: Affinity::HEAVY, decay: thirds, ..plain },
        Parameters { affinity: Affinity::complex(6), cap: 20, ..plain },
        Parameters {
            affinity: Affinity { a_p: 2, a_t: 9, form: AffinityForm::Complex },
            exclude_yielder: false,
            ..plain
        },
    ];
    for parameters in variants {
        for seed in 1..=4 {
            let held = player.replay(&parameters, &random_log(seed, parameters));
            assert!(held.as_ref().is_ok_and(|picks| *picks > 2000), "seed {seed}, {parameters}: {held:?}");
        }
    }
}

#[test]
fn every_pick_of_simulated_mixes_is_that_of_the_policy() {
    let player = Player::new();
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/cli/src/simulate/example.toml");
    let text = std::fs::read_to_string(example).expect("the example");
    let mix: RunQueueScenario = parse(&text, Path::new(example)).expect("a scenario");
    let standard = UnixScheduler::default();
    for scheduler in [
        standard,
        standard.with(Affinity::LIGHT),
        standard.with(Affinity::HEAVY),
        standard.with(Affinity::complex(6)),
        UnixScheduler { attach: Attachment::RoundRobin, ..standard },
        UnixScheduler { exclude_yielder: false, ..standard.with(Affinity::LIGHT) },
    ] {
        let mix = RunQueueScenario { scheduler: scheduler.into(), ..mix.clone() };
        let (tally, log) = simulate_logged(&mix, 0).expect("it can be simulated");
        let held = player.replay(&scheduler.parameters(), &log);
        let least = usize::try_from(tally.dispatches()).expect("a count");
        assert!(held.as_ref().is_ok_and(|picks| *picks >= least), "{scheduler:?}: {held:?}");
        let yields =
            log.iter().any(|record| matches!(record.event, Event::Stop { cause: StopCause::Yield, .. }));
        assert!(yields, "the mix has processes that yield");
    }
}

#[test]
fn other_constants_are_noticed() {
    let player = Player::new();
    let light = Parameters { affinity: Affinity::LIGHT, ..Parameters::default() };
    let log = random_log(1, light);
    for other in [
        Parameters { affinity: Affinity::HEAVY, ..light },
        Parameters { affinity: Affinity::complex(6), ..light },
        Parameters { exclude_yielder: false, ..light },
        Parameters { decay: Decay { numerator: 2, denominator: 3, ..Decay::default() }, ..light },
    ] {
        assert!(player.replay(&other, &log).is_err(), "{other}");
    }
}
