//! The fixed assignment of streams to processors or stacks.

use alloc::vec::Vec;

/// Entries of the indirection table that hashes index, as in network adapters.
const INDIRECTION: u32 = 128;

/// Assigns `members` to `places` in turn: member `i` to place `i` modulo `places`.
///
/// # Panics
/// If `places` is 0.
#[must_use]
pub fn in_turn(members: u32, places: u32) -> Vec<u32> {
    (0..members).map(|member| member % places).collect()
}

/// Assigns `members` to `places` by a hash and an indirection table whose entries are assigned in turn, as
/// receive-side scaling does. Some places get more members than others, and some get none.
///
/// # Panics
/// If `places` is 0.
#[must_use]
pub fn hashed(members: u32, places: u32) -> Vec<u32> {
    let entries = INDIRECTION.max(places.next_power_of_two());
    (0..members).map(|member| hash(member) % entries % places).collect()
}

/// Mixes all bits (Stafford's variant 13 of the 64-bit finaliser).
fn hash(member: u32) -> u32 {
    let mut word = u64::from(member).wrapping_add(0x9e37_79b9_7f4a_7c15);
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    #[expect(clippy::cast_possible_truncation, reason = "32 bits of the hash are asked for")]
    let low = (word ^ (word >> 31)) as u32;
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assignment_in_turn_is_even() {
        assert_eq!(in_turn(5, 3), [0, 1, 2, 0, 1]);
    }

    /// 100,000 members over 100 places: 1,000 each, but for chance and for the table's 28 extra entries.
    /// Every place gets some. With 8 members and 8 places, some place gets none.
    #[test]
    fn hashes_spread_members_unevenly() {
        let mut counts = [0_u32; 100];
        hashed(100_000, 100).iter().for_each(|&place| counts[place as usize] += 1);
        assert!(counts.iter().all(|count| (600..=1_750).contains(count)), "{counts:?}");
        let few = hashed(8, 8);
        assert!((0..8).any(|place| !few.contains(&place)), "{few:?}");
    }
}
