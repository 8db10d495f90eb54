//! The situations of a packet: which of the cache lines that it writes are here, and which must migrate from
//! another processor (Salehi, Kurose & Towsley 1994, §2.3 and §5, Table 2).

use core::fmt;
use serde::{Deserialize, Serialize};

/// How protocol processing is made parallel (§2.2).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Approach {
    /// One stack; a lock on each active map and each session object.
    Locking,
    /// N independent stacks with one lock each; each stream belongs to one stack.
    IndependentStacks,
}

impl Approach {
    /// Both approaches, in the order of Salehi 1994.
    pub const ALL: [Self; 2] = [Self::Locking, Self::IndependentStacks];

    /// The name in the figures of Salehi 1994.
    #[must_use]
    pub const fn short(self) -> &'static str {
        match self {
            Self::Locking => "Locking",
            Self::IndependentStacks => "IPS",
        }
    }
}

impl fmt::Display for Approach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Locking => "Locking",
            Self::IndependentStacks => "Independent Protocol Stacks",
        })
    }
}

/// The six experiments of §5: where session lines were last written (A here, B elsewhere), and
/// whether the active maps' history lines are (1) not written, (2) written and last written
/// here, (3) written and last written elsewhere.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
pub enum Experiment {
    /// Session here, history not written.
    #[default]
    A1,
    /// Session here, history last written here.
    A2,
    /// Session here, history last written elsewhere.
    A3,
    /// Session elsewhere, history not written.
    B1,
    /// Session elsewhere, history last written here.
    B2,
    /// Session elsewhere, history last written elsewhere.
    B3,
}

impl Experiment {
    /// All six, in the order of Table 2.
    pub const ALL: [Self; 6] = [Self::A1, Self::A2, Self::A3, Self::B1, Self::B2, Self::B3];

    /// The experiment in which session lines are here if `session_here`; `history_here` is `None` if history
    /// lines are not written, and otherwise whether they were last written here.
    #[must_use]
    #[inline]
    pub const fn from_caches(session_here: bool, history_here: Option<bool>) -> Self {
        // Arithmetic rather than branches: which it is follows the streams, and nobody foresees those.
        let history = match history_here {
            None => 0,
            Some(here) => 2 - here as u8,
        };
        // In the order of the variants, so that nothing is left of the match.
        match 3 * !session_here as u8 + history {
            0 => Self::A1,
            1 => Self::A2,
            2 => Self::A3,
            3 => Self::B1,
            4 => Self::B2,
            _ => Self::B3,
        }
    }

    /// Whether it takes a second processor to produce this situation.
    #[must_use]
    pub const fn migrates(self) -> bool {
        !matches!(self, Self::A1 | Self::A2)
    }
}

impl fmt::Display for Experiment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// Where the protocol thread's stack was last used.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ThreadStack {
    /// The thread last ran here.
    #[default]
    Cached,
    /// The thread last ran elsewhere: its stack must migrate.
    Migrates,
}

impl ThreadStack {
    /// Both, in the order of Table 2.
    pub const ALL: [Self; 2] = [Self::Cached, Self::Migrates];
}

impl fmt::Display for ThreadStack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cached => "thread stack cached",
            Self::Migrates => "thread stack migrates",
        })
    }
}

/// Where the lines that a packet writes were last written: one of twelve situations.
///
/// The default is the warmest: everything was last written here.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Situation {
    /// Session and history lines.
    pub experiment: Experiment,
    /// The protocol thread's stack.
    pub thread_stack: ThreadStack,
}

impl Situation {
    /// How many situations there are.
    pub const COUNT: usize = Experiment::ALL.len() * ThreadStack::ALL.len();

    /// Every situation; the position of each is its [`index`](Self::index).
    pub fn all() -> impl Iterator<Item = Self> {
        ThreadStack::ALL.into_iter().flat_map(|thread_stack| {
            Experiment::ALL.into_iter().map(move |experiment| Self { experiment, thread_stack })
        })
    }

    /// A number below [`COUNT`](Self::COUNT).
    #[must_use]
    #[inline]
    pub const fn index(self) -> usize {
        self.thread_stack as usize * Experiment::ALL.len() + self.experiment as usize
    }
}

impl fmt::Display for Situation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.experiment, self.thread_stack)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_situation_has_its_own_index() {
        let indices: Vec<usize> = Situation::all().map(Situation::index).collect();
        assert_eq!(indices, (0..Situation::COUNT).collect::<Vec<_>>());
    }
}
