//! What the source leaves out of its model, each at no effect by default.

use serde::{Deserialize, Serialize};
use warmcore_units::{Fault, Nanos};

/// Costs beside those of a profile.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Effects {
    /// Checksumming a byte of a packet's data, in nanoseconds. The source gives 32 bytes per
    /// microsecond (§5): 31.25.
    pub checksum_ns_per_byte: f64,
    /// Copying a byte of a packet's data, which no cache holds yet, in nanoseconds.
    pub copy_ns_per_byte: f64,
    /// Length of the send path as a fraction of the receive path without demultiplexing (§8
    /// conjectures that it is shorter).
    pub send_path: f64,
    /// How long a packet holds the locks of the active maps, in nanoseconds; they are taken when
    /// service starts, first come first served, and only Locking has them.
    pub map_lock_ns: f64,
    /// How long a packet holds the locks of its session, in nanoseconds, likewise.
    pub session_lock_ns: f64,
    /// What deciding on a processor costs, in nanoseconds for each packet; paid by the processor
    /// that processes it.
    pub decision_ns: f64,
    /// What it takes until a processor that was doing other work has turned to a packet, in
    /// nanoseconds, beside what deciding costs and what the packet then finds in cache. Below zero,
    /// down to all that deciding costs, where such a packet is spared part of that.
    pub start_ns: f64,
    /// How old what the policy sees of other processors is, in nanoseconds: that one has finished
    /// a packet is known only so much later. What the policy decided itself it knows at once.
    pub staleness_ns: f64,
}

impl Default for Effects {
    fn default() -> Self {
        Self::NONE
    }
}

impl Effects {
    /// The source's model.
    pub const NONE: Self = Self {
        checksum_ns_per_byte: 0.0,
        copy_ns_per_byte: 0.0,
        send_path: 1.0,
        map_lock_ns: 0.0,
        session_lock_ns: 0.0,
        decision_ns: 0.0,
        start_ns: 0.0,
        staleness_ns: 0.0,
    };

    /// How old the view is.
    #[must_use]
    pub const fn staleness(&self) -> Nanos {
        Nanos(self.staleness_ns)
    }

    /// Whether every value is one that can be.
    ///
    /// # Errors
    /// The first fault found, fields named as in a document.
    pub fn check(&self) -> Result<(), Fault> {
        for (field, value) in [
            ("checksum_ns_per_byte", self.checksum_ns_per_byte),
            ("copy_ns_per_byte", self.copy_ns_per_byte),
            ("map_lock_ns", self.map_lock_ns),
            ("session_lock_ns", self.session_lock_ns),
            ("decision_ns", self.decision_ns),
            ("staleness_ns", self.staleness_ns),
        ] {
            if !(0.0..=1e9).contains(&value) {
                return Err(Fault::new(format!("effects.{field}"), value, "between 0 and 1e9 nanoseconds"));
            }
        }
        if !(-self.decision_ns..=1e9).contains(&self.start_ns) {
            let expected = "between what deciding costs, below zero, and 1e9 nanoseconds";
            return Err(Fault::new("effects.start_ns", self.start_ns, expected));
        }
        if !(self.send_path > 0.0 && self.send_path <= 10.0) {
            let expected = "above 0, at most 10 times the receive path";
            return Err(Fault::new("effects.send_path", self.send_path, expected));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_effects_are_refused_by_field() {
        assert_eq!(Effects::NONE.check(), Ok(()));
        let negative = Effects { decision_ns: -1.0, ..Effects::NONE };
        assert_eq!(negative.check().unwrap_err().field, "effects.decision_ns");
        let spared = Effects { decision_ns: 5.0, start_ns: -5.0, ..Effects::NONE };
        assert_eq!(spared.check(), Ok(()));
        let too_much = Effects { decision_ns: 5.0, start_ns: -6.0, ..Effects::NONE };
        assert_eq!(too_much.check().unwrap_err().field, "effects.start_ns");
        let no_path = Effects { send_path: f64::NAN, ..Effects::NONE };
        assert_eq!(no_path.check().unwrap_err().field, "effects.send_path");
    }
}
