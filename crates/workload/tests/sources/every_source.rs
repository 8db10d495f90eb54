//! Properties of every source.

use crate::{KEY, RATE, take};
use proptest::prelude::*;
use warmcore_units::Nanos;
use warmcore_workload::{
    Arrival, Arrivals, Batch, BatchDistribution, Constant, Gaps, Key, Marks, Modulated, Modulation, OnOff,
    Periodic, Poisson, Popularity, SelfSimilar, Size, Train, Trains, WithDirections, WithSizes,
};

const ZIPF: Popularity = Popularity::Zipf(0.9);

/// Every kind of source, by name.
fn sources(key: Key) -> Vec<(&'static str, Box<dyn Arrivals>)> {
    let batch = Batch { mean: 2.5, distribution: BatchDistribution::Geometric };
    let marks = |popularity| Marks::new(20, popularity, batch, key).unwrap();
    let millisecond = Nanos::from_micros(1e3);
    let modulation = Modulation { ratio: 10.0, calm: millisecond * 5.0, busy: millisecond };
    let train = |gaps| Train { cars: 6.0, gap: Nanos::from_micros(70.0), gaps };
    let on_off = OnOff { alpha: 1.3, burst: 2.0, peak: 5.0 };
    let wrapped = || {
        let source = Poisson::marked(RATE, marks(Popularity::Uniform), key).unwrap();
        let sizes = [Size { bytes: 64, weight: 1.0 }, Size { bytes: 1500, weight: 2.0 }];
        WithDirections::new(WithSizes::new(source, &sizes, key).unwrap(), 0.3, key).unwrap()
    };
    vec![
        ("poisson", Box::new(Poisson::new(RATE, 8, key).unwrap())),
        ("batched", Box::new(Poisson::marked(RATE, marks(ZIPF), key).unwrap())),
        ("constant", Box::new(Constant::new(RATE, marks(Popularity::Uniform)).unwrap())),
        ("periodic", Box::new(Periodic::new(RATE, 20, ZIPF, key).unwrap())),
        ("modulated", Box::new(Modulated::new(RATE, modulation, marks(ZIPF), key).unwrap())),
        ("trains", Box::new(Trains::new(RATE, train(Gaps::Exponential), 20, ZIPF, key).unwrap())),
        ("fixed trains", Box::new(Trains::new(RATE, train(Gaps::Fixed), 1, ZIPF, key).unwrap())),
        ("self-similar", Box::new(SelfSimilar::new(RATE, on_off, 20, ZIPF, key).unwrap())),
        ("wrapped", Box::new(wrapped())),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn arrivals_do_not_depend_on_the_lengths_of_blocks(
        seed: u64,
        lengths in prop::collection::vec(0_usize..80, 1..20),
    ) {
        let key = Key { seed, ..KEY };
        let total = lengths.iter().sum();
        for ((name, mut whole), (_, mut parts)) in sources(key).into_iter().zip(sources(key)) {
            let expected = take(&mut *whole, total);
            let found: Vec<Arrival> = lengths.iter().flat_map(|length| take(&mut *parts, *length)).collect();
            prop_assert_eq!(found, expected, "{}", name);
        }
    }

    #[test]
    fn arrivals_are_in_order_of_time_and_have_valid_streams(seed: u64) {
        for (name, mut source) in sources(Key { seed, ..KEY }) {
            let arrivals = take(&mut *source, 500);
            prop_assert!(arrivals[0].at >= Nanos::ZERO, "{}", name);
            prop_assert!(arrivals.is_sorted_by(|one, next| one.at <= next.at), "{}", name);
            prop_assert!(arrivals.iter().all(|arrival| arrival.at.0.is_finite()), "{}", name);
            prop_assert!(arrivals.iter().all(|arrival| arrival.packets >= 1), "{}", name);
            prop_assert!(arrivals.iter().all(|arrival| arrival.stream.0 < 20), "{}", name);
        }
    }
}

#[test]
fn another_key_gives_other_arrivals() {
    let other = Key { replication: 1, ..KEY };
    for ((name, mut one), (_, mut next)) in sources(KEY).into_iter().zip(sources(other)) {
        assert_ne!(take(&mut *one, 50), take(&mut *next, 50), "{name}");
    }
}

#[test]
fn a_million_streams_are_merged_in_order() {
    let on_off = OnOff { alpha: 1.5, burst: 5.0, peak: 4.0 };
    let mut many: [Box<dyn Arrivals>; 2] = [
        Box::new(SelfSimilar::new(RATE, on_off, 1_000_000, Popularity::Uniform, KEY).unwrap()),
        Box::new(Periodic::new(RATE, 1_000_000, ZIPF, KEY).unwrap()),
    ];
    for source in &mut many {
        assert!(take(source, 100_000).is_sorted_by(|one, next| one.at <= next.at));
    }
}
