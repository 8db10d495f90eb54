//! The queues that the peers simulate, and their exact mean sojourn times.
//!
//! Eight servers share one queue, first come, first served; arrivals are Poisson. Times are in mean service
//! times.

use serde::Serialize;
use std::fmt;

/// Servers of every queue in the comparison.
pub(crate) const SERVERS: u32 = 8;

/// The distribution of service times.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Service {
    Exponential,
    Constant,
}

/// A queue with [`SERVERS`] servers.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub(crate) struct Queue {
    pub(crate) service: Service,
    /// Utilisation of each server, below 1.
    pub(crate) load: f64,
}

impl Queue {
    /// The queues of the comparison.
    pub(crate) const ALL: [Self; 4] = [
        Self { service: Service::Exponential, load: 0.8 },
        Self { service: Service::Constant, load: 0.8 },
        Self { service: Service::Exponential, load: 0.5 },
        Self { service: Service::Constant, load: 0.5 },
    ];

    /// Mean number of arrivals in one mean service time.
    pub(crate) fn arrivals(self) -> f64 {
        f64::from(SERVERS) * self.load
    }

    /// The exact mean time from arrival to the end of service.
    pub(crate) fn exact_sojourn(self) -> f64 {
        match self.service {
            Service::Exponential => {
                1.0 + erlang_c(SERVERS, self.arrivals()) / (f64::from(SERVERS) - self.arrivals())
            }
            // Little's law.
            Service::Constant => customers_in_constant_service(SERVERS, self.arrivals()) / self.arrivals(),
        }
    }
}

impl fmt::Display for Queue {
    /// `M/M/8 at 80%`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = match self.service {
            Service::Exponential => 'M',
            Service::Constant => 'D',
        };
        write!(f, "M/{letter}/{SERVERS} at {:.0}%", self.load * 100.0)
    }
}

/// The probability that a customer of M/M/c has to wait (Erlang 1917), computed from the recursion for the
/// probability that M/M/c/c is full.
fn erlang_c(servers: u32, offered: f64) -> f64 {
    let blocked = (1..=servers).fold(1.0, |blocked, server| {
        let carried = offered * blocked;
        carried / (f64::from(server) + carried)
    });
    blocked / (1.0 - offered / f64::from(servers) * (1.0 - blocked))
}

/// The mean number of customers in M/D/c, waiting or in service (Crommelin 1932). After one service time,
/// exactly the customers now in service have left. So the state one service time later is the number now
/// waiting plus the arrivals in between. Iterates this from the empty system until the distribution is
/// stationary.
fn customers_in_constant_service(servers: u32, offered: f64) -> f64 {
    const STATES: usize = 256;
    const SERVICE_TIMES: usize = 400;
    let servers = servers as usize;
    let arrivals = poisson(offered, STATES);
    let mut system = vec![0.0; STATES];
    system[0] = 1.0;
    for _ in 0..SERVICE_TIMES {
        let mut later = vec![0.0; STATES];
        for (now, probability) in system.iter().enumerate() {
            let waiting = now.saturating_sub(servers);
            for (state, arrived) in later[waiting..].iter_mut().zip(&arrivals) {
                *state += probability * arrived;
            }
        }
        system = later;
    }
    system.iter().enumerate().map(|(customers, probability)| customers as f64 * probability).sum()
}

/// The Poisson probabilities of 0, 1, 2, … events with this `mean`.
fn poisson(mean: f64, counts: usize) -> Vec<f64> {
    let next = |probability: &f64, count: usize| *probability * mean / count as f64;
    let mut probabilities = vec![(-mean).exp()];
    for count in 1..counts {
        probabilities.push(next(&probabilities[count - 1], count));
    }
    probabilities
}
