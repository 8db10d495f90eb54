//! When requests are due, and of which flow.

use core::time::Duration;
use rand::RngExt;
use rand::distr::{Distribution, Uniform};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A request that is due.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Due {
    /// Since the start of the run.
    pub(crate) at: Duration,
    /// The flow, among its source's.
    pub(crate) flow: usize,
}

/// One request every `gap`, flows in turn.
pub(crate) fn spaced(requests: usize, gap: Duration, flows: usize) -> Vec<Due> {
    (0..requests).map(|number| Due { at: gap * number as u32, flow: number % flows }).collect()
}

/// So many `bursts` of so many `requests` that are due together, one every `gap`, flows in turn.
pub(crate) fn bursts(bursts: usize, requests: usize, gap: Duration, flows: usize) -> Vec<Due> {
    let due = |number: usize| Due { at: gap * (number / requests) as u32, flow: number % flows };
    (0..bursts * requests).map(due).collect()
}

/// Random arrivals at `rate` per second for so `long`, each of any flow (Poisson).
pub(crate) fn random(
    rate: f64,
    long: Duration,
    flows: usize,
    rng: &mut Xoshiro256PlusPlus,
) -> Option<Vec<Due>> {
    let flow = Uniform::new(0, flows).ok()?;
    let mut due = Vec::with_capacity((rate * long.as_secs_f64() * 1.1) as usize);
    let mut at = 0.0;
    loop {
        // The inverse of the distribution function of the exponential; the argument is never 0.
        at -= (1.0 - rng.random::<f64>()).ln() / rate;
        if at >= long.as_secs_f64() {
            return Some(due);
        }
        due.push(Due { at: Duration::from_secs_f64(at), flow: flow.sample(rng) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    #[test]
    fn random_arrivals_come_at_their_rate_and_are_of_all_flows() {
        let seed = 1994;
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let due = random(10_000.0, Duration::from_secs(1), 4, &mut rng).unwrap();
        // Ten standard deviations.
        assert!((9_000..=11_000).contains(&due.len()), "seed {seed}: {}", due.len());
        assert!(due.is_sorted_by_key(|due| due.at));
        for flow in 0..4 {
            let share = due.iter().filter(|due| due.flow == flow).count();
            assert!((2_000..=3_000).contains(&share), "seed {seed}: {share} of flow {flow}");
        }
    }

    #[test]
    fn bursts_are_due_together() {
        let due = bursts(2, 3, Duration::from_millis(1), 2);
        let at: Vec<_> = due.iter().map(|due| (due.at.as_micros(), due.flow)).collect();
        assert_eq!(at, [(0, 0), (0, 1), (0, 0), (1000, 1), (1000, 0), (1000, 1)]);
        assert_eq!(spaced(2, Duration::from_micros(7), 1)[1], Due { at: Duration::from_micros(7), flow: 0 });
    }
}
