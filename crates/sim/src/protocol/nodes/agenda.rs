//! What is foreseen on the two nodes, and in which order it happens.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A protocol event of a request.
#[derive(Clone, Copy, Debug)]
pub(super) enum Stage {
    Request,
    Reply,
    Response,
}

/// Who asked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asker {
    pub(super) node: usize,
    pub(super) cpu: usize,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct ProtocolEvent {
    pub(super) stage: Stage,
    pub(super) asker: Asker,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    /// A processor has computed enough, unless it was interrupted since: the number counts its segments.
    Computed {
        node: usize,
        cpu: usize,
        segment: u64,
    },
    Arrives {
        node: usize,
        event: ProtocolEvent,
    },
    Handled {
        node: usize,
        cpu: usize,
        event: ProtocolEvent,
    },
    /// A processor that asked has its answer.
    Answered {
        node: usize,
        cpu: usize,
    },
}

/// A step in the order of time; of equal times, the one that was foreseen first.
struct Foreseen(f64, u64, Step);

impl PartialEq for Foreseen {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Foreseen {}

impl PartialOrd for Foreseen {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Foreseen {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0).then(self.1.cmp(&other.1))
    }
}

/// All that is foreseen.
#[derive(Default)]
pub(super) struct Agenda {
    steps: BinaryHeap<Reverse<Foreseen>>,
    foreseen: u64,
}

impl Agenda {
    /// Foresees `step` at the time `at`, in nanoseconds.
    pub(super) fn add(&mut self, at: f64, step: Step) {
        self.foreseen += 1;
        self.steps.push(Reverse(Foreseen(at, self.foreseen, step)));
    }

    /// The next step, and its time.
    pub(super) fn next(&mut self) -> Option<(f64, Step)> {
        let Reverse(Foreseen(at, _, step)) = self.steps.pop()?;
        Some((at, step))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_come_by_time_and_then_as_they_were_foreseen() {
        let mut agenda = Agenda::default();
        for (at, cpu) in [(2.0, 0), (1.0, 1), (2.0, 2), (1.0, 3)] {
            agenda.add(at, Step::Answered { node: 0, cpu });
        }
        let cpu = |step| if let Step::Answered { cpu, .. } = step { cpu } else { usize::MAX };
        let order: Vec<usize> = std::iter::from_fn(|| agenda.next()).map(|(_, step)| cpu(step)).collect();
        assert_eq!(order, [1, 3, 0, 2]);
    }
}
