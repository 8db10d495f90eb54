//! The strategies of the adaptive policy, and when it switches to another.

/// How the policy chooses processors at the moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Strategy {
    /// One processor for all packets, which keeps it warm.
    Gather,
    /// The most recently used idle processor.
    Recent,
    /// The stream's home, or another processor if the home is busy. The policy starts with this
    /// strategy, since it sustains the highest rate.
    #[default]
    Home,
}

impl Strategy {
    /// Every strategy, in the order of their indices.
    const ALL: [Self; 3] = [Self::Gather, Self::Recent, Self::Home];
}

/// Switch once another strategy has saved this fraction of a block's delays. Chance favours the worse
/// of two strategies by more than a tenth in a block or two only where delays vary widely.
const SWITCH_THRESHOLD: f64 = 0.1;

/// Savings per block that count as none: less does not pay for the warm caches that a switch abandons.
const ALLOWANCE: f64 = 0.005;

/// What each strategy would have saved compared with the one in use, as a fraction of a block's delays,
/// summed over blocks. A sum never falls below zero (the cumulative sums of Page, "Continuous inspection
/// schemes", 1954).
///
/// So the policy switches after one block to a strategy that is better by a tenth, after a few blocks to
/// one that is better by 2%, and never because of a few packets. Waiting costs a tenth of a block.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct SavingsLedger {
    /// Indexed by [`Strategy`].
    saved: [f64; 3],
}

impl SavingsLedger {
    /// The strategy to use after a block in which `current` was used and the delays under each strategy
    /// added up to `sums`.
    pub(super) fn judge(&mut self, current: Strategy, sums: [f64; 3]) -> Strategy {
        let used = sums[current as usize];
        let (mut best, mut most) = (current, SWITCH_THRESHOLD);
        for strategy in Strategy::ALL {
            let saved = &mut self.saved[strategy as usize];
            *saved = (*saved + 1.0 - sums[strategy as usize] / used - ALLOWANCE).max(0.0);
            if *saved > most {
                (best, most) = (strategy, *saved);
            }
        }
        if best != current {
            *self = Self::default();
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The strategies after blocks in which [`Strategy::Recent`] would have had these delays,
    /// [`Strategy::Home`] 1 and [`Strategy::Gather`] 2.
    fn strategies<const BLOCKS: usize>(recent: [f64; BLOCKS]) -> [Strategy; BLOCKS] {
        let (mut savings, mut strategy) = (SavingsLedger::default(), Strategy::Home);
        recent.map(|recent| {
            strategy = savings.judge(strategy, [2.0, recent, 1.0]);
            strategy
        })
    }

    use Strategy::{Home, Recent};

    #[test]
    fn a_much_better_strategy_is_chosen_after_one_block() {
        assert_eq!(strategies([0.85]), [Recent]);
        assert_eq!(strategies([0.85, 0.95, 1.2]), [Recent, Recent, Home]);
    }

    #[test]
    fn a_slightly_better_strategy_is_chosen_after_a_few_blocks() {
        assert_eq!(strategies([0.96; 3]), [Home, Home, Recent]);
    }

    #[test]
    fn a_strategy_that_is_hardly_or_only_sometimes_better_is_not_chosen() {
        assert_eq!(strategies([0.996; 100]), [Home; 100]);
        assert_eq!(strategies([0.94, 1.1, 0.94, 1.1, 0.94, 1.1, 0.94]), [Home; 7]);
    }

    #[test]
    fn the_best_of_several_better_strategies_is_chosen() {
        assert_eq!(SavingsLedger::default().judge(Strategy::Home, [0.5, 0.4, 1.0]), Recent);
        assert_eq!(SavingsLedger::default().judge(Strategy::Home, [0.4, 0.5, 1.0]), Strategy::Gather);
    }
}
