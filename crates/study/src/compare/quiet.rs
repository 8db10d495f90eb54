//! Which of several runs tells most of scheduling: the one in which the machine did the least else.
//!
//! It is chosen by how many packets met a time in which a worker was kept from running, never by what
//! came of it.

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

/// The least disturbed of those `runs` whose processors were near, or of all if they never were.
///
/// # Panics
/// If there are none.
pub(super) fn quietest<T>(runs: Vec<Ran<T>>) -> Ran<T> {
    let order = |one: &Ran<T>, other: &Ran<T>| {
        other.near.cmp(&one.near).then(one.disturbed.total_cmp(&other.disturbed))
    };
    runs.into_iter().min_by(order).expect("there are several rounds")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_disturbed_counts_whatever_came_of_it() {
        let ran = |outcome: u32, disturbed: f64, near: bool| Ran { outcome, disturbed, near };
        let runs = vec![ran(1, 0.3, true), ran(2, 0.05, true), ran(3, 0.07, true), ran(4, 0.0, false)];
        let quietest = |runs: &[Ran<u32>]| quietest(runs.to_vec()).outcome;
        assert_eq!([quietest(&runs), quietest(&runs[3..])], [2, 4]);
    }
}
