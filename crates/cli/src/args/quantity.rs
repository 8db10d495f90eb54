//! How numbers with units are read: `20k` packets a second, `10ms`, `0.5%`.

use core::time::Duration;
use warmcore_units::PerSecond;

/// What the suffixes of a number stand for, as exponents of ten.
pub(super) const FACTORS: [(&str, u32); 4] = [("k", 3), ("K", 3), ("M", 6), ("G", 9)];
/// Units of time, as exponents of ten of a second.
const TIMES: [(&str, i32); 5] = [("ns", -9), ("us", -6), ("µs", -6), ("ms", -3), ("s", 0)];

/// A decimal number, times a power of ten. Read as one decimal, so that `0.1%` is exactly what `0.001` is.
fn decimal(text: &str, exponent: i32) -> Option<f64> {
    let plain = text.trim();
    let number = match exponent {
        0 => plain.parse::<f64>(),
        // `1e3` is a number, and `1e3e3` none.
        _ => format!("{}e{exponent}", plain.parse::<f64>().ok()?).parse::<f64>(),
    };
    number.ok().filter(|number| number.is_finite())
}

/// A number: `20000`, `20k`, `1.5M`.
pub(crate) fn number(text: &str) -> Result<f64, String> {
    let suffixed =
        FACTORS.iter().find_map(|(suffix, exponent)| Some((text.strip_suffix(suffix)?, *exponent)));
    let (digits, exponent) = suffixed.unwrap_or((text, 0));
    decimal(digits, exponent.cast_signed())
        .ok_or_else(|| "expected a number, such as 20000, 20k or 1.5M".to_owned())
}

/// A time in units of 10^`unit` seconds; a number alone is one of them.
fn time(text: &str, unit: i32) -> Option<f64> {
    let suffixed = TIMES.iter().find_map(|(suffix, exponent)| Some((text.strip_suffix(suffix)?, *exponent)));
    match (suffixed, text.strip_suffix('m')) {
        (Some((digits, exponent)), _) => decimal(digits, exponent - unit),
        (None, Some(minutes)) => Some(decimal(minutes, -unit)? * 60.0),
        (None, None) => decimal(text, 0),
    }
}

/// Nanoseconds: `250`, `10us`, `1.5ms`.
pub(crate) fn nanos(text: &str) -> Result<f64, String> {
    time(text, -9).ok_or_else(|| "expected nanoseconds, or a time such as 10us or 1.5ms".to_owned())
}

/// Microseconds: `40`, `5ms`, `1.5s`.
pub(crate) fn micros(text: &str) -> Result<f64, String> {
    time(text, -6).ok_or_else(|| "expected microseconds, or a time such as 40us or 5ms".to_owned())
}

/// Seconds: `5`, `500ms`, `2m`.
pub(crate) fn seconds(text: &str) -> Result<f64, String> {
    time(text, 0).ok_or_else(|| "expected seconds, or a time such as 500ms or 2m".to_owned())
}

/// A time in seconds, of which somebody else says how long it may be: `5`, `500ms`, `2m`.
pub(crate) fn period(text: &str) -> Result<Duration, String> {
    let expected = |_| "expected seconds, or a time such as 500ms or 2m".to_owned();
    Duration::try_from_secs_f64(seconds(text)?).map_err(expected)
}

/// A time between two looks, in seconds: at least a hundredth, at most a day.
pub(crate) fn pause(text: &str) -> Result<Duration, &'static str> {
    let seconds = time(text, 0).filter(|seconds| (0.01..=86_400.0).contains(seconds));
    seconds
        .map(Duration::from_secs_f64)
        .ok_or("expected a time from 10ms to 86400s; a number alone is seconds")
}

/// A time for which a scheduler lets a task run: `30ms`; a number alone is milliseconds.
pub(crate) fn slice(text: &str) -> Result<Duration, &'static str> {
    let millis = time(text, -3).filter(|millis| (0.1..=100_000.0).contains(millis));
    millis
        .map(|millis| Duration::from_secs_f64(millis / 1e3))
        .ok_or("expected a time from 0.1ms to 100s; a number alone is milliseconds")
}

/// A time of whole milliseconds with its unit: `60s`, `2m`, `500ms`.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let expected = || "expected a time with its unit, such as 1s, 2m or 500ms".to_owned();
    let has_unit = text.ends_with(|last: char| last.is_alphabetic());
    let millis = time(text, -3).filter(|millis| {
        has_unit && (0.0..=f64::from(u32::MAX) * 1e3).contains(millis) && millis.fract() == 0.0
    });
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a whole number in range")]
    millis.map(|millis| Duration::from_millis(millis as u64)).ok_or_else(expected)
}

/// Packets per second, above 0: `20000`, `20k`.
pub(crate) fn rate(text: &str) -> Result<PerSecond, &'static str> {
    let rate = number(text).ok().filter(|rate| *rate > 0.0);
    rate.map(PerSecond).ok_or("expected a number of packets per second, above 0, such as 20000, 20k or 1.5M")
}

/// A rate of bits, in units of a million a second.
pub(crate) fn megabits(text: &str) -> Result<PerSecond, &'static str> {
    let rate = text.parse::<f64>().ok().filter(|rate| (0.001..=1e7).contains(rate));
    rate.map(|rate| PerSecond(rate * 1e6)).ok_or("expected a number of Mbit/s from 0.001 to 10000000")
}

/// A fraction: `0.005` or `0.5%`.
pub(crate) fn fraction(text: &str) -> Result<f64, String> {
    let read = match text.strip_suffix('%') {
        Some(percent) => decimal(percent, -2),
        None => decimal(text, 0),
    };
    read.ok_or_else(|| "expected a fraction such as 0.005, or a percentage such as 0.5%".to_owned())
}

/// A precision: `0.5%`, or `0.005`. Whoever writes `0.5` or `5` may have left the sign out.
pub(crate) fn precision(text: &str) -> Result<f64, String> {
    let most = if text.ends_with('%') { 1.0 } else { 0.1 };
    let read = fraction(text).ok().filter(|precision| *precision > 0.0 && *precision < most);
    read.ok_or_else(|| {
        "expected a percentage with its sign, such as 0.5%, below 100%, or a fraction below 0.1, such as 0.005"
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_people_type_them() {
        for (text, value) in
            [("20000", 20e3), ("20k", 20e3), ("1.5M", 1.5e6), ("2G", 2e9), ("1e4", 1e4), ("-1", -1.0)]
        {
            assert_eq!(number(text), Ok(value), "{text}");
        }
        for text in ["", "k", "20m", "1e3e3", "inf", "NaN", "1e400", "20 000"] {
            assert!(number(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_percentage_is_the_fraction_it_names() {
        for (text, value) in
            [("0.5%", 0.005), ("0.1%", 0.001), ("150%", 1.5), ("0.02", 0.02), ("1e-3", 0.001)]
        {
            assert_eq!(fraction(text), Ok(value), "{text}");
        }
        assert!(fraction("half").is_err() && fraction("%").is_err());
    }

    #[test]
    fn a_precision_without_a_sign_is_a_small_fraction() {
        for (text, value) in [("0.5%", 0.005), ("20%", 0.2), ("0.005", 0.005), ("0.05", 0.05)] {
            assert_eq!(precision(text), Ok(value), "{text}");
        }
        for text in ["0.1", "0.5", "1", "5", "0", "0%", "100%", "150%", "-1%", "half"] {
            assert!(precision(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_time_may_have_its_unit() {
        for (text, value) in
            [("250", 250.0), ("250ns", 250.0), ("10us", 10e3), ("10µs", 10e3), ("1.5ms", 1.5e6)]
        {
            assert_eq!(nanos(text), Ok(value), "{text}");
        }
        for (text, value) in [("5", 5.0), ("500ms", 0.5), ("2m", 120.0)] {
            assert_eq!(seconds(text), Ok(value), "{text}");
        }
        assert_eq!(pause("100ms"), Ok(Duration::from_millis(100)));
        assert!(
            nanos("ten").is_err() && seconds("1h").is_err() && pause("0").is_err() && pause("inf").is_err()
        );
    }

    #[test]
    fn a_duration_has_its_unit() {
        for (text, millis) in [("60s", 60_000), ("2m", 120_000), ("500ms", 500), ("1.5s", 1_500)] {
            assert_eq!(duration(text), Ok(Duration::from_millis(millis)));
        }
        for text in ["60", "s", "1h", "-1s", "99999999999s", "", "10us"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}
