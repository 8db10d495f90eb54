//! What there is to choose from, and when another choice is made.

/// How processors are chosen for the time being.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Strategy {
    /// One processor for all, which is warm.
    Gather,
    /// The most recently used idle processor.
    Recent,
    /// The stream's home, and others where it is busy. With this it begins: it is the choice that
    /// keeps up with most packets.
    #[default]
    Home,
}

impl Strategy {
    /// Every choice, in the order of their indices.
    const ALL: [Self; 3] = [Self::Gather, Self::Recent, Self::Home];
}

/// How much of a block's delays another choice must have saved before it is made. Chance favours
/// the worse of two choices in a block or two by more than a tenth only where their delays jump about.
const ENOUGH: f64 = 0.1;

/// What it must save of each block: less is not worth the caches that a change leaves behind.
const SLACK: f64 = 0.005;

/// What each choice would have saved compared with the one that was followed, of a block's delays
/// and added up over blocks; the account starts anew wherever it would fall below nothing
/// (the cumulative sums of Page, "Continuous inspection schemes", 1954).
///
/// So a choice that is better by a tenth is made after the next block, one that is better by 2%
/// after a few, and none because of a few packets. What is lost by waiting is a tenth of a block.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct SavingsLedger {
    /// By [`Strategy`].
    saved: [f64; 3],
}

impl SavingsLedger {
    /// The choice after a block in which `current` was followed, and in which every choice would
    /// have met delays with such `sums`.
    pub(super) fn judge(&mut self, current: Strategy, sums: [f64; 3]) -> Strategy {
        let followed = sums[current as usize];
        let (mut best, mut most) = (current, ENOUGH);
        for choice in Strategy::ALL {
            let saved = &mut self.saved[choice as usize];
            *saved = (*saved + 1.0 - sums[choice as usize] / followed - SLACK).max(0.0);
            if *saved > most {
                (best, most) = (choice, *saved);
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

    /// The choices after blocks in which the most recently used processors would have had these
    /// delays, where homes had 1 and one processor alone 2.
    fn choices<const BLOCKS: usize>(recent: [f64; BLOCKS]) -> [Strategy; BLOCKS] {
        let (mut savings, mut choice) = (SavingsLedger::default(), Strategy::Home);
        recent.map(|recent| {
            choice = savings.judge(choice, [2.0, recent, 1.0]);
            choice
        })
    }

    use Strategy::{Home, Recent};

    #[test]
    fn what_is_much_better_is_chosen_at_once() {
        assert_eq!(choices([0.85]), [Recent]);
        assert_eq!(choices([0.85, 0.95, 1.2]), [Recent, Recent, Home]);
    }

    #[test]
    fn what_is_a_little_better_is_chosen_in_time() {
        assert_eq!(choices([0.96; 3]), [Home, Home, Recent]);
    }

    #[test]
    fn what_is_hardly_better_or_only_now_and_then_is_not() {
        assert_eq!(choices([0.996; 100]), [Home; 100]);
        assert_eq!(choices([0.94, 1.1, 0.94, 1.1, 0.94, 1.1, 0.94]), [Home; 7]);
    }

    #[test]
    fn the_best_of_those_that_are_better_is_chosen() {
        assert_eq!(SavingsLedger::default().judge(Strategy::Home, [0.5, 0.4, 1.0]), Recent);
        assert_eq!(SavingsLedger::default().judge(Strategy::Home, [0.4, 0.5, 1.0]), Strategy::Gather);
    }
}
