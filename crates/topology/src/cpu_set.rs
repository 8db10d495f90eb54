//! A set of cpus, written as the kernel writes it: `0-3,8,10-11`.

use core::fmt;
use core::str::FromStr;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use warmcore_units::CpuId;

/// A set of logical cpus, in ascending order.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CpuSet(BTreeSet<CpuId>);

/// The text is not a list of cpus.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseCpuSetError {
    /// The element that could not be read.
    pub element: String,
}

impl fmt::Display for ParseCpuSetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is neither a cpu number (below {}) nor a range such as `0-3`",
            self.element,
            CpuSet::LIMIT
        )
    }
}

impl core::error::Error for ParseCpuSetError {}

impl CpuSet {
    /// All cpu numbers are below this limit: far above what Linux supports (8192), and low enough that no list
    /// exhausts the memory.
    pub const LIMIT: u32 = 1 << 16;

    /// Whether `cpu` is in the set.
    #[must_use]
    pub fn contains(&self, cpu: CpuId) -> bool {
        self.0.contains(&cpu)
    }

    /// The cpus in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = CpuId> + '_ {
        self.0.iter().copied()
    }

    /// How many cpus there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no cpus.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The lowest-numbered cpu, unless the set is empty.
    #[must_use]
    pub fn first(&self) -> Option<CpuId> {
        self.0.first().copied()
    }

    /// The cpus in both sets.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        Self(self.0.intersection(&other.0).copied().collect())
    }

    /// The cpus of this set that are not in the other.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Self {
        Self(self.0.difference(&other.0).copied().collect())
    }
}

impl FromIterator<CpuId> for CpuSet {
    fn from_iter<I: IntoIterator<Item = CpuId>>(cpus: I) -> Self {
        Self(cpus.into_iter().collect())
    }
}

impl Extend<CpuId> for CpuSet {
    fn extend<I: IntoIterator<Item = CpuId>>(&mut self, cpus: I) {
        self.0.extend(cpus);
    }
}

impl FromStr for CpuSet {
    type Err = ParseCpuSetError;

    fn from_str(list: &str) -> Result<Self, Self::Err> {
        let mut cpus = BTreeSet::new();
        for element in list.trim().split(',').filter(|element| !element.is_empty()) {
            let (first, last) = element.split_once('-').unwrap_or((element, element));
            let number = |text: &str| text.trim().parse::<u32>();
            match (number(first), number(last)) {
                (Ok(first), Ok(last)) if first <= last && last < Self::LIMIT => {
                    cpus.extend((first..=last).map(CpuId));
                }
                _ => return Err(ParseCpuSetError { element: element.to_owned() }),
            }
        }
        Ok(Self(cpus))
    }
}

impl fmt::Display for CpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut cpus = self.0.iter().map(|cpu| cpu.0).peekable();
        let mut separator = "";
        while let Some(first) = cpus.next() {
            let mut last = first;
            while let Some(next) = cpus.next_if_eq(&(last + 1)) {
                last = next;
            }
            if first == last {
                write!(f, "{separator}{first}")?;
            } else {
                write!(f, "{separator}{first}-{last}")?;
            }
            separator = ",";
        }
        Ok(())
    }
}

impl TryFrom<String> for CpuSet {
    type Error = ParseCpuSetError;
    fn try_from(list: String) -> Result<Self, Self::Error> {
        list.parse()
    }
}

impl From<CpuSet> for String {
    fn from(cpus: CpuSet) -> Self {
        cpus.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_in_the_kernels_notation_survive_a_round_trip() {
        for list in ["", "0", "0-3", "0-3,8,10-11"] {
            assert_eq!(list.parse::<CpuSet>().unwrap().to_string(), list);
        }
        assert_eq!("3,1,2\n".parse::<CpuSet>().unwrap().to_string(), "1-3");
    }

    #[test]
    fn invalid_lists_are_refused_with_the_element() {
        for (list, element) in [
            ("a", "a"),
            ("0-3,x-5", "x-5"),
            ("5-2", "5-2"),
            ("0-4294967295", "0-4294967295"),
            ("65536", "65536"),
        ] {
            assert_eq!(list.parse::<CpuSet>().unwrap_err().element, element);
        }
    }
}
