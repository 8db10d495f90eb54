//! Errors of the TOML reader, in the words of a document instead of those of a programming language.

/// `message`, on one line, with `u32` and the like as what a user would type.
pub(crate) fn plain(message: &str) -> String {
    let message = message.trim().replace('\n', "; ").replacen("unknown variant ", "unknown name ", 1);
    let message = message.replacen("wanted string or table", "expected a name in quotes", 1);
    match message.rsplit_once(", expected ") {
        Some((problem, kind)) => format!("{problem}, expected {}", kind_of(kind)),
        None => message,
    }
}

/// What a value of the type `kind` is to a user.
fn kind_of(kind: &str) -> String {
    let largest = match kind {
        "u8" => u8::MAX.into(),
        "u16" => u16::MAX.into(),
        "u32" => u32::MAX.into(),
        "u64" | "usize" => return "a whole number of at least 0".to_owned(),
        "i64" => return "a whole number".to_owned(),
        "f32" | "f64" => return "a number".to_owned(),
        "variant identifier" => return "a name".to_owned(),
        kind if kind.starts_with("struct ") || kind.starts_with("internally tagged enum ") => {
            return "a table".to_owned();
        }
        kind => return kind.to_owned(),
    };
    let largest: u64 = largest;
    format!("a whole number from 0 to {largest}")
}

#[cfg(test)]
mod tests {
    use super::plain;
    use crate::PacketScenario;
    use crate::document::parse;
    use std::path::Path;

    #[test]
    fn no_type_of_a_programming_language_is_named() {
        for (document, expected) in [
            ("processors = 'many'", "expected a whole number from 0 to 4294967295"),
            ("processors = -1", "expected a whole number from 0 to 4294967295"),
            ("seed = -1", "expected a whole number of at least 0"),
            ("rate_per_s = 'fast'", "expected a number"),
            ("run = 3", "expected a table"),
            ("[scheduling]\npolicy = 'nearest'", "unknown name `nearest`, expected one of"),
        ] {
            let error = parse::<PacketScenario>(document, Path::new("mine.toml")).unwrap_err().to_string();
            assert!(error.contains(expected) && !error.contains("struct"), "{error}");
        }
        assert_eq!(plain("missing field `seed`\n"), "missing field `seed`");
    }
}
