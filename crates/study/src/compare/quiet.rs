//! Which of several runs tell of scheduling: those in which the machine did little else.
//!
//! They are told apart by how many packets met a time in which a worker was kept from running, never by
//! how near a prediction comes.

/// Up to this share of packets that met such a time, a run tells of scheduling. At higher loads, what piles
/// up then is worked off so slowly that those left out are no small part, and those left in no fair one.
pub const QUIET: f64 = 0.1;

/// What came of a run, and under which circumstances.
#[derive(Clone, Debug)]
pub struct Ran<T> {
    /// What came of it.
    pub outcome: T,
    /// The share of packets that met a time in which a worker was kept from running.
    pub disturbed: f64,
    /// Whether the processors were as near to each other as in all that was measured.
    pub near: bool,
}

impl<T> Ran<T> {
    fn is_quiet(&self) -> bool {
        self.near && self.disturbed <= QUIET
    }
}

impl<T> Ran<Option<T>> {
    /// The run, if anything came of it.
    pub(super) fn told(self) -> Option<Ran<T>> {
        let Self { outcome, disturbed, near } = self;
        Some(Ran { outcome: outcome?, disturbed, near })
    }
}

/// Those of `runs` that were quiet, if they are at least so many; else all.
pub(super) fn quiet<T>(runs: &[Ran<T>], least: usize) -> Vec<&Ran<T>> {
    let quiet: Vec<_> = runs.iter().filter(|ran| ran.is_quiet()).collect();
    if quiet.len() >= least { quiet } else { runs.iter().collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counting(runs: &[(f64, f64, bool)]) -> Vec<f64> {
        let ran = |&(outcome, disturbed, near): &(f64, f64, bool)| Ran { outcome, disturbed, near };
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
