//! The round-trip estimate and the retransmission timeout (RFC 6298).
//!
//! One segment is timed at once. A segment that was resent is not timed: its acknowledgement could
//! belong to either copy (Karn's algorithm, rule 3).

use super::config::Config;
use super::time::Time;
use crate::wire::SequenceNumber;
use core::hint::cold_path;

/// Timeout after a SYN was lost (RFC 6298, rule 5.7).
const AFTER_LOST_SYN: Time = Time::from_secs(3);

#[derive(Clone, Copy, Debug)]
pub(super) struct RoundTrip {
    /// Smoothed round-trip time and its variation; `None` before the first measurement.
    estimate: Option<(Time, Time)>,
    /// Timeout before doubling.
    timeout: Time,
    /// How often the timeout has been doubled since the last measurement.
    doublings: u32,
    /// The end of the timed segment, and when it was sent.
    timed: Option<(SequenceNumber, Time)>,
    min: Time,
    max: Time,
}

impl RoundTrip {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            estimate: None,
            timeout: config.initial_timeout.into(),
            doublings: 0,
            timed: None,
            min: config.min_timeout.into(),
            max: config.max_timeout.into(),
        }
    }

    /// The current retransmission timeout.
    pub(super) fn timeout(&self) -> Time {
        doubled(self.timeout, self.doublings, self.max)
    }

    /// A segment that ends at `end` is sent for the first time.
    pub(super) fn sent(&mut self, end: SequenceNumber, now: Time) {
        self.timed.get_or_insert((end, now));
    }

    /// Something is sent again, so the timed segment's acknowledgement will mean nothing.
    pub(super) fn resent(&mut self) {
        self.timed = None;
    }

    /// Everything before `ack` is acknowledged.
    pub(super) fn acknowledged(&mut self, ack: SequenceNumber, now: Time) {
        if let Some((end, sent)) = self.timed
            && end.is_at_or_before(ack)
        {
            self.timed = None;
            self.measured(now.since(sent));
        }
    }

    /// Rules 2.2 and 2.3, with alpha 1/8, beta 1/4 and K 4.
    fn measured(&mut self, sample: Time) {
        let (smoothed, variation) = match self.estimate {
            None => {
                cold_path();
                (sample, sample.halved(1))
            }
            Some((smoothed, variation)) => (
                smoothed.less(smoothed.halved(3)) + sample.halved(3),
                variation.less(variation.halved(2)) + smoothed.abs_diff(sample).halved(2),
            ),
        };
        self.estimate = Some((smoothed, variation));
        let timeout = smoothed + variation.times(4);
        self.timeout = timeout.clamp(self.min, self.max.max(self.min));
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
pub(super) fn doubled(time: Time, times: u32, max: Time) -> Time {
    if times == 0 {
        return time.min(max);
    }
    cold_path();
    let factor = 1_u32.checked_shl(times).unwrap_or(u32::MAX);
    time.times(factor).min(max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::time::Duration;

    fn millis(millis: u64) -> Time {
        Duration::from_millis(millis).into()
    }

    fn estimator() -> RoundTrip {
        RoundTrip::new(&Config { min_timeout: Duration::from_millis(1), ..Config::default() })
    }

    const END: SequenceNumber = SequenceNumber(0);

    fn measure(trip: &mut RoundTrip, sample: Time) {
        trip.sent(END, millis(5));
        trip.acknowledged(END, millis(5) + sample);
    }

    #[test]
    fn the_timeout_follows_the_rules() {
        let mut trip = estimator();
        assert_eq!(trip.timeout(), Time::from_secs(1));
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
        assert_eq!(trip.timeout(), Time::from_secs(60));
        measure(&mut trip, millis(100));
        assert!(trip.timeout() < millis(300));
    }

    #[test]
    fn a_resent_segment_is_not_measured() {
        let mut trip = estimator();
        trip.sent(END, millis(0));
        trip.resent();
        trip.acknowledged(END, millis(700));
        assert_eq!(trip.timeout(), Time::from_secs(1));
    }

    #[test]
    fn only_the_acknowledgement_of_the_timed_segment_is_measured() {
        let mut trip = estimator();
        trip.sent(END + 10, millis(0));
        trip.sent(END + 20, millis(90));
        trip.acknowledged(END + 9, millis(20));
        assert_eq!(trip.timeout(), Time::from_secs(1));
        trip.acknowledged(END + 10, millis(100));
        assert_eq!(trip.timeout(), millis(300));
    }

    #[test]
    fn after_a_lost_syn_the_timeout_is_three_seconds() {
        let mut trip = estimator();
        trip.expired();
        trip.expired();
        trip.established();
        assert_eq!(trip.timeout(), Time::from_secs(3));
    }
}
