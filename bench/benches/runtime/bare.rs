//! Calls of the stack and nothing else, in a loop: what any runtime adds to.

use crate::material::{self, PACKETS, delivered, touch};
use crate::trial::{Entrant, Load, Meter, Run, Trial, TrialResult};
use std::hint::black_box;
use std::thread;
use warmcore_runtime::driver::Prepared;
use warmcore_runtime::tally::Delays;
use warmcore_stack::Pool;
use warmcore_units::StackId;

/// Which form of the stack is called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Bare {
    /// A stack for each thread.
    Independent,
    /// One that all threads receive in.
    Locking,
}

impl Entrant for Bare {
    fn name(&self) -> String {
        match self {
            Self::Independent => "bare call, independent stacks",
            Self::Locking => "bare call, locking stack",
        }
        .to_owned()
    }

    fn takes_part(&self, trial: &Trial) -> bool {
        trial.load == Load::Saturation
    }

    /// Every thread has streams of its own, as under wired streams.
    fn run(&self, trial: &Trial) -> TrialResult {
        let (frames, messages) = (material::frames()?, material::messages(trial.load)?);
        let (locking, independent) = (material::locking()?, material::independent(trial.workers)?);
        let shares: Vec<Vec<u32>> = (0..trial.workers)
            .map(|worker| {
                let own = messages.iter().filter(|message| message.stream.index() % trial.workers == worker);
                own.map(|message| message.stream.0).collect()
            })
            .collect();
        let meter = Meter::start(trial);
        thread::scope(|scope| {
            for (worker, share) in shares.iter().enumerate() {
                let (frames, locking, independent) = (&frames, &locking, &independent);
                scope.spawn(move || {
                    trial.settle(worker).expect("the processor is there");
                    let pool = Pool::new(4);
                    let stack = StackId::from(worker);
                    match self {
                        Self::Locking => each(frames, share, |frame| {
                            delivered(locking.receive(&pool, frame, |delivery| touch(&delivery)));
                        }),
                        Self::Independent => each(frames, share, |frame| {
                            delivered(independent.receive(stack, &pool, frame, |delivery| touch(&delivery)));
                        }),
                    }
                });
            }
        });
        Ok(Run { packets: PACKETS as u64, lost: 0, spent: meter.stop(), delays: Delays::default() })
    }
}

fn each(frames: &[Prepared], share: &[u32], mut receive: impl FnMut(&[u8])) {
    for &stream in share {
        receive(black_box(&frames[stream as usize].bytes));
    }
}
