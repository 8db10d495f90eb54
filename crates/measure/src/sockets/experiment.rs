//! What is measured: experiments, each of which gives the times of one or several parts of a datagram's way.

use core::fmt;
use warmcore_costs::socket::{Delivery, LastUsed, SoftirqCpu};
use warmcore_units::Nanos;

/// For how long other work runs before a datagram, in microseconds.
pub(crate) const WORK_US: [u32; 4] = [0, 10, 100, 1_000];
/// Datagrams for each call.
pub(crate) const BATCHES: [usize; 3] = [1, 8, 32];
/// Bytes of the state that a handler reads and writes.
pub(crate) const STATE_BYTES: usize = 32 << 10;

/// One experiment.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum SocketExperiment {
    /// Datagrams one by one, with a baton.
    Turns(Situation, Probe),
    /// So many datagrams with one system call.
    Batch(usize),
    /// A look for datagrams where there are none.
    EmptyPoll,
    /// A reader that sleeps until a datagram comes.
    Asleep,
}

/// What a datagram finds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Situation {
    pub(crate) softirq: SoftirqCpu,
    pub(crate) delivery: Delivery,
    /// Where the socket, and the flow's state if it is used, was last used.
    pub(crate) last_used: LastUsed,
    /// For how long other work ran before, in microseconds.
    pub(crate) work_us: u32,
}

/// What is timed of a datagram. Each reading of a clock is part of what is around it, so not everything is timed at
/// once.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Probe {
    /// Each system call; and, by interrupt, what that takes.
    Calls,
    /// The two halves of the sender's call, by the time at which the kernel received the datagram.
    Halves,
    /// Both system calls as one.
    Whole,
    /// The call that answers, and its halves.
    Answer,
    /// A handler.
    Handler,
}

/// A part of a datagram's way.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Part {
    /// The sender's system call.
    Call,
    /// Its first half: until the kernel received the datagram.
    Send,
    /// Its second half; by interrupt, what the reader's processor lost.
    Softirq,
    /// The reader's system call.
    Receive,
    /// Both calls.
    Whole,
    /// The handler.
    Handler,
    /// From the beginning of the sender's call until a sleeping reader has the datagram.
    Arrival,
    /// The processor time of a sleeping reader.
    ReaderCpu,
}

impl Situation {
    /// The length of the other work.
    pub(crate) fn work(&self) -> Nanos {
        Nanos::from_micros(f64::from(self.work_us))
    }

    /// Whether one thread does everything.
    pub(crate) fn is_alone(&self) -> bool {
        self.softirq == SoftirqCpu::Reader
            && self.delivery == Delivery::InCall
            && self.last_used == LastUsed::Here
    }
}

impl SocketExperiment {
    /// Every experiment that can be made where softirqs can run on `others`, beside the reader's processor, and
    /// packets can be steered or not.
    pub(crate) fn all(others: &[SoftirqCpu], can_steer: bool) -> Vec<Self> {
        use Delivery::{InCall, Interrupt};
        use LastUsed::{Elsewhere, Here};
        let mut all = vec![Self::EmptyPoll];
        all.extend(BATCHES.map(Self::Batch));
        let own = SoftirqCpu::Reader;
        let mut turns = |softirq, delivery, last_used, work_us: &[u32], probes: &[Probe]| {
            for &work_us in work_us {
                let situation = Situation { softirq, delivery, last_used, work_us };
                all.extend(probes.iter().map(|&probe| Self::Turns(situation, probe)));
            }
        };
        let halves = [Probe::Calls, Probe::Halves];
        turns(own, InCall, Here, &WORK_US, &halves);
        turns(own, InCall, Here, &[0], &[Probe::Whole]);
        turns(own, InCall, Here, &WORK_US, &[Probe::Handler]);
        for &other in others {
            turns(other, InCall, Here, &WORK_US, &halves);
        }
        if others.contains(&SoftirqCpu::OtherCore) {
            if can_steer {
                turns(own, Interrupt, Here, &WORK_US, &[Probe::Calls]);
            }
            turns(own, InCall, Elsewhere, &[0, 1_000], &halves);
            turns(own, InCall, Elsewhere, &[0], &[Probe::Handler]);
            turns(SoftirqCpu::OtherCore, InCall, Elsewhere, &[0], &halves);
            turns(SoftirqCpu::OtherCore, InCall, Here, &WORK_US, &[Probe::Answer]);
            all.push(Self::Asleep);
        }
        all
    }
}

impl fmt::Display for SocketExperiment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Turns(Situation { softirq, delivery, last_used, work_us }, probe) => write!(
                f,
                "{probe:?}: softirq on {softirq} by {delivery}, socket last used {last_used}, {work_us} µs of other work"
            ),
            Self::Batch(datagrams) => write!(f, "{datagrams} datagrams a call"),
            Self::EmptyPoll => f.write_str("an empty poll"),
            Self::Asleep => f.write_str("a sleeping reader"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_experiment_is_made_twice_and_one_processor_makes_only_its_own() {
        let others = [SoftirqCpu::OtherCore, SoftirqCpu::Sibling, SoftirqCpu::OtherNode];
        let all = SocketExperiment::all(&others, true);
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
        let alone = SocketExperiment::all(&[], false);
        assert!(alone.len() < all.len() && alone.iter().all(|experiment| all.contains(experiment)));
        assert!(!alone.contains(&SocketExperiment::Asleep));
        let turns = alone.iter().filter_map(|experiment| match experiment {
            SocketExperiment::Turns(situation, _) => Some(situation),
            _ => None,
        });
        assert!(turns.into_iter().all(Situation::is_alone));
    }
}
