//! What RV64IM computes where Rust computes otherwise (the manual's chapters 4.2 and 12.2). Nothing traps: a division by
//! zero has all bits set, or the dividend as its remainder; the one division that overflows has the dividend, and no
//! remainder.

/// A word, as all instructions on words leave it: extended by its sign.
#[inline]
pub(super) const fn extend(word: u32) -> u64 {
    word as i32 as i64 as u64
}

/// The upper half of the product of two signed numbers.
#[inline]
pub(super) const fn mulh(a: u64, b: u64) -> u64 {
    ((a as i64 as i128 * b as i64 as i128) >> 64) as u64
}

/// The upper half of the product of a signed and an unsigned number.
#[inline]
pub(super) const fn mulhsu(a: u64, b: u64) -> u64 {
    ((a as i64 as i128).wrapping_mul(b as i128) >> 64) as u64
}

/// The upper half of the product of two unsigned numbers.
#[inline]
pub(super) const fn mulhu(a: u64, b: u64) -> u64 {
    ((a as u128 * b as u128) >> 64) as u64
}

#[inline]
pub(super) const fn div(a: u64, b: u64) -> u64 {
    if b == 0 { u64::MAX } else { (a as i64).wrapping_div(b as i64) as u64 }
}

#[inline]
pub(super) const fn divu(a: u64, b: u64) -> u64 {
    match a.checked_div(b) {
        Some(quotient) => quotient,
        None => u64::MAX,
    }
}

#[inline]
pub(super) const fn rem(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { (a as i64).wrapping_rem(b as i64) as u64 }
}

#[inline]
pub(super) const fn remu(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { a % b }
}

#[inline]
pub(super) const fn divw(a: u32, b: u32) -> u64 {
    extend(if b == 0 { u32::MAX } else { (a as i32).wrapping_div(b as i32) as u32 })
}

#[inline]
pub(super) const fn divuw(a: u32, b: u32) -> u64 {
    match a.checked_div(b) {
        Some(quotient) => extend(quotient),
        None => u64::MAX,
    }
}

#[inline]
pub(super) const fn remw(a: u32, b: u32) -> u64 {
    extend(if b == 0 { a } else { (a as i32).wrapping_rem(b as i32) as u32 })
}

#[inline]
pub(super) const fn remuw(a: u32, b: u32) -> u64 {
    extend(if b == 0 { a } else { a % b })
}
