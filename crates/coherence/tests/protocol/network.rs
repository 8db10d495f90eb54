//! What is under way between nodes, and what may arrive next.

use warmcore_coherence::Message;

/// A message under way.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Envelope {
    pub from: u8,
    pub to: u8,
    pub block: u8,
    /// The thread of the sender whose send queue it is in.
    pub thread: u8,
    pub message: Message,
    /// What the block holds that goes with it.
    pub value: Option<u32>,
}

/// Which messages arrive in the order in which they were sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Order {
    /// All of one node to another.
    ByPair,
    /// All about one block of one node to another.
    ByBlock,
    /// All that one protocol thread of a node sends to another node; any thread handles any event. Two threads.
    ByThread,
    /// All about one block that go to its home.
    ToHome,
    /// All about one block that come from its home.
    FromHome,
}

impl Order {
    /// How many threads may handle an event, with a send queue each.
    pub(crate) fn threads(self) -> u8 {
        if self == Self::ByThread { 2 } else { 1 }
    }

    /// What an envelope keeps its order with; `None`: nothing.
    fn lane(self, envelope: &Envelope) -> Option<(u8, u8, u8)> {
        let Envelope { from, to, block, thread, message, .. } = *envelope;
        match self {
            Self::ByPair => Some((from, to, 0)),
            Self::ByBlock => Some((from, to, block)),
            Self::ByThread => Some((from, to, thread)),
            Self::ToHome => message.goes_home().then_some((from, to, block)),
            Self::FromHome => (!message.goes_home()).then_some((from, to, block)),
        }
    }

    /// Adds an envelope: behind those of its lane, and unordered ones by content, so that equal networks look equal.
    pub(crate) fn send(self, in_flight: &mut Vec<Envelope>, envelope: Envelope) {
        let rank = |envelope: &Envelope| {
            let lane = self.lane(envelope);
            (lane, lane.is_none().then_some(*envelope))
        };
        let place = in_flight.partition_point(|other| rank(other) <= rank(&envelope));
        in_flight.insert(place, envelope);
    }

    /// The places in `in_flight` of all that may arrive next.
    pub(crate) fn next(self, in_flight: &[Envelope]) -> impl Iterator<Item = usize> {
        let first = move |&place: &usize| {
            let Some(before) = place.checked_sub(1) else { return true };
            match self.lane(&in_flight[place]) {
                None => in_flight[before] != in_flight[place],
                lane => lane != self.lane(&in_flight[before]),
            }
        };
        (0..in_flight.len()).filter(first)
    }
}
