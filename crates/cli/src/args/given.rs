//! Which options were typed, as the parser knows it: no list of them has to be kept.

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, FromArgMatches};

/// The options of a command line, by their names.
#[derive(Clone, Debug, Default)]
pub(crate) struct Given(Vec<String>);

impl Given {
    /// Whether `option` is among them.
    pub(crate) fn has(&self, option: &str) -> bool {
        self.0.iter().any(|given| given == option)
    }
}

impl FromArgMatches for Given {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let names = matches.ids().map(clap::Id::as_str);
        let typed = names.filter(|name| matches.value_source(name) == Some(ValueSource::CommandLine));
        Ok(Self(typed.map(|name| name.replace('_', "-")).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for Given {
    fn augment_args(command: Command) -> Command {
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        command
    }
}
