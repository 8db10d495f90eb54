//! Numbers and names in words.

use crate::simulate::{Column, Side, Start, Summary};

/// A whole number with its thousands apart, if it has more than four digits.
pub(super) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && digits.len() > 4 && (digits.len() - at).is_multiple_of(3) {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

/// A part in a hundred.
pub(super) fn percent(part: f64) -> String {
    format!("{:.0}\u{202f}%", 100.0 * part)
}

/// By how much `now` differs from `before`, in a hundred, with its sign.
pub(super) fn change(now: u64, before: u64) -> String {
    let change = 100.0 * (now as f64 - before as f64) / before.max(1) as f64;
    let sign = if change < 0.0 { "−" } else { "+" };
    format!("{sign}{:.1}\u{202f}%", change.abs())
}

/// The name of a function of `summary`.
pub(super) fn function(summary: &Summary, function: Option<u32>) -> &str {
    let found = summary.functions.iter().find(|of| of.function == function && function.is_some());
    found.map_or(NO_FUNCTION, |found| named(&found.name))
}

/// What code is called that no function has.
const NO_FUNCTION: &str = "code of no function";

/// `name`, unless it is empty.
pub(super) fn named(name: &str) -> &str {
    if name.is_empty() { NO_FUNCTION } else { name }
}

/// The cache of a column.
pub(super) fn cache(column: &Column) -> String {
    match column.side {
        Side::Instructions => "instruction cache".to_owned(),
        Side::Data => "data cache and write buffer".to_owned(),
        Side::Both => format!("cache of level {}", column.level),
    }
}

/// What the caches hold when counting begins.
pub(super) const fn start(start: Start) -> &'static str {
    match start {
        Start::Cold => "from cold caches",
        Start::Steady => "repeated until nothing changes",
    }
}
