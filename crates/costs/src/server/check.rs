//! Plausibility checks of a server's costs.

use super::ServerCosts;
use crate::socket::check::check_time;
use warmcore_units::{Fault, Nanos, Transport};

impl ServerCosts {
    /// Refuses what cannot be a duration, in a document's `field`.
    ///
    /// # Errors
    /// The first invalid field, with what was found and what was expected.
    pub fn check(&self, field: &str) -> Result<(), Fault> {
        let source = &self.source;
        check_time(&format!("{field}.source.late_busy"), &source.late_busy)?;
        check_time(&format!("{field}.source.stolen"), &source.stolen)?;
        check_time(&format!("{field}.source.stolen_more"), &source.stolen_more)?;
        if self.transport == Transport::Rpc {
            return Err(Fault::new(format!("{field}.transport"), self.transport, "udp or tcp"));
        }
        if self.flows == 0 {
            return Err(Fault::new(format!("{field}.flows"), 0, "1 or more"));
        }
        for (index, row) in self.alone.iter().enumerate() {
            let field = format!("{field}.alone.{index}");
            if !(row.idle.0.is_finite() && row.idle >= Nanos::ZERO) {
                let found = format!("{} ns", row.idle.0);
                return Err(Fault::new(format!("{field}.idle"), found, "a finite duration, not negative"));
            }
            check_time(&format!("{field}.late"), &row.late)?;
            check_time(&format!("{field}.call"), &row.call)?;
            check_time(&format!("{field}.reply"), &row.reply)?;
            check_time(&format!("{field}.worker_cpu"), &row.worker_cpu)?;
        }
        for (index, row) in self.bursts.iter().enumerate() {
            let field = format!("{field}.bursts.{index}");
            if row.requests < 2 {
                return Err(Fault::new(format!("{field}.requests"), row.requests, "2 or more"));
            }
            check_time(&format!("{field}.call"), &row.call)?;
            check_time(&format!("{field}.last_reply"), &row.last_reply)?;
            check_time(&format!("{field}.worker_cpu"), &row.worker_cpu)?;
        }
        Ok(())
    }
}
