//! How whole numbers are read: `8`, `64k`, `20M`.
//!
//! `k`, `M` and `G` are a thousand, a million and a thousand million; of bytes and KiB they are powers of 1024, as
//! other network tools have it.

use super::quantity::{FACTORS, number};
use core::ops::RangeInclusive;

/// Numbers that any whole number of 32 bits fits.
pub(crate) const ANY_32_BITS: RangeInclusive<u64> = 0..=u32::MAX as u64;

/// Reads a whole number in `range`: `1000`, `64k`, `1.5M`.
pub(crate) fn count<T: TryFrom<u64>>(
    range: RangeInclusive<u64>,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static {
    move |text| {
        let value = multiple(text, 1000).or_else(|| whole(number(text).ok()?));
        within(value, text, &range, "a whole number")
    }
}

/// Reads a number of bytes in `range`: `1500`, `64k` for 65536, `1M`.
pub(crate) fn bytes<T: TryFrom<u64>>(
    range: RangeInclusive<u64>,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static {
    move |text| within(multiple(text, 1024), text, &range, "a whole number of bytes")
}

/// Reads a number of KiB in `range`: `64`, `64k` for 65536.
pub(crate) fn kib<T: TryFrom<u64>>(
    range: RangeInclusive<u64>,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static {
    move |text| within(multiple(text, 1024), text, &range, "a whole number of KiB")
}

/// Reads a port of UDP.
pub(crate) fn port(text: &str) -> Result<u16, String> {
    count(1..=u16::MAX.into())(text).map_err(|_| format!("expected a port from 1 to {}", u16::MAX))
}

/// Digits, and a suffix that stands for a power of `thousand`. What is larger than any range is the largest number.
fn multiple(text: &str, thousand: u128) -> Option<u128> {
    let suffixed =
        FACTORS.iter().find_map(|(suffix, exponent)| Some((text.strip_suffix(suffix)?, exponent / 3)));
    let (digits, power) = suffixed.unwrap_or((text, 0));
    let digits = digits.trim();
    let is_whole = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    is_whole.then(|| digits.parse().unwrap_or(u128::MAX).saturating_mul(thousand.pow(power)))
}

/// `number` if it is whole, and small enough that a float holds it exactly.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a whole number in range")]
fn whole(number: f64) -> Option<u128> {
    ((0.0..=2_f64.powi(53)).contains(&number) && number.fract() == 0.0).then_some(number as u128)
}

/// `value` if it is in `range`; else what would be. `text` is what was typed.
fn within<T: TryFrom<u64>>(
    value: Option<u128>,
    text: &str,
    range: &RangeInclusive<u64>,
    what: &str,
) -> Result<T, String> {
    let in_range = value.and_then(|value| u64::try_from(value).ok()).filter(|value| range.contains(value));
    in_range.and_then(|value| T::try_from(value).ok()).ok_or_else(|| {
        let (least, most) = range.clone().into_inner();
        let bounds = match most {
            u64::MAX => format!("of at least {least}"),
            most => format!("from {least} to {most}"),
        };
        match value {
            Some(value) if value.to_string() != text && value < u128::MAX => {
                format!("that is {value}, expected {what} {bounds}")
            }
            Some(_) => format!("expected {what} {bounds}"),
            None => format!("expected {what} {bounds}; it may end in k, M or G"),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_read_as_people_type_them() {
        for (text, value) in
            [("8", 8), ("8k", 8_000), ("64K", 64_000), ("1.5k", 1_500), ("2M", 2_000_000), ("1e4", 10_000)]
        {
            assert_eq!(count::<u32>(ANY_32_BITS)(text), Ok(value), "{text}");
        }
        let largest = i64::MAX as u64;
        assert_eq!(count::<u64>(0..=largest)("9223372036854775807"), Ok(largest), "no digit is lost");
        for text in ["", "k", "1.5", "-1", "8x", "1kk", "0x10", "99999999999999999999999999999999999999999"] {
            assert!(count::<u32>(ANY_32_BITS)(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_refusal_says_what_would_be_right() {
        let processors = count::<u32>(1..=4096);
        assert_eq!(processors("0"), Err("expected a whole number from 1 to 4096".to_owned()));
        assert_eq!(processors("8k"), Err("that is 8000, expected a whole number from 1 to 4096".to_owned()));
        assert_eq!(
            processors("-1"),
            Err("expected a whole number from 1 to 4096; it may end in k, M or G".to_owned())
        );
        let most = count::<u64>(10..=u64::MAX);
        assert_eq!(most("9"), Err("expected a whole number of at least 10".to_owned()));
        assert_eq!(port("99k"), Err("expected a port from 1 to 65535".to_owned()));
    }

    #[test]
    fn a_thousand_bytes_are_1024() {
        let any = 0..=u64::MAX;
        assert_eq!(
            (
                bytes::<u64>(any.clone())("64k"),
                bytes::<u64>(any.clone())("1M"),
                kib::<u32>(any.clone())("64k")
            ),
            (Ok(65536), Ok(1 << 20), Ok(65536))
        );
        let payload = bytes::<u16>(0..=4442)("64k");
        assert_eq!(payload, Err("that is 65536, expected a whole number of bytes from 0 to 4442".to_owned()));
        assert!(bytes::<u64>(any.clone())("1.5k").is_err() && bytes::<u64>(any)("99999999999G").is_err());
    }
}
