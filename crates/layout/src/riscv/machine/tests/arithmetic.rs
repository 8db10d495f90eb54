//! Every instruction that only computes: by hand at its edges, and against Rust's own arithmetic.

use super::execute;
use proptest::prelude::*;

const MIN: u64 = 1 << 63;
const MIN_WORD: u64 = 0xffff_ffff_8000_0000;

/// `OP a2, a0, a1`: the word, `a0`, `a1`, `a2`.
#[rustfmt::skip]
const BY_HAND: &[(u32, u64, u64, u64)] = &[
    // add, sub
    (0x00b5_0633, u64::MAX, 2, 1), (0x40b5_0633, 1, 2, u64::MAX),
    // sll, srl, sra: only six bits say how far
    (0x00b5_1633, 3, 63, MIN), (0x00b5_1633, 3, 64, 3),
    (0x00b5_5633, MIN, 63, 1), (0x00b5_5633, MIN, 65, MIN >> 1),
    (0x40b5_5633, MIN, 63, u64::MAX), (0x40b5_5633, MIN, 64, MIN),
    // slt, sltu
    (0x00b5_2633, u64::MAX, 0, 1), (0x00b5_2633, 0, u64::MAX, 0), (0x00b5_2633, 5, 5, 0),
    (0x00b5_3633, u64::MAX, 0, 0), (0x00b5_3633, 0, u64::MAX, 1),
    // xor, or, and
    (0x00b5_4633, 0b1100, 0b1010, 0b0110), (0x00b5_6633, 0b1100, 0b1010, 0b1110), (0x00b5_7633, 0b1100, 0b1010, 0b1000),
    // addw, subw: the upper half does not matter, and the sign is extended
    (0x00b5_063b, 0xabcd_0000_7fff_ffff, 1, MIN_WORD), (0x40b5_063b, 0xabcd_0000_0000_0000, 1, u64::MAX),
    // sllw, srlw, sraw: only five bits say how far
    (0x00b5_163b, 1, 31, MIN_WORD), (0x00b5_163b, 1, 32, 1),
    (0x00b5_563b, MIN_WORD, 31, 1), (0x00b5_563b, MIN_WORD, 32, MIN_WORD),
    (0x40b5_563b, 0x8000_0000, 31, u64::MAX), (0x40b5_563b, 0x8000_0000, 32, MIN_WORD),
    // mul, mulh, mulhsu, mulhu
    (0x02b5_0633, u64::MAX, 3, u64::MAX - 2), (0x02b5_0633, MIN, MIN, 0),
    (0x02b5_1633, u64::MAX, u64::MAX, 0), (0x02b5_1633, MIN, MIN, 1 << 62), (0x02b5_1633, u64::MAX, 1, u64::MAX),
    (0x02b5_2633, u64::MAX, u64::MAX, u64::MAX), (0x02b5_2633, MIN, u64::MAX, MIN), (0x02b5_2633, 1, u64::MAX, 0),
    (0x02b5_3633, u64::MAX, u64::MAX, u64::MAX - 1), (0x02b5_3633, MIN, 4, 2),
    // div: by zero, overflow, towards zero
    (0x02b5_4633, 7, 0, u64::MAX), (0x02b5_4633, MIN, u64::MAX, MIN), (0x02b5_4633, u64::MAX - 6, 2, u64::MAX - 2),
    // divu
    (0x02b5_5633, 7, 0, u64::MAX), (0x02b5_5633, u64::MAX, 2, u64::MAX >> 1), (0x02b5_5633, MIN, u64::MAX, 0),
    // rem: by zero, overflow, the sign of the dividend
    (0x02b5_6633, u64::MAX - 6, 0, u64::MAX - 6), (0x02b5_6633, MIN, u64::MAX, 0), (0x02b5_6633, u64::MAX - 6, 2, u64::MAX),
    (0x02b5_6633, 7, u64::MAX - 1, 1),
    // remu
    (0x02b5_7633, 7, 0, 7), (0x02b5_7633, u64::MAX, 10, 5), (0x02b5_7633, MIN, u64::MAX, MIN),
    // mulw
    (0x02b5_063b, 0x1_0000_8000, 0x1_0000, MIN_WORD), (0x02b5_063b, u64::MAX, u64::MAX, 1),
    // divw: by zero, overflow, the upper half does not matter
    (0x02b5_463b, 7, 0xffff_ffff_0000_0000, u64::MAX), (0x02b5_463b, 0x8000_0000, 0xffff_ffff, MIN_WORD), (0x02b5_463b, 0xffff_fff9, 2, u64::MAX - 2),
    // divuw
    (0x02b5_563b, 7, 0, u64::MAX), (0x02b5_563b, u64::MAX, 1, u64::MAX), (0x02b5_563b, 0xffff_fff8, 2, 0x7fff_fffc),
    // remw
    (0x02b5_663b, 0xffff_fff9, 0, u64::MAX - 6), (0x02b5_663b, 0x8000_0000, 0xffff_ffff, 0), (0x02b5_663b, 0xffff_fff9, 2, u64::MAX),
    // remuw: by zero, the dividend's sign is extended
    (0x02b5_763b, 0x8000_0000, 0, MIN_WORD), (0x02b5_763b, 0xffff_ffff, 10, 5),
    // addi -1, slti -1, sltiu -1 (that is: the greatest), xori -1, ori 0x70f, andi -256
    (0xfff5_0613, 0, 0, u64::MAX),
    (0xfff5_2613, u64::MAX - 1, 0, 1), (0xfff5_2613, 0, 0, 0),
    (0xfff5_3613, 0, 0, 1), (0xfff5_3613, u64::MAX, 0, 0),
    (0xfff5_4613, 0xff, 0, !0xff), (0x70f5_6613, 0xf0, 0, 0x7ff), (0xf005_7613, u64::MAX, 0, !0xff),
    // slli, srli, srai 63
    (0x03f5_1613, 3, 0, MIN), (0x03f5_5613, MIN, 0, 1), (0x43f5_5613, MIN, 0, u64::MAX),
    // addiw -1, slliw, srliw, sraiw 31
    (0xfff5_061b, 0xabcd_0000_8000_0000, 0, 0x7fff_ffff), (0xfff5_061b, 0, 0, u64::MAX),
    (0x01f5_161b, 1, 0, MIN_WORD), (0x01f5_561b, MIN_WORD, 0, 1), (0x41f5_561b, 0x8000_0000, 0, u64::MAX),
    // lui 0x80000; auipc 0xfffff, auipc 0x12345 at 0x10000
    (0x8000_0637, 0, 0, MIN_WORD), (0xffff_f617, 0, 0, 0xf000), (0x1234_5617, 0, 0, 0x1235_5000),
    // fence does nothing
    (0x0ff0_000f, 0, 0, 0xdead),
];

#[test]
fn every_instruction_computes_what_the_manual_says() {
    for &(word, a, b, expected) in BY_HAND {
        assert_eq!(execute(&[word], a, b), Ok(expected), "{word:#010x} of {a:#x} and {b:#x}");
    }
}

#[test]
fn register_zero_stays_zero() {
    // addi x0, a0, -1; add a2, x0, x0
    assert_eq!(execute(&[0xfff5_0013, 0x0000_0633], 5, 6), Ok(0));
}

/// Numbers of which many are at the edges.
fn number() -> impl Strategy<Value = u64> {
    let edges = [0, 1, 2, MIN - 1, MIN, MIN + 1, u64::MAX, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, MIN_WORD];
    prop_oneof![any::<u64>(), proptest::sample::select(edges.to_vec()), (0..64_u32).prop_map(|bit| 1 << bit)]
}

/// The word of an instruction, and what Rust computes.
type Operation = (u32, fn(u64, u64) -> u64);

const fn signed(word: u32) -> u64 {
    word as i32 as i64 as u64
}

#[rustfmt::skip]
const IN_RUST: &[Operation] = &[
    (0x00b5_0633, u64::wrapping_add),
    (0x40b5_0633, u64::wrapping_sub),
    (0x00b5_1633, |a, b| a << (b % 64)),
    (0x00b5_2633, |a, b| ((a as i64) < b as i64).into()),
    (0x00b5_3633, |a, b| (a < b).into()),
    (0x00b5_4633, |a, b| a ^ b),
    (0x00b5_5633, |a, b| a >> (b % 64)),
    (0x40b5_5633, |a, b| (a as i64 >> (b % 64)) as u64),
    (0x00b5_6633, |a, b| a | b),
    (0x00b5_7633, |a, b| a & b),
    (0x00b5_063b, |a, b| signed((a as u32).wrapping_add(b as u32))),
    (0x40b5_063b, |a, b| signed((a as u32).wrapping_sub(b as u32))),
    (0x00b5_163b, |a, b| signed((a as u32) << (b % 32))),
    (0x00b5_563b, |a, b| signed(a as u32 >> (b % 32))),
    (0x40b5_563b, |a, b| signed((a as i32 >> (b % 32)) as u32)),
    (0x02b5_0633, u64::wrapping_mul),
    (0x02b5_1633, |a, b| ((i128::from(a as i64) * i128::from(b as i64)) >> 64) as u64),
    (0x02b5_2633, |a, b| ((i128::from(a as i64) * i128::from(b)) >> 64) as u64),
    (0x02b5_3633, |a, b| ((u128::from(a) * u128::from(b)) >> 64) as u64),
    (0x02b5_4633, |a, b| if b == 0 { u64::MAX } else { (a as i64).overflowing_div(b as i64).0 as u64 }),
    (0x02b5_5633, |a, b| a.checked_div(b).unwrap_or(u64::MAX)),
    (0x02b5_6633, |a, b| if b == 0 { a } else { (a as i64).overflowing_rem(b as i64).0 as u64 }),
    (0x02b5_7633, |a, b| a.checked_rem(b).unwrap_or(a)),
    (0x02b5_063b, |a, b| signed((a as u32).wrapping_mul(b as u32))),
    (0x02b5_463b, |a, b| if b as u32 == 0 { u64::MAX } else { signed((a as i32).overflowing_div(b as i32).0 as u32) }),
    (0x02b5_563b, |a, b| signed((a as u32).checked_div(b as u32).unwrap_or(u32::MAX))),
    (0x02b5_663b, |a, b| if b as u32 == 0 { signed(a as u32) } else { signed((a as i32).overflowing_rem(b as i32).0 as u32) }),
    (0x02b5_763b, |a, b| signed((a as u32).checked_rem(b as u32).unwrap_or(a as u32))),
];

proptest! {
    #[test]
    fn registers_are_computed_as_rust_computes(a in number(), b in number()) {
        for &(word, expected) in IN_RUST {
            prop_assert_eq!(execute(&[word], a, b), Ok(expected(a, b)), "{:#010x}", word);
        }
    }

    #[test]
    fn immediates_are_extended_by_their_sign(a in number(), imm in -2048_i64..2048) {
        let field = (imm as u32 & 0xfff) << 20;
        let expected: [(u32, u64); 7] = [
            (0x0005_0613, a.wrapping_add_signed(imm)),
            (0x0005_2613, ((a as i64) < imm).into()),
            (0x0005_3613, (a < imm as u64).into()),
            (0x0005_4613, a ^ imm as u64),
            (0x0005_6613, a | imm as u64),
            (0x0005_7613, a & imm as u64),
            (0x0005_061b, signed((a as u32).wrapping_add_signed(imm as i32))),
        ];
        for (word, expected) in expected {
            prop_assert_eq!(execute(&[word | field], a, 0), Ok(expected), "{:#010x}", word | field);
        }
    }

    #[test]
    fn shifts_go_as_far_as_they_say(a in number(), far in 0_u32..64) {
        let field = far << 20;
        let long = [
            (0x0005_1613, a << far),
            (0x0005_5613, a >> far),
            (0x4005_5613, (a as i64 >> far) as u64),
        ];
        for (word, expected) in long {
            prop_assert_eq!(execute(&[word | field], a, 0), Ok(expected), "{:#010x}", word | field);
        }
        let (far, field) = (far % 32, (far % 32) << 20);
        let short = [
            (0x0005_161b, signed((a as u32) << far)),
            (0x0005_561b, signed(a as u32 >> far)),
            (0x4005_561b, signed((a as i32 >> far) as u32)),
        ];
        for (word, expected) in short {
            prop_assert_eq!(execute(&[word | field], a, 0), Ok(expected), "{:#010x}", word | field);
        }
    }
}
