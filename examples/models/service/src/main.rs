//! Service times of one's own: a handler that pauses now and then, as one with a garbage collector does.
//!
//! Rare pauses hardly change the mean service time, and much lengthen the delay: by Pollaczek and Khinchine, packets wait in
//! proportion to the second moment of the service time.
//!
//! ```sh
//! cargo run --release
//! ```

use rand_distr::{Bernoulli, Distribution};
use warmcore_costs::ConstantCost;
use warmcore_policy::policies::MostRecentlyUsed;
use warmcore_sim::packet::{Packet, ServiceDistribution, Shape, Simulation};
use warmcore_units::{Nanos, PerSecond};
use warmcore_workload::Poisson;
use warmcore_workload::random::Random;

/// A pause of this length after some packets.
#[derive(Clone)]
struct Pausing {
    pauses: Bernoulli,
    pause: Nanos,
}

impl ServiceDistribution for Pausing {
    fn draw(&mut self, _packet: &Packet, costs: Nanos, random: &mut Random) -> Nanos {
        if self.pauses.sample(random) { costs + self.pause } else { costs }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    const COST: Nanos = Nanos(1_000.0);
    const OFTEN: f64 = 0.002;
    let rate = PerSecond(500_000.0);
    println!("pause (µs)   mean service (µs)   mean delay (µs)   in theory");
    for micros in [0.0, 20.0, 100.0] {
        let pause = Nanos::from_micros(micros);
        let pausing = Pausing { pauses: Bernoulli::new(OFTEN)?, pause };
        let simulation = Simulation::new(Shape::square(1), MostRecentlyUsed, ConstantCost(COST))
            .service(pausing)
            .precision(0.02)
            .max_packets(3_000_000);
        let outcome = simulation.run(&mut Poisson::new(rate, 1, simulation.key())?)?;

        let (cost, pause) = (COST.micros(), pause.micros());
        let mean = cost + OFTEN * pause;
        let second = (1.0 - OFTEN) * cost * cost + OFTEN * (cost + pause).powi(2);
        let arriving = rate.0 / 1e6;
        let exact = mean + arriving * second / (2.0 * (1.0 - arriving * mean));
        let delay = outcome.delay.mean.micros();
        println!("{micros:10}   {:17.3}   {delay:15.3}   {exact:9.3}", outcome.service.mean.micros());
        assert!((delay / exact - 1.0).abs() < 0.1, "{micros} µs: {delay}, in theory {exact}");
    }
    Ok(())
}
