//! What colour can show: three quantities of a square, each in five levels.

use super::{count, so_many};
use crate::palette::{HEAT_LEVELS, heat_swatch};
use warmcore_record::cache_map::{CacheMap, MapCell};

/// Parts of 100 where the levels of a share begin.
const QUARTERS: [u64; HEAT_LEVELS - 1] = [0, 25, 50, 75];

/// A quantity that colour can show.
pub(crate) enum Measure {
    /// Misses of lines that had been there before; the levels begin above 0, 1, 2 and 4 times this.
    Replacements(u64),
    /// Different lines, of which so many fit.
    Lines(u64),
    /// The part of the fetched words that was not used.
    Unused,
}

/// What the colours of a measure mean.
pub(crate) struct Key {
    /// Its letter in classes.
    pub(crate) letter: char,
    /// What the reader picks.
    pub(crate) name: &'static str,
    pub(crate) meaning: &'static str,
    /// A sample of each level's colour, and the values that have it.
    pub(crate) levels: Vec<(String, String)>,
}

impl Measure {
    /// All, scaled by the first layout of `map`, so that colours mean the same in all of them.
    pub(crate) fn of(map: &CacheMap) -> [Self; 3] {
        let first = map.layouts.first().map_or(&[][..], |layout| &layout.cells);
        let most = first.iter().map(|cell| cell.replacements).max().unwrap_or(0);
        [Self::Replacements(most.div_ceil(8).max(1)), Self::Lines(map.cache.places()), Self::Unused]
    }

    /// The letter of its classes.
    pub(crate) const fn letter(&self) -> char {
        match self {
            Self::Replacements(_) => 'a',
            Self::Lines(_) => 'b',
            Self::Unused => 'c',
        }
    }

    /// The level of `cell`: 0 is harmless.
    pub(crate) fn level(&self, cell: &MapCell) -> usize {
        let value = match self {
            Self::Replacements(_) => cell.replacements,
            Self::Lines(_) => cell.lines,
            Self::Unused => percent(cell),
        };
        self.limits().iter().filter(|&&limit| value > limit).count()
    }

    /// What is written into the square of `cell`; nothing if it is harmless.
    pub(crate) fn number(&self, cell: &MapCell) -> Option<String> {
        let number = match self {
            Self::Replacements(_) => cell.replacements,
            Self::Lines(_) => cell.lines,
            Self::Unused => percent(cell),
        };
        match number {
            0 => None,
            1..1000 => Some(number.to_string()),
            _ => Some(format!("{}k", number / 1000)),
        }
    }

    /// The highest value of each level but the last.
    fn limits(&self) -> [u64; HEAT_LEVELS - 1] {
        match self {
            Self::Replacements(unit) => [0, 1, 2, 4].map(|times| times * unit),
            Self::Lines(places) => [1, 2, 3, 4].map(|times| places.saturating_mul(times)),
            Self::Unused => QUARTERS,
        }
    }

    pub(crate) fn key(&self) -> Key {
        let (name, meaning) = match self {
            Self::Replacements(_) => (
                "replacement misses",
                "A replacement miss is one of a line that had been in the cache before and was displaced by another: a \
                 better layout can avoid it. The scale is that of the first layout.",
            ),
            Self::Lines(_) => (
                "lines that compete",
                "How many different lines were used there. If they are more than fit, they displace each other.",
            ),
            Self::Unused => (
                "unused words, %",
                "Of the words that came with the missed lines, how many in a hundred nobody used before their line \
                 was displaced, or until the end.",
            ),
        };
        let levels = (0..HEAT_LEVELS).map(|level| (heat_swatch(level), self.range(level)));
        Key { letter: self.letter(), name, meaning, levels: levels.collect() }
    }

    /// The values of `level` in words.
    fn range(&self, level: usize) -> String {
        let limits = self.limits();
        let Some(&most) = limits.get(level) else {
            return format!("more than {}", count(limits[HEAT_LEVELS - 2]));
        };
        let least = level.checked_sub(1).map_or(0, |below| limits[below] + 1);
        match self {
            Self::Lines(_) if level == 0 => format!("{}: all fit", so_many(most, "line", "lines or fewer")),
            _ if least == most => count(most),
            _ => format!("{} to {}", count(least), count(most)),
        }
    }
}

/// Unused words in a hundred, rounded up, so that none is only none.
fn percent(cell: &MapCell) -> u64 {
    (100 * cell.unused).div_ceil(cell.fetched.max(1))
}
