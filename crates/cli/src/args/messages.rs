//! The flags that every command takes: how much is said, and in colour or not.

use crate::messages::{Color, Level};
use clap::{Args, ColorChoice};
use std::ffi::{OsStr, OsString};

#[derive(Args, Debug)]
#[command(next_help_heading = "Messages")]
pub(crate) struct MessageArguments {
    /// Print results and errors only: no progress, no notes
    #[arg(long, short, global = true, conflicts_with = "verbose", help_heading = "Messages")]
    quiet: bool,

    /// Say which files are read and written, whose costs are used, and what is being done
    #[arg(long, short, global = true, help_heading = "Messages")]
    verbose: bool,

    /// When to colour help and errors; `auto` does in a terminal unless NO_COLOR is set
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", help_heading = "Messages")]
    pub(crate) color: Color,
}

impl MessageArguments {
    /// How much is said.
    pub(crate) const fn level(&self) -> Level {
        match (self.quiet, self.verbose) {
            (true, _) => Level::Quiet,
            (false, false) => Level::Normal,
            (false, true) => Level::Verbose,
        }
    }
}

/// The colour that `words` of a command line ask for. The parser needs it before it has read them, for its own
/// errors.
pub(crate) fn color_of(words: impl Iterator<Item = OsString>) -> ColorChoice {
    let mut chosen = ColorChoice::Auto;
    let mut is_value = false;
    for word in words.take_while(|word| word != "--") {
        let value = if is_value {
            Some(word.as_os_str())
        } else {
            word.to_str().and_then(|word| word.strip_prefix("--color=")).map(OsStr::new)
        };
        is_value = word == "--color";
        chosen = match value.and_then(OsStr::to_str) {
            Some("always") => ColorChoice::Always,
            Some("never") => ColorChoice::Never,
            Some("auto") => ColorChoice::Auto,
            _ => chosen,
        };
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_colour_is_known_before_the_rest_is_parsed() {
        let of = |line: &str| color_of(line.split(' ').map(OsString::from));
        assert_eq!(of("warmcore --color never study"), ColorChoice::Never);
        assert_eq!(of("warmcore study --color=always --sped"), ColorChoice::Always);
        assert_eq!(of("warmcore study --color sometimes"), ColorChoice::Auto);
        assert_eq!(of("warmcore study -- --color never"), ColorChoice::Auto);
    }
}
