//! The {stream, processor} patterns of the six experiments (Salehi, Kurose & Towsley 1994, §5 and
//! figure 6).
//!
//! A pattern is repeated throughout the run. Only packets of [`TIMED_STREAM`] are timed, and from the
//! second repetition on each of them is in the situation that the experiment is named for. The tests
//! check this with the same bookkeeping that the simulator uses.

use warmcore_costs::Experiment;

/// Streams of every experiment.
pub(crate) const STREAMS: usize = 2;
/// The most consumers of an experiment.
pub(crate) const CONSUMERS: usize = 2;

/// One packet of a pattern.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Step {
    /// The consumer that receives it, below [`CONSUMERS`]; each has its own processor.
    pub(crate) consumer: usize,
    /// The stream it belongs to, below [`STREAMS`].
    pub(crate) stream: usize,
}

/// The stream whose packets are timed.
pub(crate) const TIMED_STREAM: usize = 0;

impl Step {
    /// Whether it is timed.
    pub(crate) const fn is_timed(self) -> bool {
        self.stream == TIMED_STREAM
    }
}

const fn step(consumer: usize, stream: usize) -> Step {
    Step { consumer, stream }
}

/// The pattern that produces the situation of `experiment`.
pub(crate) const fn steps(experiment: Experiment) -> &'static [Step] {
    match experiment {
        Experiment::A1 => const { &[step(0, 0)] },
        Experiment::A2 => const { &[step(0, 0), step(0, 1)] },
        Experiment::A3 => const { &[step(0, 0), step(1, 1)] },
        Experiment::B1 => const { &[step(0, 0), step(1, 0)] },
        Experiment::B2 => const { &[step(0, 0), step(1, 1), step(1, 0), step(0, 1)] },
        Experiment::B3 => const { &[step(0, 0), step(0, 1), step(1, 0), step(1, 1)] },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warmcore_costs::residency::Sessions;
    use warmcore_costs::residency::{PacketPlacement, Population};
    use warmcore_costs::{Approach, ExecutionModel, Profile, Residency, ThreadStack};
    use warmcore_units::{CpuId, StackId, StreamId, ThreadId};

    fn placement(step: Step) -> PacketPlacement {
        PacketPlacement {
            stream: StreamId::from(step.stream),
            stack: StackId(0),
            thread: ThreadId::from(step.consumer),
            cpu: CpuId::from(step.consumer),
        }
    }

    #[test]
    fn every_timed_packet_is_in_the_situation_its_experiment_is_named_for() {
        let profile = Profile::sgi_challenge_xl();
        for approach in Approach::ALL {
            let model = ExecutionModel::new(&profile, approach, 2).unwrap();
            for experiment in Experiment::ALL {
                let population = Population { processors: 2, threads: 2, streams: 2, stacks: 1 };
                let mut residency = Residency::new(Sessions::PerStream, population, &model);
                let pattern = steps(experiment);
                for (position, &step) in pattern.iter().cycle().take(100).enumerate() {
                    let situation = residency.start(placement(step));
                    if step.is_timed() && position >= pattern.len() {
                        assert_eq!(situation.experiment, experiment, "{approach}, packet {position}");
                        assert_eq!(situation.thread_stack, ThreadStack::Cached);
                    }
                }
            }
        }
    }

    #[test]
    fn only_migrating_experiments_use_a_second_processor() {
        for experiment in Experiment::ALL {
            let second = steps(experiment).iter().any(|step| step.consumer == 1);
            assert_eq!(second, experiment.migrates(), "{experiment}");
        }
    }
}
