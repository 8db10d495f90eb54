//! Times in which the machine stood still.
//!
//! A source that sleeps has real-time priority when its request is due: only a hypervisor that runs something else, or an
//! interrupt, keeps it from running for long. What is due meanwhile says nothing about the server.

use crate::requests::source::Request;

/// A source that was asleep and begins later than this, in nanoseconds, was kept from running.
const STALLED: f64 = 400_000.0;
/// After a stall, requests queue for about as long again. So long are they left out, in lengths of the stall.
const RECOVERY: f64 = 2.0;

/// The stalls of a run, in order.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Stalls(Vec<(f64, f64)>);

impl Stalls {
    /// The stalls that the `requests` of each source show.
    pub(crate) fn of<'a>(requests: impl Iterator<Item = &'a [Request]>) -> Self {
        let mut stalls: Vec<(f64, f64)> = requests.flat_map(stalls).collect();
        stalls.sort_by(|one, other| one.0.total_cmp(&other.0));
        Self(stalls)
    }

    /// Whether a request that was `due` then was delayed by one.
    pub(crate) fn delayed(&self, due: f64) -> bool {
        let begun = self.0.partition_point(|stall| stall.0 <= due);
        self.0[..begun].iter().any(|stall| due <= stall.1)
    }
}

fn stalls(requests: &[Request]) -> impl Iterator<Item = (f64, f64)> {
    let ended =
        |number: usize| number.checked_sub(1).map_or(f64::NEG_INFINITY, |before| requests[before].ended);
    requests.iter().enumerate().filter_map(move |(number, request)| {
        let slept_until = request.due.max(ended(number));
        let late = request.began - slept_until;
        // It may have begun before its request was due that showed it.
        (late > STALLED).then_some((slept_until - late, request.began + RECOVERY * late))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_due_in_a_stall_or_soon_after_is_delayed_by_it() {
        let request =
            |due: f64, began: f64| Request { flow: 0, due, began, ended: began + 5e3, replied: None };
        let requests =
            [request(0.0, 3e4), request(1e6, 1.6e6), request(1.2e6, 1.606e6), request(9e6, 9.03e6)];
        let stalls = Stalls::of([&requests[..]].into_iter());
        assert_eq!(stalls.0, [(0.4e6, 2.8e6)]);
        let delayed = [0.0, 0.5e6, 1.2e6, 2.7e6, 2.9e6, 9e6].map(|due| stalls.delayed(due));
        assert_eq!(delayed, [false, true, true, true, false, false]);
    }
}
