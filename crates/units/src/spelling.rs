//! Names that a user may have meant.

use alloc::vec::Vec;

/// How many bytes must be inserted, removed, replaced or exchanged with the next one to make one text of the other, where no byte is
/// changed twice (Damerau 1964).
#[must_use]
pub fn changes(one: &str, other: &str) -> usize {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut above: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (index, byte) in one.iter().enumerate() {
        let mut next = alloc::vec![index + 1];
        for (column, candidate) in other.iter().enumerate() {
            let replaced = row[column] + usize::from(byte != candidate);
            let fewest = replaced.min(row[column + 1] + 1).min(next[column] + 1);
            let is_exchanged =
                index > 0 && column > 0 && *byte == other[column - 1] && one[index - 1] == *candidate;
            next.push(if is_exchanged { fewest.min(above[column - 1] + 1) } else { fewest });
        }
        above = core::mem::replace(&mut row, next);
    }
    row[other.len()]
}

/// The one of the `known` names that takes the fewest changes to become `name`. `None` if each takes more than half of
/// the name; but names that begin with it are near.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let is_near = |distance: usize, known: &str| {
        distance <= name.len().div_ceil(2) || (name.len() > 2 && known.starts_with(name))
    };
    let ranked = known.into_iter().map(|known| (changes(name, known), known));
    ranked.filter(|(distance, known)| is_near(*distance, known)).min().map(|(_, known)| known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_counted() {
        let counted = [("", ""), ("", "abc"), ("strems", "streams"), ("kitten", "sitting"), ("mur", "mru")];
        assert_eq!(counted.map(|(one, other)| changes(one, other)), [0, 3, 1, 3, 1]);
    }

    #[test]
    fn the_nearest_name_is_found_and_a_far_one_is_not() {
        let known = ["streams", "popularity", "process"];
        assert_eq!(nearest("strems", known), Some("streams"));
        assert_eq!(nearest("wavelength", known), None);
        assert_eq!(nearest("gap", ["cars", "gap_interval"]), Some("gap_interval"));
        assert_eq!(nearest("x", []), None);
    }
}
