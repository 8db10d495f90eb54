//! A policy of one's own: each packet looks at `d` processors drawn at random and joins the one with the fewest packets.
//!
//! Two choices do nearly as well as looking at all processors, and this program shows it: with exponential service times and
//! many processors, the mean delay in units of the service time tends to the sum of `load^((d^i - d) / (d - 1))` over
//! i = 1, 2, … (Mitzenmacher 2001, "The power of two choices in randomized load balancing", theorem 2).
//!
//! ```sh
//! cargo run --release
//! ```

use rand::{Rng, RngExt};
use warmcore_costs::ConstantCost;
use warmcore_policy::{Decision, Policy, Queues, Request, View};
use warmcore_sim::packet::{Shape, Simulation};
use warmcore_units::{CpuId, Nanos, PerSecond};
use warmcore_workload::{Poisson, TimeDistribution};

/// The shortest of this many queues.
#[derive(Clone)]
struct ShortestOf(u32);

impl Policy for ShortestOf {
    // A packet waits for the processor that was chosen when it arrived.
    const QUEUES: Queues = Queues::PerProcessor;
    // It asks for loads, so they have to be counted.
    const USES_LOAD: bool = true;

    fn place(&mut self, _request: Request, view: &impl View, random: &mut impl Rng) -> Decision {
        let drawn = (0..self.0).map(|_| CpuId(random.random_range(0..view.processors())));
        // The first of equals, so one that was drawn at random.
        let chosen = drawn.min_by_key(|&cpu| view.load(cpu)).unwrap_or(CpuId(0));
        if view.is_idle(chosen) { Decision::Run(chosen) } else { Decision::Wait(chosen) }
    }
}

/// The mean delay in units of the service time, for ever more processors.
fn in_theory(choices: u32, load: f64) -> f64 {
    if choices == 1 {
        return 1.0 / (1.0 - load);
    }
    let d = f64::from(choices);
    (1..20).map(|i| load.powf((d.powi(i) - d) / (d - 1.0))).sum()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    const PROCESSORS: u32 = 200;
    const SERVICE: Nanos = Nanos(1_000.0);
    const LOAD: f64 = 0.8;
    let rate = PerSecond::every(SERVICE) * f64::from(PROCESSORS) * LOAD;
    println!("choices   mean delay   in theory");
    for choices in [1, 2, 3] {
        let simulation = Simulation::new(Shape::square(PROCESSORS), ShortestOf(choices), ConstantCost(SERVICE))
            .service(TimeDistribution::Exponential.factors()?)
            .precision(0.01)
            .max_packets(1_000_000);
        let mut arrivals = Poisson::new(rate, PROCESSORS, simulation.key())?;
        let delay = simulation.run(&mut arrivals)?.delay.mean / SERVICE;
        let exact = in_theory(choices, LOAD);
        println!("{choices:7}   {delay:10.3}   {exact:9.3}");
        assert!((delay / exact - 1.0).abs() < 0.05, "{choices} choices: {delay}, in theory {exact}");
    }
    Ok(())
}
