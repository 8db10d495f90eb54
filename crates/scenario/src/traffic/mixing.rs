//! How soon traffic becomes independent of its start, and so how far one run represents all others.

use super::{Process, Traffic};
use warmcore_units::PerSecond;

/// How soon traffic becomes independent of its start.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Mixing {
    /// After about this many packets. Long runs are alike, and a run of many times as many packets tells how
    /// precise its mean is.
    After(f64),
    /// Never: the whole run keeps its initial phases. Only independent runs tell how much depends on them.
    Never,
    /// So slowly that no run of usual length tells how precise its mean is. With times of infinite variance
    /// the means of `n` packets differ by about `n^(1/alpha - 1)`, and a mean delay may not exist at all
    /// (Crovella & Lipsky 1997).
    Slowly,
}

impl Traffic {
    /// How soon the traffic becomes independent of its start at `rate`. A trace counts as single packets, since it
    /// is the same in every run.
    #[must_use]
    pub fn mixing(&self, rate: PerSecond) -> Mixing {
        let interval = rate.interval();
        match &self.process {
            Process::Poisson | Process::Constant => Mixing::After(self.batch.mean),
            Process::Modulated(modulation) => {
                Mixing::After(self.batch.mean + (modulation.calm + modulation.busy) / interval)
            }
            Process::Trains(train) => Mixing::After(train.cars + train.gap * train.cars / interval),
            Process::Periodic => Mixing::Never,
            Process::SelfSimilar(_) => Mixing::Slowly,
            // Every request has been answered once.
            Process::Closed(closed) => Mixing::After(f64::from(self.streams) * f64::from(closed.window)),
            Process::Trace(_) => Mixing::After(1.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warmcore_units::Nanos;
    use warmcore_workload::{Batch, Modulation, OnOff, Train};

    #[test]
    fn mixing_takes_about_one_burst() {
        let mixing = |process, batch| Traffic { process, batch, ..Traffic::default() }.mixing(PerSecond(1e6));
        let eight = Batch { mean: 8.0, ..Batch::ONE };
        assert_eq!(mixing(Process::Poisson, eight), Mixing::After(8.0));
        let times = Modulation { ratio: 2.0, calm: Nanos(3_000.0), busy: Nanos(1_000.0) };
        assert_eq!(mixing(Process::Modulated(times), eight), Mixing::After(12.0));
        let train = Train { cars: 5.0, gap: Nanos(2_000.0), gaps: warmcore_workload::Gaps::Fixed };
        assert_eq!(mixing(Process::Trains(train), Batch::ONE), Mixing::After(15.0));
        assert_eq!(mixing(Process::Periodic, Batch::ONE), Mixing::Never);
        let sources = OnOff { alpha: 1.5, burst: 10.0, peak: 4.0 };
        assert_eq!(mixing(Process::SelfSimilar(sources), Batch::ONE), Mixing::Slowly);
    }
}
