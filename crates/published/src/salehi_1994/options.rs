//! Options of a reproduction: which figures, for which machine, how precisely.

use crate::salehi_1994::FigureName;
use std::collections::BTreeSet;
use warmcore_costs::Profile;
use warmcore_scenario::ProfileSource;

/// The options of a reproduction.
#[derive(Clone, PartialEq, Debug)]
pub struct ReproductionOptions {
    /// The figures; `None` for all figures and every claim.
    pub figures: Option<BTreeSet<FigureName>>,
    /// What processing costs.
    pub profile: Profile,
    /// Where the profile came from, as it is written in the points' scenarios.
    pub source: ProfileSource,
    /// Seed of every random choice.
    pub seed: u64,
    /// The relative half-width of mean delays to aim for, below
    /// [`NEAR_CAPACITY`](crate::salehi_1994::rates::NEAR_CAPACITY).
    pub precision: f64,
}

impl Default for ReproductionOptions {
    /// Everything, on the machine of Salehi 1994, to 1%.
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

impl ReproductionOptions {
    /// Everything in seconds: the same points, with wider intervals.
    #[must_use]
    pub fn quick() -> Self {
        Self { precision: 0.05, ..Self::default() }
    }

    /// Whether `figure` is asked for.
    #[must_use]
    pub fn wants(&self, figure: FigureName) -> bool {
        self.figures.as_ref().is_none_or(|figures| figures.contains(&figure))
    }

    /// The figures asked for, in the order of the paper.
    pub fn wanted(&self) -> impl Iterator<Item = FigureName> {
        FigureName::ALL.into_iter().filter(|&figure| self.wants(figure))
    }

    /// Whether the costs are those of the machine of Salehi 1994, so that its claims can be judged.
    #[must_use]
    pub fn is_published_machine(&self) -> bool {
        self.profile == Profile::sgi_challenge_xl()
    }
}
