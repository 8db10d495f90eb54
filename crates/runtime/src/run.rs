//! A run from start to end: set up, start the workers, let the caller watch and steer, collect the
//! results.

use crate::calls::Calls;
use crate::clock::Clock;
use crate::control::{Control, Order};
use crate::driver::{Driver, Opened, QueueRequest};
use crate::failure::{Cause, Failure};
use crate::handler::Handler;
use crate::mailbox::Mailbox;
use crate::options::{Options, Shutdown};
use crate::packet::Packet;
use crate::protocol::Protocol;
use crate::receive_queue::{MAX_INTAKE, ReceiveQueue, wake_all};
use crate::report::Report;
use crate::run_error::RunError;
use crate::run_handle::RunHandle;
use crate::scheduler::Scheduler;
use crate::shared::Shared;
use crate::stalls::LastStall;
use crate::streams::Streams;
use crate::tally::Blocks;
use crate::worker::{Worker, panic_message};
use crossbeam_utils::CachePadded;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, PoisonError, RwLock};
use std::thread;
use std::time::{Duration, Instant};
use warmcore_costs::ExecutionModel;
use warmcore_linux::{ProtocolThread, pin_to};
use warmcore_policy::Policy;
use warmcore_policy::dispatch::{Layout, Waiting};
use warmcore_scenario::chosen::Task;
use warmcore_scenario::{Organisation, Parallelism, Scheduling};
use warmcore_stack::{Config, Flow, Pool};
use warmcore_units::{CpuId, StreamId};
use warmcore_workload::{Key, Purpose};

/// Segments of a free-memory pool: more than packets can be in service at once.
const SEGMENTS: usize = 64;
/// Least number of forwarded packets that a mailbox has room for.
const FORWARDED: usize = 1024;
/// How long a worker that is in no call may take to end.
const GRACE: Duration = Duration::from_millis(500);

/// Runs `handler` on the packets of `driver`, with the streams of `flows` open, until `watch` returns.
/// `watch` is called when all workers are running, and can follow and control them. If the run fails it has
/// [ended](RunHandle::has_ended), and waits only for `watch` to return: let it look, or [wait](RunHandle::wait).
///
/// # Errors
/// Before any packet is received: if an option cannot be used, the driver cannot be opened, a worker
/// cannot be pinned or a stream cannot be opened. Later: if a handler asks to end the run, a worker
/// panics, or a queue receives nothing any more, as when its interface is deleted. At the end, or at a pause:
/// if a call of the handler does not return within the [limit](Options::drain_limit).
///
/// # A handler that never returns
/// Workers borrow `handler` and `driver`, so this function cannot return before every call has. If one does not, it calls
/// [`on_stuck`](Options::on_stuck) once with the error, and returns that error when the call has returned at last. A
/// program that must end has that function end the process, as `warmcore run` does.
pub fn run(
    options: &Options,
    driver: &mut dyn Driver,
    flows: &[Flow],
    handler: &dyn Handler,
    watch: impl FnOnce(&RunHandle<'_>),
) -> Result<Report, RunError> {
    let mut watch = Some(watch);
    run_watched(options, driver, flows, handler, &mut |run: &RunHandle<'_>| {
        watch.take().into_iter().for_each(|watch| watch(run));
    })
}

/// [`run`], compiled here once, and not once more for each who watches: there is a form for every policy.
fn run_watched(
    options: &Options,
    driver: &mut dyn Driver,
    flows: &[Flow],
    handler: &dyn Handler,
    watch: &mut dyn FnMut(&RunHandle<'_>),
) -> Result<Report, RunError> {
    options.check(flows.len())?;
    let processors = options.workers();
    let layout = options.scheduling.layout(processors, options.streams, options.stacks);
    options.scheduling.choose(
        processors,
        &options.model,
        Run { options, layout, driver, flows, handler, watch },
    )
}

/// Whether workers share no state that the policy or the cache residency depends on.
fn is_partitioned<P: Policy>(scheduling: &Scheduling) -> bool {
    let own = Organisation::PerProcessor;
    P::HOME_ONLY
        && scheduling.approach != Parallelism::Locking
        && [scheduling.threads, scheduling.memory] == [own; 2]
}

/// Whether each of `processors` workers has its own dispatcher under `scheduling`. Otherwise all share
/// one, behind a lock.
#[must_use]
pub fn decides_alone(scheduling: &Scheduling, processors: u32, model: &ExecutionModel) -> bool {
    struct Asked<'a>(&'a Scheduling);

    impl Task for Asked<'_> {
        type Job = Packet;
        type Output = bool;

        fn on<P: Policy, W: Waiting<Job = Packet>>(self, _: P) -> bool {
            is_partitioned::<P>(self.0)
        }
    }

    scheduling.choose(processors, model, Asked(scheduling))
}

/// A run, generic in the policy and its queues.
struct Run<'r> {
    options: &'r Options,
    layout: Layout,
    driver: &'r mut dyn Driver,
    flows: &'r [Flow],
    handler: &'r dyn Handler,
    watch: &'r mut dyn FnMut(&RunHandle<'_>),
}

impl Task for Run<'_> {
    type Job = Packet;
    type Output = Result<Report, RunError>;

    fn on<P: Policy, W: Waiting<Job = Packet>>(self, policy: P) -> Self::Output {
        let Self { options, layout, driver, flows, handler, watch } = self;
        let workers = options.cpus.len();
        let partitioned = is_partitioned::<P>(&options.scheduling);
        let homes = options.scheduling.homes(&layout);
        let streams = Streams::new(homes.clone(), options.workers());
        let queues = if partitioned { options.workers() } else { 1 };
        let Opened { queues, prepared } = driver.open(&QueueRequest { queues, steering: &homes })?;
        let protocol = open_protocol(options, &layout, flows)?;
        let schedulers = schedulers::<P, W>(policy, options, &layout, partitioned);
        let pools = match options.scheduling.memory {
            Organisation::Global => 1,
            Organisation::PerProcessor => workers,
        };
        let threads = (0..workers).map(|position| {
            ProtocolThread::new(position * 5).map(|thread| CachePadded::new(spin::Mutex::new(thread)))
        });
        let queues = queues.into_iter().map(|queue| ReceiveQueue::new(queue).map(CachePadded::new));
        let (clock, control, failure) = (Clock::start(), Control::new(), Failure::default());
        let blocks: Vec<_> = (0..workers).map(|_| CachePadded::new(Mutex::new(Blocks::default()))).collect();
        let shared = Shared {
            clock: &clock,
            control: &control,
            failure: &failure,
            calls: Calls::new(workers),
            handler,
            schedulers,
            mailboxes: (0..workers)
                .map(|_| Mailbox::new(if partitioned { FORWARDED.max(2 * MAX_INTAKE * workers) } else { 1 }))
                .collect(),
            queues: queues.collect::<Result<_, _>>()?,
            prepared,
            protocol: RwLock::new(protocol),
            streams: &streams,
            threads: threads.collect::<Result<_, _>>()?,
            pools: (0..pools).map(|_| Pool::new(SEGMENTS)).collect(),
            blocks: &blocks,
            idle: &options.idle,
            link: options.link,
            converses: options.conversations.is_some(),
            ended: Mutex::new(Vec::new()),
            stopwatch: options.stopwatch,
            overload: options.overload,
            capacity: options.capacity,
            stalled: CachePadded::new(LastStall::new()),
            stall: options.stall,
        };
        run_workers(&shared, options, watch)?;
        let given_up = unprocessed(&shared);
        let lost = shared.queues.iter().map(|queue| queue.lock().lost()).sum();
        let duration = clock.now();
        drop(shared);
        let blocks = blocks
            .into_iter()
            .map(|blocks| blocks.into_inner().into_inner().unwrap_or_else(PoisonError::into_inner));
        let report =
            Report { duration, workers: blocks.collect(), streams: streams.counts(), given_up, lost };
        match failure.take() {
            None => Ok(report),
            Some(Cause::Handler) => Err(RunError::Handler),
            Some(Cause::Worker(error)) => Err(error),
            Some(Cause::Queue(source)) => Err(RunError::Queue { source, report: Box::new(report) }),
        }
    }
}

/// The protocol stack with a stream open for each of `flows`.
fn open_protocol(options: &Options, layout: &Layout, flows: &[Flow]) -> Result<Protocol, RunError> {
    let Options { scheduling, conversations, .. } = options;
    let mut protocol = Protocol::new(scheduling.approach, layout, config(options), *conversations);
    for (number, flow) in flows.iter().enumerate() {
        let stream = StreamId::from(number);
        protocol.open(stream, flow).map_err(|source| RunError::Stream { number, source })?;
    }
    Ok(protocol)
}

/// The packets that are still held by a scheduler or on their way to one.
fn unprocessed<P: Policy, W: Waiting<Job = Packet>>(shared: &Shared<'_, P, W>) -> u64 {
    let held = shared.schedulers.iter().map(|scheduler| u64::from(scheduler.lock().held())).sum::<u64>();
    held + shared.mailboxes.iter().map(|mailbox| mailbox.forwarded.len() as u64).sum::<u64>()
}

fn config(options: &Options) -> Config {
    Config { link: options.link, verify_udp_checksum: options.verify_udp_checksum }
}

type Schedulers<P, W> = Vec<CachePadded<spin::Mutex<Scheduler<P, W>>>>;

fn schedulers<P: Policy, W: Waiting<Job = Packet>>(
    policy: P,
    options: &Options,
    layout: &Layout,
    partitioned: bool,
) -> Schedulers<P, W> {
    let scheduler = |policy: P, number: u64| {
        let random = Key { seed: options.seed, point: number, replication: 0 }.stream(Purpose::Policy);
        let scheduler = Scheduler::new(policy, &options.scheduling, layout, &options.model, random);
        CachePadded::new(spin::Mutex::new(scheduler))
    };
    let schedulers = if partitioned { options.cpus.len() as u64 } else { 1 };
    let mut made: Schedulers<P, W> =
        (1..schedulers).map(|number| scheduler(policy.clone(), number)).collect();
    made.push(scheduler(policy, 0));
    made
}

/// Starts a worker on each processor, calls `watch`, and stops the workers.
fn run_workers<P: Policy, W: Waiting<Job = Packet>>(
    shared: &Shared<'_, P, W>,
    options: &Options,
    watch: &mut dyn FnMut(&RunHandle<'_>),
) -> Result<(), RunError> {
    thread::scope(|scope| {
        let start = |(worker, &cpu): (usize, &CpuId)| {
            let work = move || {
                let pin = || pin_to(cpu).map_err(|source| RunError::Pin { worker, source });
                let work = || pin().map(|_pinned| Worker::new(CpuId::from(worker), cpu, shared).run());
                let ended = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
                    Err(RunError::Panicked { worker, message: panic_message(&*panic) })
                });
                if let Err(error) = ended {
                    shared.fail(Cause::Worker(error));
                }
                shared.calls.worker_ended(worker);
            };
            thread::Builder::new().name(format!("worker {worker}")).spawn_scoped(scope, work).map(drop)
        };
        let started = options.cpus.iter().enumerate().try_for_each(start);
        if let Err(error) = started {
            shared.control.give(Order::Leave);
            return Err(RunError::System(error));
        }
        let watched = RunHandle::new(shared, options);
        if watched.await_paused(Duration::MAX) {
            let now = shared.clock.now();
            shared.queues.iter().for_each(|queue| queue.begin(now));
            watched.resume();
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| watch(&watched))) {
                stop_workers(shared, &watched, Shutdown::Discard, options);
                resume_unwind(panic);
            }
        }
        stop_workers(shared, &watched, options.shutdown, options);
        Ok(())
    })
}

/// Stops the workers: at once, or after they have drained. Says which does not end.
fn stop_workers<P: Policy, W: Waiting<Job = Packet>>(
    shared: &Shared<'_, P, W>,
    run: &RunHandle<'_>,
    shutdown: Shutdown,
    options: &Options,
) {
    let begun = Instant::now();
    let is_over = || begun.elapsed() >= options.drain_limit;
    if shutdown == Shutdown::Drain && shared.control.order() != Order::Leave {
        shared.control.give(Order::Drain);
        wake_all(&shared.mailboxes, &shared.queues);
        while !shared.is_drained() && shared.control.order() == Order::Drain && !is_over() {
            thread::sleep(Duration::from_millis(1));
        }
    }
    shared.control.give(Order::Leave);
    wake_all(&shared.mailboxes, &shared.queues);
    let left = Instant::now();
    while !shared.calls.all_ended() {
        if is_over()
            && left.elapsed() >= GRACE
            && let Some(error) = run.stuck()
        {
            options.on_stuck.call(&error);
            return shared.fail(Cause::Worker(error));
        }
        thread::sleep(Duration::from_micros(200));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warmcore_costs::Profile;
    use warmcore_scenario::ProcessorPolicy;

    #[test]
    fn wired_workers_with_their_own_stacks_and_pools_decide_alone() {
        let alone = |scheduling: Scheduling| {
            let costs = scheduling.approach.costs();
            let model = ExecutionModel::new(&Profile::sgi_challenge_xl(), costs, 2).unwrap();
            decides_alone(&scheduling, 2, &model)
        };
        let (approach, policy) = (Parallelism::Ips, ProcessorPolicy::WiredStreams);
        let wired = Scheduling { approach, policy, ..Scheduling::default() };
        assert!(alone(wired));
        assert!(!alone(Scheduling { approach: Parallelism::Locking, ..wired }));
        assert!(!alone(Scheduling { policy: ProcessorPolicy::Mru, ..wired }));
        assert!(!alone(Scheduling { memory: Organisation::Global, ..wired }));
    }
}
