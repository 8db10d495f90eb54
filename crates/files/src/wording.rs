//! Errors of the TOML reader, in the words of a document instead of those of a programming language.

/// How a reader complains of a name without the parameters that it needs.
pub(crate) const NAME_ALONE: &str = "invalid type: unit variant";

/// `message`, on one line, with `u32` and the like as what a user would type.
#[must_use]
pub fn plain(message: &str) -> String {
    let message = message.trim().replace('\n', "; ").replacen("unknown variant ", "unknown name ", 1);
    let message = message.replacen("wanted string or table", "expected a name in quotes", 1);
    let message = message.replacen(NAME_ALONE, "invalid type: a name alone", 1);
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
        "newtype variant" | "struct variant" | "tuple variant" => {
            return "a table with its parameters".to_owned();
        }
        "unit variant" => return "the name alone, in quotes".to_owned(),
        "map" | "a map" => return "a table".to_owned(),
        "sequence" | "a sequence" => return "a list".to_owned(),
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

    #[test]
    fn a_name_and_a_table_with_parameters_are_told_apart() {
        let told = plain("invalid type: unit variant, expected newtype variant\n");
        assert_eq!(told, "invalid type: a name alone, expected a table with its parameters");
        let told = plain("invalid type: map, expected unit variant");
        assert_eq!(told, "invalid type: map, expected the name alone, in quotes");
        let told = plain("invalid type: string \"lu\", expected internally tagged enum AnyProgram");
        assert_eq!(told, "invalid type: string \"lu\", expected a table");
    }

    #[test]
    fn a_message_without_a_type_stays() {
        assert_eq!(plain("missing field `seed`\n"), "missing field `seed`");
    }
}
