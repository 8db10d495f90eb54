//! Reads and writes kernel bitmaps: hexadecimal words of 32 bits separated by commas, the most
//! significant word first (`%*pb` in the kernel's `Documentation/core-api/printk-formats`).

use std::collections::BTreeSet;

const WORD: u32 = 32;
/// The most words of a bitmap. No kernel bitmap is longer; the limit protects against huge input.
const WORDS: usize = 2048;

/// The first number that no bitmap has.
pub(crate) const LIMIT: u32 = WORDS as u32 * WORD;

/// Writes a bitmap such as `1,00000003`, without leading zero words; `None` for a number that no bitmap has.
pub(crate) fn to_text(numbers: &BTreeSet<u32>) -> Option<String> {
    let highest = numbers.last().map_or(0, |&number| number / WORD);
    if highest as usize >= WORDS {
        return None;
    }
    let word = |index: u32| {
        let bits = numbers.range(index * WORD..=index * WORD + (WORD - 1));
        bits.fold(0_u32, |word, number| word | 1 << (number % WORD))
    };
    let mut words = (0..=highest).rev().map(word);
    let first = words.next().map_or_else(String::new, |word| format!("{word:x}"));
    Some(words.fold(first, |text, word| format!("{text},{word:08x}")))
}

/// Parses a bitmap; `None` if `text` is not one.
pub(crate) fn from_text(text: &str) -> Option<BTreeSet<u32>> {
    // No more words are looked at than a bitmap can have.
    let words = text.trim().rsplit(',').take(WORDS + 1).map(word);
    let words: Vec<u32> = words.collect::<Option<_>>()?;
    if words.len() > WORDS {
        return None;
    }
    let bits = |(index, word): (usize, u32)| {
        let base = index as u32 * WORD;
        (0..WORD).filter(move |bit| word >> bit & 1 == 1).map(move |bit| base + bit)
    };
    Some(words.into_iter().enumerate().flat_map(bits).collect())
}

/// Parses one word, of up to eight digits.
fn word(text: &str) -> Option<u32> {
    let is_word = (1..=8).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_word.then(|| u32::from_str_radix(text, 16).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bitmaps_are_written_as_the_kernel_reads_them() {
        for (numbers, text) in [
            (&[][..], "0"),
            (&[0, 1], "3"),
            (&[31], "80000000"),
            (&[32], "1,00000000"),
            (&[0, 127], "80000000,00000000,00000000,00000001"),
        ] {
            let set: BTreeSet<u32> = numbers.iter().copied().collect();
            assert_eq!(to_text(&set).as_deref(), Some(text));
            assert_eq!(from_text(text), Some(set));
        }
        assert_eq!(
            from_text("00000000,0000000f\n"),
            Some((0..4).collect()),
            "padded, as the kernel writes it"
        );
        assert_eq!(to_text(&BTreeSet::from([LIMIT])), None);
        assert_eq!(to_text(&BTreeSet::from([0, u32::MAX])), None);
        for garbage in ["", "0-3", "x", "0x1", "1,", "+1", "123456789"] {
            assert_eq!(from_text(garbage), None, "{garbage}");
        }
        assert_eq!(from_text(&vec!["0"; WORDS + 1].join(",")), None, "too long");
    }
}
