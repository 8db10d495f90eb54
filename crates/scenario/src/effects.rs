//! Costs that the model of Salehi 1994 leaves out; each is zero by default.

use serde::{Deserialize, Serialize};
use warmcore_units::{Fault, Nanos};

/// Costs in addition to those of a profile.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Effects {
    /// Checksumming a byte of a packet's data, in nanoseconds. Salehi 1994 gives 32 bytes per microsecond
    /// (§5): 31.25.
    pub checksum_ns_per_byte: f64,
    /// Copying a byte of a packet's data, which no cache holds yet, in nanoseconds.
    pub copy_ns_per_byte: f64,
    /// Length of the send path as a fraction of the receive path without demultiplexing (§8
    /// conjectures that it is shorter).
    pub send_path: f64,
    /// How long a packet holds the locks of the active maps, in nanoseconds. Only Locking has them; a packet
    /// takes them when service starts, first come first served.
    pub map_lock_ns: f64,
    /// How long a packet holds the locks of its session, in nanoseconds, under the same rules.
    pub session_lock_ns: f64,
    /// The cost of choosing a processor, in nanoseconds per packet, paid by the processor that processes it.
    pub decision_ns: f64,
    /// How long a processor that was doing other work takes to turn to a packet, in nanoseconds, in addition
    /// to the decision and to what the packet finds in cache. Negative, down to minus `decision_ns`, if such
    /// a packet saves part of the decision.
    pub start_ns: f64,
    /// The age of the policy's view of other processors, in nanoseconds: it learns this much later that one
    /// has finished a packet. It knows its own decisions at once.
    pub staleness_ns: f64,
}

impl Default for Effects {
    fn default() -> Self {
        Self::NONE
    }
}

impl Effects {
    /// The model of Salehi 1994.
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

    /// The age of the policy's view.
    #[must_use]
    pub const fn staleness(&self) -> Nanos {
        Nanos(self.staleness_ns)
    }

    /// Checks that every value is possible.
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
            let expected = "between minus the cost of a decision and 1e9 nanoseconds";
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
