//! Text of others on a terminal: names in scenarios and captures, commands of threads.

use std::borrow::Cow;
use std::fmt::Display;

/// `text` with control characters escaped, so that it neither moves the cursor nor begins a line.
pub(crate) fn visible(text: impl Display) -> String {
    escaped(&text.to_string(), char::is_control)
}

/// Lines of `text` with control characters escaped.
pub(crate) fn visible_lines(text: &str) -> String {
    escaped(text, |letter| letter.is_control() && letter != '\n' && letter != '\t')
}

/// A document or lines of text with control characters escaped that no JSON and no TOML holds as they are.
pub(crate) fn visible_bytes(text: &[u8]) -> Cow<'_, [u8]> {
    let is_plain = |byte: &u8| *byte >= b' ' || matches!(byte, b'\n' | b'\t');
    if text.iter().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let shown = text.iter().flat_map(|byte| match is_plain(byte) {
        true => vec![*byte],
        false => char::from(*byte).escape_default().to_string().into_bytes(),
    });
    Cow::Owned(shown.collect())
}

fn escaped(text: &str, is_escaped: fn(char) -> bool) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        match is_escaped(letter) || is_reordering(letter) {
            true => shown.extend(letter.escape_default()),
            false => shown.push(letter),
        }
    }
    shown
}

/// Whether it changes the direction of what follows, and so what a reader takes it for.
const fn is_reordering(letter: char) -> bool {
    matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_moves_the_cursor_is_escaped_and_the_rest_stays() {
        assert_eq!(visible("a\x1b[31m\x07\r\0\n\u{9b}b"), "a\\u{1b}[31m\\u{7}\\r\\u{0}\\n\\u{9b}b");
        assert_eq!(visible("\u{202e}ab"), "\\u{202e}ab");
        assert_eq!(visible("µs ± \\ 'é'"), "µs ± \\ 'é'");
        assert_eq!(*visible_bytes("\x1bµ\u{9b}\t\n".as_bytes()), *"\\u{1b}µ\u{9b}\t\n".as_bytes());
        assert_eq!(visible_lines("a\tb\nc\rd\x1b"), "a\tb\nc\\rd\\u{1b}");
    }
}
