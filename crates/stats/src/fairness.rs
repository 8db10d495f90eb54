//! How equally streams are treated: a comparison of their mean delays.
//!
//! Jain's index `(Σx)² / (n Σx²)` (Jain, Chiu & Hawe 1984) is 1 if all values are equal and `1/n` if only one
//! is not zero. Here it is the index of mean *delays*: 1 is still fair, but a low value says that a few
//! streams wait long.

/// The mean delays of streams, summarised.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Fairness {
    /// Jain's index of the streams' mean delays, above 0 and at most 1.
    pub jain: f64,
    /// The smallest mean delay of a stream, in the unit of the delays.
    pub least: f64,
    /// The largest mean delay of a stream, in the unit of the delays.
    pub greatest: f64,
    /// How many streams had packets; the others have no mean and do not count.
    pub streams: usize,
}

/// The fairness among streams, given as (number of packets, sum of delays); `None` if no stream had a
/// packet.
#[must_use]
pub fn among(streams: impl IntoIterator<Item = (u64, f64)>) -> Option<Fairness> {
    let (mut sum, mut squares, mut count) = (0.0, 0.0, 0_usize);
    let (mut least, mut greatest) = (f64::INFINITY, f64::NEG_INFINITY);
    for (packets, delays) in streams.into_iter().filter(|stream| stream.0 > 0) {
        let mean = delays / packets as f64;
        sum += mean;
        squares += mean * mean;
        count += 1;
        least = least.min(mean);
        greatest = greatest.max(mean);
    }
    // If all delays are zero, all streams are treated alike.
    let jain = if squares == 0.0 { 1.0 } else { sum * sum / (count as f64 * squares) };
    (count > 0).then_some(Fairness { jain, least, greatest, streams: count })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn streams_without_packets_do_not_count() {
        let fairness = among([(2, 4.0), (0, 0.0), (1, 6.0)]).unwrap();
        assert_eq!(fairness, Fairness { jain: 64.0 / 80.0, least: 2.0, greatest: 6.0, streams: 2 });
        assert_eq!(among([(0, 0.0)]), None);
        assert_eq!(among([(3, 0.0)]).unwrap().jain, 1.0);
    }

    proptest! {
        #[test]
        fn the_index_lies_between_one_stream_only_and_all_alike(
            means in prop::collection::vec(0.001_f64..1e9, 1..50), scale in 0.01_f64..100.0,
        ) {
            let index = among(means.iter().map(|mean| (1, *mean))).unwrap().jain;
            prop_assert!(index <= 1.0 + 1e-9 && index >= 1.0 / means.len() as f64 - 1e-9);
            let scaled = among(means.iter().map(|mean| (2, 2.0 * scale * mean))).unwrap().jain;
            prop_assert!((index - scaled).abs() < 1e-9, "the unit does not matter");
        }
    }
}
