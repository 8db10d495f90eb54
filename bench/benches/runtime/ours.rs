//! Warmcore's runtime, with its memory driver.

use crate::contender::{Contender, Load, Meter, Run, RunResult, TimeUsed, Trial};
use crate::fixture::{self, PACED_TIME, SATURATED_TIME, STREAMS, touch};
use crossbeam_utils::CachePadded;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use warmcore_costs::{ExecutionModel, Profile};
use warmcore_runtime::clock::Clock;
use warmcore_runtime::{Context, Idle, Memory, OnStuck, Options, Overload, RunHandle, Shutdown, Work, run};
use warmcore_scenario::{Parallelism, ProcessorPolicy, Scheduling};
use warmcore_stack::Delivery;
use warmcore_units::Nanos;

/// Packets that may wait at saturation: few, because there are always more.
const SATURATION_CAPACITY: u32 = 64;
/// Packets that may wait below saturation.
const PACED_CAPACITY: u32 = 65_536;
/// Iterations in one piece of other work; they take a fraction of a microsecond.
const ITERATIONS: u32 = 400;

/// What idle workers do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum IdleMode {
    Poll,
    Sleep,
    Work,
}

/// The runtime under one approach, policy and idle mode.
pub(crate) struct Warmcore {
    pub(crate) approach: Parallelism,
    pub(crate) policy: ProcessorPolicy,
    pub(crate) idle_mode: IdleMode,
}

/// Nanoseconds that each worker has spent on other work.
type OtherWorkTime = Arc<Vec<CachePadded<AtomicU64>>>;

impl Warmcore {
    fn scheduling(&self) -> Scheduling {
        Scheduling { approach: self.approach, policy: self.policy, ..Scheduling::default() }
    }

    fn options(
        &self,
        trial: &Trial,
        other_work_time: &OtherWorkTime,
    ) -> Result<Options, Box<dyn std::error::Error>> {
        let workers = trial.workers as u32;
        let model = ExecutionModel::new(&Profile::sgi_challenge_xl(), self.approach.costs(), workers)?;
        Ok(Options {
            cpus: (0..trial.workers).map(|worker| trial.worker_cpu(worker)).collect(),
            scheduling: self.scheduling(),
            model: Arc::new(model),
            streams: STREAMS,
            stacks: workers,
            link: Memory::LINK,
            verify_udp_checksum: false,
            conversations: None,
            idle: self.idle_mode.idle(other_work_time),
            overload: Overload::HoldBack,
            capacity: if trial.load == Load::Saturation { SATURATION_CAPACITY } else { PACED_CAPACITY },
            shutdown: Shutdown::Drain,
            drain_limit: Options::DRAIN_LIMIT,
            on_stuck: OnStuck::default(),
            stall: Nanos::from_micros(50.0),
            stopwatch: None,
            seed: 1,
        })
    }
}

impl IdleMode {
    fn idle(self, other_work_time: &OtherWorkTime) -> Idle {
        match self {
            Self::Poll => Idle::Poll,
            Self::Sleep => Idle::Sleep,
            Self::Work => {
                let other_work_time = Arc::clone(other_work_time);
                Idle::Work(Arc::new(move |worker| other_work(Arc::clone(&other_work_time), worker as usize)))
            }
        }
    }
}

/// Work that only computes, and adds its time to that of `worker`.
fn other_work(other_work_time: OtherWorkTime, worker: usize) -> Box<dyn Work> {
    let clock = Clock::start();
    Box::new(move || {
        let begun = clock.now();
        (0..ITERATIONS).for_each(|iteration| {
            std::hint::black_box(iteration);
        });
        let total = &other_work_time[worker];
        // A longer time means that the thread was preempted, which uses no processor time.
        let took = (clock.now() - begun).0.min(20e3);
        total.store(total.load(Ordering::Relaxed) + took as u64, Ordering::Relaxed);
    })
}

impl Contender for Warmcore {
    fn name(&self) -> String {
        let idle_mode = match self.idle_mode {
            IdleMode::Poll => "poll",
            IdleMode::Sleep => "sleep",
            IdleMode::Work => "other work",
        };
        format!("warmcore {}, {idle_mode}", self.scheduling())
    }

    fn supports(&self, trial: &Trial) -> bool {
        let polls = self.idle_mode == IdleMode::Poll;
        let policy_matters = trial.workers > 1 || self.policy == ProcessorPolicy::WiredStreams;
        let wired = self.approach == Parallelism::Ips && self.policy == ProcessorPolicy::WiredStreams;
        match trial.load {
            Load::Saturation => polls && (policy_matters || self.approach == Parallelism::Locking),
            Load::Rate(_) => wired || self.idle_mode == IdleMode::Sleep,
        }
    }

    fn run(&self, trial: &Trial) -> RunResult {
        let other_work_time: OtherWorkTime =
            Arc::new((0..trial.workers).map(|_| CachePadded::default()).collect());
        let options = self.options(trial, &other_work_time)?;
        let length = if trial.load == Load::Saturation { SATURATED_TIME } else { PACED_TIME };
        let handler = |delivery: &Delivery<'_>, _: &mut Context<'_>| touch(delivery);
        let mut used = None;
        let watch = |_: &RunHandle<'_>| {
            let meter = Meter::start(trial);
            std::thread::sleep(Duration::from_nanos(length.0 as u64));
            used = Some(meter.stop());
        };
        let report = run(&options, &mut fixture::driver(trial.load)?, &fixture::flows(), &handler, watch)?;
        let mut used: TimeUsed = used.ok_or("the run ended before it was measured")?;
        let other: u64 = other_work_time.iter().map(|worker| worker.load(Ordering::Relaxed)).sum();
        used.workers = used.workers - Nanos(other as f64);
        let total = report.total();
        let refused: u64 = total.refused.values().sum();
        let lost = total.overflowed + refused + total.failed + report.given_up + report.lost;
        if lost > 0 {
            // The driver holds packets back, so none should be lost.
            let (overflowed, given_up) = (total.overflowed, report.given_up);
            eprintln!(
                "{}, {trial}: {overflowed} overflowed, {refused} refused, {given_up} given up",
                self.name()
            );
        }
        Ok(Run { packets: total.packets(), lost, used, delays: total.all_packets().delays })
    }
}
