//! Numbers for readers: always with their half-width, and with no more digits than it justifies.

use warmcore_record::Estimate;
use warmcore_record::chart::Unit;

/// A metric prefix and its factor.
const PREFIXES: [(&str, f64); 8] =
    [("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3), ("", 1.0), ("m", 1e-3), ("µ", 1e-6), ("n", 1e-9)];

/// A value with half-width and unit: `142.1 ± 0.8 µs`, or `142.1 µs ± unknown` if the half-width is infinite.
pub(crate) fn figure(value: Estimate<f64>, unit: &Unit) -> String {
    if value.half_width.is_some_and(|half| !half.is_finite()) {
        return format!("{} ± unknown", figure(Estimate { half_width: None, ..value }, unit));
    }
    let (prefix, factor) = if unit.prefixed { prefix_for(value.mean) } else { ("", 1.0) };
    let mean = value.mean / factor;
    let half_width = value.half_width.map(|half| half / factor);
    let decimals = decimals_for(mean, half_width);
    let number = with_half_width(mean, half_width, decimals);
    match format!("{prefix}{}", unit.symbol) {
        symbol if symbol.is_empty() => number,
        symbol if symbol == "%" => format!("{number}\u{202f}%"),
        symbol => format!("{number} {symbol}"),
    }
}

/// A value with its unit: `20 k/s`.
pub(crate) fn value(value: f64, unit: &Unit) -> String {
    figure(Estimate { mean: value, half_width: None }, unit)
}

/// A number with `decimals` digits after the point, a true minus sign, and separated thousands.
pub(crate) fn fixed(number: f64, decimals: usize) -> String {
    if !number.is_finite() {
        return "unknown".to_owned();
    }
    let digits = format!("{:.decimals$}", number.abs());
    let (whole, fraction) = digits.split_once('.').map_or((digits.as_str(), None), |(w, f)| (w, Some(f)));
    let negative = number < 0.0 && digits.bytes().any(|digit| matches!(digit, b'1'..=b'9'));
    let mut text = String::from(if negative { "−" } else { "" });
    for (i, digit) in whole.chars().enumerate() {
        if i > 0 && whole.len() > 4 && (whole.len() - i).is_multiple_of(3) {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    if let Some(fraction) = fraction {
        text.push('.');
        text.push_str(fraction);
    }
    text
}

fn with_half_width(mean: f64, half_width: Option<f64>, decimals: usize) -> String {
    let mean = fixed(mean, decimals);
    half_width.map_or_else(|| mean.clone(), |half| format!("{mean} ± {}", fixed(half, decimals)))
}

/// The prefix that leaves one to three digits before the point.
pub(crate) fn prefix_for(value: f64) -> (&'static str, f64) {
    let size = value.abs();
    if size == 0.0 || !size.is_finite() {
        return ("", 1.0);
    }
    // A value such as 999.96 k would be rounded to 1000.0 k, so it gets the prefix M.
    let fits = |factor: f64| size >= factor * 0.9999;
    let smallest = PREFIXES[PREFIXES.len() - 1];
    PREFIXES.into_iter().find(|(_, factor)| fits(*factor)).unwrap_or(smallest)
}

/// Digits after the point: two significant digits of the half-width, or four of a mean without one.
#[expect(clippy::cast_possible_truncation, reason = "the exponent of a finite float fits 32 bits")]
fn decimals_for(mean: f64, half_width: Option<f64>) -> usize {
    let (reference, significant) = match half_width {
        Some(half) if half > 0.0 => (half, 2),
        _ => (mean.abs(), 4),
    };
    if reference == 0.0 || !reference.is_finite() {
        return 0;
    }
    let magnitude = reference.log10().floor() as i32;
    let decimals = usize::try_from(significant - 1 - magnitude).unwrap_or(0);
    let spare = if half_width.is_none_or(|half| half == 0.0) { trailing_zeros(mean, decimals) } else { 0 };
    decimals.min(9) - spare.min(decimals.min(9))
}

/// How many of the last `decimals` digits of `number` are insignificant zeros.
fn trailing_zeros(number: f64, decimals: usize) -> usize {
    let decimals = decimals.min(9);
    let digits = format!("{number:.decimals$}");
    if decimals == 0 {
        0
    } else {
        digits.bytes().rev().take(decimals).take_while(|digit| *digit == b'0').count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_follow_the_half_width() {
        let seconds = Unit::seconds();
        assert_eq!(figure(Estimate::new(142.137e-6, 0.81e-6), &seconds), "142.14 ± 0.81 µs");
        assert_eq!(figure(Estimate::new(1.5e-3, 0.25e-3), &seconds), "1.50 ± 0.25 ms");
        assert_eq!(figure(Estimate::new(12_345.6, 120.0), &Unit::plain("ns")), "12\u{202f}346 ± 120 ns");
        assert_eq!(figure(Estimate::new(57.4, 0.0), &Unit::plain("µs")), "57.4 ± 0.0 µs");
        assert_eq!(figure(Estimate::new(17.28e-6, f64::INFINITY), &seconds), "17.28 µs ± unknown");
    }

    #[test]
    fn a_figure_without_half_width_has_four_significant_digits_and_no_empty_ones() {
        assert_eq!(value(20_000.0, &Unit::per_second()), "20 k/s");
        assert_eq!(value(999_960.0, &Unit::per_second()), "1 M/s");
        assert_eq!(value(1.0 / 3.0, &Unit::plain("")), "0.3333");
        assert_eq!(value(0.0, &Unit::seconds()), "0 s");
        assert_eq!(value(31.25, &Unit::plain("%")), "31.25\u{202f}%");
    }

    #[test]
    fn a_minus_is_a_minus_and_zero_has_none() {
        assert_eq!(fixed(-31.5, 1), "−31.5");
        assert_eq!(fixed(-0.04, 1), "0.0");
        assert_eq!(fixed(1_234_567.0, 0), "1\u{202f}234\u{202f}567");
        assert_eq!(fixed(1234.5, 1), "1234.5");
        assert_eq!([f64::INFINITY, f64::NAN].map(|number| fixed(number, 1)), ["unknown"; 2]);
    }
}
