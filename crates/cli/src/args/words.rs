//! The words of the command line, before they are parsed.

use std::ffi::OsString;

/// `words` with each negative number joined to the option before it: `--rate -5k` becomes `--rate=-5k`. The parser
/// would take it for an option of its own, and could not say what the value should be.
pub(crate) fn with_negative_numbers(words: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut joined: Vec<OsString> = Vec::new();
    let mut options_ended = false;
    for word in words {
        match joined.last_mut() {
            Some(option) if !options_ended && is_negative(&word) && takes_value(option) => {
                option.push("=");
                option.push(&word);
            }
            _ => {
                options_ended |= word == "--";
                joined.push(word);
            }
        }
    }
    joined
}

/// Whether `word` is a minus sign and a number, with a unit or not; no option begins so.
fn is_negative(word: &OsString) -> bool {
    let number = word.to_str().and_then(|word| word.strip_prefix('-'));
    number.is_some_and(|number| number.starts_with(|first: char| first.is_ascii_digit() || first == '.'))
}

/// Whether `word` is an option without its value.
fn takes_value(word: &OsString) -> bool {
    word.to_str().is_some_and(|word| word.starts_with("--") && word.len() > 2 && !word.contains('='))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_negative_number_belongs_to_the_option_before_it() {
        let joined = |line: &str| {
            let words = with_negative_numbers(line.split(' ').map(OsString::from));
            words.into_iter().map(|word| word.into_string().expect("text")).collect::<Vec<_>>().join(" ")
        };
        for (line, expected) in [
            ("warmcore run --rate -5k --json", "warmcore run --rate=-5k --json"),
            ("warmcore run --precision -.5%", "warmcore run --precision=-.5%"),
            ("warmcore run --rate=1 -5", "warmcore run --rate=1 -5"),
            ("warmcore run -q -5", "warmcore run -q -5"),
            ("warmcore run --rate -q", "warmcore run --rate -q"),
            ("warmcore -- --rate -5", "warmcore -- --rate -5"),
        ] {
            assert_eq!(joined(line), expected);
        }
    }
}
