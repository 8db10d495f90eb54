//! Sizes and directions.

use crate::{KEY, RATE, assert_share, take};
use warmcore_workload::{Direction, Poisson, Size, WithDirections, WithSizes};

const COUNT: usize = 100_000;

fn sizes(sizes: &[(u16, f64)]) -> Vec<Size> {
    sizes.iter().map(|&(bytes, weight)| Size { bytes, weight }).collect()
}

#[test]
fn the_frequencies_of_sizes_follow_their_weights() {
    let distribution = sizes(&[(64, 3.0), (576, 1.0), (1500, 6.0), (9000, 0.0)]);
    let source = Poisson::new(RATE, 8, KEY).unwrap();
    let arrivals = take(&mut WithSizes::new(source, &distribution, KEY).unwrap(), COUNT);
    for Size { bytes, weight } in distribution {
        let hits = arrivals.iter().filter(|arrival| arrival.bytes == bytes).count();
        if weight == 0.0 {
            assert_eq!(hits, 0);
        } else {
            assert_share(hits, COUNT, weight / 10.0);
        }
    }
}

#[test]
fn the_fraction_of_sent_packets_is_as_requested() {
    for fraction in [0.0, 0.3, 1.0] {
        let source = Poisson::new(RATE, 8, KEY).unwrap();
        let arrivals = take(&mut WithDirections::new(source, fraction, KEY).unwrap(), COUNT);
        let sent = arrivals.iter().filter(|arrival| arrival.direction == Direction::Send).count();
        if fraction == 0.3 {
            assert_share(sent, COUNT, fraction);
        } else {
            assert_eq!(sent as f64, fraction * COUNT as f64);
        }
    }
}

#[test]
fn impossible_sizes_and_fractions_are_refused() {
    let source = || Poisson::new(RATE, 8, KEY).unwrap();
    for distribution in
        [&[][..], &[(1, 0.0)], &[(1, -1.0), (2, 2.0)], &[(1, f64::NAN)], &[(1, f64::INFINITY)]]
    {
        assert!(WithSizes::new(source(), &sizes(distribution), KEY).is_err(), "{distribution:?}");
    }
    for fraction in [-0.1, 1.1, f64::NAN] {
        assert!(WithDirections::new(source(), fraction, KEY).is_err(), "{fraction}");
    }
}
