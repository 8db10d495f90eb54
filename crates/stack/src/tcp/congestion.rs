//! Congestion control: slow start, congestion avoidance, fast retransmit (RFC 5681) after limited
//! transmit (RFC 3042), and fast recovery as in NewReno (RFC 6582).

use crate::wire::SequenceNumber;
use core::hint::cold_path;

/// Duplicate acknowledgements that mean a loss.
const DUPLICATES: u32 = 3;

/// What an acknowledgement asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub(super) enum Reaction {
    None,
    /// Resend the first segment that is not acknowledged.
    ResendFirst,
}

/// What of the last loss still matters. `recover` is the end of what had been sent then (RFC 6582, §3.2).
///
/// It is forgotten once something after it is acknowledged. A position that stayed would seem to lie ahead
/// again 2^31 bytes later, and losses be taken for repaired.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Loss {
    /// Nothing.
    None,
    /// Fast recovery goes on until everything before `recover` is acknowledged.
    Recovery { recover: SequenceNumber },
    /// What was lost has been sent again. Duplicates up to `recover` may be of that, and mean nothing
    /// (RFC 6582, §4.1).
    Resent { recover: SequenceNumber },
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Congestion {
    segment: u32,
    window: u32,
    threshold: u32,
    duplicates: u32,
    loss: Loss,
    /// A window above this limits nothing.
    open: u32,
    avoid_division: bool,
}

impl Congestion {
    /// The state of a connection that can never have more than `open` bytes in flight.
    pub(super) const fn new(open: u32, avoid_division: bool) -> Self {
        Self {
            segment: 1,
            window: 1,
            threshold: u32::MAX,
            duplicates: 0,
            loss: Loss::None,
            open,
            avoid_division,
        }
    }

    /// The connection is established with segments of `segment` bytes.
    pub(super) fn established(&mut self, segment: u32, syn_lost: bool) {
        self.segment = segment;
        self.window = if syn_lost { segment } else { self.initial_window() };
    }

    /// RFC 5681, equation 1 and what follows it.
    const fn initial_window(&self) -> u32 {
        match self.segment {
            2191.. => 2 * self.segment,
            1096.. => 3 * self.segment,
            _ => 4 * self.segment,
        }
    }

    /// Bytes that may be in flight. The first two duplicates allow a new segment each, so that small
    /// windows too see a third (RFC 3042).
    pub(super) const fn window(&self) -> u32 {
        if matches!(self.loss, Loss::Recovery { .. }) || self.duplicates >= DUPLICATES {
            return self.window;
        }
        self.window.saturating_add(self.duplicates * self.segment)
    }

    /// An acknowledgement of `acked` new bytes, up to `ack`, arrived; `flight` bytes are still in flight.
    pub(super) fn acknowledged(&mut self, ack: SequenceNumber, acked: u32, flight: u32) -> Reaction {
        self.duplicates = 0;
        match self.loss {
            Loss::None => {
                self.enlarge(acked);
                Reaction::None
            }
            Loss::Resent { recover } => {
                cold_path();
                if recover.is_before(ack) {
                    self.loss = Loss::None;
                }
                self.enlarge(acked);
                Reaction::None
            }
            Loss::Recovery { recover } => {
                cold_path();
                self.acknowledged_in_recovery(recover, ack, acked, flight)
            }
        }
    }

    fn acknowledged_in_recovery(
        &mut self,
        recover: SequenceNumber,
        ack: SequenceNumber,
        acked: u32,
        flight: u32,
    ) -> Reaction {
        if recover.is_at_or_before(ack) {
            self.loss = Loss::Resent { recover };
            self.window = self.threshold.min(flight.max(self.segment) + self.segment);
            return Reaction::None;
        }
        // A partial acknowledgement: the next segment is lost too (RFC 6582, §3.2, step 3).
        self.window = self.window.saturating_sub(acked).max(self.segment);
        if acked >= self.segment {
            self.window = self.window.saturating_add(self.segment);
        }
        Reaction::ResendFirst
    }

    fn enlarge(&mut self, acked: u32) {
        // The common case of a network without losses, which needs no division (Mosberger 1996, §2.2.2).
        if self.avoid_division && self.window >= self.open {
            return;
        }
        let more = if self.window < self.threshold {
            acked.min(self.segment)
        } else {
            let square = u64::from(self.segment) * u64::from(self.segment);
            (square / u64::from(self.window)).max(1) as u32
        };
        self.window = self.window.saturating_add(more).min(self.open.max(self.segment));
    }

    /// An acknowledgement of nothing new arrived while data was in flight: everything before `una` is
    /// acknowledged, everything before `sent` has been sent.
    pub(super) fn duplicate(&mut self, una: SequenceNumber, sent: SequenceNumber) -> Reaction {
        self.duplicates = self.duplicates.saturating_add(1);
        match self.loss {
            Loss::Recovery { .. } => {
                self.window = self.window.saturating_add(self.segment);
                return Reaction::None;
            }
            Loss::Resent { recover } if una.is_at_or_before(recover) => return Reaction::None,
            Loss::Resent { .. } | Loss::None => {}
        }
        if self.duplicates != DUPLICATES {
            return Reaction::None;
        }
        self.loss = Loss::Recovery { recover: sent };
        // Without what the first duplicates allowed (RFC 5681, §3.2, step 2).
        self.lower_threshold(sent.since(una).min(self.window));
        self.window = self.threshold + DUPLICATES * self.segment;
        Reaction::ResendFirst
    }

    /// The retransmission timer expired. If it did so before for the same data, nothing new was sent
    /// since, and the threshold stays as it is (RFC 5681, §3.1).
    pub(super) fn timed_out(&mut self, una: SequenceNumber, sent: SequenceNumber) {
        self.lower_threshold(sent.since(una));
        self.window = self.segment;
        self.duplicates = 0;
        self.loss = Loss::Resent { recover: sent };
    }

    /// RFC 5681, equation 4.
    fn lower_threshold(&mut self, flight: u32) {
        self.threshold = (flight / 2).max(2 * self.segment);
    }

    /// Nothing was sent for longer than a retransmission timeout (RFC 5681, §4.1).
    pub(super) fn restart(&mut self) {
        self.window = self.window.min(self.initial_window());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: SequenceNumber = SequenceNumber(u32::MAX - 5000);
    const SEGMENT: u32 = 1000;

    fn established(avoid_division: bool) -> Congestion {
        let mut congestion = Congestion::new(100_000, avoid_division);
        congestion.established(SEGMENT, false);
        congestion
    }

    #[test]
    fn the_window_begins_with_four_segments_and_with_one_after_a_lost_syn() {
        assert_eq!(established(true).window(), 4 * SEGMENT);
        let mut congestion = established(true);
        congestion.established(SEGMENT, true);
        assert_eq!(congestion.window(), SEGMENT);
        congestion.established(1460, false);
        assert_eq!(congestion.window(), 3 * 1460);
        congestion.established(4000, false);
        assert_eq!(congestion.window(), 2 * 4000);
    }

    #[test]
    fn slow_start_adds_a_segment_for_each_and_avoidance_one_for_each_window() {
        let mut congestion = established(true);
        assert_eq!(congestion.acknowledged(START + 2000, 2000, 0), Reaction::None);
        assert_eq!(congestion.window(), 5000);
        congestion.timed_out(START + 2000, START + 18_000);
        assert_eq!(congestion.window(), SEGMENT);
        for ack in 3..=10 {
            assert_eq!(congestion.acknowledged(START + ack * SEGMENT, SEGMENT, 0), Reaction::None);
        }
        let before = congestion.window();
        assert_eq!(before, 8000 + 125, "seven segments to the threshold, then 1000 * 1000 / 8000");
    }

    #[test]
    fn an_open_window_stays_as_it_is_with_and_without_the_division() {
        for avoid_division in [false, true] {
            let mut congestion = established(avoid_division);
            for _ in 0..200 {
                assert_eq!(congestion.acknowledged(START, SEGMENT, 0), Reaction::None);
            }
            assert_eq!(congestion.window(), 100_000);
        }
    }

    #[test]
    fn three_duplicates_resend_once_and_halve_and_a_full_acknowledgement_ends_that() {
        let mut congestion = established(true);
        for _ in 0..4 {
            assert_eq!(congestion.acknowledged(START, SEGMENT, 0), Reaction::None);
        }
        let (una, sent) = (START + 1, START + 8001);
        let reactions = [(); 4].map(|()| congestion.duplicate(una, sent));
        assert_eq!(reactions, [Reaction::None, Reaction::None, Reaction::ResendFirst, Reaction::None]);
        assert_eq!(congestion.window(), 4000 + 3 * SEGMENT + SEGMENT);
        assert_eq!(congestion.acknowledged(una + 2000, 2000, 6000), Reaction::ResendFirst);
        assert_eq!(congestion.acknowledged(sent, 6000, 0), Reaction::None);
        assert_eq!(congestion.window(), 2 * SEGMENT);
    }

    /// Acknowledges `bytes` without a loss, from `una`; returns the new `una`.
    fn stream(congestion: &mut Congestion, una: SequenceNumber, bytes: u64) -> SequenceNumber {
        let step = 1_u32 << 16;
        (0..bytes / u64::from(step)).fold(una, |una, _| {
            assert_eq!(congestion.acknowledged(una + step, step, 0), Reaction::None);
            una + step
        })
    }

    fn third_duplicate(congestion: &mut Congestion, una: SequenceNumber) -> Reaction {
        let reactions = [(); 3].map(|()| congestion.duplicate(una, una + 8000));
        reactions[2]
    }

    #[test]
    fn a_loss_is_noticed_however_far_the_last_one_or_the_beginning_is_behind() {
        const GIB: u64 = 1 << 30;
        for quarters in 1..24 {
            let mut begun = established(true);
            let una = stream(&mut begun, START + 1, quarters * GIB / 4);
            assert_eq!(
                third_duplicate(&mut begun, una),
                Reaction::ResendFirst,
                "{quarters} quarters of a GiB"
            );

            assert_eq!(begun.acknowledged(una + 8000, 8000, 0), Reaction::None);
            let una = stream(&mut begun, una + 8000, quarters * GIB / 4);
            assert_eq!(third_duplicate(&mut begun, una), Reaction::ResendFirst, "after a recovery");

            let mut late = established(true);
            late.timed_out(START + 1, START + 8001);
            let una = stream(&mut late, START + 1, quarters * GIB / 4);
            assert_eq!(third_duplicate(&mut late, una), Reaction::ResendFirst, "after a timeout");
        }
    }

    #[test]
    fn duplicates_up_to_the_end_of_a_recovery_do_not_begin_another() {
        let mut congestion = established(true);
        let (una, sent) = (START + 1, START + 8001);
        assert_eq!(third_duplicate(&mut congestion, una), Reaction::ResendFirst);
        assert_eq!(congestion.acknowledged(sent, 8000, 0), Reaction::None);
        assert_eq!(third_duplicate(&mut congestion, sent), Reaction::None);
        assert_eq!(congestion.acknowledged(sent + 1, 1, 0), Reaction::None);
        assert_eq!(third_duplicate(&mut congestion, sent + 1), Reaction::ResendFirst);
    }

    #[test]
    fn duplicates_of_what_a_timeout_resent_do_not_resend_again() {
        let mut congestion = established(true);
        congestion.timed_out(START + 1, START + 8001);
        for _ in 0..5 {
            assert_eq!(congestion.duplicate(START + 4001, START + 8001), Reaction::None);
        }
        congestion.timed_out(START + 1, START + 8001);
        assert_eq!(congestion.window(), SEGMENT);
    }
}
