//! Shortens values in messages: a file that somebody has filled may be millions of characters long.

/// The most characters of a value that are shown.
const MOST: usize = 60;

/// Returns `text` without the space around it, its unprintable characters escaped, and no more than its beginning if it
/// is long.
pub(super) fn brief(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}… ({} bytes)", text[..end].escape_debug(), text.len()),
        None => text.escape_debug().to_string(),
    }
}
