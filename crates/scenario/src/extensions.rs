//! What goes beyond Salehi 1994 apart from [costs](crate::Effects): service times that vary, and processors of unlike speed.

use serde::{Deserialize, Serialize};
use warmcore_units::Fault;
use warmcore_workload::{TimeDistribution, TimeFactors};

/// How service times vary: the `[service]` table of a scenario.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Service {
    /// Their distribution around the costs of a packet.
    pub distribution: TimeDistribution,
}

/// The extensions of a host, borrowed from its scenario.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Extensions<'a> {
    /// How service times vary around the costs.
    pub service: &'a TimeDistribution,
    /// The speed of each processor: one of speed 0.5 takes twice as long for the same work. Empty if all have
    /// speed 1.
    pub speeds: &'a [f64],
}

impl Extensions<'_> {
    /// None: service times as modelled, processors of speed 1.
    pub const NONE: Self = Self { service: &TimeDistribution::Deterministic, speeds: &[] };

    /// Speeds that a processor may have.
    const SPEEDS: core::ops::RangeInclusive<f64> = 1e-3..=1e3;

    /// Checks that every value is possible on a host of `processors`.
    ///
    /// # Errors
    /// The first fault found, fields named as in a document.
    pub fn check(&self, processors: u32) -> Result<(), Fault> {
        let service =
            |fault: Fault| Fault { field: format!("service.distribution.{}", fault.field), ..fault };
        self.service.check().map_err(service)?;
        if !self.speeds.is_empty() && self.speeds.len() != processors as usize {
            let expected = format!("{processors}, one for each processor");
            return Err(Fault::new("speeds", format!("{} numbers", self.speeds.len()), expected));
        }
        match self.speeds.iter().find(|speed| !Self::SPEEDS.contains(speed)) {
            Some(speed) => Err(Fault::new("speeds", speed, "numbers from 0.001 to 1000")),
            None => Ok(()),
        }
    }

    /// The factors of the service times. The extensions must have been checked.
    #[must_use]
    pub fn service_factors(&self) -> TimeFactors {
        self.service.factors().unwrap_or(TimeFactors::ONE)
    }
}

impl Default for Extensions<'_> {
    fn default() -> Self {
        Self::NONE
    }
}
