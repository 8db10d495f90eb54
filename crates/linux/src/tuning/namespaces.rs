//! Network namespaces: whether `/sys` shows this process's own, and whether one is gone.
//!
//! `/sys` shows the interfaces of the namespace in which it was mounted, and `/proc/thread-self/net` those of the reader
//! (`Documentation/filesystems/sysfs.rst`, network_namespaces(7)). `nsenter -n` without a mount namespace changes only the
//! second. What is written to `/sys/class/net` then changes interfaces of another namespace.

use super::system::{System, is_absent};
use crate::net::number_and_address;
use rustix::process::geteuid;
use std::collections::BTreeSet;
use std::path::Path;
use std::{fs, io};

/// How often interfaces are compared that differ: one may come between two looks.
const LOOKS: usize = 3;

/// A file among the interfaces of `/sys`.
const NO_INTERFACE: &str = "bonding_masters";

/// What differs between the interfaces of `/sys` and those of this process, in words: their names or, where two
/// namespaces have the same ones, the number and the hardware address of one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ForeignInterfaces {
    shown: String,
    own: String,
}

impl ForeignInterfaces {
    /// Compares the two on the running system, if settings of interfaces are to be changed; `None` if they are the same, or
    /// cannot be seen.
    pub(super) fn find(is_of_interfaces: bool, system: &dyn System) -> Option<Self> {
        if !is_of_interfaces || system.root() != Path::new("/") {
            return None;
        }
        let mut foreign = None;
        for _ in 0..LOOKS {
            foreign = Some(Self::differing(system)?);
        }
        foreign
    }

    fn differing(system: &dyn System) -> Option<Self> {
        let shown = system.entries("sys/class/net").ok()?.into_iter();
        let shown: BTreeSet<String> = shown.filter(|name| name != NO_INTERFACE).collect();
        let own = names(&system.read("proc/thread-self/net/dev").ok()?);
        if shown != own {
            return Some(Self { shown: list(&shown), own: list(&own) });
        }
        own.iter().find_map(|name| {
            // One that cannot be read tells nothing: it may have vanished between the two.
            let (shown, own) = (Marks::shown(name, system)?, Marks::own(name)?);
            let is_other = !shown.agrees(&own);
            is_other.then(|| Self { shown: shown.of(name), own: own.of(name) })
        })
    }
}

impl std::fmt::Display for ForeignInterfaces {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "/sys belongs to another network namespace than this process (/sys shows {}, this process has {}): expected both \
             in one. `ip netns exec NAME warmcore …` enters a namespace with a /sys of its own; after `nsenter -n` or where \
             it has no name, `unshare -m sh -c 'mount -t sysfs sysfs /sys && warmcore …'` makes one",
            self.shown, self.own
        )
    }
}

fn list(names: &BTreeSet<String>) -> String {
    let names: Vec<String> = names.iter().map(|name| name.escape_debug().to_string()).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

/// What tells an interface from another one of its name.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Marks {
    number: u32,
    /// Its hardware address, as far as is known; a request tells the first six bytes.
    address: Vec<u8>,
}

impl Marks {
    /// Those of the interface `name` in `/sys`; `None` if it is not there.
    fn shown(name: &str, system: &dyn System) -> Option<Self> {
        let read = |file: &str| system.read(&format!("sys/class/net/{name}/{file}")).ok();
        let address = address(&read("address").unwrap_or_default()).unwrap_or_default();
        Some(Self { number: read("ifindex")?.trim().parse().ok()?, address })
    }

    /// Those of the interface `name` of the calling thread's namespace; `None` if it is not there.
    fn own(name: &str) -> Option<Self> {
        let (number, address) = number_and_address(name).ok()?;
        Some(Self { number, address: address.into() })
    }

    /// Whether both may be of one interface. Only as much of the addresses is compared as both have.
    fn agrees(&self, other: &Self) -> bool {
        self.number == other.number
            && self.address.iter().zip(&other.address).all(|(one, other)| one == other)
    }

    fn of(&self, name: &str) -> String {
        let address: Vec<String> = self.address.iter().map(|byte| format!("{byte:02x}")).collect();
        let address = if address.is_empty() { "none".to_owned() } else { address.join(":") };
        format!("{} with number {} and address {address}", name.escape_debug(), self.number)
    }
}

/// An address such as `02:00:5e:10:00:01`, of any length; `None` if it is malformed.
fn address(text: &str) -> Option<Vec<u8>> {
    text.trim().split(':').map(|byte| u8::from_str_radix(byte, 16).ok()).collect()
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
    fn an_interface_is_known_by_its_number_and_as_much_of_its_address_as_is_told() {
        let marks = |number, text: &str| Marks { number, address: address(text).unwrap_or_default() };
        let wire = marks(2, "02:00:5e:10:00:01\n");
        let infiniband = marks(4, "80:00:02:08:fe:80:00:00:00:00");
        for (shown, own, agrees) in [
            (&wire, marks(2, "02:00:5e:10:00:01"), true),
            (&wire, marks(2, "02:00:5e:10:00:02"), false),
            (&wire, marks(3, "02:00:5e:10:00:01"), false),
            (&infiniband, marks(4, "80:00:02:08:fe:80"), true),
            (&marks(4, "\n"), marks(4, "00:00:00:00:00:00"), true),
        ] {
            assert_eq!(shown.agrees(&own), agrees, "{shown:?} {own:?}");
        }
        assert_eq!(wire.of("eth0"), "eth0 with number 2 and address 02:00:5e:10:00:01");
    }

    #[test]
    fn the_namespace_of_this_process_is_not_gone() {
        let own = fs::read_link("/proc/thread-self/ns/net").unwrap();
        assert!(!is_gone(own.to_str().unwrap()));
    }
}
