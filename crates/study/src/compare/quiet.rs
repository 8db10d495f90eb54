//! Which of several runs tells most of scheduling: a typical one of those in which the machine did little
//! else.
//!
//! They are told apart by how many packets met a time in which a worker was kept from running, never by
//! how near a prediction comes.

use warmcore_units::Nanos;

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

/// The one of those `runs` that were quiet with the median `delay`; where none was, the least disturbed of
/// those whose processors were near, or of all if they never were. `None` if there are none.
pub(super) fn typical<T>(mut runs: Vec<Ran<T>>, delay: impl Fn(&T) -> Nanos) -> Option<Ran<T>> {
    if runs.iter().any(Ran::is_quiet) {
        runs.retain(Ran::is_quiet);
        runs.sort_by(|one, other| delay(&one.outcome).0.total_cmp(&delay(&other.outcome).0));
        let middle = (runs.len() - 1) / 2;
        return Some(runs.swap_remove(middle));
    }
    let order = |one: &Ran<T>, other: &Ran<T>| {
        other.near.cmp(&one.near).then(one.disturbed.total_cmp(&other.disturbed))
    };
    runs.into_iter().min_by(order)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ran(delay: f64, disturbed: f64, near: bool) -> Ran<f64> {
        Ran { outcome: delay, disturbed, near }
    }

    fn typical_of(runs: &[Ran<f64>]) -> Option<f64> {
        Some(typical(runs.to_vec(), |&delay| Nanos(delay))?.outcome)
    }

    #[test]
    fn the_middle_of_the_quiet_ones_counts() {
        let runs = [ran(9.0, 0.3, true), ran(5.0, 0.02, true), ran(7.0, 0.07, true), ran(1.0, 0.0, false)];
        assert_eq!(typical_of(&runs), Some(5.0));
        let more = [&runs[..], &[ran(6.0, 0.1, true)]].concat();
        assert_eq!(typical_of(&more), Some(6.0));
    }

    #[test]
    fn where_none_was_quiet_the_least_disturbed_counts() {
        let runs = [ran(9.0, 0.3, true), ran(5.0, 0.2, true), ran(1.0, 0.0, false)];
        assert_eq!(
            [typical_of(&runs), typical_of(&runs[2..]), typical_of(&[])],
            [Some(5.0), Some(1.0), None]
        );
    }
}
