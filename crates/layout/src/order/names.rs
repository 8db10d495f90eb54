//! What strategies are called.

use super::Strategy;
use core::fmt;

impl Strategy {
    /// The name that a user types and a terminal prints.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::Bipartite => "bipartite",
            Self::Chains => "chains",
            Self::PettisHansen => "pettis-hansen",
            Self::Micro => "micro",
            Self::Pessimal { .. } => "pessimal",
            Self::Random { .. } => "random",
        }
    }

    /// What it does, in a few words.
    #[must_use]
    pub const fn about(self) -> &'static str {
        match self {
            Self::Linear => "In the order of first invocation",
            Self::Bipartite => "Functions called once apart from those called more often",
            Self::Chains => "Each function behind its most frequent caller",
            Self::PettisHansen => "The ends of the heaviest edges of the call graph near each other",
            Self::Micro => "Each function where it adds the fewest replacement misses",
            Self::Pessimal { .. } => "All functions at the same place of the cache",
            Self::Random { .. } => "In random order",
        }
    }

    /// What it is called as the subject of a sentence.
    #[must_use]
    pub fn subject(self) -> String {
        match self {
            Self::Linear => "A linear order".to_owned(),
            Self::Bipartite => "A bipartite order".to_owned(),
            Self::Chains => "Call-chain clustering".to_owned(),
            Self::PettisHansen => "The order of Pettis and Hansen".to_owned(),
            Self::Micro => "Micro-positioning".to_owned(),
            Self::Pessimal { .. } => "The pessimal layout".to_owned(),
            Self::Random { seed } => format!("The random order of seed {seed}"),
        }
    }
}

/// The name that a page has for it.
impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Chains => f.write_str("call-chain clustering"),
            Self::PettisHansen => f.write_str("Pettis–Hansen"),
            Self::Micro => f.write_str("micro-positioning"),
            Self::Random { seed } => write!(f, "random, seed {seed}"),
            Self::Linear | Self::Bipartite | Self::Pessimal { .. } => f.write_str(self.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Strategy;

    #[test]
    fn the_name_is_that_of_documents() {
        for strategy in Strategy::ALL {
            let json = serde_json::to_string(&strategy).expect("it can be written");
            assert!(json.contains(&format!("\"{}\"", strategy.name())), "{json}");
        }
    }
}
