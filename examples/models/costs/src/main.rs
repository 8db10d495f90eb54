//! A cost model of one's own: a cache that other work fills exponentially, instead of the model of Salehi 1994.
//!
//! A packet right after another takes 20 µs. After a pause it takes up to 60 µs more, as the cache has cooled down. With
//! Poisson arrivals at one processor this is an M/G/1 queue in which the first packet of a busy period has a service time of
//! its own, whose mean delay is known exactly (Welch 1964, "On a generalized M/G/1 queuing process").
//!
//! ```sh
//! cargo run --release
//! ```

use warmcore_costs::{CostModel, Found};
use warmcore_policy::policies::MostRecentlyUsed;
use warmcore_sim::packet::{Shape, Simulation};
use warmcore_units::{Nanos, PerSecond};
use warmcore_workload::Poisson;

/// `hot`, and the part of `reload` that was displaced.
struct Cooling {
    hot: Nanos,
    reload: Nanos,
    /// After this time, 63% of the cache is displaced.
    memory: Nanos,
}

impl CostModel for Cooling {
    // Only this is needed. `found` says which processor, stream and size it is, and what was last written where.
    fn receive(&self, _found: &Found, idle: impl Fn(usize) -> Nanos) -> Nanos {
        let displaced = 1.0 - (-(idle(0) / self.memory)).exp();
        self.hot + self.reload * displaced
    }
}

impl Cooling {
    /// The mean service time and the mean delay, in ns.
    fn in_theory(&self, rate: PerSecond) -> (f64, f64) {
        let arriving = rate.0 / 1e9;
        let (hot, reload) = (self.hot.0, self.reload.0);
        // A pause is exponential. The first two moments of what of the cache is left after it:
        let times = arriving * self.memory.0;
        let (left, left_squared) = (times / (times + 1.0), times / (times + 2.0));
        let first = hot + reload * (1.0 - left);
        let first_squared = hot * hot
            + 2.0 * hot * reload * (1.0 - left)
            + reload * reload * (1.0 - 2.0 * left + left_squared);
        let idle = 1.0 - arriving * hot;
        let of_first = idle / (idle + arriving * first);
        let wait = arriving * hot * hot / (2.0 * idle)
            + arriving * (first_squared - hot * hot) / (2.0 * (idle + arriving * first));
        let service = hot + (first - hot) * of_first;
        (service, wait + service)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let costs =
        || Cooling { hot: Nanos(20_000.0), reload: Nanos(60_000.0), memory: Nanos::from_micros(300.0) };
    println!("packets/s   mean service (µs)   in theory   mean delay (µs)   in theory");
    for rate in [1_000.0, 10_000.0, 40_000.0].map(PerSecond) {
        let simulation =
            Simulation::new(Shape::square(1), MostRecentlyUsed, costs()).precision(0.01).max_packets(1_000_000);
        let outcome = simulation.run(&mut Poisson::new(rate, 1, simulation.key())?)?;
        let (service, delay) = costs().in_theory(rate);
        let [ours, waited] = [outcome.service, outcome.delay].map(|time| time.mean.0);
        println!(
            "{:9}   {:17.2}   {:9.2}   {:15.2}   {:9.2}",
            rate.0,
            ours / 1e3,
            service / 1e3,
            waited / 1e3,
            delay / 1e3
        );
        assert!((ours / service - 1.0).abs() < 0.02, "{ours} ns of service, in theory {service}");
        assert!((waited / delay - 1.0).abs() < 0.05, "{waited} ns of delay, in theory {delay}");
    }
    Ok(())
}
