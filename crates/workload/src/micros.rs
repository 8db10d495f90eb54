//! Serialises a duration in microseconds, for `#[serde(with = "micros")]`.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use warmcore_units::Nanos;

pub(crate) fn serialize<S: Serializer>(duration: &Nanos, serializer: S) -> Result<S::Ok, S::Error> {
    duration.micros().serialize(serializer)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Nanos, D::Error> {
    f64::deserialize(deserializer).map(Nanos::from_micros)
}
