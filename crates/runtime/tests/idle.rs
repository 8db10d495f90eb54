//! The cost of a run without traffic: about a hundredth of one processor.
//!
//! It is measured as processor time of the workers, not as elapsed time, so these tests have a program
//! of their own.

use std::fs;
use std::io;
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;
use warmcore_costs::{ExecutionModel, Profile};
use warmcore_runtime::driver::{Driver, DriverError, Due, Incoming, Opened, Queue, QueueRequest};
use warmcore_runtime::{Context, Idle, Memory, OnStuck, Options, Overload, Shutdown, run};
use warmcore_scenario::{Parallelism, Scheduling};
use warmcore_stack::Delivery;
use warmcore_units::{Nanos, StreamId};

/// The most that all workers together may use of one processor, with some margin. On a virtual machine
/// where a wake-up costs tens of microseconds they used 0.7% to 1.1%, depending on the hour. A worker
/// that polls instead of sleeping uses 100%.
const BOUND: f64 = 0.03;

/// Queues at which nothing ever arrives, whatever their `due` says.
struct Silence(Due);

impl Driver for Silence {
    fn open(&mut self, request: &QueueRequest<'_>) -> Result<Opened, DriverError> {
        let queue = |_| -> Box<dyn Queue> { Box::new(Self(self.0)) };
        Ok(Opened { queues: (0..request.queues).map(queue).collect(), prepared: Vec::new() })
    }
}

impl Queue for Silence {
    fn receive(&mut self, _now: Nanos, _limit: usize, _sink: &mut dyn FnMut(Incoming<'_>)) -> usize {
        0
    }

    fn due(&self) -> Due {
        self.0
    }

    fn send(&mut self, _frame: &[u8]) -> io::Result<()> {
        Ok(())
    }
}

/// Processor time that the workers have used so far; `None` where the kernel does not keep it.
fn used() -> Option<Duration> {
    let mut used = Duration::ZERO;
    for task in fs::read_dir("/proc/self/task").ok()? {
        let task = task.ok()?.path();
        if fs::read_to_string(task.join("comm")).ok()?.starts_with("worker") {
            let times = fs::read_to_string(task.join("schedstat")).ok()?;
            used += Duration::from_nanos(times.split_whitespace().next()?.parse().ok()?);
        }
    }
    Some(used)
}

/// The share of one processor that all workers together use.
fn share(scheduling: Scheduling, due: Due) -> Option<f64> {
    const SPAN: Duration = Duration::from_millis(1500);
    let cpus: Vec<_> = warmcore_linux::affinity::mask().unwrap().iter().take(2).collect();
    let workers = cpus.len() as u32;
    let model = ExecutionModel::new(&Profile::sgi_challenge_xl(), scheduling.approach.costs(), workers);
    let options = Options {
        cpus,
        scheduling,
        model: Arc::new(model.unwrap()),
        streams: 2,
        stacks: 2,
        link: Memory::LINK,
        verify_udp_checksum: false,
        conversations: None,
        idle: Idle::Sleep,
        overload: Overload::Drop,
        capacity: 64,
        shutdown: Shutdown::Drain,
        drain_limit: Options::DRAIN_LIMIT,
        on_stuck: OnStuck::default(),
        stall: Nanos::from_micros(50.0),
        stopwatch: None,
        seed: 1,
    };
    let flows = [0, 1].map(|stream| Memory::flow(StreamId(stream)));
    let mut share = None;
    run(&options, &mut Silence(due), &flows, &|_: &Delivery<'_>, _: &mut Context<'_>| {}, |_| {
        sleep(Duration::from_millis(100));
        let before = used();
        sleep(SPAN);
        share = used().zip(before).map(|(after, before)| (after - before).div_duration_f64(SPAN));
    })
    .unwrap();
    share
}

#[test]
fn an_idle_run_uses_almost_no_processor_time() {
    for approach in [Parallelism::Locking, Parallelism::Ips] {
        for due in [Due::Never, Due::Unknown] {
            let scheduling = Scheduling { approach, ..Scheduling::default() };
            // Other activity of the machine can only add to the share.
            let mut least = f64::INFINITY;
            for _ in 0..3 {
                let Some(share) = share(scheduling, due) else {
                    println!("skipped: this kernel does not report the processor time of a thread");
                    return;
                };
                least = least.min(share);
                if least < BOUND {
                    break;
                }
            }
            println!("{approach}, due {due:?}: {:.3}% of a processor", 100.0 * least);
            assert!(least < BOUND, "{approach}, due {due:?}: {least} of a processor");
        }
    }
}
