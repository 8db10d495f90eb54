//! Bursts: how long a thread runs until it stops by itself. Kept in bins that grow with the time, so that a recording of
//! any length needs the same memory.

use warmcore_scenario::runqueue::Bursts;
use warmcore_units::Nanos;

/// Bins for each doubling of the time: they are 9% wide.
const PER_DOUBLING: f64 = 8.0;
/// 2^44 ns are almost five hours.
const BINS: usize = 44 * 8;
/// Empty bins that separate two parts of a distribution: a factor of two.
const GAP: usize = 8;
/// Into how many bins of about equal shares a distribution is condensed, the tail beyond the last included.
const CONDENSED: u64 = 16;

/// How many bursts there were, by their length.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Histogram {
    counts: Vec<u64>,
    sums: Vec<f64>,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { counts: vec![0; BINS], sums: vec![0.0; BINS] }
    }
}

impl Histogram {
    pub(super) fn add(&mut self, burst: Nanos) {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "cut to the bins there are"
        )]
        let bin = (burst.0.max(1.0).log2() * PER_DOUBLING) as usize;
        let bin = bin.min(BINS - 1);
        self.counts[bin] += 1;
        self.sums[bin] += burst.0;
    }

    pub(super) fn merge(&mut self, other: &Self) {
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
        for (sum, more) in self.sums.iter_mut().zip(&other.sums) {
            *sum += more;
        }
    }

    pub(super) fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The distribution of a scenario, scaled to have this mean; the histogram holds at least one burst.
    pub(super) fn bursts(&self, mean: Nanos) -> Bursts {
        let total = self.count();
        let first = self.counts.iter().position(|count| *count > 0).unwrap_or(0);
        let (mut edges, mut shares) = (vec![lower_edge(first)], Vec::new());
        let (mut seen, mut share, mut beyond) = (0, 0, first);
        for bin in first..BINS {
            // The last part is the tail.
            if seen * CONDENSED >= total * (CONDENSED - 1) {
                break;
            }
            if self.counts[bin] == 0 {
                continue;
            }
            // A bin must not be spread over lengths that no burst has.
            if bin > beyond + GAP {
                if share > 0 {
                    edges.push(lower_edge(beyond));
                    shares.push(ratio(share, total));
                    share = 0;
                }
                edges.push(lower_edge(bin));
                shares.push(0.0);
            }
            seen += self.counts[bin];
            share += self.counts[bin];
            beyond = bin + 1;
            if share * CONDENSED >= total {
                edges.push(lower_edge(bin + 1));
                shares.push(ratio(share, total));
                share = 0;
            }
        }
        if share > 0 {
            edges.push(lower_edge(beyond));
            shares.push(ratio(share, total));
        }
        let last = edges[edges.len() - 1];
        let tail: u64 = self.counts[beyond..].iter().sum();
        let tail_ms = match tail {
            0 => 0.0,
            tail => (self.sums[beyond..].iter().sum::<f64>() / 1e6 / to_f64(tail) - last).max(0.0),
        };
        scaled(Bursts { edges_ms: edges, shares, tail_ms }, mean)
    }
}

/// A bin holds an even spread of times, which those that were in it need not have.
fn scaled(mut bursts: Bursts, mean: Nanos) -> Bursts {
    let factor = mean.0 / 1e6 / bursts.mean_ms();
    if factor.is_finite() && factor > 0.0 {
        bursts.edges_ms.iter_mut().for_each(|edge| *edge *= factor);
        bursts.tail_ms *= factor;
    }
    bursts
}

/// In milliseconds.
fn lower_edge(bin: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a few hundred")]
    let doublings = bin as f64 / PER_DOUBLING;
    doublings.exp2() / 1e6
}

fn ratio(part: u64, whole: u64) -> f64 {
    to_f64(part) / to_f64(whole)
}

#[expect(clippy::cast_precision_loss, reason = "counts of events")]
const fn to_f64(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distribution_keeps_the_mean_and_the_shares() {
        let mut histogram = Histogram::default();
        // 90 short bursts and 10 long ones.
        for index in 0..100 {
            histogram.add(Nanos::from_micros(if index < 90 { 20.0 } else { 5000.0 }));
        }
        let mean = Nanos::from_micros(0.9 * 20.0 + 0.1 * 5000.0);
        let bursts = histogram.bursts(mean);
        assert!((bursts.mean_ms() / (mean.0 / 1e6) - 1.0).abs() < 1e-9, "{bursts:?}");
        let below_1_ms: f64 = bursts
            .edges_ms
            .windows(2)
            .zip(&bursts.shares)
            .filter(|(edge, _)| edge[0] < 1.0)
            .map(|(_, share)| share)
            .sum();
        assert!((0.85..=0.95).contains(&below_1_ms), "{bursts:?}");
        assert!(bursts.edges_ms.windows(2).all(|pair| pair[0] < pair[1]), "{bursts:?}");
    }

    #[test]
    fn one_burst_is_a_distribution() {
        let mut histogram = Histogram::default();
        histogram.add(Nanos::from_micros(300.0));
        let bursts = histogram.bursts(Nanos::from_micros(300.0));
        assert!((bursts.mean_ms() - 0.3).abs() < 1e-9, "{bursts:?}");
    }
}
