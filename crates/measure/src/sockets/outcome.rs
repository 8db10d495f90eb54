//! What one run gives: the times of its packets, without those that do not count.

use crate::run::proximity::Readings;
use crate::sockets::experiment::Part;
use std::collections::{BTreeMap, BTreeSet};

/// The result of one run.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Outcome {
    /// Times in nanoseconds, by part.
    pub(crate) times: BTreeMap<Part, Vec<f64>>,
    /// Packets that were timed.
    pub(crate) packets: usize,
    /// Of them, those that a disturbance hit.
    pub(crate) set_aside: usize,
    /// Whether those are so many that the run does not count.
    pub(crate) disturbed: bool,
    /// The distance of the processors.
    pub(crate) readings: Readings,
}

/// One time of one packet.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Time {
    pub(crate) packet: usize,
    pub(crate) part: Part,
    pub(crate) nanos: f64,
}

impl Outcome {
    /// Collects the `times` of `packets` packets without those of `disturbed` ones. If these are half or more, the
    /// run is disturbed and keeps them all.
    pub(crate) fn new(
        times: Vec<Time>,
        packets: usize,
        disturbed: &BTreeSet<usize>,
        readings: Readings,
    ) -> Self {
        let set_aside = disturbed.len().min(packets);
        let is_disturbed = set_aside * 2 >= packets;
        let mut outcome = Self { packets, set_aside, disturbed: is_disturbed, readings, ..Self::default() };
        for Time { packet, part, nanos } in times {
            if is_disturbed || !disturbed.contains(&packet) {
                outcome.times.entry(part).or_default().push(nanos);
            }
        }
        outcome
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disturbed_packets_are_left_out_unless_they_are_most() {
        let times: Vec<Time> =
            (0..4).map(|packet| Time { packet, part: Part::Call, nanos: packet as f64 }).collect();
        let few = Outcome::new(times.clone(), 4, &BTreeSet::from([2]), None);
        assert_eq!(
            (few.disturbed, few.set_aside, few.times[&Part::Call].as_slice()),
            (false, 1, &[0.0, 1.0, 3.0][..])
        );
        let most = Outcome::new(times, 4, &BTreeSet::from([1, 2]), None);
        assert!(most.disturbed && most.times[&Part::Call].len() == 4);
    }
}
