//! Warmcore's runtime, with its memory driver.

use crate::material::{self, SATURATED, SPAN, STREAMS, touch};
use crate::trial::{Entrant, Load, Meter, Run, Spent, Trial, TrialResult};
use crossbeam_utils::CachePadded;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use warmcore_costs::{ExecutionModel, Profile};
use warmcore_runtime::clock::Clock;
use warmcore_runtime::{Context, Idle, Memory, Options, Overload, RunHandle, Shutdown, Work, run};
use warmcore_scenario::{Parallelism, ProcessorPolicy, Scheduling};
use warmcore_stack::Delivery;
use warmcore_units::Nanos;

/// Packets held at most: few at saturation, where there are always more; enough below it.
const FEW: u32 = 64;
const ENOUGH: u32 = 65_536;
/// Steps of a loop in a piece of other work: a fraction of a microsecond.
const STEPS: u32 = 400;

/// What workers do without packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Between {
    Poll,
    Sleep,
    Work,
}

/// The runtime under one approach and policy.
pub(crate) struct Warmcore {
    pub(crate) approach: Parallelism,
    pub(crate) policy: ProcessorPolicy,
    pub(crate) between: Between,
}

/// Time that workers have spent on other work.
type Elsewhere = Arc<Vec<CachePadded<AtomicU64>>>;

impl Warmcore {
    fn scheduling(&self) -> Scheduling {
        Scheduling { approach: self.approach, policy: self.policy, ..Scheduling::default() }
    }

    fn options(&self, trial: &Trial, elsewhere: &Elsewhere) -> Result<Options, Box<dyn std::error::Error>> {
        let workers = trial.workers as u32;
        let model = ExecutionModel::new(&Profile::sgi_challenge_xl(), self.approach.costs(), workers)?;
        Ok(Options {
            cpus: (0..trial.workers).map(|worker| trial.place(worker)).collect(),
            scheduling: self.scheduling(),
            model: Arc::new(model),
            streams: STREAMS,
            stacks: workers,
            link: Memory::LINK,
            verify_udp_checksum: false,
            idle: self.between.idle(elsewhere),
            overload: Overload::HoldBack,
            capacity: if trial.load == Load::Saturation { FEW } else { ENOUGH },
            shutdown: Shutdown::Drain,
            stall: Nanos::from_micros(50.0),
            stopwatch: None,
            seed: 1,
        })
    }
}

impl Between {
    fn idle(self, elsewhere: &Elsewhere) -> Idle {
        match self {
            Self::Poll => Idle::Poll,
            Self::Sleep => Idle::Sleep,
            Self::Work => {
                let elsewhere = Arc::clone(elsewhere);
                Idle::Work(Arc::new(move |worker| other_work(Arc::clone(&elsewhere), worker as usize)))
            }
        }
    }
}

/// Computes without touching memory, and says how long it took.
fn other_work(elsewhere: Elsewhere, worker: usize) -> Box<dyn Work> {
    let clock = Clock::start();
    Box::new(move || {
        let begun = clock.now();
        (0..STEPS).for_each(|step| {
            std::hint::black_box(step);
        });
        let spent = &elsewhere[worker];
        // Longer than that it was not running, and has taken no processor time.
        let took = (clock.now() - begun).0.min(20e3);
        spent.store(spent.load(Ordering::Relaxed) + took as u64, Ordering::Relaxed);
    })
}

impl Entrant for Warmcore {
    fn name(&self) -> String {
        let between = match self.between {
            Between::Poll => "poll",
            Between::Sleep => "sleep",
            Between::Work => "other work",
        };
        format!("warmcore {}, {between}", self.scheduling())
    }

    fn takes_part(&self, trial: &Trial) -> bool {
        let simple = self.between == Between::Poll;
        let choice = trial.workers > 1 || self.policy == ProcessorPolicy::WiredStreams;
        let wired = self.approach == Parallelism::Ips && self.policy == ProcessorPolicy::WiredStreams;
        match trial.load {
            Load::Saturation => simple && (choice || self.approach == Parallelism::Locking),
            Load::Rate(_) => wired || self.between == Between::Sleep,
        }
    }

    fn run(&self, trial: &Trial) -> TrialResult {
        let elsewhere: Elsewhere = Arc::new((0..trial.workers).map(|_| CachePadded::default()).collect());
        let options = self.options(trial, &elsewhere)?;
        let length = if trial.load == Load::Saturation { SATURATED } else { SPAN };
        let handler = |delivery: &Delivery<'_>, _: &mut Context<'_>| touch(delivery);
        let mut spent = None;
        let watch = |_: &RunHandle<'_>| {
            let meter = Meter::start(trial);
            std::thread::sleep(Duration::from_nanos(length.0 as u64));
            spent = Some(meter.stop());
        };
        let report = run(&options, &mut material::driver(trial.load)?, &material::flows(), &handler, watch)?;
        let mut spent: Spent = spent.ok_or("the run ended before it was looked at")?;
        let other: u64 = elsewhere.iter().map(|worker| worker.load(Ordering::Relaxed)).sum();
        spent.workers = spent.workers - Nanos(other as f64);
        let total = report.total();
        let refused: u64 = total.refused.values().sum();
        let lost = total.overflowed + refused + total.failed + report.given_up + report.lost;
        if lost > 0 {
            // The load is held back: nothing is to be lost.
            let (overflowed, given_up) = (total.overflowed, report.given_up);
            eprintln!(
                "{}, {trial}: {overflowed} overflowed, {refused} refused, {given_up} given up",
                self.name()
            );
        }
        Ok(Run { packets: total.packets(), lost, spent, delays: total.all_packets().delays })
    }
}
