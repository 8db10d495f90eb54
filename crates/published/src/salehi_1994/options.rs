//! What is reproduced, for which machine, how exactly.

use crate::salehi_1994::FigureName;
use std::collections::BTreeSet;
use warmcore_costs::Profile;
use warmcore_scenario::ProfileSource;

/// What is asked for.
#[derive(Clone, PartialEq, Debug)]
pub struct Options {
    /// Which figures; `None` for all, and every claim.
    pub figures: Option<BTreeSet<FigureName>>,
    /// What processing costs.
    pub profile: Profile,
    /// Where the profile came from, as the points' scenarios name it.
    pub source: ProfileSource,
    /// Seed of every random choice.
    pub seed: u64,
    /// Half-width of a mean delay, as a fraction of it, that is aimed at below
    /// [`NEAR_CAPACITY`](crate::salehi_1994::rates::NEAR_CAPACITY).
    pub precision: f64,
}

impl Default for Options {
    /// Everything, on the source's machine, to 1%.
    fn default() -> Self {
        Self {
            figures: None,
            profile: Profile::sgi_challenge_xl(),
            source: ProfileSource::SgiChallengeXl,
            seed: 1,
            precision: 0.01,
        }
    }
}

impl Options {
    /// Everything in seconds: the same points, with wide intervals.
    #[must_use]
    pub fn quick() -> Self {
        Self { precision: 0.05, ..Self::default() }
    }

    /// Whether `figure` is asked for.
    #[must_use]
    pub fn wants(&self, figure: FigureName) -> bool {
        self.figures.as_ref().is_none_or(|figures| figures.contains(&figure))
    }

    /// The figures asked for, in the source's order.
    pub fn wanted(&self) -> impl Iterator<Item = FigureName> {
        FigureName::ALL.into_iter().filter(|&figure| self.wants(figure))
    }

    /// Whether the costs are those of the source's machine, so that its claims can be judged.
    #[must_use]
    pub fn is_published_machine(&self) -> bool {
        self.profile == Profile::sgi_challenge_xl()
    }
}
