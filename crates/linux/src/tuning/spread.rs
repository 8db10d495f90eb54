//! The queues over which hashes spread flows: in turn, so that each has the same share of the table.

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use warmcore_units::Fault;

/// The queues of a spread.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum SpreadQueues {
    /// The first so many.
    First(u32),
    /// These, in this order.
    Listed(Vec<u32>),
}

/// More queues than any device has. Limits what a plan from elsewhere can make us write.
const MOST: u32 = 4096;

impl SpreadQueues {
    pub(super) fn check(&self) -> Result<(), Fault> {
        let problem = match self {
            Self::First(1..=MOST) => return Ok(()),
            Self::First(count) => count.to_string(),
            Self::Listed(queues) => {
                let different: BTreeSet<u32> = queues.iter().copied().collect();
                let is_sound = different.len() == queues.len()
                    && !queues.is_empty()
                    && queues.iter().all(|&queue| queue < MOST);
                if is_sound {
                    return Ok(());
                }
                format!("{queues:?}")
            }
        };
        let expected =
            format!("the number of queues, 1 to {MOST}, or a list of different queues below {MOST}");
        Err(Fault::new("queues", problem, expected))
    }

    /// The queues, in the order of the table.
    pub(super) fn listed(&self) -> Vec<u32> {
        match self {
            Self::First(count) => (0..*count).collect(),
            Self::Listed(queues) => queues.clone(),
        }
    }
}

/// The table of so many entries that takes `queues` in turn.
pub(super) fn table(queues: &[u32], entries: usize) -> Vec<u32> {
    queues.iter().copied().cycle().take(entries).collect()
}

/// The queues that `table` takes in turn; `None` if it does not take different queues in turn.
pub(super) fn queues_of(table: &[u32]) -> Option<Vec<u32>> {
    let first = table.first()?;
    let period = table.iter().skip(1).position(|queue| queue == first).map_or(table.len(), |at| at + 1);
    let queues = &table[..period];
    let different: BTreeSet<&u32> = queues.iter().collect();
    let is_in_turn = table.iter().zip(queues.iter().cycle()).all(|(one, other)| one == other);
    (different.len() == queues.len() && is_in_turn).then(|| queues.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn tables_that_weigh_queues_are_not_spreads() {
        for table in [&[0, 0, 1][..], &[0, 1, 0, 2], &[0, 1, 2, 1], &[]] {
            assert_eq!(queues_of(table), None, "{table:?}");
        }
    }

    proptest! {
        #[test]
        fn the_queues_of_a_spread_are_found_again(
            queues in proptest::collection::btree_set(0_u32..64, 1..16), more in 0_usize..100
        ) {
            let queues: Vec<u32> = queues.into_iter().rev().collect();
            let table = table(&queues, queues.len() + more);
            prop_assert_eq!(queues_of(&table), Some(queues));
        }
    }

    #[test]
    fn absurd_spreads_are_refused() {
        for queues in ["0", "4097", "4294967295", "[]", "[1, 1]", "[4096]"] {
            let queues: SpreadQueues = toml::from_str::<toml::Table>(&format!("queues = {queues}"))
                .expect("valid TOML")["queues"]
                .clone()
                .try_into()
                .expect("a number or list");
            assert!(queues.check().is_err(), "{queues:?}");
        }
        assert_eq!(SpreadQueues::First(4).check(), Ok(()));
        assert_eq!(SpreadQueues::Listed(vec![2, 0]).check(), Ok(()));
    }
}
