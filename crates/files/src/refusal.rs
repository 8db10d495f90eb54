//! What a reader of documents refused, as a fault of a field.

use crate::wording::{NAME_ALONE, plain};
use warmcore_units::Fault;
use warmcore_units::spelling::nearest;

/// The most names that a fault lists.
const LISTED: usize = 12;

/// What a reader of documents, one made by serde, says and where it says so.
#[derive(Clone, Debug)]
pub struct Refusal<'a> {
    /// The reader's message, such as "unknown variant `x`, expected `a` or `b`".
    pub message: &'a str,
    /// Dotted path of the field where the reader was; empty at the top of the document.
    pub place: &'a str,
    /// The value at `place` as its document has it, if there is one.
    pub found: Option<String>,
    /// What is read, such as "a packet scenario".
    pub what: &'a str,
    /// A name beside those that the reader knows at the top of the document.
    pub also: Option<&'a str>,
}

impl Refusal<'_> {
    /// The field at fault, what was found there and what would be right, with the known name that is nearest.
    #[must_use]
    pub fn fault(self) -> Fault {
        let Self { message, place, ref found, what, also } = self;
        if let Some((name, rest)) = quoted(message, "unknown field `") {
            let table = self.table_of(name);
            let known = names(rest);
            let nearest = nearest(name, known.iter().copied().chain(also.filter(|_| table.is_empty())));
            let of = if table.is_empty() { what.to_owned() } else { format!("`{table}`") };
            let hint = nearest.map_or_else(|| listed(&known), |nearest| did_you_mean(&below(table, nearest)));
            return Fault::new(below(table, name), "unknown", format!("a field of {of}{hint}"));
        }
        if let Some((name, _)) = quoted(message, "missing field `") {
            return Fault::new(below(self.table_of(name), name), "missing", "a value");
        }
        if message.starts_with(NAME_ALONE) {
            return name_alone(place, found.as_deref());
        }
        let field = if place.is_empty() { what } else { place };
        let in_words = plain(message);
        let (problem, expected) = in_words.rsplit_once(", expected ").unwrap_or(("", &in_words));
        let in_message = || problem.strip_prefix("invalid").and_then(|rest| rest.split_once(": "));
        let found = found.clone().or_else(|| in_message().map(|(_, found)| found.to_owned()));
        let expected = match quoted(message, "unknown variant `") {
            Some((name, rest)) => {
                let known = names(rest);
                let hint = nearest(name, known.iter().copied()).map(did_you_mean);
                format!("one of {}{}", known.join(", "), hint.unwrap_or_default())
            }
            None => expected.to_owned(),
        };
        Fault::new(field, found.unwrap_or_else(|| "unusable".to_owned()), expected)
    }

    /// The table that should have, or has, the field `name`: some readers are at that field already.
    fn table_of(&self, name: &str) -> &str {
        match self.place.rsplit_once('.') {
            Some((table, last)) if last == name => table,
            None if self.place == name => "",
            _ => self.place,
        }
    }
}

/// The fault of a name that stands alone, and wants parameters. Some readers count it to the `place`, where no value is then.
fn name_alone(place: &str, found: Option<&str>) -> Fault {
    let (field, name) = match found {
        Some(found) => (place, found.trim_matches(['"', '\''])),
        None => place.rsplit_once('.').unwrap_or((place, place)),
    };
    let expected = format!("`{name}` with its parameters: a table such as {{ {name} = … }}");
    Fault::new(field, format!("\"{name}\""), expected)
}

fn below(table: &str, name: &str) -> String {
    if table.is_empty() { name.to_owned() } else { format!("{table}.{name}") }
}

fn did_you_mean(name: &str) -> String {
    format!("; did you mean `{name}`?")
}

/// The name in `message` after `start`, and what follows it.
fn quoted<'a>(message: &'a str, start: &str) -> Option<(&'a str, &'a str)> {
    message.strip_prefix(start)?.split_once('`')
}

/// The names in backquotes.
fn names(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

fn listed(known: &[&str]) -> String {
    match known.len() {
        0 => String::new(),
        1..=LISTED => format!(": {}", known.join(", ")),
        _ => format!(": {}, …", known[..LISTED].join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(place: &str, message: &str, found: Option<&str>) -> String {
        let found = found.map(str::to_owned);
        Refusal { message, place, found, what: "a scenario", also: Some("load") }.fault().to_string()
    }

    #[test]
    fn an_unknown_field_is_named_with_the_nearest_or_with_all() {
        let unknown = "unknown field `sede`, expected one of `seed`, `streams`";
        assert_eq!(
            refusal("", unknown, None),
            "`sede` is unknown, expected a field of a scenario; did you mean `seed`?"
        );
        let within = "`traffic.sede` is unknown, expected a field of `traffic`; did you mean `traffic.seed`?";
        assert_eq!(refusal("traffic", unknown, None), within);
        assert_eq!(refusal("traffic.sede", unknown, None), within, "a reader that is at the field already");
        let far = "unknown field `wavelength`, expected `seed` or `streams`";
        assert!(refusal("", far, None).ends_with("a field of a scenario: seed, streams"));
    }

    #[test]
    fn a_name_beside_those_of_the_document_belongs_to_its_top_alone() {
        let unknown = "unknown field `laod`, expected `seed`";
        assert!(refusal("", unknown, None).ends_with("did you mean `load`?"));
        assert!(refusal("traffic", unknown, None).ends_with("a field of `traffic`: seed"));
    }

    #[test]
    fn a_value_is_told_as_its_document_has_it_or_as_the_reader_says() {
        let wrong = "invalid type: string \"x\", expected u8";
        let expected = "expected a whole number from 0 to 255";
        assert_eq!(refusal("seed", wrong, Some("\"x\"")), format!("`seed` is \"x\", {expected}"));
        assert_eq!(refusal("seed", wrong, None), format!("`seed` is string \"x\", {expected}"));
        assert_eq!(refusal("seed", "no seed", None), "`seed` is unusable, expected no seed");
        assert_eq!(refusal("seed", "missing field `seed`", None), "`seed` is missing, expected a value");
    }

    #[test]
    fn a_name_without_its_parameters_is_told_with_a_table() {
        let message = "invalid type: unit variant, expected newtype variant";
        let expected = "`traffic.popularity` is \"zipf\", expected `zipf` with its parameters: a table such as { zipf = … }";
        assert_eq!(refusal("traffic.popularity", message, Some("\"zipf\"")), expected);
        assert_eq!(refusal("traffic.popularity.zipf", message, None), expected);
    }

    #[test]
    fn an_unknown_name_has_the_known_ones_and_the_nearest() {
        let message = "unknown variant `mur`, expected one of `lru`, `mru`, `wired`";
        let refused = refusal("policy", message, Some("\"mur\""));
        assert_eq!(refused, "`policy` is \"mur\", expected one of lru, mru, wired; did you mean `mru`?");
    }
}
