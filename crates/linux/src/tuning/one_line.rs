//! Writes a TOML value on one line.
//!
//! The serialiser of TOML writes a text with a line break over several lines. In a journal each line is an entry, so
//! such a text would break its entry, and what stands after the break could pass for an entry of its own.

use serde::Serialize;
use std::fmt::Write;
use toml::Value;
use toml::ser::{Error, ValueSerializer};

/// Writes `value` so that no text in it breaks the line.
pub(super) fn one_line<T: Serialize>(value: &T) -> Result<String, Error> {
    let mut text = String::new();
    value.serialize(ValueSerializer::new(&mut text))?;
    if !text.contains('\n') {
        return Ok(text);
    }
    Value::try_from(value).map(|value| shown(&value))
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => basic_string(text),
        Value::Array(values) => format!("[{}]", values.iter().map(shown).collect::<Vec<_>>().join(", ")),
        Value::Table(table) => {
            let fields = table.iter().map(|(key, value)| format!("{} = {}", basic_string(key), shown(value)));
            format!("{{ {} }}", fields.collect::<Vec<_>>().join(", "))
        }
        plain => plain.to_string(),
    }
}

/// A basic string (TOML 1.0, "String"), with every control character escaped.
fn basic_string(text: &str) -> String {
    let mut written = String::from('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => written.extend(['\\', letter]),
            // Writing to a string cannot fail.
            _ if letter.is_control() => drop(write!(written, "\\u{:04X}", u32::from(letter))),
            _ => written.push(letter),
        }
    }
    written + "\""
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn a_text_with_line_breaks_takes_one_line_and_is_read_back_as_it_was() {
        let texts =
            ["plain", "a\nb", "a\r\n\t\"\\\u{7f}\u{85}\0", "'''\n\"\"\"", "\nentry = { begun = 0 }\n"];
        let value = BTreeMap::from(texts.map(|text| (text.to_owned(), vec![text.to_owned(), String::new()])));
        let line = one_line(&value).expect("texts can be written");
        assert!(!line.contains('\n'), "{line}");
        let read: BTreeMap<String, BTreeMap<String, Vec<String>>> =
            toml::from_str(&format!("entry = {line}\n")).expect("a line of TOML");
        assert_eq!(read["entry"], value);
    }
}
