//! Multiplexed protocol scheduling: compute processors execute the protocol's threads while they wait, or when interrupted
//! (Falsafi 1998, §4.2 *Floating* and *Single*, §5.3.4 *Mult*).
//!
//! ```text
//!                fault                     trap over
//!   Computing ───────────► Trapping ──────────────────► Polling ◄──────────┐
//!     │  ▲  ▲  waits for a word, or has ended              │  ▲            │ handler over
//!     │  │  └──────────────────────────────────────────────┤  │            │
//!     │  │        the wait is over                         └──┼──► Acting ─┘
//!     │  └──────────────── queue empty ◄── Interrupted ◄──────┘
//!     └───────────────────────────────────────▲   │ ▲
//!        an event finds no thread scheduled:      ▼ │ critical section over
//!        round robin, at most one               Pending
//! ```
//!
//! A processor whose wait ends while it acts finishes its handler first. If it has waited for a block, its reference is made at
//! once all the same: with many threads, others' demands would else take the block away before, again and again. An event
//! that finds no processor polling, acting, trapping or interrupted interrupts one that computes. One whose block has come before
//! its trap is over computes from then on.
//!
//! *Software interrupt masking* (§4.1): in locks and barriers, a processor has set a flag. An interrupt that finds it set only
//! notes that it is pending, and the processor goes on; when it resets the flag, it looks for what is pending and turns
//! to the device then. The text does not say which sections of a program are critical. Programs' own ones need no flag: handlers
//! refer to nothing that a program changes.

use warmcore_policy::protocol::{Activity, Invocation, Invoker, ProtocolScheduling};
use warmcore_units::CpuId;

/// What a compute processor does about the protocol.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Role {
    Computing,
    /// In the trap of a bus error, or on the way to a wait.
    Trapping {
        until: u64,
    },
    /// Waits, and polls its dispatch register.
    Polling,
    /// Executes the handler of this thread.
    Acting {
        thread: u32,
        /// That it has been interrupted, if it has not waited.
        interrupted: Option<Interruption>,
    },
    /// On the way into an interrupt.
    Interrupted(Interruption),
    /// In a critical section, at the end of which it turns to the device.
    Pending,
}

/// When a processor left its program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Interruption {
    pub(super) since: u64,
    /// When it gets to the device.
    pub(super) until: u64,
}

/// Who executes protocol threads.
#[derive(Clone, Debug)]
pub(super) struct Multiplexing {
    /// Whether there is one protocol thread only (Floating); otherwise one for each processor.
    pub(super) single_thread: bool,
    pub(super) roles: Vec<Role>,
    /// Whose wait has ended while it acted, and when.
    pub(super) resumable: Vec<Option<u64>>,
    invoker: Invoker,
    /// What the invoker is shown: kept for its space.
    activities: Vec<Activity>,
}

impl Multiplexing {
    pub(super) fn new(single_thread: bool, processors: usize) -> Self {
        let threads = if single_thread { 1 } else { processors as u32 };
        Self {
            single_thread,
            roles: vec![Role::Computing; processors],
            resumable: vec![None; processors],
            invoker: Invoker::new(ProtocolScheduling::Multiplexed { threads }),
            activities: Vec::new(),
        }
    }

    /// Who executes the next event. The decision is that of the policies' own room.
    pub(super) fn invoke(&mut self) -> Invocation {
        self.activities.clear();
        self.activities.extend(self.roles.iter().map(Role::activity));
        self.invoker.invoke(&self.activities)
    }

    /// `processor` executes a thread: its cache has the protocol's data.
    pub(super) fn acts(&mut self, processor: usize) {
        self.invoker.acts(CpuId::from(processor));
    }

    /// The thread that `processor` executes.
    pub(super) const fn thread_of(&self, processor: usize) -> usize {
        if self.single_thread { 0 } else { processor }
    }
}

impl Role {
    const fn activity(&self) -> Activity {
        match self {
            Self::Computing => Activity::Computing,
            Self::Polling => Activity::Idle,
            Self::Acting { .. } => Activity::Handling,
            Self::Trapping { .. } | Self::Interrupted(_) | Self::Pending => Activity::Turning,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_interrupted_beside_one_that_turns_to_the_protocol() {
        let interruption = Interruption { since: 0, until: 200 };
        for role in [Role::Trapping { until: 0 }, Role::Interrupted(interruption), Role::Pending] {
            let mut multiplexing = Multiplexing::new(true, 3);
            assert_eq!(multiplexing.invoke(), Invocation::Interrupt(CpuId(0)));
            multiplexing.roles[2] = role;
            assert_eq!(multiplexing.invoke(), Invocation::Wait);
            multiplexing.roles[2] = Role::Polling;
            assert_eq!(multiplexing.invoke(), Invocation::Act(CpuId(2)));
        }
    }
}
