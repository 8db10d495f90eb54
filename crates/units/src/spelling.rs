//! Names that a user may have meant.

use alloc::vec::Vec;

/// How many bytes must be inserted, removed or replaced to make one text of the other (Levenshtein 1966).
#[must_use]
pub fn changes(one: &str, other: &str) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (index, byte) in one.bytes().enumerate() {
        let mut diagonal = core::mem::replace(&mut row[0], index + 1);
        for (column, candidate) in other.bytes().enumerate() {
            let replaced = diagonal + usize::from(byte != candidate);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}

/// The one of the `known` names that takes the fewest changes to become `name`; `None` if each takes more than half of
/// the name.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let ranked = known.into_iter().map(|known| (changes(name, known), known));
    let (distance, known) = ranked.min()?;
    (distance <= name.len().div_ceil(2)).then_some(known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_counted() {
        let counted = [("", ""), ("", "abc"), ("strems", "streams"), ("kitten", "sitting")];
        assert_eq!(counted.map(|(one, other)| changes(one, other)), [0, 3, 1, 3]);
    }

    #[test]
    fn the_nearest_name_is_found_and_a_far_one_is_not() {
        let known = ["streams", "popularity", "process"];
        assert_eq!(nearest("strems", known), Some("streams"));
        assert_eq!(nearest("wavelength", known), None);
        assert_eq!(nearest("x", []), None);
    }
}
