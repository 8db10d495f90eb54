//! Random interarrival and service times, the same for every peer written in Rust.

use crate::queue::{Queue, Service};
use rand::SeedableRng;
use rand_distr::{Distribution, Exp1};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Draws the interarrival and service times of a [`Queue`], in mean service times.
#[derive(Clone, Debug)]
pub(crate) struct Draws {
    random: Xoshiro256PlusPlus,
    mean_interval: f64,
    service: Service,
}

impl Draws {
    pub(crate) fn new(queue: Queue, seed: u64) -> Self {
        let random = Xoshiro256PlusPlus::seed_from_u64(seed);
        Self { random, mean_interval: 1.0 / queue.arrivals(), service: queue.service }
    }

    /// The time to the next arrival.
    #[inline]
    pub(crate) fn interval(&mut self) -> f64 {
        self.exponential() * self.mean_interval
    }

    /// The service time of a customer.
    #[inline]
    pub(crate) fn service(&mut self) -> f64 {
        match self.service {
            Service::Exponential => self.exponential(),
            Service::Constant => 1.0,
        }
    }

    #[inline]
    fn exponential(&mut self) -> f64 {
        Exp1.sample(&mut self.random)
    }
}
