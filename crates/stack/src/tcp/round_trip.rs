//! The round-trip estimate and the retransmission timeout (RFC 6298).
//!
//! One segment is timed at once. A segment that was resent is not timed: its acknowledgement could
//! belong to either copy (Karn's algorithm, rule 3).

use super::config::Config;
use crate::wire::SequenceNumber;
use core::time::Duration;

/// Timeout after a SYN was lost (RFC 6298, rule 5.7).
const AFTER_LOST_SYN: Duration = Duration::from_secs(3);

#[derive(Clone, Copy, Debug)]
pub(super) struct RoundTrip {
    /// Smoothed round-trip time and its variation; `None` before the first measurement.
    estimate: Option<(Duration, Duration)>,
    /// Timeout before doubling.
    timeout: Duration,
    /// How often the timeout has been doubled since the last measurement.
    doublings: u32,
    /// The end of the timed segment, and when it was sent.
    timed: Option<(SequenceNumber, Duration)>,
    min: Duration,
    max: Duration,
}

impl RoundTrip {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            estimate: None,
            timeout: config.initial_timeout,
            doublings: 0,
            timed: None,
            min: config.min_timeout,
            max: config.max_timeout,
        }
    }

    /// The current retransmission timeout.
    pub(super) fn timeout(&self) -> Duration {
        doubled(self.timeout, self.doublings, self.max)
    }

    /// A segment that ends at `end` is sent for the first time.
    pub(super) fn sent(&mut self, end: SequenceNumber, now: Duration) {
        self.timed.get_or_insert((end, now));
    }

    /// Something is sent again, so the timed segment's acknowledgement will mean nothing.
    pub(super) fn resent(&mut self) {
        self.timed = None;
    }

    /// Everything before `ack` is acknowledged.
    pub(super) fn acknowledged(&mut self, ack: SequenceNumber, now: Duration) {
        if let Some((end, sent)) = self.timed
            && end.is_at_or_before(ack)
        {
            self.timed = None;
            self.measured(now.saturating_sub(sent));
        }
    }

    /// Rules 2.2 and 2.3, with alpha 1/8, beta 1/4 and K 4.
    fn measured(&mut self, sample: Duration) {
        let (smoothed, variation) = match self.estimate {
            None => (sample, sample / 2),
            Some((smoothed, variation)) => (
                smoothed - smoothed / 8 + sample / 8,
                variation - variation / 4 + smoothed.abs_diff(sample) / 4,
            ),
        };
        self.estimate = Some((smoothed, variation));
        self.timeout = (smoothed + variation * 4).clamp(self.min, self.max.max(self.min));
        self.doublings = 0;
    }

    /// The timer expired (rule 5.5).
    pub(super) fn expired(&mut self) {
        self.resent();
        self.doublings = self.doublings.saturating_add(1);
    }

    /// The connection is established (rule 5.7).
    pub(super) fn established(&mut self) {
        if self.estimate.is_none() && self.doublings > 0 {
            self.timeout = AFTER_LOST_SYN.clamp(self.min, self.max.max(self.min));
            self.doublings = 0;
        }
    }
}

/// `time` doubled so many times, at most `max`.
pub(super) fn doubled(time: Duration, times: u32, max: Duration) -> Duration {
    let factor = 1_u32.checked_shl(times).unwrap_or(u32::MAX);
    time.saturating_mul(factor).min(max)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn estimator() -> RoundTrip {
        RoundTrip::new(&Config { min_timeout: millis(1), ..Config::default() })
    }

    const END: SequenceNumber = SequenceNumber(0);

    fn measure(trip: &mut RoundTrip, sample: Duration) {
        trip.sent(END, millis(5));
        trip.acknowledged(END, millis(5) + sample);
    }

    #[test]
    fn the_timeout_follows_the_rules() {
        let mut trip = estimator();
        assert_eq!(trip.timeout(), Duration::from_secs(1));
        measure(&mut trip, millis(80));
        assert_eq!(trip.timeout(), millis(80 + 4 * 40));
        measure(&mut trip, millis(160));
        // smoothed 90, variation 30 + 20
        assert_eq!(trip.timeout(), millis(90 + 4 * 50));
    }

    #[test]
    fn a_timeout_doubles_up_to_the_longest_and_a_measurement_ends_that() {
        let mut trip = estimator();
        measure(&mut trip, millis(100));
        for expected in [600, 1200, 2400] {
            trip.expired();
            assert_eq!(trip.timeout(), millis(expected));
        }
        (0..40).for_each(|_| trip.expired());
        assert_eq!(trip.timeout(), Duration::from_secs(60));
        measure(&mut trip, millis(100));
        assert!(trip.timeout() < millis(300));
    }

    #[test]
    fn a_resent_segment_is_not_measured() {
        let mut trip = estimator();
        trip.sent(END, millis(0));
        trip.resent();
        trip.acknowledged(END, millis(700));
        assert_eq!(trip.timeout(), Duration::from_secs(1));
    }

    #[test]
    fn only_the_acknowledgement_of_the_timed_segment_is_measured() {
        let mut trip = estimator();
        trip.sent(END + 10, millis(0));
        trip.sent(END + 20, millis(90));
        trip.acknowledged(END + 9, millis(20));
        assert_eq!(trip.timeout(), Duration::from_secs(1));
        trip.acknowledged(END + 10, millis(100));
        assert_eq!(trip.timeout(), millis(300));
    }

    #[test]
    fn after_a_lost_syn_the_timeout_is_three_seconds() {
        let mut trip = estimator();
        trip.expired();
        trip.expired();
        trip.established();
        assert_eq!(trip.timeout(), Duration::from_secs(3));
    }
}
