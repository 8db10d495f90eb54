//! Fields by their dotted paths: setting one in a scenario's document, and naming the one that is wrong.

use super::LOAD;
use super::model::Model;
use toml::{Table, Value};
use warmcore_files::wording::plain;
use warmcore_units::Fault;
use warmcore_units::spelling::nearest;

/// The most names that an error lists.
const LISTED: usize = 12;

/// Sets the field at `path` to `value`. Tables on the way are made; numbers name the elements of arrays.
pub(super) fn set(table: &mut Table, path: &str, value: Value) -> Result<(), Fault> {
    let (first, rest) = path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
    match rest {
        None => {
            table.insert(first.to_owned(), value);
            Ok(())
        }
        Some(rest) => {
            let below = table.entry(first).or_insert_with(|| Value::Table(Table::new()));
            set_below(below, rest, value).map_err(|fault| within(first, fault))
        }
    }
}

fn set_below(node: &mut Value, path: &str, value: Value) -> Result<(), Fault> {
    match node {
        Value::Table(table) => set(table, path, value),
        Value::Array(array) => {
            let (first, rest) =
                path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
            let length = array.len();
            let Some(element) = first.parse::<usize>().ok().and_then(|place| array.get_mut(place)) else {
                let expected = format!("the place of one of the {length} elements, from 0");
                return Err(Fault::new(first, "no such element", expected));
            };
            match rest {
                Some(rest) => set_below(element, rest, value).map_err(|fault| within(first, fault)),
                None => {
                    *element = value;
                    Ok(())
                }
            }
        }
        other => {
            let expected = "the scenario to have a table there: vary the whole of it, with tables as values";
            Err(Fault::new(path, format!("below {other}"), expected))
        }
    }
}

fn within(table: &str, fault: Fault) -> Fault {
    Fault { field: format!("{table}.{}", fault.field), ..fault }
}

/// The value at `path`.
fn get<'a>(table: &'a Table, path: &str) -> Option<&'a Value> {
    let mut keys = path.split('.');
    let mut node = table.get(keys.next()?)?;
    for key in keys {
        node = match node {
            Value::Table(table) => table.get(key)?,
            Value::Array(array) => array.get(key.parse::<usize>().ok()?)?,
            _ => return None,
        };
    }
    Some(node)
}

/// What is wrong with `table`, which the scenario of `model` cannot be read from.
pub(super) fn fault(model: Model, table: &Table, error: &toml::de::Error) -> Fault {
    let message = error.message();
    let place = place(error);
    let path = |name: &str| if place.is_empty() { name.to_owned() } else { format!("{place}.{name}") };
    if let Some((name, rest)) = quoted(message, "unknown field `") {
        let known = names(rest);
        let nearest = nearest(name, known.iter().copied().chain((place.is_empty()).then_some(LOAD)));
        let of = if place.is_empty() { format!("a {model} scenario") } else { format!("`{place}`") };
        let hint = match nearest {
            Some(nearest) => format!("; the nearest is `{}`", path(nearest)),
            None => listed(&known),
        };
        return Fault::new(path(name), "unknown", format!("a field of {of}{hint}"));
    }
    if let Some((name, _)) = quoted(message, "missing field `") {
        return Fault::new(path(name), "missing", "a value");
    }
    let found = get(table, &place).map_or_else(|| "unusable".to_owned(), ToString::to_string);
    let expected = match quoted(message, "unknown variant `") {
        Some((name, rest)) => {
            let known = names(rest);
            let hint =
                nearest(name, known.iter().copied()).map(|nearest| format!("; the nearest is \"{nearest}\""));
            format!("one of {}{}", known.join(", "), hint.unwrap_or_default())
        }
        None => {
            let message = plain(message);
            message.rsplit_once(", expected ").map_or(message.clone(), |(_, expected)| expected.to_owned())
        }
    };
    Fault::new(if place.is_empty() { "scenario" } else { &place }, found, expected)
}

/// The dotted path that the reader says it was at.
fn place(error: &toml::de::Error) -> String {
    let shown = error.to_string();
    let last = shown.trim_end().rsplit('\n').next().unwrap_or_default();
    let place = last.strip_prefix("in `").and_then(|rest| rest.strip_suffix('`'));
    place.unwrap_or_default().to_owned()
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
