//! Generated parts of a page: data as JSON, and the charting library.

use plotly::Plot;
use serde::Serialize;
use std::fmt::Write;

/// `data` as JSON that is safe inside a `<script>` element: no text in it can end the element or begin a
/// comment.
///
/// # Panics
/// If `data` cannot be expressed as JSON (a map whose keys are not strings), which no report has.
pub(crate) fn json(data: &impl Serialize) -> String {
    let json = serde_json::to_string(data).expect("chart data are numbers and texts");
    let mut safe = String::with_capacity(json.len());
    for character in json.chars() {
        match character {
            // In JSON these characters occur only inside strings, where an escape means the same.
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                let written = write!(safe, "\\u{:04x}", u32::from(character));
                debug_assert!(written.is_ok());
            }
            _ => safe.push(character),
        }
    }
    safe
}

/// The source text of plotly.js.
///
/// The crate provides it as the first of two `<script>` elements. The second one typesets formulas and is
/// left out, since reports contain no formulas.
///
/// # Panics
/// If the crate no longer provides it in this form, which the tests would show.
pub(crate) fn charting_library() -> String {
    let elements = Plot::offline_js_sources();
    let (_, rest) = elements.split_once('>').expect("the sources begin with a script element");
    let (script, _) = rest.split_once("</script>").expect("the script element ends");
    script.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_charting_library_is_the_whole_of_plotly_and_nothing_else() {
        let script = charting_library();
        assert!(script.len() > 1_000_000, "{} bytes", script.len());
        assert!(script.contains("plotly.js v"), "its notice of copyright and licence stays");
        let typesetter = Plot::offline_js_sources().len() - script.len();
        assert!(typesetter > 1_000_000, "only {typesetter} bytes are left out");
    }

    proptest! {
        #[test]
        fn no_text_ends_the_element_it_is_embedded_in(text in any::<String>()) {
            let hostile = format!("</script><!--{text}]]>\u{2028}&");
            let embedded = json(&hostile);
            prop_assert!(!embedded.contains(['<', '>', '&', '\u{2028}']), "{}", embedded);
            prop_assert_eq!(serde_json::from_str::<String>(&embedded).unwrap(), hostile);
        }
    }
}
