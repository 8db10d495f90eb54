//! ethtool(8), as the judge of what is read.

use std::collections::BTreeMap;
use std::process::Command;
use warmcore_linux::net::Namespace;

/// What `ethtool` prints with these arguments; prints a note and returns `None` if it is not installed.
/// Empty if the driver does not say.
pub(crate) fn ethtool(namespace: &Namespace, arguments: &[&str]) -> Option<String> {
    let output = namespace.run(|| Command::new("ethtool").args(arguments).output()).unwrap();
    match output {
        Ok(output) => Some(String::from_utf8_lossy(&output.stdout).into_owned()),
        Err(error) => {
            println!("skipped: ethtool cannot be run: {error}");
            None
        }
    }
}

/// The numbers that `ethtool -l` or `-g` prints after `section`, by name; `n/a` is none.
pub(crate) fn numbers(text: &str, section: &str) -> BTreeMap<String, u32> {
    let after = text.split_once(section).map_or("", |(_, after)| after);
    let lines = after.lines().skip(1).take_while(|line| line.contains('\t'));
    let number = |line: &str| {
        let (name, value) = line.split_once(':')?;
        Some((name.to_owned(), value.trim().parse().ok()?))
    };
    lines.filter_map(number).collect()
}

/// What `ethtool -k` says of a feature: whether it is on, and whether it is fixed.
pub(crate) fn feature(text: &str, name: &str) -> Option<(bool, bool)> {
    let state = text.lines().find_map(|line| line.trim().strip_prefix(name)?.strip_prefix(": "))?;
    Some((state.starts_with("on"), state.contains("[fixed]")))
}
