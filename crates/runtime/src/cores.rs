//! The cores for workers.

use warmcore_linux::{Probe, ProbeError};
use warmcore_units::CpuId;

/// The default processors for workers: one for each core that this process may use.
///
/// # Errors
/// If the topology of the machine cannot be read.
pub fn usable_cores() -> Result<Vec<CpuId>, ProbeError> {
    Ok(Probe::new().machine()?.machine.usable_cores())
}
