//! Poisson and constant sources, their batches and the popularity of their streams.

use crate::{KEY, RATE, assert_exponential, assert_near, assert_share, intervals, take};
use warmcore_units::{Nanos, PerSecond, StreamId};
use warmcore_workload::popularity::MAX_STREAMS;
use warmcore_workload::{
    Arrival, Batch, BatchDistribution, Constant, ImpossibleArrivals, Marks, Periodic, Poisson, Popularity,
    StreamChoice, uniform_streams,
};

const COUNT: usize = 200_000;

fn geometric(mean: f64) -> Batch {
    Batch { mean, distribution: BatchDistribution::Geometric }
}

fn batched(batch: Batch) -> Vec<Arrival> {
    let marks = Marks::new(8, Popularity::Uniform, batch, KEY).unwrap();
    take(&mut Poisson::marked(RATE, marks, KEY).unwrap(), COUNT)
}

fn per_stream(streams: impl Iterator<Item = StreamId>, count: usize) -> Vec<usize> {
    let mut packets = vec![0; count];
    streams.for_each(|stream| packets[stream.index()] += 1);
    packets
}

#[test]
fn poisson_intervals_are_exponential_and_streams_equally_frequent() {
    let arrivals = take(&mut Poisson::new(RATE, 8, KEY).unwrap(), COUNT);
    assert_exponential(&intervals(&arrivals), RATE.interval());
    for packets in per_stream(arrivals.iter().map(|arrival| arrival.stream), 8) {
        assert_share(packets, COUNT, 1.0 / 8.0);
    }
    assert!(arrivals.iter().all(|arrival| arrival.packets == 1));
}

#[test]
fn batches_do_not_change_the_rate_of_packets() {
    for batch in [Batch { mean: 4.0, distribution: BatchDistribution::Deterministic }, geometric(2.5)] {
        assert_exponential(&intervals(&batched(batch)), RATE.interval() * batch.mean);
    }
}

/// A geometric number on 1, 2, … with mean b has variance b (b - 1) and is k with probability
/// (1 - 1/b)^(k - 1) / b.
#[test]
fn geometric_batches_follow_their_distribution() {
    for mean in [1.2, 2.5, 16.0] {
        let arrivals = batched(geometric(mean));
        let total: f64 = arrivals.iter().map(|arrival| f64::from(arrival.packets)).sum();
        assert_near(total / COUNT as f64, mean, (mean * (mean - 1.0) / COUNT as f64).sqrt());
        for size in 1..4 {
            let hits = arrivals.iter().filter(|arrival| arrival.packets == size).count();
            assert_share(hits, COUNT, (1.0 - 1.0 / mean).powi(size as i32 - 1) / mean);
        }
    }
}

#[test]
fn batches_of_mean_one_are_single_packets() {
    assert_eq!(batched(geometric(1.0)), take(&mut Poisson::new(RATE, 8, KEY).unwrap(), COUNT));
}

#[test]
fn batches_only_scale_times_and_keep_streams() {
    let place = |arrival: Arrival| (arrival.at / RATE.interval(), arrival.stream);
    let single = batched(Batch::ONE).into_iter().map(place);
    for ((at, stream), (batched_at, batched_stream)) in
        single.zip(batched(geometric(4.0)).into_iter().map(place))
    {
        assert_eq!(stream, batched_stream);
        assert!((batched_at / at - 4.0).abs() < 1e-9);
    }
}

#[test]
fn shares_follow_zipfs_law() {
    for (streams, exponent) in [(1, 1.0), (50, 0.0), (50, 0.8), (50, 2.0)] {
        let weight = |rank: usize| (rank as f64).powf(-exponent);
        let total: f64 = (1..=streams).map(weight).sum();
        let choice = StreamChoice::new(streams as u32, Popularity::Zipf(exponent), KEY).unwrap();
        let drawn = per_stream(choice.streams().take(COUNT), streams);
        // One test of all shares together: Pearson's statistic has mean and half its variance n - 1.
        let squares = drawn.iter().zip(1..).map(|(drawn, rank)| {
            let expected = COUNT as f64 * weight(rank) / total;
            (*drawn as f64 - expected).powi(2) / expected
        });
        let freedom = (streams - 1) as f64;
        assert_near(squares.sum(), freedom, (2.0 * freedom).sqrt().max(1e-9));
    }
}

/// With s = 1, the first k of a million streams together have the share H(k) / H(1000000).
#[test]
fn shares_of_a_million_streams_follow_zipfs_law() {
    const STREAMS: u32 = 1_000_000;
    let harmonic = |count: u32| (1..=count).map(|rank| 1.0 / f64::from(rank)).sum::<f64>();
    let choice = StreamChoice::new(STREAMS, Popularity::Zipf(1.0), KEY).unwrap();
    let drawn: Vec<StreamId> = choice.streams().take(COUNT).collect();
    for first in [1, 10, 1_000, 100_000, 900_000] {
        let hits = drawn.iter().filter(|stream| stream.0 < first).count();
        assert_share(hits, COUNT, harmonic(first) / harmonic(STREAMS));
    }
}

#[test]
fn uniform_streams_are_equally_frequent() {
    for packets in per_stream(uniform_streams(8, KEY).unwrap().take(COUNT), 8) {
        assert_share(packets, COUNT, 1.0 / 8.0);
    }
}

#[test]
fn constant_arrivals_are_equally_spaced() {
    let marks = Marks::new(8, Popularity::Uniform, Batch::ONE, KEY).unwrap();
    let arrivals = take(&mut Constant::new(RATE, marks).unwrap(), COUNT);
    for (arrival, number) in arrivals.iter().zip(1..) {
        assert_eq!(arrival.at, RATE.interval() * f64::from(number));
    }
}

/// Four streams with shares 12/25, 6/25, 4/25 and 3/25 (Zipf's law with s = 1).
#[test]
fn periodic_streams_keep_their_own_interval() {
    let mut source = Periodic::new(PerSecond(25.0), 4, Popularity::Zipf(1.0), KEY).unwrap();
    let arrivals = take(&mut source, 2_500);
    for (stream, packets_per_s) in [12.0, 6.0, 4.0, 3.0].into_iter().enumerate() {
        let own: Vec<Arrival> =
            arrivals.iter().copied().filter(|arrival| arrival.stream.index() == stream).collect();
        let interval = PerSecond(packets_per_s).interval();
        assert!(own[0].at < interval, "the first packet is within the first period");
        assert!(intervals(&own).iter().all(|gap| (*gap / interval - 1.0).abs() < 1e-9));
    }
}

#[test]
fn impossible_arrivals_are_refused() {
    assert_eq!(Poisson::new(RATE, 0, KEY).unwrap_err(), ImpossibleArrivals::NoStreams);
    assert!(Poisson::new(RATE, MAX_STREAMS, KEY).is_ok());
    assert!(matches!(Poisson::new(RATE, MAX_STREAMS + 1, KEY), Err(ImpossibleArrivals::Parameter(_))));
    for rate in [0.0, -1.0, f64::INFINITY] {
        let refused = Poisson::new(PerSecond(rate), 1, KEY).unwrap_err();
        assert_eq!(refused, ImpossibleArrivals::NoRate(rate));
    }
    for (mean, distribution) in [
        (0.99, BatchDistribution::Geometric),
        (f64::NAN, BatchDistribution::Geometric),
        (1.5, BatchDistribution::Deterministic),
    ] {
        let batch = Batch { mean, distribution };
        assert!(Marks::new(1, Popularity::Uniform, batch, KEY).is_err(), "{batch:?}");
    }
    assert_eq!(RATE.interval(), Nanos::from_micros(50.0));
}
