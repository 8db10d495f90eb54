//! What a reader of documents says, taken apart: the field, what was found there, what was expected, and the nearest name.

use crate::failure::Complaint;
use warmcore_files::wording::plain;

impl Complaint {
    /// The complaint of a reader at `path`, dotted, with its `message` such as "unknown variant `x`, expected `a` or `b`".
    pub(crate) fn of_reader(path: &str, message: &str) -> Self {
        let message = &plain(message);
        let path = path.trim_matches('.').replace('?', "");
        let at = |name: &str| {
            let parent = path.trim_end_matches('.');
            match parent {
                "" => name.to_owned(),
                parent if parent == name || parent.ends_with(&format!(".{name}")) => parent.to_owned(),
                parent => format!("{parent}.{name}"),
            }
        };
        let (what, expected) = message.split_once(", expected ").unwrap_or((message, ""));
        let quoted = what.split('`').nth(1).unwrap_or("");
        let (field, found) = match what {
            _ if what.starts_with("unknown field") => (at(quoted), "no such field".to_owned()),
            _ if what.starts_with("missing field") => (at(quoted), "missing".to_owned()),
            _ if what.starts_with("unknown name") => (path.clone(), format!("\"{quoted}\"")),
            _ => match what.split_once(": ") {
                Some((kind, found)) if kind.starts_with("invalid") => (path.clone(), found.to_owned()),
                _ => (path.clone(), String::new()),
            },
        };
        let nearest = match what {
            _ if what.starts_with("unknown") => nearest(quoted, expected),
            _ => None,
        };
        let place = if field.is_empty() { "the document".to_owned() } else { format!("`{field}`") };
        let message = match (&found[..], expected) {
            ("", _) => format!("{place}: {message}"),
            (found, "") => format!("{place} is {found}"),
            ("no such field", names) => format!("{place} is no field, expected {names}"),
            (found, expected) => format!("{place} is {found}, expected {expected}"),
        };
        let nearest = nearest.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
        let given = |text: String| Some(text).filter(|text| !text.is_empty());
        Self {
            message: format!("{message}{nearest}"),
            field: given(field),
            found: given(found),
            expected: given(expected.to_owned()),
        }
    }
}

/// The name in `names`, each between backticks, that is nearest to `given`; `None` if none is near: more than a third of
/// the letters differ, and it does not begin alike.
fn nearest<'a>(given: &str, names: &'a str) -> Option<&'a str> {
    let names = names.split('`').skip(1).step_by(2);
    let near = names.filter_map(|name| {
        let differ = strsim::osa_distance(given, name);
        let begins_alike = given.len() > 2 && name.starts_with(given);
        (begins_alike || differ <= (given.len().max(name.len()) / 3).max(1)).then_some((differ, name))
    });
    near.min().map(|(_, name)| name)
}
