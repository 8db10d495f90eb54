//! How much is measured.

use crate::handler::Handler;
use crate::mix::Mix;

/// What was asked for.
pub(crate) struct Extent {
    /// What handlers take, in nanoseconds, and how many events each gets.
    pub(crate) handlers: Vec<(u64, usize)>,
    pub(crate) rounds: usize,
    /// What the titles of tables contain.
    words: Vec<String>,
    is_test: bool,
}

impl Extent {
    /// By the arguments of this program.
    pub(crate) fn asked_for() -> Self {
        let arguments: Vec<String> = std::env::args().skip(1).collect();
        let asked = |option: &str| arguments.iter().any(|argument| argument == option);
        // Without the argument `--bench` the program runs as a test, which shows only that it works.
        let is_test = !asked("--bench");
        let (handlers, rounds) = match (is_test, asked("--quick")) {
            (true, _) => (vec![(100, 20_000)], 1),
            (false, true) => (vec![(100, 2_000_000)], 3),
            (false, false) => (vec![(0, 5_000_000), (100, 5_000_000), (1_000, 1_000_000)], 5),
        };
        let words = arguments.into_iter().filter(|argument| !argument.starts_with("--")).collect();
        Self { handlers, rounds, words, is_test }
    }

    /// Whether there are more than some tables.
    pub(crate) fn has_all(&self) -> bool {
        self.words.is_empty()
    }

    /// Whether results are worth to be kept: not a part of them, and not what a test finds.
    pub(crate) fn is_kept(&self) -> bool {
        self.has_all() && !self.is_test
    }

    pub(crate) fn most_events(&self) -> usize {
        self.handlers.iter().map(|(_, events)| *events).max().unwrap_or(0)
    }

    pub(crate) fn contains(&self, mix: Mix, handler: Handler) -> bool {
        let title = format!("{mix}, {handler}");
        self.words.iter().all(|word| title.contains(word))
    }
}
