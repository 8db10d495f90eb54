//! Network namespaces: whether `/sys` shows this process's own, and whether one is gone.
//!
//! `/sys` shows the interfaces of the namespace in which it was mounted, and `/proc/thread-self/net` those of the reader
//! (`Documentation/filesystems/sysfs.rst`, network_namespaces(7)). `nsenter -n` without a mount namespace changes only the
//! second. What is written to `/sys/class/net` then changes interfaces of another namespace.

use super::system::{System, is_absent};
use rustix::process::geteuid;
use std::collections::BTreeSet;
use std::path::Path;
use std::{fs, io};

/// How often names are compared that differ: an interface may come between two looks.
const LOOKS: usize = 3;

/// A file among the interfaces of `/sys`.
const NO_INTERFACE: &str = "bonding_masters";

/// The interfaces of `/sys`, and those of this process.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ForeignInterfaces {
    shown: BTreeSet<String>,
    own: BTreeSet<String>,
}

impl ForeignInterfaces {
    /// Compares the two on the running system; `None` if they are the same, or cannot be seen.
    pub(super) fn find(system: &dyn System) -> Option<Self> {
        if system.root() != Path::new("/") {
            return None;
        }
        (0..LOOKS).map(|_| Self::differing(system)).reduce(Option::and)?
    }

    fn differing(system: &dyn System) -> Option<Self> {
        let shown = system.entries("sys/class/net").ok()?.into_iter();
        let shown = shown.filter(|name| name != NO_INTERFACE).collect();
        let own = names(&system.read("proc/thread-self/net/dev").ok()?);
        (shown != own).then_some(Self { shown, own })
    }
}

impl std::fmt::Display for ForeignInterfaces {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let list = |names: &BTreeSet<String>| {
            let names: Vec<String> = names.iter().map(|name| name.escape_debug().to_string()).collect();
            if names.is_empty() { "none".to_owned() } else { names.join(", ") }
        };
        write!(f, "/sys shows {}, this process has {}", list(&self.shown), list(&self.own))
    }
}

/// The names in the format of `/proc/net/dev`: two lines of headings, then a line for each interface, whose name ends with
/// the last `:` of its first word.
fn names(text: &str) -> BTreeSet<String> {
    let name = |line: &str| Some(line.rsplit_once(':')?.0.trim().to_owned());
    text.lines().skip(2).filter_map(name).collect()
}

/// Whether the network namespace `link`, such as `net:[4026531840]`, is gone: no process is in it, no file or mount holds it.
/// For others than root, what may not be seen counts as there; of root's own machine a sandbox may hide a process or two.
pub(super) fn is_gone(link: &str) -> bool {
    // Whether none of these links is it.
    let are_others = |directory: &Path| -> io::Result<bool> {
        let mut links = fs::read_dir(directory)?;
        links.try_fold(true, |others, entry| Ok(others && !leads_to(&entry?.path(), link)?))
    };
    let of_process = |process: &Path| -> io::Result<bool> {
        let mut tasks = fs::read_dir(process.join("task"))?;
        let tasks = tasks.try_fold(true, |others, task| {
            io::Result::Ok(others && !leads_to(&task?.path().join("ns/net"), link)?)
        });
        Ok(tasks? && are_others(&process.join("fd"))?)
    };
    let is_process = |path: &Path| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let Ok(entries) = fs::read_dir("/proc") else { return false };
    let mut processes = entries.flatten().map(|entry| entry.path()).filter(|path| is_process(path));
    let unused = processes.all(|process| match of_process(&process) {
        Err(error) => is_none(&error),
        Ok(unused) => unused,
    });
    // A namespace with a name is mounted: by `ip netns`, for instance.
    let mounts = fs::read_to_string("/proc/self/mountinfo");
    unused && mounts.is_ok_and(|mounts| !mounts.split_whitespace().any(|word| word == link))
}

/// Whether the link at `path`, if it is still there, is `wanted`.
fn leads_to(path: &Path, wanted: &str) -> io::Result<bool> {
    match fs::read_link(path) {
        Ok(found) => Ok(found == Path::new(wanted)),
        Err(error) if is_none(&error) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Whether what gives `error` tells nothing: it has ended, or is hidden even from root.
fn is_none(error: &io::Error) -> bool {
    is_absent(error) || error.kind() == io::ErrorKind::PermissionDenied && geteuid().is_root()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_end_with_the_last_colon() {
        let text = "Inter-|   Receive\n face |bytes\n    lo: 1 2 3\neth0.5: 4 5\n  eth0:1: 7\n";
        assert_eq!(names(text), ["eth0.5", "eth0:1", "lo"].map(str::to_owned).into());
    }

    #[test]
    fn the_namespace_of_this_process_is_not_gone() {
        let own = fs::read_link("/proc/thread-self/ns/net").unwrap();
        assert!(!is_gone(own.to_str().unwrap()));
    }
}
