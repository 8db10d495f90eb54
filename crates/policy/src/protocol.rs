//! Which processor of a node executes the next protocol event: Falsafi 1998, chapter 3 and §4.2, §5.3.4.
//!
//! | in the thesis | here |
//! |---|---|
//! | *Fixed*, Hurricane-1 with extra dedicated processors | [`ProtocolScheduling::Dedicated`] |
//! | *Floating* | [`ProtocolScheduling::Multiplexed`] with one thread |
//! | *Single* | the same on a node of one processor |
//! | Hurricane-1 *Mult* | [`ProtocolScheduling::Multiplexed`] with a thread for every processor |
//!
//! An idle processor acts as protocol processor: it polls. Only if none does is a computing one interrupted, each in its
//! turn, and never a second one beside it (§5.3.4: "the system at most interrupts the computation on one processor"). The
//! thesis's processors poll when they wait. One that sleeps instead, and that costs more to wake than another to interrupt, is
//! woken only if none computes.
//!
//! ```
//! use warmcore_policy::protocol::{Activity, Invocation, Invoker, ProtocolScheduling};
//! use warmcore_units::CpuId;
//!
//! let mut floating = Invoker::new(ProtocolScheduling::Multiplexed { threads: 1 });
//! let node = [Activity::Computing, Activity::Idle];
//! assert_eq!(floating.invoke(&node), Invocation::Act(CpuId(1)));
//! assert_eq!(floating.invoke(&[Activity::Computing; 2]), Invocation::Interrupt(CpuId(0)));
//! assert_eq!(floating.invoke(&[Activity::Computing; 2]), Invocation::Interrupt(CpuId(1)));
//! assert_eq!(floating.invoke(&[Activity::Handling, Activity::Idle]), Invocation::Wait);
//! ```

use warmcore_units::CpuId;

/// Whether processors are set aside for protocol events.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ProtocolScheduling {
    /// The last processors of a node do nothing else, and the others never do it.
    Dedicated {
        /// How many are set aside.
        processors: u32,
    },
    /// All processors compute, and execute protocol events when they wait.
    Multiplexed {
        /// How many execute events at once at most.
        threads: u32,
    },
}

impl ProtocolScheduling {
    /// Whether processor `cpu` of a node with `processors` computes.
    #[must_use]
    pub const fn computes(self, cpu: CpuId, processors: u32) -> bool {
        match self {
            Self::Dedicated { processors: dedicated } => cpu.0 < processors.saturating_sub(dedicated),
            Self::Multiplexed { .. } => true,
        }
    }
}

/// What a processor does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Activity {
    /// The application's work.
    Computing,
    /// Nothing: it waits, or it is dedicated and polls.
    Idle,
    /// Nothing, and to wake it costs more than to interrupt one that computes. Whoever costs less to wake counts as idle.
    Asleep,
    /// Nothing of use: it is on its way to protocol work, into a trap or an interrupt.
    Turning,
    /// A protocol event.
    Handling,
}

/// What happens about an event that waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Invocation {
    /// This idle processor takes it, or this one that sleeps and is woken.
    Act(CpuId),
    /// This computing processor is interrupted and takes it.
    Interrupt(CpuId),
    /// Whoever handles an event now takes it next, or who turns to the protocol.
    Wait,
}

/// Decides for one node. It must be asked when an event arrives and when a processor has left protocol work.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Invoker {
    scheduling: ProtocolScheduling,
    /// Who acted last: its cache holds the protocol's state.
    last: Option<CpuId>,
    /// Whose turn it is to be interrupted (§4.1: an arbiter "distributes interrupts among the processors in a
    /// round-robin fashion").
    turn: usize,
}

impl Invoker {
    /// For a node on which nothing has been invoked yet.
    #[must_use]
    pub const fn new(scheduling: ProtocolScheduling) -> Self {
        Self { scheduling, last: None, turn: 0 }
    }

    /// Who takes a waiting event, if processor `i` does `activities[i]`.
    pub fn invoke(&mut self, activities: &[Activity]) -> Invocation {
        let (eligible, threads) = match self.scheduling {
            ProtocolScheduling::Dedicated { processors } => {
                (activities.len().saturating_sub(processors as usize)..activities.len(), processors)
            }
            ProtocolScheduling::Multiplexed { threads } => (0..activities.len(), threads),
        };
        let handling = activities.iter().filter(|activity| **activity == Activity::Handling).count();
        if handling >= threads as usize {
            return Invocation::Wait;
        }
        let is_idle = |cpu: usize| activities.get(cpu) == Some(&Activity::Idle);
        let last = self.last.map(CpuId::index).filter(|cpu| eligible.contains(cpu) && is_idle(*cpu));
        if let Some(cpu) = last.or_else(|| eligible.clone().find(|cpu| is_idle(*cpu))) {
            return Invocation::Act(self.acts(CpuId::from(cpu)));
        }
        let is_multiplexed = matches!(self.scheduling, ProtocolScheduling::Multiplexed { .. });
        let turns = activities.contains(&Activity::Turning);
        if handling > 0 || turns || !is_multiplexed {
            return Invocation::Wait;
        }
        let count = activities.len();
        let in_turn = (0..count).map(|step| (self.turn + step) % count);
        if let Some(cpu) = in_turn.into_iter().find(|cpu| activities[*cpu] == Activity::Computing) {
            self.turn = (cpu + 1) % count;
            return Invocation::Interrupt(self.acts(CpuId::from(cpu)));
        }
        let asleep = activities.iter().position(|activity| *activity == Activity::Asleep);
        asleep.map_or(Invocation::Wait, |cpu| Invocation::Act(self.acts(CpuId::from(cpu))))
    }

    /// Processor `cpu` acts, which need not be asked for: its cache has the protocol's state from now on.
    pub fn acts(&mut self, cpu: CpuId) -> CpuId {
        self.last = Some(cpu);
        cpu
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Activity::{Asleep, Computing, Handling, Idle, Turning};

    #[test]
    fn who_acted_last_goes_on_while_it_is_idle() {
        let mut floating = Invoker::new(ProtocolScheduling::Multiplexed { threads: 1 });
        assert_eq!(floating.invoke(&[Computing, Computing, Idle]), Invocation::Act(CpuId(2)));
        assert_eq!(floating.invoke(&[Idle, Idle, Idle]), Invocation::Act(CpuId(2)));
        assert_eq!(floating.invoke(&[Idle, Idle, Computing]), Invocation::Act(CpuId(0)));
    }

    #[test]
    fn dedicated_processors_alone_act_and_nobody_is_interrupted() {
        let mut fixed = Invoker::new(ProtocolScheduling::Dedicated { processors: 1 });
        assert_eq!(fixed.invoke(&[Idle, Computing, Idle]), Invocation::Act(CpuId(2)));
        assert_eq!(fixed.invoke(&[Idle, Computing, Handling]), Invocation::Wait);
        let scheduling = ProtocolScheduling::Dedicated { processors: 2 };
        assert_eq!([0, 1, 2].map(|cpu| scheduling.computes(CpuId(cpu), 3)), [true, false, false]);
    }

    #[test]
    fn a_second_thread_acts_if_it_is_idle_but_is_not_interrupted() {
        let mut multiplexed = Invoker::new(ProtocolScheduling::Multiplexed { threads: 3 });
        assert_eq!(multiplexed.invoke(&[Handling, Idle, Computing]), Invocation::Act(CpuId(1)));
        assert_eq!(multiplexed.invoke(&[Handling, Handling, Computing]), Invocation::Wait);
    }

    #[test]
    fn interrupts_go_round_and_pass_over_who_does_not_compute() {
        let mut invoker = Invoker::new(ProtocolScheduling::Multiplexed { threads: 4 });
        let mut interrupted = || match invoker.invoke(&[Computing, Computing, Computing]) {
            Invocation::Interrupt(cpu) => cpu.0,
            other => panic!("{other:?}"),
        };
        assert_eq!([interrupted(), interrupted(), interrupted(), interrupted()], [0, 1, 2, 0]);
    }

    #[test]
    fn who_turns_to_the_protocol_is_waited_for() {
        let mut mult = Invoker::new(ProtocolScheduling::Multiplexed { threads: 3 });
        assert_eq!(mult.invoke(&[Computing, Turning, Computing]), Invocation::Wait);
        assert_eq!(mult.invoke(&[Computing, Turning, Idle]), Invocation::Act(CpuId(2)));
    }

    #[test]
    fn who_sleeps_is_woken_if_nobody_else_can() {
        let mut floating = Invoker::new(ProtocolScheduling::Multiplexed { threads: 1 });
        assert_eq!(floating.invoke(&[Asleep, Computing, Idle]), Invocation::Act(CpuId(2)));
        assert_eq!(floating.invoke(&[Asleep, Computing, Asleep]), Invocation::Interrupt(CpuId(1)));
        assert_eq!(floating.invoke(&[Asleep, Handling, Asleep]), Invocation::Wait);
        assert_eq!(floating.invoke(&[Asleep, Asleep]), Invocation::Act(CpuId(0)));
    }

    #[test]
    fn a_node_without_processors_waits() {
        let mut none = Invoker::new(ProtocolScheduling::Multiplexed { threads: 1 });
        assert_eq!(none.invoke(&[]), Invocation::Wait);
    }
}
