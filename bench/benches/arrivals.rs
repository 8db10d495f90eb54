//! The cost of one arrival from each source, in nanoseconds. It is the least of many timings, which excludes
//! most disturbance by other programs.

use std::hint::black_box;
use std::time::Instant;
use warmcore_units::{Nanos, PerSecond};
use warmcore_workload::{
    Arrival, Arrivals, Batch, BatchDistribution, Constant, Gaps, ImpossibleArrivals, Key, Marks, Modulated,
    Modulation, OnOff, Periodic, Poisson, Popularity, SelfSimilar, Size, Train, Trains, WithDirections,
    WithSizes,
};

const KEY: Key = Key { seed: 1, point: 0, replication: 0 };
const RATE: PerSecond = PerSecond(1e6);
const BLOCK: usize = 256;

/// The cost of one arrival from `source`, in nanoseconds.
fn cost(source: &mut dyn Arrivals) -> f64 {
    const BLOCKS: u32 = 400;
    let mut block = [Arrival::default(); BLOCK];
    let timings = (0..50).map(|_| {
        let start = Instant::now();
        for _ in 0..BLOCKS {
            source.fill(black_box(&mut block));
        }
        start.elapsed().as_nanos() as f64 / (f64::from(BLOCKS) * BLOCK as f64)
    });
    timings.fold(f64::INFINITY, f64::min)
}

fn main() -> Result<(), ImpossibleArrivals> {
    for streams in [8, 1_000, 1_000_000] {
        println!("{streams} streams");
        for popularity in [Popularity::Uniform, Popularity::Zipf(1.0)] {
            for (name, mut source) in sources(streams, popularity)? {
                println!("  {name:15} {popularity:?}: {:6.1} ns", cost(&mut *source));
            }
        }
    }
    Ok(())
}

type Named = (&'static str, Box<dyn Arrivals>);

fn sources(streams: u32, popularity: Popularity) -> Result<Vec<Named>, ImpossibleArrivals> {
    let geometric = Batch { mean: 4.0, distribution: BatchDistribution::Geometric };
    let marks = |batch| Marks::new(streams, popularity, batch, KEY);
    let modulation = Modulation { ratio: 10.0, calm: Nanos::from_micros(1e4), busy: Nanos::from_micros(1e3) };
    let train = Train { cars: 8.0, gap: Nanos::from_micros(40.0), gaps: Gaps::Exponential };
    let on_off = OnOff { alpha: 1.4, burst: 20.0, peak: 10.0 };
    let sizes = [Size { bytes: 64, weight: 1.0 }, Size { bytes: 1500, weight: 2.0 }];
    let poisson = || Poisson::marked(RATE, marks(Batch::ONE)?, KEY);
    Ok(vec![
        ("poisson", Box::new(poisson()?)),
        ("batched", Box::new(Poisson::marked(RATE, marks(geometric)?, KEY)?)),
        ("with sizes", Box::new(WithSizes::new(poisson()?, &sizes, KEY)?)),
        ("with directions", Box::new(WithDirections::new(poisson()?, 0.5, KEY)?)),
        ("constant", Box::new(Constant::new(RATE, marks(Batch::ONE)?)?)),
        ("periodic", Box::new(Periodic::new(RATE, streams, popularity, KEY)?)),
        ("modulated", Box::new(Modulated::new(RATE, modulation, marks(Batch::ONE)?, KEY)?)),
        ("trains", Box::new(Trains::new(RATE, train, streams, popularity, KEY)?)),
        ("self-similar", Box::new(SelfSimilar::new(RATE, on_off, streams, popularity, KEY)?)),
    ])
}
