//! Header prediction: the short way of the segments that a transfer in one direction consists of
//! (Clark, Jacobson, Romkey & Salwen 1989; Mosberger 1996, §2.3).
//!
//! It does just what the long way would do, with fewer checks. So it can be switched on and off; a test
//! compares every segment that is sent with and without.

use super::Connection;
use crate::tcp::state::State;
use crate::tcp::time::Time;
use crate::wire::tcp::Segment;

impl Connection {
    /// Whether `segment` is the next of an established connection, and either carries data that fits and
    /// acknowledges nothing new, or carries nothing and acknowledges something.
    #[inline]
    pub(super) fn is_predicted(&self, segment: &Segment<'_>) -> bool {
        let Some(ack) = segment.acknowledgement else { return false };
        let is_plain = !(segment.syn || segment.fin || segment.reset);
        let is_expected =
            self.state == State::Established && is_plain && segment.sequence == self.receive.next();
        is_expected
            && if segment.payload.is_empty() {
                self.acknowledges_something(ack)
            } else {
                ack == self.send.una() && segment.payload.len() <= self.receive.window() as usize
            }
    }

    /// Processes a predicted segment.
    pub(super) fn arrives_as_predicted(&mut self, now: Time, segment: &Segment<'_>) {
        self.timers.answered();
        if let Some(ack) = segment.acknowledgement {
            if segment.payload.is_empty() {
                self.acknowledge(now, ack);
            }
            self.send.update_window(segment, ack);
        }
        if !segment.payload.is_empty() {
            self.data_arrives(now, segment);
        }
    }
}
