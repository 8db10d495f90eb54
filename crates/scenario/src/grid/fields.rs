//! Fields by their dotted paths: setting one in a scenario's document, and naming the one that is wrong.

use super::LOAD;
use super::model::Model;
use toml::{Table, Value};
use warmcore_files::refusal::Refusal;
use warmcore_units::Fault;

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
    let place = place(error);
    let found = get(table, &place).map(ToString::to_string);
    let what = format!("a {model} scenario");
    Refusal { message: error.message(), place: &place, found, what: &what, also: Some(LOAD) }.fault()
}

/// The dotted path that the reader says it was at.
fn place(error: &toml::de::Error) -> String {
    let shown = error.to_string();
    let last = shown.trim_end().rsplit('\n').next().unwrap_or_default();
    let place = last.strip_prefix("in `").and_then(|rest| rest.strip_suffix('`'));
    place.unwrap_or_default().to_owned()
}
