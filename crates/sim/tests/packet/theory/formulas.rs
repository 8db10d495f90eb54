//! Exact results of queueing theory. Times have the unit of the arguments. A *load* is the arrival rate times
//! the mean service time, and is below the number of servers.

use statrs::distribution::{DiscreteCDF, Poisson};

/// The first two moments of a distribution.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moments {
    pub(crate) mean: f64,
    pub(crate) second: f64,
}

impl Moments {
    /// The constant `value`.
    pub(crate) const fn of_constant(value: f64) -> Self {
        Self { mean: value, second: value * value }
    }

    /// The geometric distribution on 1, 2, ….
    pub(crate) const fn of_geometric(mean: f64) -> Self {
        Self { mean, second: 2.0 * mean * mean - mean }
    }

    /// `low`, or `high` with probability `share`.
    pub(crate) const fn of_two(low: f64, high: f64, share: f64) -> Self {
        Self {
            mean: (1.0 - share) * low + share * high,
            second: (1.0 - share) * low * low + share * high * high,
        }
    }
}

/// The probability that an arrival has to wait in M/M/c (Erlang 1917, the second formula).
pub(crate) fn erlang_c(servers: u32, load: f64) -> f64 {
    // Erlang's first formula, by its recurrence.
    let blocked =
        (1..=servers).fold(1.0, |blocked, busy| load * blocked / (f64::from(busy) + load * blocked));
    let servers = f64::from(servers);
    servers * blocked / (servers - load * (1.0 - blocked))
}

/// The mean wait in M/M/c.
pub(crate) fn wait_mmc(servers: u32, load: f64, service: f64) -> f64 {
    erlang_c(servers, load) * service / (f64::from(servers) - load)
}

/// The mean wait in M/D/c (Crommelin 1934), as Spitzer's sum of `E[(i S - T)⁺] / i` over `i`, where `T` is
/// the time of `i c` arrivals, since every c-th packet goes to the same server.
pub(crate) fn wait_mdc(servers: u32, load: f64, service: f64) -> f64 {
    let utilisation = load / f64::from(servers);
    let terms = (1..).map(|round: u32| {
        // Probabilities of more than `arrivals` in the time of that many services, and of at least as many.
        let arrivals = Poisson::new(f64::from(round) * load).expect("a positive mean");
        let reached = u64::from(round * servers);
        arrivals.sf(reached - 1) - arrivals.sf(reached) / utilisation
    });
    service * terms.take_while(|&term| term > 1e-9).sum::<f64>()
}

/// The mean wait in M/G/1 (Pollaczek 1930, Khinchine 1932).
pub(crate) fn wait_mg1(rate: f64, service: Moments) -> f64 {
    rate * service.second / (2.0 * (1.0 - rate * service.mean))
}

/// The mean wait of a packet in M[X]/G/1. Its batch waits like a customer of M/G/1 whose service is the whole
/// batch; then the packet waits for those before it in the batch (Burke 1975). `rate` is the rate of batches.
pub(crate) fn wait_batches(rate: f64, packets: Moments, service: Moments) -> f64 {
    let variance = service.second - service.mean * service.mean;
    let whole = Moments {
        mean: packets.mean * service.mean,
        second: packets.mean * variance + packets.second * service.mean * service.mean,
    };
    let before = (packets.second - packets.mean) / (2.0 * packets.mean);
    wait_mg1(rate, whole) + before * service.mean
}

/// M/G/1 in which a packet that finds the system empty has an exceptional service (Welch 1964): the mean
/// wait, and the fraction of exceptional packets.
pub(crate) fn exceptional_first(rate: f64, first: Moments, others: Moments) -> (f64, f64) {
    let idle = 1.0 - rate * others.mean;
    let empty = idle / (idle + rate * first.mean);
    let wait = rate * others.second / (2.0 * idle)
        + rate * (first.second - others.second) / (2.0 * (idle + rate * first.mean));
    (wait, empty)
}

/// The quantile `quantile` of the sojourn time in M/M/1, which is exponential.
pub(crate) fn sojourn_quantile_mm1(quantile: f64, load: f64, service: f64) -> f64 {
    -(-quantile).ln_1p() * service / (1.0 - load)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agree(one: f64, other: f64) {
        assert!((one / other - 1.0).abs() < 1e-5, "{one} and {other}");
    }

    #[test]
    fn with_one_server_the_formulas_meet() {
        for load in [0.2, 0.5, 0.9] {
            agree(wait_mdc(1, load, 1.0), wait_mg1(load, Moments::of_constant(1.0)));
            agree(wait_mmc(1, load, 1.0), wait_mg1(load, Moments { mean: 1.0, second: 2.0 }));
            agree(
                wait_batches(load, Moments::of_constant(1.0), Moments::of_constant(1.0)),
                wait_mg1(load, Moments::of_constant(1.0)),
            );
            let same = Moments::of_two(0.5, 1.5, 0.5);
            let (wait, empty) = exceptional_first(load, same, same);
            agree(wait, wait_mg1(load, same));
            agree(empty, 1.0 - load);
        }
    }

    /// A batch of geometric length of exponential services is one exponential service.
    #[test]
    fn geometric_batches_of_exponential_services_are_an_mm1() {
        let (rate, packets) = (0.2, Moments::of_geometric(3.0));
        let wait = wait_batches(rate, packets, Moments { mean: 1.0, second: 2.0 });
        // The wait of the batch, plus two of the three packets of a mean batch.
        agree(wait, wait_mg1(rate, Moments { mean: 3.0, second: 18.0 }) + 2.0);
    }

    /// Constant services wait half as long as exponential ones in heavy traffic.
    #[test]
    fn constant_services_wait_about_half_as_long_as_exponential_ones() {
        for servers in [2, 4, 8] {
            let ratio = |utilisation: f64| {
                let load = utilisation * f64::from(servers);
                wait_mdc(servers, load, 1.0) / wait_mmc(servers, load, 1.0)
            };
            assert!((ratio(0.98) - 0.5).abs() < 0.01, "{}", ratio(0.98));
            assert!(ratio(0.5) > 0.5);
        }
    }
}
