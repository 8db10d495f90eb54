//! Plain calls of the stack in a loop: the baseline without a runtime.

use crate::contender::{Contender, Load, Meter, Run, RunResult, Trial};
use crate::fixture::{self, PACKETS, delivered, touch};
use std::hint::black_box;
use std::thread;
use warmcore_runtime::driver::Prepared;
use warmcore_runtime::tally::Delays;
use warmcore_stack::Pool;
use warmcore_units::StackId;

/// The form of the stack that is called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Bare {
    /// One stack per thread.
    Independent,
    /// One stack, shared by all threads.
    Locking,
}

impl Contender for Bare {
    fn name(&self) -> String {
        match self {
            Self::Independent => "bare call, independent stacks",
            Self::Locking => "bare call, locking stack",
        }
        .to_owned()
    }

    fn supports(&self, trial: &Trial) -> bool {
        trial.load == Load::Saturation
    }

    /// Each thread processes its own streams, as under Wired-Streams.
    fn run(&self, trial: &Trial) -> RunResult {
        let (frames, messages) = (fixture::frames()?, fixture::messages(trial.load)?);
        let (locking, independent) = (fixture::locking()?, fixture::independent(trial.workers)?);
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
                    trial.pin_worker(worker).expect("the processor is usable");
                    let pool = Pool::new(4);
                    let stack = StackId::from(worker);
                    match self {
                        Self::Locking => receive_all(frames, share, |frame| {
                            delivered(locking.receive(&pool, frame, |delivery| touch(&delivery)));
                        }),
                        Self::Independent => receive_all(frames, share, |frame| {
                            delivered(independent.receive(stack, &pool, frame, |delivery| touch(&delivery)));
                        }),
                    }
                });
            }
        });
        Ok(Run { packets: PACKETS as u64, lost: 0, used: meter.stop(), delays: Delays::default() })
    }
}

fn receive_all(frames: &[Prepared], share: &[u32], mut receive: impl FnMut(&[u8])) {
    for &stream in share {
        receive(black_box(&frames[stream as usize].bytes));
    }
}
