//! The changes of §2.2, each with its switch.

/// Which of the changes of §2.2 are made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Switches {
    /// Received messages are refreshed in place (§2.2.2).
    pub refresh_in_place: bool,
    /// Fields of LANCE descriptors are changed where they are, not in a copy (§2.2.4).
    pub direct_descriptors: bool,
    /// The cached entry of a map is tested where it is looked up (§2.2.3).
    pub inline_cache_test: bool,
    /// No multiplication and division for windows (§2.2.2).
    pub avoid_division: bool,
    /// A packet classifier says which messages take the path (§3.3). The source measures without.
    pub classifier: bool,
}

impl Switches {
    /// The switches that `bits` sets, from the lowest: in the order of the fields.
    #[must_use]
    pub const fn from_bits(bits: u64) -> Self {
        Self {
            refresh_in_place: bits & 1 != 0,
            direct_descriptors: bits & 2 != 0,
            inline_cache_test: bits & 4 != 0,
            avoid_division: bits & 8 != 0,
            classifier: bits & 16 != 0,
        }
    }
}
