//! Selects the quiet runs: those in which the machine did little other work.
//!
//! They are selected by how many packets arrived while a worker was kept from running, never by how close a
//! prediction comes.

/// The largest share of such packets in a quiet run. Above it, at higher loads, the backlog is processed so
/// slowly that the packets left out are many, and those that remain are not a fair sample.
pub const QUIET: f64 = 0.1;

/// The outcome of a run, and its circumstances.
#[derive(Clone, Debug)]
pub struct ObservedRun<T> {
    /// The outcome.
    pub outcome: T,
    /// The share of packets that arrived while a worker was kept from running.
    pub disturbed: f64,
    /// Whether the processors were at the same distance as in all other measurements.
    pub near: bool,
}

impl<T> ObservedRun<T> {
    fn is_quiet(&self) -> bool {
        self.near && self.disturbed <= QUIET
    }
}

impl<T> ObservedRun<Option<T>> {
    /// The run, if it has an outcome.
    pub(super) fn non_empty(self) -> Option<ObservedRun<T>> {
        let Self { outcome, disturbed, near } = self;
        Some(ObservedRun { outcome: outcome?, disturbed, near })
    }
}

/// The quiet ones of `runs`, if there are at least `least`; otherwise all.
pub(super) fn quiet<T>(runs: &[ObservedRun<T>], least: usize) -> Vec<&ObservedRun<T>> {
    let quiet: Vec<_> = runs.iter().filter(|ran| ran.is_quiet()).collect();
    if quiet.len() >= least { quiet } else { runs.iter().collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counting(runs: &[(f64, f64, bool)]) -> Vec<f64> {
        let ran = |&(outcome, disturbed, near): &(f64, f64, bool)| ObservedRun { outcome, disturbed, near };
        let runs: Vec<_> = runs.iter().map(ran).collect();
        quiet(&runs, 2).into_iter().map(|ran| ran.outcome).collect()
    }

    #[test]
    fn quiet_runs_count_where_there_are_enough_and_all_elsewhere() {
        let runs = [(9.0, 0.3, true), (5.0, 0.02, true), (7.0, 0.07, true), (1.0, 0.0, false)];
        assert_eq!(counting(&runs), [5.0, 7.0]);
        assert_eq!(counting(&runs[..2]), [9.0, 5.0]);
        assert!(counting(&[]).is_empty());
    }
}
