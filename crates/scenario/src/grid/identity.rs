//! A checksum that is the same on every machine and in every version of the compiler: FNV-1a of 128 bits (RFC 9923).
//!
//! It tells documents apart that differ by chance or by mistake; it is no protection against somebody who wants two to
//! be equal.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;

/// A checksum; 32 hexadecimal digits in text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Identity(u128);

impl Identity {
    /// The checksum of these parts. Where one ends and the next begins makes a difference.
    #[must_use]
    pub fn new(parts: &[&[u8]]) -> Self {
        let lengths = parts.iter().map(|part| (part.len() as u64).to_le_bytes());
        let hash =
            parts.iter().zip(lengths).fold(OFFSET, |hash, (part, length)| over(over(hash, part), &length));
        Self(hash)
    }
}

fn over(hash: u128, bytes: &[u8]) -> u128 {
    bytes.iter().fold(hash, |hash, &byte| (hash ^ u128::from(byte)).wrapping_mul(PRIME))
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl FromStr for Identity {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let digits = u128::from_str_radix(text, 16).ok().filter(|_| text.len() == 32);
        digits.map(Self).ok_or_else(|| format!("`{text}`, expected 32 hexadecimal digits"))
    }
}

impl TryFrom<String> for Identity {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Identity> for String {
    fn from(identity: Identity) -> Self {
        identity.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_function_is_the_published_one() {
        // Test vectors of RFC 9923, appendix C.
        assert_eq!(over(OFFSET, b""), OFFSET);
        assert_eq!(over(OFFSET, b"a"), 0xd228_cb69_6f1a_8caf_7891_2b70_4e4a_8964);
        assert_eq!(over(OFFSET, b"foobar"), 0x343e_1662_793c_64bf_6f0d_3597_ba44_6f18);
    }

    #[test]
    fn a_checksum_survives_its_text_and_tells_where_parts_end() {
        let identity = Identity::new(&[b"ab", b"c"]);
        assert_eq!(identity.to_string().parse(), Ok(identity));
        assert_ne!(identity, Identity::new(&[b"a", b"bc"]));
        assert!("12".parse::<Identity>().is_err());
    }
}
