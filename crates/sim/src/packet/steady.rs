//! The runs that a point takes, and what is known of its steady state from them.

use crate::packet::capacity::Capacity;
use crate::packet::outcome::{Ended, Outcome};
use crate::packet::point::{Point, PointError};
use crate::packet::replications::{ENOUGH, combined};
use crate::packet::run::{Observed, Precision, Watch};
use rayon::prelude::*;
use std::ops::Range;
use warmcore_scenario::Mixing;
use warmcore_stats::{Replications, StoppingRule, Verdict};

/// A host whose capacity exceeds the rate is saturated only if the queues of so many independent runs
/// all grow: a stack or processor then has more than its share. One run that grows may be chance.
const CONFIRMING: u64 = 5;
/// Phases with which a periodic point is run at first.
const PHASES: u64 = 40;
/// Packets of each such run, at least, and for each that the host needs to settle: what is periodic repeats soon.
const PHASE_PACKETS: (u64, u64) = (10_000, 4);
/// Packets for each processor, over the part of the capacity that is left: what waits since caches were cold at the
/// start drains the more slowly the less is left.
const DRAINED: f64 = 100.0;
/// From this load on a periodic point is not known: no run is long enough for that.
const HARDLY_DRAINS: f64 = 0.98;

/// What it tells that the queues of all runs grow.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Growing {
    IsSaturated,
    SaysNothing,
}

impl Point<'_> {
    /// The steady state, under a `capacity` that the rate does not certainly exceed; `None` if there is none.
    pub(super) fn steady(&self, capacity: &Capacity) -> Result<Option<Outcome>, PointError> {
        let growing = if capacity.is_at(self.rate) { Growing::SaysNothing } else { Growing::IsSaturated };
        let outcome = match self.mixing() {
            Mixing::After(_) => self.long_runs(self.precision(), growing)?,
            Mixing::Never => self.phases(growing)?,
            Mixing::Slowly => self.runs_without_intervals(growing)?,
        };
        Ok(outcome
            .map(|outcome| Outcome { ended: capacity.judge(self.rate, outcome.ended), ..outcome }.honest()))
    }

    fn long_runs(&self, precision: Precision, growing: Growing) -> Result<Option<Outcome>, PointError> {
        // Together they are more precise than each by the root of their number.
        let alone =
            Precision { relative: precision.relative * (self.replications() as f64).sqrt(), ..precision };
        if let Some(runs) = self.settled_runs(alone)? {
            return Ok(combined(runs, precision.relative));
        }
        if growing == Growing::IsSaturated {
            return Ok(None);
        }
        let runs = self.replicate(0..self.replications(), alone, Watch::Regardless)?;
        Ok(combined(runs, precision.relative).map(|outcome| Outcome { ended: Ended::Unknown, ..outcome }))
    }

    /// All as long as may be: what looks precise in between has only met little of what may come.
    fn runs_without_intervals(&self, growing: Growing) -> Result<Option<Outcome>, PointError> {
        let precision = Precision { relative: Precision::UNREACHABLE, ..self.precision() };
        let outcome = self.long_runs(precision, growing)?;
        Ok(outcome.map(|outcome| Outcome { ended: Ended::HeavyTailed, ..outcome.without_intervals() }))
    }

    /// As many short runs, each with phases of its own, as it takes for their mean to be precise.
    fn phases(&self, growing: Growing) -> Result<Option<Outcome>, PointError> {
        let precision = self.precision();
        let left = (1.0 - self.load()).max(1.0 - HARDLY_DRAINS);
        let drained = (DRAINED * f64::from(self.processors()) / left) as u64;
        let each =
            PHASE_PACKETS.0.max(PHASE_PACKETS.1 * self.settled()).max(drained).min(precision.max_packets);
        let most = precision.max_packets.saturating_mul(self.replications()) / each;
        let short = Precision { relative: Precision::UNREACHABLE, max_packets: each, ..precision };
        let mut judgements = StoppingRule::new(precision.relative, most).first_at(PHASES);
        let mut runs = Vec::new();
        loop {
            let more = self.replicate(runs.len() as u64..judgements.at(), short, Watch::Regardless)?;
            runs.extend(more);
            if growing == Growing::IsSaturated && runs.iter().all(|run| run.grows) {
                return Ok(None);
            }
            let means: Replications = runs.iter().map(|run| run.outcome.delay.mean.0).collect();
            let ended = match judgements.judge(means.interval()) {
                Verdict::Continue => continue,
                Verdict::Precise if self.load() < HARDLY_DRAINS => Ended::Precise,
                Verdict::Precise => Ended::Exhausted,
                Verdict::Exhausted => Ended::Exhausted,
            };
            let known = runs.len() >= ENOUGH;
            let outcome = combined(runs, precision.relative).map(|outcome| Outcome { ended, ..outcome });
            return Ok(outcome.map(|outcome| if known { outcome } else { outcome.without_intervals() }));
        }
    }

    /// A run for each replication; `None` if the queues of all grow, and of more if those are few.
    fn settled_runs(&self, precision: Precision) -> Result<Option<Vec<Observed>>, PointError> {
        let asked = 0..self.replications();
        let runs = self.replicate(asked.clone(), precision, Watch::Growth)?;
        if !runs.iter().any(|run| run.grows) {
            return Ok(Some(runs));
        }
        if runs.iter().all(|run| run.grows)
            && self.replicate(asked.end..CONFIRMING, precision, Watch::Growth)?.iter().all(|run| run.grows)
        {
            return Ok(None);
        }
        self.replicate(asked, precision, Watch::Regardless).map(Some)
    }

    fn replicate(
        &self,
        replications: Range<u64>,
        precision: Precision,
        watch: Watch,
    ) -> Result<Vec<Observed>, PointError> {
        replications.into_par_iter().map(|replication| self.run(replication, precision, watch)).collect()
    }
}
