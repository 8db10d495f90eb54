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
    /// Who is interrupted next.
    next: usize,
    /// Who executed the thread last.
    last: usize,
}

impl Multiplexing {
    pub(super) fn new(single_thread: bool, processors: usize) -> Self {
        Self {
            single_thread,
            roles: vec![Role::Computing; processors],
            resumable: vec![None; processors],
            next: 0,
            last: 0,
        }
    }

    /// A thread that is not running and a processor to execute it. With one thread, that is who executed it last, if it still
    /// polls.
    pub(super) fn next_pair(&mut self) -> Option<(usize, usize)> {
        let acts = |role: &Role| matches!(role, Role::Acting { .. });
        if self.single_thread && self.roles.iter().any(acts) {
            return None;
        }
        let polls = |&processor: &usize| self.roles[processor] == Role::Polling;
        let processor = Some(self.last).filter(polls).or_else(|| (0..self.roles.len()).find(polls))?;
        self.executes(processor);
        Some((if self.single_thread { 0 } else { processor }, processor))
    }

    /// `processor` executes a thread: its cache has the protocol's data.
    pub(super) const fn executes(&mut self, processor: usize) {
        self.last = processor;
    }

    /// The processor to interrupt, if no protocol thread is scheduled anywhere.
    pub(super) fn choose_interrupted(&mut self) -> Option<usize> {
        if self.roles.iter().any(|&role| role != Role::Computing) {
            return None;
        }
        let processor = self.next;
        self.next = (processor + 1) % self.roles.len();
        Some(processor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interrupts_go_round_and_only_if_nobody_polls() {
        let mut multiplexing = Multiplexing::new(true, 3);
        assert_eq!([0; 4].map(|_| multiplexing.choose_interrupted()), [Some(0), Some(1), Some(2), Some(0)]);
        multiplexing.roles[2] = Role::Trapping { until: 0 };
        assert_eq!((multiplexing.choose_interrupted(), multiplexing.next_pair()), (None, None));
        multiplexing.roles[2] = Role::Polling;
        assert_eq!((multiplexing.choose_interrupted(), multiplexing.next_pair()), (None, Some((0, 2))));
    }

    #[test]
    fn a_single_thread_stays_with_its_processor() {
        let mut multiplexing = Multiplexing::new(true, 3);
        multiplexing.roles[1] = Role::Polling;
        assert_eq!(multiplexing.next_pair(), Some((0, 1)));
        multiplexing.roles[0] = Role::Polling;
        assert_eq!(multiplexing.next_pair(), Some((0, 1)));
        multiplexing.roles[1] = Role::Acting { thread: 0, interrupted: None };
        assert_eq!(multiplexing.next_pair(), None);
    }
}
