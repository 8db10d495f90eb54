//! Arrivals of one's own: a sender that paces its packets, with some jitter: the gaps have a gamma distribution.
//!
//! The less the gaps vary, the shorter packets wait. With exponential service times this is a G/M/1 queue, whose mean delay is
//! known exactly: `service / (1 - s)`, where `s` solves `s = A((1 - s) / service)` and `A` is the Laplace transform of the
//! gaps (Kleinrock 1975, "Queueing systems", volume 1, section 6.4).
//!
//! ```sh
//! cargo run --release
//! ```

use rand_distr::{Distribution, Gamma};
use warmcore_costs::ConstantCost;
use warmcore_policy::policies::MostRecentlyUsed;
use warmcore_sim::packet::{Shape, Simulation};
use warmcore_units::{Nanos, StreamId};
use warmcore_workload::random::Random;
use warmcore_workload::{Arrival, Arrivals, Key, Purpose, TimeDistribution};

/// Packets of one stream, at random intervals that vary less than exponential ones.
struct Paced {
    gaps: Gamma<f64>,
    now: Nanos,
    random: Random,
}

impl Paced {
    /// Gaps with this mean; their variance is the square of the mean, divided by `regularity`.
    fn new(mean: Nanos, regularity: f64, key: Key) -> Result<Self, rand_distr::GammaError> {
        let gaps = Gamma::new(regularity, mean.0 / regularity)?;
        // A random stream of its own: other models draw what they would draw without it.
        Ok(Self { gaps, now: Nanos::ZERO, random: key.stream(Purpose::Interarrival) })
    }
}

impl Arrivals for Paced {
    fn fill(&mut self, block: &mut [Arrival]) -> usize {
        for arrival in &mut *block {
            self.now += Nanos(self.gaps.sample(&mut self.random));
            *arrival = Arrival::single(self.now, StreamId(0));
        }
        // The whole block: this source never ends.
        block.len()
    }
}

/// The mean delay in units of the service time.
fn in_theory(load: f64, regularity: f64) -> f64 {
    let mut s = 0.5_f64;
    for _ in 0..1_000 {
        s = (1.0 + (1.0 - s) / (load * regularity)).powf(-regularity);
    }
    1.0 / (1.0 - s)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    const SERVICE: Nanos = Nanos(1_000.0);
    const LOAD: f64 = 0.8;
    println!("regularity   mean delay   in theory");
    for regularity in [1.0, 4.0, 25.0] {
        let simulation = Simulation::new(Shape::square(1), MostRecentlyUsed, ConstantCost(SERVICE))
            .service(TimeDistribution::Exponential.factors()?)
            .precision(0.01)
            .max_packets(1_000_000);
        let mut arrivals = Paced::new(SERVICE * LOAD.recip(), regularity, simulation.key())?;
        let delay = simulation.run(&mut arrivals)?.delay.mean / SERVICE;
        let exact = in_theory(LOAD, regularity);
        println!("{regularity:10}   {delay:10.3}   {exact:9.3}");
        assert!((delay / exact - 1.0).abs() < 0.05, "{regularity}: {delay}, in theory {exact}");
    }
    Ok(())
}
