//! Words of RV64IM, put together again: the formats of the manual's chapter 2.3, as far as moved code needs them.

/// `word`, of the format of `jal`, going `offset` bytes further; none if that is further than ±1 MiB or no whole
/// instruction away.
#[must_use]
pub const fn with_jump_offset(word: u32, offset: i64) -> Option<u32> {
    if offset < -(1 << 20) || offset >= 1 << 20 || offset & 3 != 0 {
        return None;
    }
    let bits = offset as u32;
    let imm = (bits & 0x10_0000) << 11 | (bits & 0x7fe) << 20 | (bits & 0x800) << 9 | (bits & 0xf_f000);
    Some(word & 0xfff | imm)
}

/// `word`, of the format of branches, going `offset` bytes further; none if that is further than ±4 KiB or no whole
/// instruction away.
#[must_use]
pub const fn with_branch_offset(word: u32, offset: i64) -> Option<u32> {
    if offset < -(1 << 12) || offset >= 1 << 12 || offset & 3 != 0 {
        return None;
    }
    let bits = offset as u32;
    let imm = (bits & 0x1000) << 19 | (bits & 0x7e0) << 20 | (bits & 0x1e) << 7 | (bits & 0x800) >> 4;
    Some(word & 0x01ff_f07f | imm)
}

/// `word`, of the format of loads, `addi` and `jalr`, with the lower 12 bits of `low`.
#[must_use]
pub const fn with_low_i(word: u32, low: i32) -> u32 {
    word & 0x000f_ffff | (low as u32) << 20
}

/// `word`, of the format of stores, with the lower 12 bits of `low`.
#[must_use]
pub const fn with_low_s(word: u32, low: i32) -> u32 {
    let bits = low as u32;
    word & 0x01ff_f07f | (bits & 0xfe0) << 20 | (bits & 0x1f) << 7
}

/// `word`, of the format of `lui` and `auipc`, with the upper 20 bits of `high`.
#[must_use]
pub const fn with_high(word: u32, high: i32) -> u32 {
    word & 0xfff | (high as u32 & 0xffff_f000)
}

/// `jal rd`, going `offset` bytes further, if that is near enough.
#[must_use]
pub const fn jal(rd: u8, offset: i64) -> Option<u32> {
    with_jump_offset(0x6f | (rd as u32 & 31) << 7, offset)
}

/// `distance` as `auipc` and a second instruction share it: the upper 20 bits, rounded, and the lower 12 with a sign;
/// none if it is further than about ±2 GiB.
#[must_use]
pub const fn split(distance: i64) -> Option<(i32, i32)> {
    let high = (distance.wrapping_add(0x800)) & !0xfff;
    if high < i32::MIN as i64 || high > i32::MAX as i64 {
        return None;
    }
    Some((high as i32, (distance - high) as i32))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::riscv::decode::{Decoded, Op};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn offsets_come_back_and_the_rest_stays(offset in -(1_i64 << 18)..1 << 18, rd in 0_u8..32) {
            let found = Decoded::new(jal(rd, offset * 4).unwrap());
            prop_assert_eq!((found.op, found.rd, i64::from(found.imm)), (Op::Jal, rd, offset * 4));
            let short = offset.rem_euclid(2048) - 1024;
            // bltu x5, x6
            let found = Decoded::new(with_branch_offset(0x0062_e063, short * 4).unwrap());
            let expected = (Op::Bltu, 5, 6, short * 4);
            prop_assert_eq!((found.op, found.rs1, found.rs2, i64::from(found.imm)), expected);
        }

        #[test]
        fn a_distance_is_shared_by_two_instructions(distance in -0x7fff_0000_i64..0x7fff_0000) {
            let (high, low) = split(distance).unwrap();
            prop_assert_eq!(i64::from(high) + i64::from(low), distance);
            prop_assert_eq!(Decoded::new(with_high(0x0000_0517, high)).imm, high);
            // ld x10, 0(x10) and sd x11, 0(x10)
            prop_assert_eq!(Decoded::new(with_low_i(0x0005_3503, low)).imm, low);
            prop_assert_eq!(Decoded::new(with_low_s(0x00b5_3023, low)).imm, low);
        }
    }

    #[test]
    fn what_is_too_far_is_none() {
        assert_eq!((jal(1, 1 << 20), jal(1, -(1 << 20) - 4), jal(1, 2)), (None, None, None));
        assert!(jal(1, -(1 << 20)).is_some());
        assert_eq!((with_branch_offset(0x63, 4096), with_branch_offset(0x63, -4100)), (None, None));
        assert_eq!((split(0x7fff_f7ff).is_some(), split(0x7fff_f800), split(i64::MAX)), (true, None, None));
    }
}
