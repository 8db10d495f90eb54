//! What cannot run is refused with a reason, and never by a panic.

use core::cell::Cell;
use core::ops::ControlFlow;
use warmcore_sim::cluster::{Device, Error, Machine, Moment, Options, WaitsFor, run};
use warmcore_units::Fault;
use warmcore_workload::programs::{
    Address, BarrierId, Home, Image, LockId, Prepared, Program, SharedMemory, WrongResult,
};

/// A program of a few lines, for two processors or more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ill {
    /// Each of two processors holds a lock and wants the other's.
    Embrace,
    /// One processor never comes to the barrier.
    Absent,
    /// It waits for a word that nobody changes.
    Forgotten,
    /// It refers to an address behind its data.
    Stray,
    /// It uses a new lock again and again.
    Locks,
    /// It computes for a million cycles.
    Long,
    /// It loads a word for ever.
    Spins,
    /// It leaves behind what is not right.
    Wrong,
}

struct Laid(Ill, Address);

impl Program for Ill {
    type Prepared = Laid;

    fn name(&self) -> &'static str {
        "ill"
    }

    fn prepare(&self, image: &mut Image, _: u32) -> Result<Laid, Fault> {
        Ok(Laid(*self, image.allocate(8, Home::Interleaved)))
    }
}

impl Prepared for Laid {
    fn run<M: SharedMemory>(&self, memory: &M) {
        let me = memory.processor();
        match self.0 {
            Ill::Embrace if me < 2 => {
                memory.acquire(LockId(me));
                memory.compute(100_000);
                memory.acquire(LockId(1 - me));
            }
            Ill::Absent if me != 1 => memory.barrier(BarrierId(4)),
            Ill::Forgotten if me == 0 => {
                memory.wait_for_change(self.1, 0);
            }
            Ill::Stray => memory.store(Address(1 << 40), 1),
            Ill::Locks => {
                (0..u32::MAX).for_each(|lock| memory.acquire(LockId(lock * memory.processors() + me)));
            }
            Ill::Long => (0..1000).for_each(|_| {
                memory.compute(1000);
                memory.load(self.1);
            }),
            Ill::Spins => (0..u64::MAX).for_each(|_| {
                memory.load(self.1);
            }),
            Ill::Embrace | Ill::Absent | Ill::Forgotten | Ill::Wrong => {}
        }
    }

    fn check(&self, image: &Image) -> Result<(), WrongResult> {
        let wrong = WrongResult { what: "the word".into(), expected: "1".into(), found: "0".into() };
        if self.0 == Ill::Wrong && image.load(self.1) == 0 { Err(wrong) } else { Ok(()) }
    }

    fn digest(&self, _: &Image) -> u64 {
        0
    }
}

fn error(program: Ill) -> Error {
    let machine = Machine::chapter_5(2, 2, Device::SComa {});
    run(&machine, &program, &Options::within(500_000)).expect_err("it cannot run")
}

#[test]
fn a_deadlock_says_who_waits_for_what() {
    let Error::Deadlock { waiting, .. } = error(Ill::Embrace) else { panic!("no deadlock") };
    let waits: Vec<_> = waiting.iter().map(|waiting| (waiting.processor, waiting.wait)).collect();
    assert_eq!(waits, [(0, WaitsFor::Lock(LockId(1))), (1, WaitsFor::Lock(LockId(0)))]);
    let text = error(Ill::Embrace).to_string();
    assert!(text.contains("processor 1 waits for lock 0; processor 0 waits for lock 1"), "{text}");
    let text = error(Ill::Absent).to_string();
    assert!(text.contains("processors 0, 2 and 3 wait for barrier 4"), "{text}");
    let text = error(Ill::Forgotten).to_string();
    assert!(text.contains("processor 0 waits for a word to change"), "{text}");
}

#[test]
fn deadlocks_are_found_where_processors_also_run_the_protocol() {
    let machine = Machine::chapter_4(2, 2, Device::FLOATING);
    let error = run(&machine, &Ill::Absent, &Options::default()).expect_err("it cannot run");
    assert!(matches!(error, Error::Deadlock { ref waiting, .. } if waiting.len() == 3), "{error}");
}

#[test]
fn what_never_ends_or_does_not_fit_is_given_up() {
    let long = error(Ill::Long);
    assert!(matches!(&long, Error::TooLong { cycles: 500_000, waiting } if waiting.len() == 4), "{long}");
    assert!(long.to_string().ends_with("processors 0 to 3 compute"), "{long}");
    assert!(matches!(error(Ill::Stray), Error::Stray { at: Address(0x100_0000_0000), .. }));
    let machine =
        Machine { block_bytes: 4096, block_buffer_bytes: 4096, ..Machine::chapter_5(2, 2, Device::SComa {}) };
    let error = run(&machine, &Ill::Locks, &Options::default()).expect_err("it cannot run");
    assert!(matches!(error, Error::TooManyLocks { .. }), "{error}");
}

#[test]
fn whoever_watches_can_stop_a_run() {
    // Alone, a processor goes on until something else is to happen, which is never.
    for (nodes, processors) in [(2, 2), (1, 1)] {
        let moments = Cell::new(0);
        let watch = |moment: Moment| {
            moments.set(moments.get() + 1);
            if moment.cycles < 200_000 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let machine = Machine { run_ahead: 0, ..Machine::chapter_5(nodes, processors, Device::SComa {}) };
        let options = Options { watch: &watch, ..Options::default() };
        let stopped = run(&machine, &Ill::Spins, &options).expect_err("it is stopped");
        assert!(matches!(stopped, Error::Stopped { cycles } if cycles >= 200_000), "{stopped}");
        assert!(moments.get() > 1);
        let long = run(&machine, &Ill::Spins, &Options::within(500_000)).expect_err("it is given up");
        assert!(matches!(long, Error::TooLong { cycles: 500_000, .. }), "{long}");
    }
}

#[test]
fn wrong_results_are_no_outcome() {
    assert!(matches!(error(Ill::Wrong), Error::Wrong(_)));
}

#[test]
fn impossible_machines_are_refused() {
    let machine = Machine { block_bytes: 100, ..Machine::chapter_5(2, 2, Device::SComa {}) };
    let error = run(&machine, &Ill::Wrong, &Options::default()).expect_err("it is impossible");
    assert!(error.to_string().contains("`block_bytes` is 100"), "{error}");
}
