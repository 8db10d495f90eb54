//! Resets for segments that belong to no connection (RFC 9293, §3.10.7.1).

use crate::wire::SequenceNumber;
use crate::wire::tcp::Segment;

/// The answer to a segment that is for no connection: a reset that its sender accepts, or nothing if
/// it is a reset itself.
#[must_use]
pub fn refuse(segment: &Segment<'_>) -> Option<Segment<'static>> {
    if segment.reset {
        return None;
    }
    let reset = Segment { reset: true, ..Segment::default() };
    Some(match segment.acknowledgement {
        Some(ack) => Segment { sequence: ack, ..reset },
        None => {
            let end = segment.sequence + segment.sequence_length();
            Segment { sequence: SequenceNumber(0), acknowledgement: Some(end), ..reset }
        }
    })
}
