//! How often a connection answers segments that it does not accept.
//!
//! Two peers that do not accept each other's segments would answer for ever, and a blind attacker could
//! have any number of answers sent (RFC 5961, §7). So there are only so many in a second.

use super::time::Time;

const PER_PERIOD: u32 = 10;
const PERIOD: Time = Time::from_secs(1);

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ChallengeLimit {
    since: Time,
    answered: u32,
}

impl ChallengeLimit {
    /// Whether one more answer may be sent, which is counted.
    pub(super) fn admit(&mut self, now: Time) -> bool {
        if now.since(self.since) >= PERIOD {
            (self.since, self.answered) = (now, 0);
        }
        self.answered = self.answered.saturating_add(1);
        self.answered <= PER_PERIOD
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_answers_are_admitted_in_a_second() {
        let mut limit = ChallengeLimit::default();
        let start = Time::from_secs(5);
        assert_eq!((0..50).filter(|_| limit.admit(start)).count(), 10);
        assert!(!limit.admit(start + Time::from(core::time::Duration::from_millis(999))));
        assert!(limit.admit(start + PERIOD));
    }
}
