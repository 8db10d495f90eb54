//! Sources with bursts: modulated, trains, self-similar. Each starts in its steady state, so counts from
//! the start have the mean and variance that theory predicts.

use crate::{KEY, RATE, assert_exponential, assert_near, assert_share, counts, intervals, take};
use std::collections::HashMap;
use warmcore_units::{Nanos, StreamId};
use warmcore_workload::popularity::MAX_STREAMS;
use warmcore_workload::{
    Arrival, Arrivals, Batch, Gaps, Key, Marks, Modulated, Modulation, OnOff, Poisson, Popularity,
    SelfSimilar, Train, Trains,
};

const MODULATION: Modulation =
    Modulation { ratio: 10.0, calm: Nanos::from_micros(4_000.0), busy: Nanos::from_micros(1_000.0) };

fn modulated(modulation: Modulation, key: Key) -> Modulated {
    let marks = Marks::new(8, Popularity::Uniform, Batch::ONE, key).unwrap();
    Modulated::new(RATE, modulation, marks, key).unwrap()
}

/// Over a time t, the count of a two-state modulated process has mean λt and variance
/// λt + 2 p q (λ1 - λ2)² (t/r - (1 - e^(-rt)) / r²), where p and q are the shares of the states and r is the
/// sum of their exit rates (Heffes & Lucantoni 1986).
#[test]
fn modulated_counts_have_the_mean_and_variance_of_theory() {
    const RUNS: u64 = 20_000;
    let (calm, busy) = (MODULATION.calm.secs(), MODULATION.busy.secs());
    let (p, q) = (calm / (calm + busy), busy / (calm + busy));
    let calm_rate = RATE.0 / (p + q * MODULATION.ratio);
    let difference = calm_rate * (MODULATION.ratio - 1.0);
    let leaving = calm.recip() + busy.recip();
    for millis in [0.3, 3.0] {
        let time = millis * 1e-3;
        let (mean, variance) =
            counts(RUNS, Nanos::from_secs(time), |key| Box::new(modulated(MODULATION, key)));
        let memory = time / leaving - (1.0 - (-leaving * time).exp()) / leaving.powi(2);
        let expected = RATE.0 * time + 2.0 * p * q * difference.powi(2) * memory;
        assert_near(mean, RATE.0 * time, (expected / RUNS as f64).sqrt());
        // Counts are nearly normal; their fourth moment is at most twice that of a normal variable.
        assert_near(variance / expected, 1.0, (5.0 / RUNS as f64).sqrt());
    }
}

#[test]
fn a_ratio_of_one_is_a_poisson_process() {
    let arrivals = take(&mut modulated(Modulation { ratio: 1.0, ..MODULATION }, KEY), 100_000);
    assert_exponential(&intervals(&arrivals), RATE.interval());
}

const TRAIN: Train = Train { cars: 5.0, gap: Nanos::from_micros(300.0), gaps: Gaps::Exponential };

fn trains(train: Train, streams: u32, key: Key) -> Trains {
    Trains::new(RATE, train, streams, Popularity::Uniform, key).unwrap()
}

/// The packets of each train that departs in the middle of a long run. There are so many streams that nearly
/// every train has its own.
fn whole_trains(train: Train) -> Vec<Vec<Arrival>> {
    let arrivals = take(&mut trains(train, MAX_STREAMS, KEY), 40_000);
    let end = arrivals[arrivals.len() - 1].at;
    let mut by_stream: HashMap<StreamId, Vec<Arrival>> = HashMap::new();
    for arrival in arrivals {
        by_stream.entry(arrival.stream).or_default().push(arrival);
    }
    let middle = |cars: &Vec<Arrival>| cars[0].at > end * 0.1 && cars[0].at < end * 0.9;
    by_stream.into_values().filter(middle).collect()
}

#[test]
fn lengths_and_gaps_of_trains_follow_their_distributions() {
    let trains = whole_trains(TRAIN);
    let (count, cars) = (trains.len() as f64, TRAIN.cars);
    let total: usize = trains.iter().map(Vec::len).sum();
    assert_near(total as f64 / count, cars, (cars * (cars - 1.0) / count).sqrt());
    let single = trains.iter().filter(|train| train.len() == 1).count();
    assert_share(single, trains.len(), cars.recip());
    let gaps: Vec<Nanos> = trains.iter().flat_map(|train| intervals(train)).collect();
    // One train in several thousand shares its stream with another: leave out the gap between the two.
    let gaps: Vec<Nanos> = gaps.into_iter().filter(|gap| *gap < TRAIN.gap * 30.0).collect();
    assert_exponential(&gaps, TRAIN.gap);
}

#[test]
fn fixed_gaps_are_constant() {
    let trains = whole_trains(Train { gaps: Gaps::Fixed, ..TRAIN });
    let gaps: Vec<Nanos> = trains.iter().flat_map(|train| intervals(train)).collect();
    let fixed = gaps.iter().filter(|gap| (**gap / TRAIN.gap - 1.0).abs() < 1e-6).count();
    assert!(gaps.len() - fixed <= 3, "{} of {} gaps are not fixed", gaps.len() - fixed, gaps.len());
}

#[test]
fn trains_overlap() {
    let arrivals = take(&mut trains(TRAIN, 1_000, KEY), 10_000);
    let same = arrivals.windows(2).filter(|pair| pair[0].stream == pair[1].stream).count();
    assert!((500..3_000).contains(&same), "{same} packets follow one of their own stream");
}

/// Trains depart at rate λ/b and last about 1.2 ms. Without trains under way at the start, far fewer packets
/// would arrive in the first 0.2 ms.
#[test]
fn trains_are_under_way_at_the_start() {
    const RUNS: u64 = 20_000;
    for gaps in [Gaps::Exponential, Gaps::Fixed] {
        let time = Nanos::from_micros(200.0);
        let (mean, variance) = counts(RUNS, time, |key| Box::new(trains(Train { gaps, ..TRAIN }, 8, key)));
        assert_near(mean, RATE.0 * time.secs(), (variance / RUNS as f64).sqrt());
    }
}

const SOURCES: OnOff = OnOff { alpha: 1.4, burst: 10.0, peak: 8.0 };

fn self_similar(streams: u32, popularity: Popularity, key: Key) -> SelfSimilar {
    SelfSimilar::new(RATE, SOURCES, streams, popularity, key).unwrap()
}

#[test]
fn on_off_streams_have_the_right_rate_from_the_start() {
    const RUNS: u64 = 4_000;
    for millis in [0.5, 20.0] {
        let time = Nanos::from_secs(millis * 1e-3);
        let (mean, variance) = counts(RUNS, time, |key| Box::new(self_similar(8, Popularity::Uniform, key)));
        assert_near(mean, RATE.0 * time.secs(), (variance / RUNS as f64).sqrt());
    }
}

/// Two streams with shares of 2/3 and 1/3.
#[test]
fn on_off_streams_have_the_right_shares() {
    let runs = (0..2_000).map(|replication| {
        let mut source = self_similar(2, Popularity::Zipf(1.0), Key { replication, ..KEY });
        // Enough for 2 ms at the peak rate.
        let arrivals = take(&mut source, 400);
        let until = Nanos::from_secs(2e-3);
        let within = arrivals.iter().filter(|arrival| arrival.at < until);
        let [first, second] = within.fold([0.0, 0.0], |mut packets, arrival| {
            packets[arrival.stream.index()] += 1.0;
            packets
        });
        first - 2.0 * second
    });
    let differences: Vec<f64> = runs.collect();
    let count = differences.len() as f64;
    let mean = differences.iter().sum::<f64>() / count;
    let variance = differences.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / count;
    assert_near(mean, 0.0, (variance / count).sqrt());
}

#[test]
fn a_stream_sends_at_its_peak_rate_while_on() {
    let arrivals = take(&mut self_similar(1, Popularity::Uniform, KEY), 20_000);
    let interval = RATE.interval() / SOURCES.peak;
    let gaps = intervals(&arrivals);
    assert!(gaps.iter().all(|gap| *gap / interval > 1.0 - 1e-6), "never faster");
    let at_peak = gaps.iter().filter(|gap| **gap / interval < 1.0 + 1e-6).count();
    // On times have ten packets on average, so about a tenth of the gaps contain an off time.
    assert!((0.85..0.95).contains(&(at_peak as f64 / gaps.len() as f64)), "{at_peak} gaps");
}

/// The Hurst parameter, from the slope of log variance against log time scale of counts in bins: the
/// variance of a mean of m bins falls as m^(2H - 2) (Leland et al. 1994, §3).
fn hurst(source: &mut dyn Arrivals) -> f64 {
    const BINS: usize = 1 << 17;
    let bin = RATE.interval() * 10.0;
    let mut counts = vec![0.0_f64; BINS];
    let mut block = [Arrival::default(); 256];
    'run: loop {
        source.fill(&mut block);
        for arrival in &block {
            match counts.get_mut((arrival.at / bin) as usize) {
                Some(count) => *count += 1.0,
                None => break 'run,
            }
        }
    }
    let points: Vec<(f64, f64)> = (4..=10).map(|power| variance_at(&counts, 1 << power)).collect();
    let count = points.len() as f64;
    let (x, y) = points.iter().fold((0.0, 0.0), |(x, y), point| (x + point.0 / count, y + point.1 / count));
    let (above, below) = points.iter().fold((0.0, 0.0), |(above, below), point| {
        (above + (point.0 - x) * (point.1 - y), below + (point.0 - x).powi(2))
    });
    1.0 + above / below / 2.0
}

/// The logarithms of `scale` and of the variance of means of `scale` counts.
fn variance_at(counts: &[f64], scale: usize) -> (f64, f64) {
    let means: Vec<f64> = counts.chunks(scale).map(|bins| bins.iter().sum::<f64>() / scale as f64).collect();
    let mean = means.iter().sum::<f64>() / means.len() as f64;
    let variance = means.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / means.len() as f64;
    ((scale as f64).ln(), variance.ln())
}

/// H = (3 - alpha) / 2 = 0.8 for many on-off streams (Willinger et al. 1997), 0.5 for Poisson
/// arrivals. The estimate is rough, and biased low at any finite length.
#[test]
fn many_on_off_streams_are_self_similar() {
    let of_sources = hurst(&mut self_similar(64, Popularity::Uniform, KEY));
    assert!((0.7..0.9).contains(&of_sources), "H = {of_sources}");
    let of_poisson = hurst(&mut Poisson::new(RATE, 64, KEY).unwrap());
    assert!((0.42..0.58).contains(&of_poisson), "H = {of_poisson}");
}

#[test]
fn impossible_bursts_are_refused() {
    for train in
        [Train { cars: 0.9, ..TRAIN }, Train { gap: Nanos::ZERO, ..TRAIN }, Train { cars: f64::NAN, ..TRAIN }]
    {
        assert!(Trains::new(RATE, train, 8, Popularity::Uniform, KEY).is_err(), "{train:?}");
    }
    let crowded = Train { gap: Nanos::from_secs(1e4), ..TRAIN };
    let refused = Trains::new(RATE, crowded, 8, Popularity::Uniform, KEY).unwrap_err().to_string();
    assert!(refused.contains("10 million trains"), "{refused}");
    for (alpha, burst, peak) in [(1.0, 2.0, 2.0), (2.0, 2.0, 2.0), (1.5, 0.5, 2.0), (1.5, 2.0, 1.0)] {
        let sources = OnOff { alpha, burst, peak };
        assert!(SelfSimilar::new(RATE, sources, 8, Popularity::Uniform, KEY).is_err(), "{sources:?}");
    }
}
