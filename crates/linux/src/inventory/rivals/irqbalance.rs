//! The arguments of irqbalance, and the line that keeps it off some interrupts.
//!
//! irqbalance leaves an interrupt alone that `--banirq` names (irqbalance(1)). Its unit takes arguments from a
//! file, which is `/etc/default/irqbalance` on Debian and its kin and `/etc/sysconfig/irqbalance` on Fedora and
//! its kin. The variable is `IRQBALANCE_ARGS`; units of older Debian packages take `OPTIONS`.

use crate::tree::Tree;
use serde::Serialize;
use std::collections::BTreeSet;

/// The name of the program.
pub(super) const NAME: &str = "irqbalance";

const DEBIAN: &str = "etc/default/irqbalance";
const FEDORA: &str = "etc/sysconfig/irqbalance";
const VARIABLES: [&str; 2] = ["IRQBALANCE_ARGS", "OPTIONS"];

/// What irqbalance is started with.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct IrqbalanceArguments {
    /// The file with its arguments, whether it is there or not.
    pub file: String,
    /// The variable in it that holds them.
    pub variable: &'static str,
    /// The arguments; empty where there are none.
    pub value: String,
}

impl IrqbalanceArguments {
    pub(super) fn read(tree: &Tree) -> Self {
        let file = match (tree.has(DEBIAN), tree.has(FEDORA)) {
            (true, _) => DEBIAN,
            (false, true) => FEDORA,
            (false, false) if tree.has("etc/sysconfig") => FEDORA,
            (false, false) => DEBIAN,
        };
        let lines = tree.filtered(file, about_arguments).unwrap_or_default();
        let set = |variable: &'static str| Some((variable, value(&lines, variable)?));
        let (variable, value) = VARIABLES.into_iter().find_map(set).unwrap_or((VARIABLES[0], String::new()));
        Self { file: format!("/{file}"), variable, value }
    }

    /// The line of the file that bans `interrupts` beside what it has already.
    #[must_use]
    pub fn ban_line(&self, interrupts: &BTreeSet<u32>) -> String {
        let own = self.value.split_whitespace().map(str::to_owned);
        let banned: Vec<String> = own.collect();
        let more = interrupts.iter().map(|number| format!("--banirq={number}"));
        let more = more.filter(|ban| !banned.contains(ban));
        let words: Vec<String> = banned.iter().cloned().chain(more).collect();
        format!("{}=\"{}\"", self.variable, words.join(" "))
    }
}

/// Keeps the lines that set arguments.
fn about_arguments(text: &str) -> String {
    let sets = |line: &&str| VARIABLES.iter().any(|variable| assigned(line, variable).is_some());
    text.lines().map(str::trim).filter(sets).collect::<Vec<_>>().join("\n")
}

/// The value that the last line for `variable` gives it.
fn value(lines: &str, variable: &str) -> Option<String> {
    let value = lines.lines().filter_map(|line| assigned(line, variable)).next_back()?;
    Some(value.trim().trim_matches(['"', '\'']).to_owned())
}

fn assigned<'a>(line: &'a str, variable: &str) -> Option<&'a str> {
    line.strip_prefix(variable)?.strip_prefix('=')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake;

    fn line(files: &[(&str, &str)]) -> (String, String) {
        let mut tree = fake::Tree::default();
        for (file, text) in files {
            tree.put(*file, text);
        }
        let arguments = IrqbalanceArguments::read(&Tree::Fake(tree));
        let line = arguments.ban_line(&BTreeSet::from([24, 25]));
        (arguments.file, line)
    }

    #[test]
    fn the_line_is_for_the_file_that_is_there_and_keeps_what_it_has() {
        let banned = "--banirq=24 --banirq=25";
        for (files, file, expected) in [
            (&[][..], "/etc/default/irqbalance", format!("IRQBALANCE_ARGS=\"{banned}\"")),
            (
                &[("etc/sysconfig/irqbalance", "#IRQBALANCE_ARGS=\nIRQBALANCE_ARGS=\"--deepestcache=2\"")],
                "/etc/sysconfig/irqbalance",
                format!("IRQBALANCE_ARGS=\"--deepestcache=2 {banned}\""),
            ),
            (
                &[("etc/default/irqbalance", "ENABLED=1\nOPTIONS='--banirq=25'")],
                "/etc/default/irqbalance",
                "OPTIONS=\"--banirq=25 --banirq=24\"".to_owned(),
            ),
        ] {
            assert_eq!(line(files), (file.to_owned(), expected));
        }
    }
}
