//! Numbers and names in words.

use crate::simulate::{Column, FunctionFigures, Side, Start, Summary};
use std::collections::BTreeMap;

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
        Start::NearestCold => "repeated until nothing changes, the nearest caches emptied before each time",
    }
}

/// The names of a summary's functions as tables have space for them.
pub(super) struct Names(BTreeMap<Option<u32>, String>);

impl Names {
    /// Types without their modules, a function with the innermost one. The whole name, if another function would be called the
    /// same.
    pub(super) fn new(summary: &Summary) -> Self {
        let mut alike: BTreeMap<String, u32> = BTreeMap::new();
        summary.functions.iter().for_each(|of| *alike.entry(shortened(&of.name)).or_default() += 1);
        let name = |of: &FunctionFigures| {
            let brief = shortened(named(&of.name));
            (of.function, if alike.get(&brief) > Some(&1) { of.name.clone() } else { brief })
        };
        Self(summary.functions.iter().map(name).collect())
    }

    /// The name of `function`.
    pub(super) fn get(&self, function: Option<u32>) -> &str {
        self.0.get(&function).map_or(NO_FUNCTION, String::as_str)
    }
}

fn shortened(name: &str) -> String {
    let is_letter = |letter: char| letter.is_alphanumeric() || letter == '_';
    let (mut brief, mut rest) = (String::new(), name);
    while !rest.is_empty() {
        let end = rest.find(|letter: char| !is_letter(letter) && letter != ':').unwrap_or(rest.len());
        brief += &last_of(&rest[..end]);
        let next = rest[end..].chars().next().map_or(end, |letter| end + letter.len_utf8());
        brief += &rest[end..next];
        rest = &rest[next..];
    }
    of_its_type(&brief).unwrap_or(brief)
}

/// `<impl Type>::function` as `Type::function`.
fn of_its_type(name: &str) -> Option<String> {
    let (of, function) = name.strip_prefix("<impl ")?.rsplit_once(">::")?;
    (!of.contains(" for ")).then(|| format!("{of}::{function}"))
}

/// The last part of a path, with the one before if it is a function's.
fn last_of(path: &str) -> String {
    let parts: Vec<&str> = path.split("::").collect();
    let is_function = |part: &str| part.starts_with(|letter: char| letter.is_lowercase() || letter == '_');
    match parts[..] {
        // What follows a type: `>::pop`.
        ["", ..] => path.to_owned(),
        // Modules before an `<impl …>`.
        [.., ""] => String::new(),
        [.., before, last] if is_function(last) => format!("{before}::{last}"),
        [.., last] => last.to_owned(),
        [] => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::{change, count, shortened};

    #[test]
    fn a_name_keeps_types_and_the_innermost_module_of_a_function() {
        let names = [
            ("memcpy", "memcpy"),
            ("warmcore_lab::layers::lance::reap", "lance::reap"),
            ("warmcore_stack::wire::tcp::Segment::fill", "Segment::fill"),
            ("<lab::layers::tcp::TcpIn<A,B> as lab::layer::Above>::pop", "<TcpIn<A,B> as Above>::pop"),
            ("stack::transmit::<impl stack::Connection>::transmit", "Connection::transmit"),
            ("a::<impl a::Above for b::Ip>::pop", "<impl Above for Ip>::pop"),
            ("core::ops::FnOnce::call_once{{vtable.shim}}", "FnOnce::call_once{{vtable.shim}}"),
            ("f(int, std::string const&)", "f(int, std::string const&)"),
            ("", ""),
        ];
        for (name, brief) in names {
            assert_eq!(shortened(name), brief);
        }
    }

    #[test]
    fn numbers_have_their_thousands_apart_and_their_signs() {
        assert_eq!(
            [9999, 12_345, 1_234_567].map(count),
            ["9999", "12\u{202f}345", "1\u{202f}234\u{202f}567"]
        );
        assert_eq!([change(90, 100), change(110, 100)], ["−10.0\u{202f}%", "+10.0\u{202f}%"]);
    }
}
