//! Runs the replications of a point and decides what they tell of its steady state.

use crate::packet::capacity::Capacity;
use crate::packet::needs::outlasts_queues;
use crate::packet::outcome::{Ended, Outcome};
use crate::packet::point::{Point, PointError};
use crate::packet::replications::{ENOUGH, combined};
use crate::packet::run::{GrowthRule, Precision, Replication};
use rayon::prelude::*;
use std::ops::Range;
use warmcore_scenario::Mixing;
use warmcore_stats::{Replications, StopDecision, StoppingRule};

/// A rate below the capacity overloads a host only if the queues of this many independent runs all grow: one
/// stack or processor then gets more than its share. A single run that grows may be chance.
const CONFIRMING: u64 = 5;
/// Runs of a periodic point at first, each with its own phases.
pub(super) const PHASES: u64 = 40;
/// Packets of each such run: at least the first number, and the second for each packet that the host needs to
/// settle. Few suffice, because a periodic point repeats soon.
const PHASE_PACKETS: (u64, u64) = (10_000, 4);
/// Packets of a run per processor, divided by the share of the capacity that is left. The queue that builds
/// up while caches are cold at the start drains more slowly the less capacity is left.
const DRAINED: f64 = 100.0;
/// Above this load a periodic point is never called precise: no run is long enough for its first queue to
/// drain.
const HARDLY_DRAINS: f64 = 0.98;

/// The steady state of a point, and the runs that it was found in.
pub(super) struct SteadyState {
    pub(super) outcome: Outcome,
    /// By replication.
    pub(super) runs: Vec<RunExtent>,
}

/// Which packets of a run its figures come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct RunExtent {
    /// All packets, the warm-up included.
    pub(super) packets: u64,
    /// Those left out at the start.
    pub(super) warmup: u64,
}

impl SteadyState {
    /// What `runs` tell together, at a precision of `relative`; `None` without runs.
    fn new(runs: Vec<Replication>, relative: f64) -> Option<Self> {
        let extent =
            |run: &Replication| RunExtent { packets: run.outcome.packets, warmup: run.outcome.warmup };
        let extents = runs.iter().map(extent).collect();
        Some(Self { outcome: combined(runs, relative)?, runs: extents })
    }

    fn ended(self, ended: Ended) -> Self {
        Self { outcome: Outcome { ended, ..self.outcome }, ..self }
    }

    fn without_intervals(self) -> Self {
        Self { outcome: self.outcome.without_intervals(), ..self }
    }
}

/// What it means if the queues of all runs grow.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AllGrow {
    MeansSaturated,
    MeansNothing,
}

impl Point<'_> {
    /// The steady state at a rate that does not certainly exceed `capacity`; `None` if there is none.
    pub(super) fn steady(&self, capacity: &Capacity) -> Result<Option<SteadyState>, PointError> {
        let growing = if capacity.is_at(self.rate) { AllGrow::MeansNothing } else { AllGrow::MeansSaturated };
        let state = match (self.mixing(), self.fixed_packets()) {
            (Mixing::Slowly, _) => self.runs_without_intervals(growing)?,
            (_, Some(_)) => self.fixed_runs(growing)?,
            (Mixing::After(_), None) => self.long_runs(self.precision(), growing)?,
            (Mixing::Never, None) => self.phases(growing)?,
        };
        Ok(state.map(|state| {
            let ended = state.outcome.ended;
            let is_long = self.fixed_packets().is_some_and(|packets| outlasts_queues(packets, self.load()));
            let judged = match ended {
                Ended::Exhausted if is_long && capacity.suffices_for(self.rate) => Ended::FixedLength,
                ended if self.is_bounded() => ended,
                ended => capacity.judge(self.rate, ended),
            };
            let ended = match judged {
                Ended::Exhausted if self.fixed_packets().is_some() => Ended::FixedLength,
                judged => judged,
            };
            let outcome = Outcome { ended, ..state.outcome }.without_false_intervals();
            SteadyState { outcome, ..state }
        }))
    }

    /// Runs of exactly the packets asked for.
    fn fixed_runs(&self, growing: AllGrow) -> Result<Option<SteadyState>, PointError> {
        let precision = self.precision();
        let state = self.long_runs(precision.fixed_length(precision.max_packets), growing)?;
        Ok(state.map(|state| {
            let known = self.mixing() != Mixing::Never || state.runs.len() >= ENOUGH;
            if known { state } else { state.without_intervals() }
        }))
    }

    fn long_runs(&self, precision: Precision, growing: AllGrow) -> Result<Option<SteadyState>, PointError> {
        // Averaged together, the runs are more precise than one alone by the square root of their number.
        let alone =
            Precision { relative: precision.relative * (self.replications() as f64).sqrt(), ..precision };
        if let Some(runs) = self.settled_runs(alone)? {
            return Ok(SteadyState::new(runs, precision.relative));
        }
        if growing == AllGrow::MeansSaturated {
            return Ok(None);
        }
        let runs = self.replicate(0..self.replications(), alone, GrowthRule::Continue)?;
        Ok(SteadyState::new(runs, precision.relative).map(|state| state.ended(Ended::Unknown)))
    }

    /// Runs that all have the maximum length. A heavy-tailed run that looks precise earlier has only seen few
    /// of the events that matter.
    fn runs_without_intervals(&self, growing: AllGrow) -> Result<Option<SteadyState>, PointError> {
        let precision = self.precision();
        let state = self.long_runs(precision.fixed_length(precision.max_packets), growing)?;
        Ok(state.map(|state| state.ended(Ended::HeavyTailed).without_intervals()))
    }

    /// Short runs, each with its own phases, until their mean is precise enough.
    fn phases(&self, growing: AllGrow) -> Result<Option<SteadyState>, PointError> {
        let precision = self.precision();
        let left = (1.0 - self.load()).max(1.0 - HARDLY_DRAINS);
        let drained = (DRAINED * f64::from(self.processors()) / left) as u64;
        let each =
            PHASE_PACKETS.0.max(PHASE_PACKETS.1 * self.settled()).max(drained).min(precision.max_packets);
        let most = precision.max_packets.saturating_mul(self.replications()) / each;
        let short = precision.fixed_length(each);
        let mut judgements = StoppingRule::new(precision.relative, most).first_at(PHASES);
        let mut runs = Vec::new();
        loop {
            let more = self.replicate(runs.len() as u64..judgements.at(), short, GrowthRule::Continue)?;
            runs.extend(more);
            if growing == AllGrow::MeansSaturated && runs.iter().all(|run| run.grows) {
                return Ok(None);
            }
            let means: Replications = runs.iter().map(|run| run.outcome.delay.mean.0).collect();
            let ended = match judgements.judge(means.interval()) {
                StopDecision::Continue => continue,
                StopDecision::Precise if self.load() < HARDLY_DRAINS => Ended::Precise,
                StopDecision::Precise => Ended::Exhausted,
                StopDecision::Exhausted => Ended::Exhausted,
            };
            let known = runs.len() >= ENOUGH;
            let state = SteadyState::new(runs, precision.relative).map(|state| state.ended(ended));
            return Ok(state.map(|state| if known { state } else { state.without_intervals() }));
        }
    }

    /// One run per replication. `None` if the queues of all of them grow; fewer than [`CONFIRMING`] are
    /// confirmed by more.
    fn settled_runs(&self, precision: Precision) -> Result<Option<Vec<Replication>>, PointError> {
        let asked = 0..self.replications();
        let runs = self.replicate(asked.clone(), precision, GrowthRule::Stop)?;
        if !runs.iter().any(|run| run.grows) {
            return Ok(Some(runs));
        }
        if runs.iter().all(|run| run.grows)
            && self.replicate(asked.end..CONFIRMING, precision, GrowthRule::Stop)?.iter().all(|run| run.grows)
        {
            return Ok(None);
        }
        self.replicate(asked, precision, GrowthRule::Continue).map(Some)
    }

    fn replicate(
        &self,
        replications: Range<u64>,
        precision: Precision,
        growth: GrowthRule,
    ) -> Result<Vec<Replication>, PointError> {
        replications.into_par_iter().map(|replication| self.run(replication, precision, growth)).collect()
    }
}
