//! Texts as the charting library shows them unchanged: it would take a few elements for markup, and
//! `%{name}` for a place to fill in; and the page's script `var(--name)` for a colour.

/// `text` without anything that could be markup or a place to fill in. (What cannot be escaped has an
/// invisible word joiner put in.)
pub(crate) fn markup(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace("%{", "%\u{2060}{")
        .replace("var(", "var\u{2060}(")
}

/// `text` in lines of about `width` characters, broken at spaces and hyphens.
pub(crate) fn wrapped(text: &str, width: usize) -> String {
    let length = |text: &str| text.chars().count();
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_inclusive([' ', '-']) {
        match lines.last_mut() {
            Some(line) if length(line) + length(word.trim_end()) <= width => line.push_str(word),
            _ => lines.push(word.to_owned()),
        }
    }
    lines.iter().map(|line| markup(line.trim_end())).collect::<Vec<_>>().join("<br>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_whole_and_nothing_is_lost() {
        assert_eq!(wrapped("IPS, Wired-Streams", 9), "IPS,<br>Wired-<br>Streams");
        assert_eq!(wrapped("Locking", 3), "Locking");
        assert_eq!(wrapped("", 9), "");
    }

    #[test]
    fn no_text_is_taken_for_markup() {
        assert_eq!(wrapped("a<b>&c", 80), "a&lt;b&gt;&amp;c");
        assert!(!markup("var(--ink) %{x}").contains("var(--") && !markup("%{x}").contains("%{"));
    }
}
