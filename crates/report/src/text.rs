//! Text that the charting library shows unchanged. The library would treat a few elements as markup and
//! `%{name}` as a placeholder; the page's script would treat `var(--name)` as a colour.

/// `text` without anything that could be read as markup or as a placeholder. An invisible word joiner
/// separates what cannot be escaped.
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
