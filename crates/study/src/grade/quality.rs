//! How the costs of a profile were measured, in counts.

use warmcore_costs::Profile;
use warmcore_costs::profile::Measured;

/// How the costs of a profile were measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Quality {
    /// The number of costs.
    pub costs: usize,
    /// Costs that missed the half-width asked for.
    pub missed: usize,
    /// Costs without a half-width.
    pub unstated: usize,
    /// Costs with too few undisturbed runs, which use disturbed runs too.
    pub on_disturbed: usize,
    /// Runs, including those set aside.
    pub runs: u64,
    /// Runs set aside because something disturbed them, unless a cost had too few others.
    pub set_aside: u64,
    /// Those of them in which the processors were at another distance than in the runs that count.
    pub vcpu_moved_runs: u64,
}

impl Quality {
    /// The quality of `profile`. Published costs have no runs, and so no disturbed ones.
    #[must_use]
    pub fn from_profile(profile: &Profile) -> Self {
        let mut quality = Self::default();
        let times = [&profile.times.locking, &profile.times.independent_stacks];
        let receive =
            times.into_iter().flat_map(|times| times.cached.values().chain(times.migrates.values()));
        let receive = receive.flat_map(|receive| [&receive.hot].into_iter().chain(&receive.cold));
        let overheads = profile.free_memory.iter().flat_map(|pool| [&pool.acquire, &pool.release]);
        let all = times.into_iter().map(|times| &times.fully_cold).chain(receive).chain(overheads);
        all.for_each(|cost| quality.count(cost));
        // The calibration's own count includes the runs that were aborted.
        if let Some(runs) = profile.provenance.runs {
            (quality.runs, quality.set_aside) = (runs.made, runs.excluded());
            quality.vcpu_moved_runs = runs.vcpu_moved;
        }
        quality
    }

    fn count(&mut self, cost: &Measured) {
        self.costs += 1;
        self.missed += usize::from(cost.missed_target);
        self.unstated += usize::from(cost.half_width.is_none());
        self.on_disturbed += usize::from(cost.rests_on_disturbed);
        let disturbed = u64::from(cost.disturbed);
        self.runs += u64::from(cost.runs) + if cost.rests_on_disturbed { 0 } else { disturbed };
        self.set_aside += disturbed;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warmcore_costs::profile::Runs;

    /// A run counts once, whether or not a cost uses it.
    #[test]
    fn runs_are_counted_once() {
        let mut profile = Profile::sgi_challenge_xl();
        let cost = &mut profile.times.locking.fully_cold;
        *cost = Measured { runs: 5, disturbed: 2, ..*cost };
        let counted = |profile: &Profile| {
            let Quality { on_disturbed, runs, set_aside, .. } = Quality::from_profile(profile);
            (on_disturbed, runs, set_aside)
        };
        assert_eq!(counted(&profile), (0, 7, 2));
        profile.times.locking.fully_cold.rests_on_disturbed = true;
        assert_eq!(counted(&profile), (1, 5, 2));
        profile.provenance.runs = Some(Runs { made: 153, disturbed: 40, vcpu_moved: 3 });
        assert_eq!(counted(&profile), (1, 153, 43));
    }

    #[test]
    fn published_costs_have_no_runs_and_were_not_disturbed() {
        let quality = Quality::from_profile(&Profile::sgi_challenge_xl());
        assert_eq!(quality, Quality { costs: 52, unstated: 52, ..Quality::default() });
    }
}
