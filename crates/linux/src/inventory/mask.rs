//! Parses kernel masks: hexadecimal words of 32 bits joined by commas, the highest word first, such
//! as `00000000,0000000f` for 0 to 3.

use crate::probe::Malformed;
use crate::tree::Tree;
use warmcore_topology::CpuSet;
use warmcore_units::CpuId;

/// Reads the numbers of the bits set in the mask in `file`, ascending.
pub(super) fn bits(tree: &Tree, file: &str) -> Result<Option<Vec<u32>>, Malformed> {
    let Some(text) = tree.text(file) else { return Ok(None) };
    let bits =
        parse(&text).ok_or_else(|| tree.malformed(file, &text, "a mask such as `00000000,0000000f`"))?;
    Ok(Some(bits))
}

/// Reads the cpus in the mask in `file`.
pub(super) fn cpus(tree: &Tree, file: &str) -> Result<Option<CpuSet>, Malformed> {
    Ok(bits(tree, file)?.map(|bits| bits.into_iter().map(CpuId).collect()))
}

fn parse(text: &str) -> Option<Vec<u32>> {
    let mut bits = Vec::new();
    for (place, word) in text.rsplit(',').enumerate() {
        let short = (1..=8).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_hexdigit());
        let word = short.then(|| u32::from_str_radix(word, 16).ok())??;
        let first = u32::try_from(place).ok()?.checked_mul(32)?;
        bits.extend((0..32).filter(|bit| word >> bit & 1 == 1).map(|bit| first + bit));
    }
    Some(bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_count_from_the_right() {
        assert_eq!(parse("0"), Some(vec![]));
        assert_eq!(parse("f"), Some(vec![0, 1, 2, 3]));
        assert_eq!(parse("00000001,80000000,00000002"), Some(vec![1, 63, 64]));
        for garbage in ["", "x", "0x1", "1,", "+1", "123456789"] {
            assert_eq!(parse(garbage), None, "{garbage}");
        }
    }
}
