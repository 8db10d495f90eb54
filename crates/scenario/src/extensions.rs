//! What goes beyond Salehi 1994 apart from [costs](crate::Effects): service times that vary, processors of unlike speed, limited
//! queues, priorities, and closed loops.
//!
//! ```toml
//! speeds = [1.0, 1.0, 0.5, 0.5]
//! priorities = [2, 6]
//!
//! [service]
//! distribution = "exponential"
//!
//! [queues]
//! limit = 16
//! ```

use crate::scheduling::{Parallelism, QueueRule, Scheduling};
use serde::{Deserialize, Serialize};
use warmcore_policy::dispatch::{QueueLimit, QueueRules};
use warmcore_units::Fault;
use warmcore_workload::{ClosedLoop, TimeDistribution, TimeFactors};

/// How service times vary: the `[service]` table of a scenario.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Service {
    /// Their distribution around the costs of a packet.
    pub distribution: TimeDistribution,
}

/// How many packets may wait: the `[queues]` table of a scenario.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct QueueTable {
    /// This many, not counting those in service; a packet that finds them waiting is lost. Without it, all may wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Which queues the limit counts.
    pub scope: LimitScope,
}

/// Which queues a limit counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LimitScope {
    /// Each queue by itself.
    #[default]
    Each,
    /// All queues of the host together.
    Host,
}

impl QueueTable {
    /// The limit, if there is one.
    #[must_use]
    pub fn limit(self) -> Option<QueueLimit> {
        self.limit.map(|packets| match self.scope {
            LimitScope::Each => QueueLimit::Each(packets),
            LimitScope::Host => QueueLimit::Together(packets),
        })
    }
}

/// The extensions of a host, borrowed from its scenario.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Extensions<'a> {
    /// How service times vary around the costs.
    pub service: &'a TimeDistribution,
    /// The speed of each processor: one of speed 0.5 takes twice as long for the same work. Empty if all have
    /// speed 1.
    pub speeds: &'a [f64],
    /// Limits of queues, and classes of streams.
    pub queues: QueueRules<'a>,
    /// Requests of clients that wait for the answers, in addition to packets that arrive.
    pub closed: Option<&'a ClosedLoop>,
}

impl Extensions<'_> {
    /// None: service times as modelled, processors of speed 1, one class, and all packets may wait.
    pub const NONE: Self = Self {
        service: &TimeDistribution::Deterministic,
        speeds: &[],
        queues: QueueRules { limit: None, classes: &[] },
        closed: None,
    };

    /// Speeds that a processor may have.
    const SPEEDS: core::ops::RangeInclusive<f64> = 1e-3..=1e3;

    /// The most classes of streams, the last one included.
    pub const MAX_CLASSES: usize = 8;

    /// Whether queues cannot grow for ever, so that there always is a steady state.
    #[must_use]
    pub fn are_bounded(&self) -> bool {
        self.closed.is_some() || self.queues.limit.is_some()
    }

    /// Checks that every value is possible on a host of `processors` that are scheduled like that.
    ///
    /// # Errors
    /// The first fault found, fields named as in a document.
    pub fn check(&self, processors: u32, scheduling: &Scheduling) -> Result<(), Fault> {
        let service =
            |fault: Fault| Fault { field: format!("service.distribution.{}", fault.field), ..fault };
        self.service.check().map_err(service)?;
        if !self.speeds.is_empty() && self.speeds.len() != processors as usize {
            let expected = format!("{processors}, one for each processor");
            return Err(Fault::new("speeds", format!("{} numbers", self.speeds.len()), expected));
        }
        if let Some(speed) = self.speeds.iter().find(|speed| !Self::SPEEDS.contains(speed)) {
            return Err(Fault::new("speeds", speed, "numbers from 0.001 to 1000"));
        }
        self.check_queues(scheduling)?;
        let closed =
            |fault: Fault| Fault { field: format!("traffic.process.closed.{}", fault.field), ..fault };
        self.closed.map_or(Ok(()), ClosedLoop::check).map_err(closed)?;
        if self.closed.is_some() && self.queues.limit.is_some() {
            let expected = "none with `closed` traffic: a client whose request is lost would wait for ever";
            return Err(Fault::new("queues.limit", "given", expected));
        }
        Ok(())
    }

    /// Checks that there are enough `streams` for the classes.
    ///
    /// # Errors
    /// If there are fewer.
    pub fn check_streams(&self, streams: u32) -> Result<(), Fault> {
        let classified: u64 = self.queues.classes.iter().map(|&count| u64::from(count)).sum();
        if classified <= u64::from(streams) {
            return Ok(());
        }
        let expected = format!("at most {streams} together, the number of streams");
        Err(Fault::new("priorities", format!("{classified} streams"), expected))
    }

    fn check_queues(&self, scheduling: &Scheduling) -> Result<(), Fault> {
        let QueueRules { limit, classes } = self.queues;
        let given = [("queues.limit", limit.is_some()), ("priorities", !classes.is_empty())];
        let Some((field, _)) = given.into_iter().find(|(_, given)| *given) else { return Ok(()) };
        if scheduling.approach == Parallelism::Ips {
            let expected = "none under `ips`: there, packets wait at their stack and not in a queue of packets; give \
                            `locking` or `hybrid`";
            return Err(Fault::new(field, "given", expected));
        }
        if scheduling.queue != QueueRule::Fifo {
            let expected = "none with `same-stream-first`: give `fifo`, which is the order within a class";
            return Err(Fault::new(field, "given", expected));
        }
        if classes.len() >= Self::MAX_CLASSES {
            let expected = format!(
                "at most {}: the streams left over are one more class, and there are up to {}",
                Self::MAX_CLASSES - 1,
                Self::MAX_CLASSES
            );
            return Err(Fault::new("priorities", format!("{} classes", classes.len()), expected));
        }
        if classes.contains(&0) {
            return Err(Fault::new("priorities", 0, "at least 1 stream in each class"));
        }
        Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_go_together_is_refused_by_field() {
        let field = |extensions: Extensions, approach, queue| {
            let scheduling = Scheduling { approach, queue, ..Scheduling::default() };
            extensions.check(2, &scheduling).map_err(|fault| fault.field)
        };
        let refused = |field: &str| Err(field.to_owned());
        let fifo = |extensions| field(extensions, Parallelism::Locking, QueueRule::Fifo);
        let none = Extensions::NONE;
        assert_eq!(fifo(none), Ok(()));
        assert_eq!(fifo(Extensions { speeds: &[1.0], ..none }), refused("speeds"));
        assert_eq!(fifo(Extensions { speeds: &[1.0, 0.0], ..none }), refused("speeds"));
        let limited = Extensions {
            queues: QueueRules { limit: Some(QueueLimit::Each(3)), ..QueueRules::default() },
            ..none
        };
        assert_eq!(fifo(limited), Ok(()));
        assert_eq!(field(limited, Parallelism::Ips, QueueRule::Fifo), refused("queues.limit"));
        assert_eq!(field(limited, Parallelism::Locking, QueueRule::SameStreamFirst), refused("queues.limit"));
        let classes = |classes| Extensions { queues: QueueRules { limit: None, classes }, ..none };
        assert_eq!(fifo(classes(&[1, 2])), Ok(()));
        assert_eq!(fifo(classes(&[1, 0])), refused("priorities"));
        assert_eq!(fifo(classes(&[1; 8])), refused("priorities"));
        assert_eq!(field(classes(&[1]), Parallelism::Ips, QueueRule::Fifo), refused("priorities"));
        let closed = ClosedLoop {
            window: 0,
            think: warmcore_units::Nanos::ZERO,
            distribution: TimeDistribution::Exponential,
        };
        assert_eq!(
            fifo(Extensions { closed: Some(&closed), ..none }),
            refused("traffic.process.closed.window")
        );
        let closed = ClosedLoop { window: 1, ..closed.clone() };
        assert_eq!(fifo(Extensions { closed: Some(&closed), ..limited }), refused("queues.limit"));
    }
}
